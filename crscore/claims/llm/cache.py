"""Claims that were made once are not made again."""

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
"""First word of the keys, by which `crscore cache` tells what is remembered."""


class Bytes(Protocol):
    """Keeps bytes by key; what it cannot keep or has lost is None."""

    def get(self, key: str) -> bytes | None:
        """Give what was put, or None."""
        ...

    def put(self, key: str, value: bytes) -> None:
        """Keep it."""
        ...


@dataclass(frozen=True, slots=True)
class Memory:
    """Claims in a store."""

    store: Bytes
    """Where they are."""

    def get(self, key: str) -> Claims | None:
        """Give the claims of a key; None when they are not known or cannot be read."""
        data = self.store.get(key)
        if data is None:
            return None
        try:
            return msgspec.msgpack.decode(data, type=Claims)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def put(self, key: str, claims: Claims) -> None:
        """Remember claims."""
        self.store.put(key, msgspec.msgpack.encode(claims))


def key(diff: Diff, made_by: str, context: str) -> str:
    """Name what is remembered of a diff.

    Args:
        diff: The change.
        made_by: Of the generator: model, revision, adapter, prompt, sampling, where it is and how
            much it takes.
        context: With `function`, the whole files are part of what the model sees.

    Returns:
        A key: the same for the same answer, another for another one.
    """
    files = [
        (file.path, file.old_path, file.language, file.is_missing, repr(file.hunks))
        for file in diff.files
    ]
    digest = hashlib.sha256(json.dumps([diff.sha256, files, made_by]).encode())
    if context != "hunk":
        for file in diff.files:
            for text in (file.old_source, file.new_source):
                data = b"-" if text is None else text.encode("utf-8", "surrogatepass")
                digest.update(f" {len(data)} ".encode() + data)
    return f"{KIND} {digest.hexdigest()}"
