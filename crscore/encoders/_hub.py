"""Hugging Face hub: its local cache, and downloads into it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def cached_folder(repository: str, names: Sequence[str], revision: str) -> Path | None:
    """Find a model in the hub's cache, without a socket.

    `hf_hub_download(local_files_only=True)` is no alternative: to build a request's headers, which
    it then does not send, huggingface_hub 2.4 requests a list from the hub.

    Args:
        repository: `owner/name`.
        names: Required files.
        revision: A commit, or a branch or tag as last cached.

    Returns:
        The folder of that revision, or None when a file is not in the cache or the hub's
        library is not installed.
    """
    try:
        from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415
        from huggingface_hub.errors import HFValidationError  # noqa: PLC0415
    except ImportError:
        return None
    try:
        found = [try_to_load_from_cache(repository, name, revision=revision) for name in names]
    except HFValidationError:
        return None  # a path that does not exist, for example, is not a repository
    paths = [Path(path) for path in found if isinstance(path, str)]
    return paths[0].parent if len(paths) == len(found) else None


def download(repository: str, names: Sequence[str], revision: str) -> Path | None:
    """Download files of a model into the hub's cache.

    Args:
        repository: `owner/name`.
        names: The files, at least one.
        revision: A commit, branch or tag.

    Returns:
        The folder of that revision, or None when the hub's library is not installed, the
        hub cannot be reached, or it has no such file.
    """
    try:
        from huggingface_hub import hf_hub_download  # noqa: PLC0415
        from huggingface_hub.errors import EntryNotFoundError  # noqa: PLC0415
    except ImportError:
        return None
    try:
        paths = [hf_hub_download(repository, name, revision=revision) for name in names]
    except (OSError, EntryNotFoundError):
        return None
    return Path(paths[0]).parent
