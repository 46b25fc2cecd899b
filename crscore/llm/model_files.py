"""Finds folders of models: named by a setting, or kept on this disk by the client of the hub.

The hub is Hugging Face's, huggingface.co.

Weights are read from safetensors files only: a `.bin` or `.pt` file is a pickle, and reading one
runs the program in it.
"""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

from crscore.errors import GenerationError, ModelNotFoundError

_SAMPLE_BYTES: Final = 2**20
"""Number of bytes at the beginning and at the end of a file that a fingerprint includes."""
# "owner/name", "gpt2"; not "/models/x", "a/b/c".
_HUB_NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)
_FOLDER_PREFIXES: Final = ("./", "../", "~", ".\\", "..\\")
# `*.bin` and `*.pt` are left out: they are pickles
# (https://huggingface.co/docs/hub/security-pickle).
_FILES: Final = ("*.safetensors", "*.json", "*.jinja", "*.txt", "*.model")
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


def find_on_hub(model: str, revision: str, *, offline: bool) -> Path:
    """Return the folder of a model of the hub; download missing files.

    Args:
        model: `owner/name`.
        revision: A commit, branch or tag.
        offline: Never use the network.

    Raises:
        ModelNotFoundError: It is not on this disk, and the hub does not have it, cannot be reached
            or must not be used.
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

    Reading all of a large model takes minutes, and training changes every tensor. So the size of a
    weights file, its beginning and its end distinguish the results of two trainings. They do not
    detect deliberate tampering.

    Args:
        folder: A model as `save_pretrained` writes it.

    Returns:
        12 hexadecimal digits.

    Raises:
        ModelNotFoundError: The folder does not exist.
        GenerationError: It has no safetensors files.
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
