"""Answers of GitHub that are kept, so that a rerun asks only whether they still hold.

A kept body is believed only after GitHub said 304 to the token of this run. So a key needs no
token in it: whoever may not see a thing any more gets an error, not the copy.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from crscore.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.cache import Store


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """An answer as it is kept."""

    etag: str
    """What GitHub calls this version of it."""
    link: str
    """Its `link` header; "" without one."""
    body: str
    """JSON."""


class Answers:
    """The kept answers of one host.

    Args:
        store: Where they lie; None to keep nothing.
        api_url: The host's interface, part of every key.
    """

    def __init__(self, store: Store | None, api_url: str) -> None:
        self._store = store
        self._api_url = api_url

    def recall(self, path: str, parameters: Mapping[str, str]) -> Kept | None:
        """Find an answer; None when there is none that can be read."""
        if self._store is None:
            return None
        with contextlib.suppress(StoreError, msgspec.DecodeError):
            value = self._store.get(self._key(path, parameters))
            if value is not None:
                return msgspec.msgpack.decode(value, type=Kept)
        return None

    def keep(self, path: str, parameters: Mapping[str, str], kept: Kept) -> None:
        """Keep an answer that has a name; trouble with the store is no trouble of the run."""
        if self._store is not None and kept.etag:
            with contextlib.suppress(StoreError):
                self._store.put(self._key(path, parameters), msgspec.msgpack.encode(kept))

    def _key(self, path: str, parameters: Mapping[str, str]) -> str:
        return f"github {self._api_url}{path}?{urlencode(sorted(parameters.items()))}"


def linked(link: str) -> dict[str, dict[str, str]]:
    """Read a `link` header: the query's parameters by relation.

    Only the parameters are used, never the address: a host that is lied about leads nowhere.

    Example:
        >>> linked('<https://host/x?page=2>; rel="next", <https://host/x?page=9>; rel="last"')
        {'next': {'page': '2'}, 'last': {'page': '9'}}
    """
    found: dict[str, dict[str, str]] = {}
    for part in link.split(","):
        address, _, relation = part.strip().partition(">; rel=")
        with contextlib.suppress(ValueError):
            found[relation.strip('"')] = dict(parse_qsl(urlsplit(address.lstrip("<")).query))
    found.pop("", None)
    return found
