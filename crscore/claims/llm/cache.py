"""Cache of claims, keyed by the diff and by everything that a model's answer depends on."""

import hashlib
import json
from typing import Final

import msgspec

from crscore.cache import Store
from crscore.records import Claims, Diff

KIND: Final = "claims"
"""First word of the keys, by which `crscore cache` distinguishes the kinds of entries."""


def cached_claims(store: Store | None, key: str) -> Claims | None:
    """Return the claims of a key; None when they are missing or cannot be read."""
    data = None if store is None else store.get(key)
    try:
        return None if data is None else msgspec.msgpack.decode(data, type=Claims)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def claims_key(diff: Diff, made_by: str) -> str:
    """Return the key of a diff's claims.

    Args:
        diff: The change.
        made_by: Identity of the generator: model, revision, adapter, prompt, sampling, address and
            context size.

    Returns:
        The same key for inputs that give the same answer, different keys otherwise.
    """
    files = [
        (file.path, file.old_path, file.language, file.is_missing, repr(file.hunks))
        for file in diff.files
    ]
    text = json.dumps([diff.sha256, files, made_by])
    return f"{KIND} {hashlib.sha256(text.encode()).hexdigest()}"
