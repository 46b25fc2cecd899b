"""Weights files: NumPy archives (`.npz`) of arrays and texts, without pickled objects."""

import io
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.errors import InputError

# Far more than weights need. The unpacked size is limited, because a small file can hold many
# zeros, which are compressed to a thousandth.
MAX_BYTES: Final = 256 * 2**20
"""Maximum bytes of all arrays of a file together, unpacked."""
T = TypeVar("T")
Arrays = dict[str, npt.NDArray[Any]]

# RuntimeError is raised if a flipped bit marks a member as encrypted or as compressed in an unknown
# way, MemoryError if a header has a huge shape.
_READ_ERRORS: Final = (
    *(OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),  # NumPy parses headers as Python code
    msgspec.MsgspecError,
)
"""Exceptions for a file that is truncated, damaged or of another kind, or that lacks a value."""


def pack(arrays: Mapping[str, npt.NDArray[Any]], *, compress: bool = True) -> bytes:
    """Return the bytes of an archive of arrays with a fixed date: equal arrays give equal bytes."""
    packed = io.BytesIO()
    compression = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            # 1980 is the earliest year that a ZIP file can have.
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = compression
            archive.writestr(entry, member.getvalue())
    return packed.getvalue()


def unpack(path: Path, parse: Callable[[Arrays], T], kind: str) -> T:
    """Read an archive made by `pack`.

    Args:
        path: The file.
        parse: Builds the result from the arrays.
        kind: Expected kind of file, for the message.

    Returns:
        The result of `parse`.

    Raises:
        InputError: The file cannot be read or is too large, or `parse` finds a wrong or missing
            value.
    """
    try:
        # The file is opened here, because NumPy does not close a damaged archive. Pickled objects
        # are refused, because loading them would run code from the file:
        # https://numpy.org/doc/stable/reference/generated/numpy.load.html
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            size = sum(entry.file_size for entry in archive.zip.infolist())
            if size > MAX_BYTES:
                raise ValueError(f"its arrays are larger than {MAX_BYTES:,} bytes")
            return parse(dict(archive))
    except _READ_ERRORS as exc:
        raise InputError(f"{path} cannot be read as {kind}: {exc}") from exc


def from_text(text: str) -> npt.NDArray[np.uint8]:
    """Return a text as an array of its bytes."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def to_text(array: npt.NDArray[Any]) -> str:
    """Return the text of an array made by `from_text`."""
    return array.tobytes().decode()


def to_lines(array: npt.NDArray[Any]) -> list[str]:
    """Return the lines of the text of an array made by `from_text`; no lines for an empty text."""
    text = to_text(array)
    return text.split("\n") if text else []
