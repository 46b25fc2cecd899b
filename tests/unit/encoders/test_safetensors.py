from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from crscore.encoders._safetensors import read_floats
from crscore.errors import EncodingError


def test_read_floats_of_a_written_file_gives_the_same_arrays(tmp_path: Path) -> None:
    written = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(4, dtype=np.float32)}
    save_file(written, tmp_path / "w.safetensors", metadata={"format": "np"})
    read = read_floats(tmp_path / "w.safetensors")
    assert {name: array.tolist() for name, array in read.items()} == {
        "a": [[0, 1, 2], [3, 4, 5]],
        "b": [1, 1, 1, 1],
    }


def test_read_floats_leaves_other_types_out(tmp_path: Path) -> None:
    save_file({"ids": np.arange(3), "x": np.ones(1, dtype=np.float32)}, tmp_path / "w")
    assert list(read_floats(tmp_path / "w")) == ["x"]


@pytest.mark.parametrize(
    "content",
    [b"", b"\x05", b"not a tensor file", b"\x02\0\0\0\0\0\0\0[]", b'\x08\0\0\0\0\0\0\0{"a": {}}'],
)
def test_read_floats_of_another_file_is_an_encoding_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(EncodingError, match="not a complete safetensors file"):
        read_floats(tmp_path / "w")


def test_read_floats_of_a_truncated_file_is_an_encoding_error(tmp_path: Path) -> None:
    save_file({"x": np.ones(100, dtype=np.float32)}, tmp_path / "w")
    content = (tmp_path / "w").read_bytes()
    (tmp_path / "w").write_bytes(content[:-4])
    with pytest.raises(EncodingError):
        read_floats(tmp_path / "w")
