"""Reads the result of an untrusted job: one file with a fixed name and a limited size.

The job ran for an untrusted pull request, so its archive is untrusted too. Nothing from the archive
is written to disk, and no name in the archive is used as a path.
"""

import zipfile
import zlib
from pathlib import Path
from typing import Final

from crscore.errors import InputError, LimitError

MEMBER: Final = "crscore.json"
"""Name of the only file that is read from an archive."""
# https://docs.python.org/3/library/zipfile.html: Python also reads BZIP2, LZMA and Zstandard.
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compression methods. GitHub uses no others, and each decoder adds attack surface."""
# Equal to `pull_request.overview.MAX_BYTES`, which limits the same file on the command line.
MAX_BYTES: Final = 50_000_000
"""Maximum size of the file and of the archive, in bytes."""


# CVE-2024-42471: `@actions/artifact` let an archive write outside of its folder,
# https://github.com/advisories/GHSA-6q32-hq47-5qq3
def read_artifact(path: Path) -> bytes:
    """Read the file that another job wrote.

    Args:
        path: The JSON file, or GitHub's zip archive of it.

    Returns:
        The bytes of the file; the caller must validate them against the schema.

    Raises:
        InputError: The file is missing or cannot be read, or the archive is damaged or does not
            have exactly one `MEMBER`.
        LimitError: The file or the archive is too large.
    """
    try:
        # A symbolic link could lead out of the artifact's folder.
        if path.is_symlink() or not path.is_file():
            raise InputError(f"post-from: there is no file {path.name}")
        _check_size(path.stat().st_size)
        if not zipfile.is_zipfile(path):
            return path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename == MEMBER]
            # If two members have the same name, programs differ in which one they read. Android
            # checked one and installed the other (CVE-2013-4787).
            if len(members) != 1:
                raise InputError(f"post-from: the archive must have exactly one {MEMBER}")
            if members[0].compress_type not in METHODS:
                raise InputError(f"post-from: {MEMBER} has an unexpected compression method")
            # Read with a limit, because the size stated in the archive may be wrong.
            with archive.open(members[0]) as stream:
                content = stream.read(MAX_BYTES + 1)
    except (
        zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError
    ) as exc:  # fmt: skip
        raise InputError("post-from: the archive cannot be read") from exc
    except OSError as exc:
        raise InputError(f"post-from cannot be read: {exc.strerror or exc}") from exc
    _check_size(len(content))
    return content


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise LimitError("the maximum size in bytes", MAX_BYTES, size, "post-from")
