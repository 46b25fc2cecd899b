"""Files of a model: their location, a check that none is a pickle, and an identifying hash.

Weights are read from safetensors files only: a `.bin` or `.pt` file is a pickle, and reading one
runs the program in it.
"""

import hashlib
import json
import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from crscore.errors import GenerationError, ModelNotFoundError

HASH_DIGITS = 12
"""Hexadecimal digits of a hash in an identity."""
ADAPTER_SETTINGS = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
_SAMPLE_BYTES = 4096
"""Bytes of each tensor that a fingerprint includes."""
_MAX_HEADER_BYTES = 100_000_000
"""Maximum size of a header, as defined by the format."""
_COMMIT_HASH = re.compile(r"[0-9a-f]{40}")
_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)
_FOLDER_PREFIXES = ("./", "../", "~", ".\\", "..\\")
_SETTINGS_PATTERNS = (
    "config.json",
    "generation_config.json",
    "tokenizer*",
    "*.jinja",
    "vocab*",
    "merges*",
)
_MODEL_FILE_PATTERNS = ("*.safetensors", "*.json", "*.jinja", "*.txt", "*.model")
"""Patterns of the files that a model is loaded from."""


def folder_of(model: str) -> Path | None:
    """Return the folder that a setting names, or None when it is the name of a model.

    The form of the text decides, not the file system: the current folder may hold an untrusted
    change, with a folder named like a model.

    Returns:
        The folder, which need not exist, when `model` is absolute or begins with `./`, `../` or
        `~`; None when it is a name.
    """
    if model in {".", ".."} or model.startswith(_FOLDER_PREFIXES) or Path(model).is_absolute():
        try:
            return Path(model).expanduser()
        except RuntimeError:  # no such user
            return Path(model)
    return None


def is_name(model: str) -> bool:
    """Return whether a text has the form of a model's name on the hub: `owner/name` or `name`."""
    return _HUB_NAME.fullmatch(model) is not None


def is_commit(revision: str) -> bool:
    """Return whether a revision is a full commit hash, which cannot move."""
    return _COMMIT_HASH.fullmatch(revision) is not None


def find_weight_files(folder: Path) -> tuple[Path, ...]:
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

    Reading all of a large model takes minutes. Training changes every part of a tensor, so the
    names, the shapes and the first 4 KiB of each tensor distinguish the results of two trainings.
    They do not detect deliberate tampering.

    Args:
        folder: A model as `save_pretrained` writes it.

    Returns:
        12 hexadecimal digits.

    Raises:
        ModelNotFoundError: There is no such folder.
        GenerationError: It has no safetensors files, or damaged ones.
    """
    digest = hashlib.sha256()
    files = find_weight_files(folder)
    for path in sorted({path for pattern in _SETTINGS_PATTERNS for path in folder.glob(pattern)}):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.stat().st_size.to_bytes(8, "big"))
        for part in _samples(path):
            digest.update(part)
    return digest.hexdigest()[:HASH_DIGITS]


@cache
def adapter_fingerprint(folder: Path) -> str:
    """Return a hash of a LoRA adapter's settings and all of its weights: 12 hexadecimal digits.

    Raises:
        ModelNotFoundError: There is no such folder.
        GenerationError: It is not an adapter in peft's format with safetensors.
    """
    if not folder.is_dir():
        raise ModelNotFoundError(str(folder), "crscore train claims")
    digest = hashlib.sha256()
    for name in (ADAPTER_SETTINGS, ADAPTER_WEIGHTS):
        path = folder / name
        if not path.is_file():
            raise GenerationError(
                f"{folder} is not a LoRA adapter: {name} is missing, and pickled adapters are "
                "not loaded"
            )
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()[:HASH_DIGITS]


def adapter_rank(folder: Path) -> int:
    """Return an adapter's rank, 1 or more.

    Raises:
        GenerationError: Its settings do not contain the rank.
    """
    try:
        settings = json.loads((folder / ADAPTER_SETTINGS).read_text(encoding="utf-8"))
        ranks = [int(settings["r"]), *map(int, (settings.get("rank_pattern") or {}).values())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise GenerationError(f"{folder / ADAPTER_SETTINGS} has no valid rank: {exc}") from exc
    return max(1, *ranks)


def find_cached(model: str, revision: str, *, file: str = "config.json") -> Path | None:
    """Return the folder of a model in the hub's cache on this disk, without using the network.

    Args:
        model: `owner/name`.
        revision: A commit, or a branch or tag as it was when last seen.
        file: Name of a file that must be cached.

    Returns:
        The folder of that revision, or None when it is not cached.
    """
    try:
        from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415
        from huggingface_hub.errors import HFValidationError  # noqa: PLC0415
    except ImportError:
        return None
    try:
        # Not `hf_hub_download(local_files_only=True)`: building its headers queries the hub.
        file_path = try_to_load_from_cache(model, file, revision=revision)
    except HFValidationError:
        return None  # a path to a folder that does not exist, rather than a repository's name
    return Path(file_path).parent if isinstance(file_path, str) else None


@cache
def resolve_commit(model: str, revision: str, *, offline: bool) -> str:
    """Return the commit that a branch or tag of the hub points to.

    Args:
        model: `owner/name`.
        revision: A branch or a tag; a commit is returned unchanged.
        offline: Never use the network; use the cached state.

    Returns:
        40 hexadecimal digits.

    Raises:
        ModelNotFoundError: It is not on this disk, and the hub does not have it, cannot be reached
            or must not be used.
    """
    if is_commit(revision):
        return revision
    commit_hash = None if offline else _commit_on_hub(model, revision)
    if commit_hash is None:
        folder = find_cached(model, revision)
        commit_hash = folder.name if folder is not None else None
    if commit_hash is None:
        raise ModelNotFoundError(model, download_command(model, revision))
    return commit_hash


def cached_if_shadowed(model: str, commit: str) -> Path | None:
    """Return the cached folder of a model whose name is also a path on this machine.

    The libraries that load models look for a local folder first, and would load that.

    Args:
        model: `owner/name`.
        commit: A commit of it.

    Returns:
        The folder in the hub's cache; None when no local path has the model's name.

    Raises:
        ModelNotFoundError: It is neither cached nor on the hub.
    """
    if not Path(model).exists():
        return None
    from huggingface_hub import snapshot_download  # noqa: PLC0415
    from huggingface_hub.errors import HFValidationError  # noqa: PLC0415

    try:
        return Path(
            snapshot_download(model, revision=commit, allow_patterns=list(_MODEL_FILE_PATTERNS))
        )
    except (OSError, HFValidationError) as exc:
        raise ModelNotFoundError(model, download_command(model, commit)) from exc


def download_command(model: str, revision: str | None) -> str:
    """Return the command that downloads a model into the hub's cache."""
    return f"hf download {model}" + (f" --revision {revision}" if revision else "")


def _commit_on_hub(model: str, revision: str) -> str | None:
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
            # The format: 8 bytes with the header's length, the header as JSON, then the tensors.
            (length,) = struct.unpack("<Q", handle.read(8))
            if length > _MAX_HEADER_BYTES:
                raise GenerationError(f"{path} is not a safetensors file")
            header = handle.read(length)
            if len(header) < length:
                raise GenerationError(f"{path} is a truncated safetensors file")
            yield header
            for begin, end in sorted(_offsets(json.loads(header))):
                handle.seek(8 + length + begin)
                yield handle.read(min(end - begin, _SAMPLE_BYTES))
    except (OSError, struct.error, ValueError, KeyError, TypeError) as exc:
        raise GenerationError(f"{path} cannot be read as safetensors: {exc}") from exc


def _offsets(header: Any) -> Iterator[tuple[int, int]]:
    if not isinstance(header, dict):
        raise TypeError("its header is not an object")
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            yield int(begin), int(end)
