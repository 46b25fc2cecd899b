from pathlib import Path

import pytest

from crscore.errors import InputError
from crscore_lab.judgements import read_judgements


def test_decisions_by_hand_are_distinguished_from_judgements(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text('{"id": "606a16abb8", "same": true}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"expected pull, golden and found.*--decisions"):
        read_judgements(path)
