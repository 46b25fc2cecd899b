"""NumPy archives (`.npz`) without pickled objects."""

from __future__ import annotations

import io
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

BROKEN: Final = (
    *(OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),  # NumPy reads headers as Python
)
"""Raised for a file that is truncated, altered or of another kind, and for values missing in it."""


def pack(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Write arrays without a time: the same arrays give the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, part.getvalue())
    return packed.getvalue()
