"""Claims that were made before, kept by the diff and by all that decides what a model says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from crscore.records import Claims

if TYPE_CHECKING:
    from crscore.records import Diff

KIND: Final = "claims"
"""First word of the keys, by which `crscore cache` knows what an entry is."""


class Bytes(Protocol):
    """Keeps bytes by key; what it cannot keep or has lost is None."""

    def get(self, key: str) -> bytes | None:
        """Return what was put, or None."""
        ...

    def put(self, key: str, value: bytes) -> None:
        """Keep it."""
        ...


@dataclass(frozen=True, slots=True)
class ClaimsCache:
    """Claims in a store."""

    store: Bytes
    """Where they are."""

    def get(self, key: str) -> Claims | None:
        """Return the claims of a key; None when they are not known or cannot be read."""
        data = self.store.get(key)
        try:
            return None if data is None else msgspec.msgpack.decode(data, type=Claims)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def put(self, key: str, claims: Claims) -> None:
        """Keep claims."""
        self.store.put(key, msgspec.msgpack.encode(claims))


def claims_key(diff: Diff, made_by: str, context: str) -> str:
    """Return the key of a diff's claims.

    Args:
        diff: The change.
        made_by: Of the generator: model, revision, adapter, prompt, sampling, where it is and how
            much it takes.
        context: With `function`, the whole files are part of what the model sees.

    Returns:
        The same key for the same answer, another one otherwise.
    """
    sees_sources = context != "hunk"
    files = [
        (file.path, file.old_path, file.language, file.is_missing, repr(file.hunks))
        + ((file.old_source, file.new_source) if sees_sources else ())
        for file in diff.files
    ]
    text = json.dumps([diff.sha256, files, made_by])
    return f"{KIND} {hashlib.sha256(text.encode()).hexdigest()}"
