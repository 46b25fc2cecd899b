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

# Far more than weights need. The size of the file is no limit: zeros pack to a thousandth.
MAX_BYTES: Final = 256 * 2**20
"""Maximum bytes of all arrays, unpacked."""
T = TypeVar("T")
Arrays = dict[str, npt.NDArray[Any]]

# RuntimeError: a flipped bit marks a member as encrypted or compressed in an unknown way.
# MemoryError: a header has a huge shape.
_BROKEN: Final = (
    *(OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),  # NumPy reads headers as Python
    msgspec.MsgspecError,
)
"""Errors for a file that is truncated, altered or of another kind, and for missing values."""


def pack(arrays: Mapping[str, npt.NDArray[Any]], *, compress: bool = True) -> bytes:
    """Write arrays without a timestamp: equal arrays have equal bytes."""
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

    Raises:
        InputError: The file cannot be read, or `parse` finds a wrong or missing value.
    """
    try:
        # The file is opened here, because NumPy leaves a broken archive open. Unpickling would run
        # code from the file:
        # https://numpy.org/doc/stable/reference/generated/numpy.load.html
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            size = sum(entry.file_size for entry in archive.zip.infolist())
            if size > MAX_BYTES:
                raise ValueError(f"its arrays are larger than {MAX_BYTES:,} bytes")
            return parse(dict(archive))
    except _BROKEN as exc:
        raise InputError(f"{path} cannot be read as {kind}: {exc}") from exc


def from_text(text: str) -> npt.NDArray[np.uint8]:
    """Return a text as an array of its bytes."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def to_text(array: npt.NDArray[Any]) -> str:
    """Return the text of an array made by `from_text`."""
    return array.tobytes().decode()


def to_lines(array: npt.NDArray[Any]) -> list[str]:
    """Return the lines of a text; empty for an empty text."""
    text = to_text(array)
    return text.split("\n") if text else []
