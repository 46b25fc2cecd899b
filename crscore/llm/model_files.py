"""Files of a model: their location, a check that none is a pickle, and an identifying hash.

Weights are read from safetensors files only: a `.bin` or `.pt` file is a pickle, and to read one is
to run the program in it.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from crscore.errors import GenerationError, ModelNotFoundError

DIGITS = 12
"""Length of a hash in an identity."""
ADAPTER_SETTINGS = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
_SAMPLE = 4096
"""Bytes read of each tensor for a fingerprint."""
_MAX_HEADER_BYTES = 100_000_000
"""Maximum size of a header, as defined by the format."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)
_FOLDER_SIGNS = ("./", "../", "~", ".\\", "..\\")
_SETTINGS = ("config.json", "generation_config.json", "tokenizer*", "*.jinja", "vocab*", "merges*")
_FILES = ("*.safetensors", "*.json", "*.jinja", "*.txt", "*.model")
"""Patterns of the files that a model is loaded from."""


def folder_of(model: str) -> Path | None:
    """Return the folder that a text denotes by its form, whatever the current folder contains.

    The current folder may be an untrusted change, with a folder named like a model.

    Returns:
        The folder, which need not exist, when `model` is absolute or begins with `./`, `../` or
        `~`; None when it is a name.
    """
    if model in {".", ".."} or model.startswith(_FOLDER_SIGNS) or Path(model).is_absolute():
        try:
            return Path(model).expanduser()
        except RuntimeError:  # no such user
            return Path(model)
    return None


def is_name(model: str) -> bool:
    """Return whether a text can be a model of the hub: `owner/name` or `name`."""
    return _NAME.fullmatch(model) is not None


def is_commit(revision: str) -> bool:
    """Return whether a revision is a full commit hash, which cannot move."""
    return _COMMIT.fullmatch(revision) is not None


def weights(folder: Path) -> tuple[Path, ...]:
    """Return a model's weight files.

    Raises:
        ModelNotFoundError: There is no such folder.
        GenerationError: It has no safetensors files.
    """
    if not folder.is_dir():
        raise ModelNotFoundError(str(folder), f"hf download MODEL --local-dir {folder}")
    files = tuple(sorted(folder.glob("*.safetensors")))
    if not files:
        raise GenerationError(
            f"{folder} has no .safetensors file; pickled weights (.bin, .pt) are not loaded: "
            "save the model with safe_serialization=True"
        )
    return files


@cache
def fingerprint(folder: Path) -> str:
    """Return a hash of a model's settings, tokenizer, and a sample of every tensor.

    The whole of a large model takes minutes to read. Training changes a tensor all over, so the
    names, shapes and first 4 KiB of each distinguish two trainings. They do not detect a file that
    was modified on purpose.

    Args:
        folder: A model as `save_pretrained` writes it.

    Returns:
        12 hexadecimal digits.

    Raises:
        ModelNotFoundError: There is no such folder.
        GenerationError: It has no weights that may be read, or broken ones.
    """
    digest = hashlib.sha256()
    files = weights(folder)
    for path in sorted({path for pattern in _SETTINGS for path in folder.glob(pattern)}):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.stat().st_size.to_bytes(8, "big"))
        for part in _samples(path):
            digest.update(part)
    return digest.hexdigest()[:DIGITS]


@cache
def adapter_fingerprint(folder: Path) -> str:
    """Return a hash of all of a LoRA adapter's settings and weights: 12 hexadecimal digits.

    Raises:
        ModelNotFoundError: There is no such folder.
        GenerationError: It is no adapter in peft's format with safetensors.
    """
    if not folder.is_dir():
        raise ModelNotFoundError(str(folder), "crscore train claims")
    digest = hashlib.sha256()
    for name in (ADAPTER_SETTINGS, ADAPTER_WEIGHTS):
        path = folder / name
        if not path.is_file():
            raise GenerationError(
                f"{folder} is no LoRA adapter: {name} is missing; pickled adapters are not loaded"
            )
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()[:DIGITS]


def adapter_rank(folder: Path) -> int:
    """Return an adapter's rank, 1 or more.

    Raises:
        GenerationError: Its settings do not name it.
    """
    try:
        settings = json.loads((folder / ADAPTER_SETTINGS).read_text(encoding="utf-8"))
        ranks = [int(settings["r"]), *map(int, (settings.get("rank_pattern") or {}).values())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise GenerationError(f"{folder / ADAPTER_SETTINGS} does not name its rank: {exc}") from exc
    return max(1, *ranks)


def cached(model: str, revision: str, *, file: str = "config.json") -> Path | None:
    """Return the folder of a model in the hub's cache on this disk, without using the network.

    Args:
        model: `owner/name`.
        revision: A commit, or a branch or tag as it was when last seen.
        file: A file that it must have.

    Returns:
        The folder of that revision, or None when it is not there.
    """
    try:
        from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415
        from huggingface_hub.errors import HFValidationError  # noqa: PLC0415
    except ImportError:
        return None
    try:
        # `hf_hub_download(local_files_only=True)` asks the hub for a list to build its headers.
        file_path = try_to_load_from_cache(model, file, revision=revision)
    except HFValidationError:
        return None  # a path that does not exist names no repository
    return Path(file_path).parent if isinstance(file_path, str) else None


@cache
def commit(model: str, revision: str, *, offline: bool) -> str:
    """Return the commit that a branch or tag of the hub points to.

    Args:
        model: `owner/name`.
        revision: A commit, which is returned as it is, a branch or a tag.
        offline: Never use the network; use the cached state.

    Returns:
        40 hexadecimal digits.

    Raises:
        ModelNotFoundError: It is not on this disk, and the hub has no such thing, cannot be
            reached or may not be asked.
    """
    if is_commit(revision):
        return revision
    commit_hash = None if offline else _ask_hub(model, revision)
    if commit_hash is None:
        folder = cached(model, revision)
        commit_hash = folder.name if folder is not None else None
    if commit_hash is None:
        raise ModelNotFoundError(model, download_command(model, revision))
    return commit_hash


def cached_if_shadowed(model: str, commit: str) -> Path | None:
    """Return the cached folder of a model whose name matches a local folder.

    The libraries that load models look for a folder of that name first.

    Args:
        model: `owner/name`.
        commit: A commit of it.

    Returns:
        The folder in the hub's cache; None when nothing here has the model's name.

    Raises:
        ModelNotFoundError: It is not available.
    """
    if not Path(model).exists():
        return None
    from huggingface_hub import snapshot_download  # noqa: PLC0415
    from huggingface_hub.errors import HFValidationError  # noqa: PLC0415

    try:
        return Path(snapshot_download(model, revision=commit, allow_patterns=list(_FILES)))
    except (OSError, HFValidationError) as exc:
        raise ModelNotFoundError(model, download_command(model, commit)) from exc


def download_command(model: str, revision: str | None) -> str:
    """Return the command that downloads a model into the hub's cache."""
    return f"hf download {model}" + (f" --revision {revision}" if revision else "")


def _ask_hub(model: str, revision: str) -> str | None:
    """Download the model's settings, which are required next anyway, and return their commit."""
    try:
        from huggingface_hub import hf_hub_download  # noqa: PLC0415
        from huggingface_hub.errors import EntryNotFoundError, HFValidationError  # noqa: PLC0415
    except ImportError:
        return None
    try:
        settings_file = hf_hub_download(model, "config.json", revision=revision)
    except (OSError, EntryNotFoundError, HFValidationError):
        return None
    return Path(settings_file).parent.name


def _samples(path: Path) -> Iterator[bytes]:
    """Yield a safetensors file's header and the beginning of each of its tensors."""
    try:
        with path.open("rb") as handle:
            (length,) = struct.unpack("<Q", handle.read(8))
            if length > _MAX_HEADER_BYTES:
                raise GenerationError(f"{path} is no safetensors file")
            header = handle.read(length)
            if len(header) < length:
                raise GenerationError(f"{path} is no whole safetensors file")
            yield header
            for begin, end in sorted(_offsets(json.loads(header))):
                handle.seek(8 + length + begin)
                yield handle.read(min(end - begin, _SAMPLE))
    except (OSError, struct.error, ValueError, KeyError, TypeError) as exc:
        raise GenerationError(f"{path} cannot be read as safetensors: {exc}") from exc


def _offsets(header: Any) -> Iterator[tuple[int, int]]:
    if not isinstance(header, dict):
        raise TypeError("its header is no object")
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            yield int(begin), int(end)
