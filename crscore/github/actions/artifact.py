"""Result of an untrusted job: one file of known name, of bounded size, read in memory.

The job ran for a stranger's pull request, so the archive is a stranger's, too. Nothing of it is
written to the disk, and no name in it is used as a path.
"""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from crscore.errors import InputError, LimitError

if TYPE_CHECKING:
    from pathlib import Path

MEMBER: Final = "crscore.json"
"""The one name looked for in an archive."""
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How a member may be packed: GitHub uses no other, and each decoder is one more to attack."""
MAX_BYTES: Final = 50_000_000
"""Largest file, and largest archive, read."""


def read_artifact(path: Path) -> bytes:
    """Read the file that another job made.

    Args:
        path: The JSON file, a folder with it, or the zip archive that GitHub keeps of it.

    Returns:
        Its bytes, of any content: to be checked against the schema.

    Raises:
        InputError: It is not there, or the archive cannot be read.
        LimitError: It is too large.
    """
    if path.is_dir():
        path /= MEMBER
    try:
        if path.is_symlink() or not path.is_file():
            raise InputError(f"post-from: there is no file {path.name}")
        _check(path.stat().st_size)
        if not zipfile.is_zipfile(path):
            return path.read_bytes()
        return _member(path)
    except OSError as exc:
        raise InputError(f"post-from cannot be read: {exc.strerror or exc}") from exc


def _member(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info for info in archive.infolist() if info.filename == MEMBER]
            if len(names) != 1:
                raise InputError(f"post-from: the archive must have one {MEMBER}")
            if names[0].compress_type not in METHODS:
                raise InputError(f"post-from: {MEMBER} is packed in a way that GitHub does not use")
            # Read with a limit, as the size that the archive states may be a lie.
            with archive.open(names[0]) as stream:
                content = stream.read(MAX_BYTES + 1)
    except (
        zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError
    ) as exc:  # fmt: skip
        raise InputError("post-from: the archive cannot be read") from exc
    _check(len(content))
    return content


def _check(size: int) -> None:
    if size > MAX_BYTES:
        raise LimitError("the largest artifact", MAX_BYTES, size, "post-from")
