"""Reads a `.safetensors` file without copying it: arrays over the mapped file.

The format: 8 bytes with the header's length (little-endian), the header as JSON with each
tensor's type, shape and place, then the numbers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from crscore.errors import EncodingError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


def read_floats(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Map the 32-bit float tensors of a file.

    Args:
        path: The file.

    Returns:
        Name -> read-only array of the tensor's shape. Tensors of other types are left out.

    Raises:
        EncodingError: The file is not of this format, or is cut short.
        OSError: The file cannot be read.
    """
    try:
        raw = np.memmap(path, dtype=np.uint8, mode="r")
        length = int.from_bytes(raw[:8].tobytes(), "little")
        header = json.loads(raw[8 : 8 + length].tobytes())
        body = raw[8 + length :]
        tensors = {
            name: _array(body, entry["data_offsets"], entry["shape"])
            for name, entry in header.items()
            if name != "__metadata__" and entry["dtype"] == "F32"
        }
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise EncodingError(f"{path} is not a complete safetensors file; fetch it again") from exc
    return tensors


def _array(
    body: npt.NDArray[np.uint8], place: tuple[int, int], shape: list[int]
) -> npt.NDArray[np.float32]:
    start, end = place
    return body[start:end].view(np.float32).reshape(shape)
