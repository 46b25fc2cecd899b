from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from crscore import jsonl
from crscore.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def test_packed_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "_MAX_BYTES", 1_000)
    file = tmp_path / "a.gz"
    file.write_bytes(gzip.compress(b" " * 1_001))
    with pytest.raises(InputError, match="unpacks to more than 1,000 bytes"):
        jsonl.read_bytes(file, "a study")
    file.write_bytes(gzip.compress(b" " * 1_000))
    assert len(jsonl.read_bytes(file, "a study")) == 1_000
