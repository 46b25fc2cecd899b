"""Location and verification of the files of all-MiniLM-L6-v2.

The weights and the vocabulary are not part of the package. `minilm_fetch` stores them in the user's
data folder, or in the folder that `CRSCORE_ENCODER_DIR` names. Both are verified by SHA-256, so
that the vectors do not depend on their source.
"""

import hashlib
from pathlib import Path
from typing import Final

from crscore.errors import EncodingError
from crscore.settings import encoder_dir

MODEL: Final = "all-MiniLM-L6-v2"
REPOSITORY: Final = f"sentence-transformers/{MODEL}"
COMMIT: Final = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
"""Commit of the hub that has these files."""

INSTALL_COMMAND: Final = "crscore encoder install"
"""Command that downloads the files, or replaces damaged ones."""

WEIGHTS: Final = "model.safetensors"
VOCABULARY: Final = "tokenizer.json"
SHA256: Final = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""File name -> SHA-256, in hexadecimal."""


def default_folder() -> Path:
    """Return the folder of the files: `CRSCORE_ENCODER_DIR`, else a folder of the user's data."""
    folder = encoder_dir()
    if folder is not None:
        return folder
    import platformdirs  # noqa: PLC0415

    data = Path(platformdirs.user_data_dir("crscore", appauthor=False))
    return data / "encoders" / f"{MODEL}-{SHA256[WEIGHTS][:8]}"


def is_complete(folder: Path) -> bool:
    """Return whether a folder has both files."""
    return all((folder / name).is_file() for name in SHA256)


def verify(folder: Path, name: str) -> None:
    """Verify that a file is the published one.

    Reading and hashing all 91 MB takes about 0.06 s on a processor with SHA instructions, and
    guarantees the encoder's identity.

    Args:
        folder: The model's folder.
        name: One of `SHA256`.

    Raises:
        EncodingError: The file has different content.
        OSError: The file cannot be read.
    """
    path = folder / name
    with path.open("rb") as file:
        check_hash(name, hashlib.file_digest(file, "sha256").hexdigest(), path)


def check_hash(name: str, sha256: str, path: Path) -> None:
    """Compare a file's SHA-256 with the published one.

    Args:
        name: One of `SHA256`.
        sha256: Hash of the file, in hexadecimal.
        path: Path of the file, for the message.

    Raises:
        EncodingError: They differ.
    """
    if sha256 != SHA256[name]:
        raise EncodingError(
            f"{path} is not the published {name} of {MODEL}: its SHA-256 is {sha256}, "
            f"expected {SHA256[name]}; replace it with: {INSTALL_COMMAND}"
        )
