import json
from pathlib import Path

import pytest

from crscore.claims import replay
from crscore.diff import parse
from crscore.errors import ConfigError, InputError
from crscore.records import LineSpan, ReferenceKind, Side

PATCH = parse.parse_diff("@@ -1 +1 @@\n-a\n+b\n", language="python")


def replayed(path: Path):
    return replay.create(argument=str(path)).generate([PATCH])[0]


def test_rows_of_a_file_answer_by_hash(tmp_path: Path) -> None:
    rows = [
        {"sha256": "0" * 64, "claims": ["other"]},
        {"sha256": PATCH.sha256, "claims": ["`a` became `b`.", {"text": "x", "kind": "issue"}]},
    ]
    file = tmp_path / "claims.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")
    references = [(ref.text, ref.kind) for ref in replayed(file).references]
    assert references == [("`a` became `b`.", ReferenceKind.CLAIM), ("x", ReferenceKind.ISSUE)]


def test_fields_of_a_claim_are_read(tmp_path: Path) -> None:
    claim = {
        "text": "x",
        "spans": [{"path": "a.py", "start": 1, "end": 2}],
        "identifiers": ["a"],
        "weight": 0.5,
    }
    file = tmp_path / "claims.jsonl"
    file.write_text(json.dumps({"sha256": PATCH.sha256, "claims": [claim]}), encoding="utf-8")
    (references,) = replayed(file).references
    assert references.spans == (LineSpan(path="a.py", side=Side.NEW, start=1, end=2),)
    assert (references.identifiers, references.weight) == (("a",), 0.5)


def test_diff_that_is_not_recorded_gets_a_note_and_no_claim(tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    file.write_text("", encoding="utf-8")
    claims = replayed(file)
    assert claims.references == ()
    assert PATCH.sha256 in claims.notes[0]


def test_identity_changes_with_the_recording(tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    identities = set()
    for text in ('{"sha256": "1", "claims": []}', '{"sha256": "2", "claims": []}'):
        file.write_text(text, encoding="utf-8")
        identities.add(replay.create(argument=str(file)).identity)
    assert len(identities) == 2


def test_no_path_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match="replay:FILE"):
        replay.create(argument="")


def test_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        replay.create(argument=str(tmp_path / "none.jsonl"))


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "[]",
        '{"sha256": "1"}',
        '{"sha256": "1", "claims": [{}]}',
        '{"sha256": "1", "claims": [3]}',
        '{"sha256": "1", "claims": [{"text": "x", "kind": "rumour"}]}',
        '{"sha256": "1", "claims": [{"text": "x", "weight": NaN}]}',
        '{"sha256": "1", "claims": [{"text": "x", "weight": 2}]}',
        '{"sha256": "1", "claims": [{"text": ["x"]}]}',
        '{"sha256": "1", "claims": "x"}',
        '{"claims": ["x"]}',
        '{"sha256": "1", "claims": [{"text": "x", "spans": [{"path": 1}]}]}',
    ],
)
def test_broken_row_names_its_place(tmp_path: Path, row: str) -> None:
    file = tmp_path / "claims.jsonl"
    file.write_text("\n" + row, encoding="utf-8")
    with pytest.raises(InputError, match=r"claims\.jsonl:2: "):
        replay.create(argument=str(file))


def test_blank_claims_are_left_out(tmp_path: Path) -> None:
    row = {"sha256": PATCH.sha256, "claims": ["", "  ", "`a` became `b`."]}
    file = tmp_path / "claims.jsonl"
    file.write_text(json.dumps(row), encoding="utf-8")
    assert [ref.text for ref in replayed(file).references] == ["`a` became `b`."]


def test_line_separator_inside_a_claim_ends_no_row(tmp_path: Path) -> None:
    row = {"sha256": PATCH.sha256, "claims": ["one\u2028two"]}
    file = tmp_path / "claims.jsonl"
    file.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    assert [ref.text for ref in replayed(file).references] == ["one\u2028two"]
