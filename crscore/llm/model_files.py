"""Finds the folder of a model: a folder that a setting names, or one in the cache of the hub.

The hub is Hugging Face (huggingface.co), whose client caches the models that it downloads.

Weights are read from safetensors files only, because a `.bin` or `.pt` file is a pickle, and
reading a pickle runs the program in it.
"""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

from crscore.errors import GenerationError, ModelNotFoundError

_SAMPLE_BYTES: Final = 2**20
"""Number of bytes that a fingerprint includes of each end of a file."""
# "owner/name", "gpt2"; not "/models/x", "a/b/c".
_HUB_NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)
_FOLDER_PREFIXES: Final = ("./", "../", "~", ".\\", "..\\")
# Without `*.bin` and `*.pt`, which are pickles: https://huggingface.co/docs/hub/security-pickle
_FILES: Final = ("*.safetensors", "*.json", "*.jinja", "*.txt", "*.model")
"""Patterns of the files that a model is loaded from."""


def folder_of(model: str) -> Path | None:
    """Return the folder that a setting names, or None if the setting is the name of a model.

    Whether a folder exists does not matter, because the current folder may have an untrusted
    change with a folder that is named like a model.

    Returns:
        The folder, which need not exist, if `model` is an absolute path or begins with `./`, `../`
        or `~`; None otherwise.
    """
    if model in {".", ".."} or model.startswith(_FOLDER_PREFIXES) or Path(model).is_absolute():
        try:
            return Path(model).expanduser()
        except RuntimeError:  # `~name`, but there is no such user
            return Path(model)
    return None


def is_name(model: str) -> bool:
    """Return whether a text has the form of a model's name on the hub: `owner/name` or `name`."""
    return _HUB_NAME.fullmatch(model) is not None


def find_on_hub(model: str, revision: str, *, offline: bool) -> Path:
    """Download missing files of a model from the hub, and return the model's folder.

    Args:
        model: `owner/name`.
        revision: A commit, branch or tag.
        offline: Never use the network.

    Raises:
        ModelNotFoundError: The model is not on this disk, and the hub does not have it, cannot be
            reached or must not be used.
    """
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415  (comes with transformers)
        from huggingface_hub.errors import HFValidationError  # noqa: PLC0415

        folder = snapshot_download(
            model, revision=revision, local_files_only=offline, allow_patterns=list(_FILES)
        )
    except (ImportError, OSError, HFValidationError) as exc:
        raise ModelNotFoundError(model, download_command(model, revision)) from exc
    return Path(folder)


def download_command(model: str, revision: str | None) -> str:
    """Return the command that downloads a model into the hub's cache."""
    return f"hf download {model}" + (f" --revision {revision}" if revision else "")


@cache
def fingerprint(folder: Path) -> str:
    """Return a hash of a model's or an adapter's settings, tokenizer and weights.

    Only the size, the beginning and the end of each file are hashed, because reading all of a large
    model takes minutes. These differ after each training, which changes every tensor. The hash does
    not reveal deliberate tampering.

    Args:
        folder: Folder of the model, as `save_pretrained` writes it.

    Returns:
        12 hexadecimal digits.

    Raises:
        ModelNotFoundError: The folder does not exist.
        GenerationError: The folder has no safetensors files.
    """
    if not folder.is_dir():
        raise ModelNotFoundError(str(folder), f"hf download MODEL --local-dir {folder}")
    if not any(folder.rglob("*.safetensors")):
        raise GenerationError(
            f"{folder} has no .safetensors file; pickled weights (.bin, .pt) are not loaded: "
            "save the model with safe_serialization=True"
        )
    digest = hashlib.sha256()
    for path in sorted({path for pattern in _FILES for path in folder.rglob(pattern)}):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as handle:
            digest.update(handle.read(_SAMPLE_BYTES))
            handle.seek(max(0, size - _SAMPLE_BYTES))
            digest.update(handle.read())
    return digest.hexdigest()[:12]
