import json
from pathlib import Path

import pytest

from crscore import diff
from crscore.errors import InputError
from crscore.records import ReferenceKind
from crscore.validation import study
from tests.helpers import study as helper


@pytest.mark.parametrize("name", ["study.jsonl", "study.jsonl.gz"])
def test_plain_and_gzip_files_read_alike(tmp_path: Path, name: str) -> None:
    found = study.read(helper.write(tmp_path / name))
    assert [change.id for change in found.changes] == ["py:1", "py:2", "js:1"]
    assert found.changes[0].reviews[0].ratings == (4.0, 4.0, 4.0)


def test_recorded_claims_are_the_models_and_the_findings(tmp_path: Path) -> None:
    found = study.read(helper.write(tmp_path / "study.jsonl"))
    made = study.recorded(found).generate([diff.parse(found.changes[0].patch)])[0]
    assert [(ref.text, ref.kind) for ref in made.references] == [
        ("The limit is raised from 10 to 20.", ReferenceKind.CLAIM),
        ("The name of the table changes.", ReferenceKind.CLAIM),
        ("Unused variable `limit`.", ReferenceKind.ISSUE),
    ]


def test_identity_names_the_data(tmp_path: Path) -> None:
    entries = helper.rows()
    first = study.recorded(study.read(helper.write(tmp_path / "a.jsonl", entries)))
    second = study.recorded(study.read(helper.write(tmp_path / "b.jsonl", entries[:1])))
    assert first.identity != second.identity


@pytest.mark.parametrize("missing", ["id", "patch", "reviews", "language"])
def test_missing_field_names_the_line(tmp_path: Path, missing: str) -> None:
    entries = helper.rows()
    del entries[1][missing]
    with pytest.raises(InputError, match=rf"s\.jsonl:2: .*{missing}"):
        study.read(helper.write(tmp_path / "s.jsonl", entries))


@pytest.mark.parametrize("rating", ["high", None, True, float("nan"), 10**400, 0, 6])
def test_rating_that_is_none_is_refused(tmp_path: Path, rating: object) -> None:
    entries = helper.rows()
    entries[0]["reviews"][0]["relevance"] = rating
    with pytest.raises(InputError, match=r"s\.jsonl:1"):
        study.read(helper.write(tmp_path / "s.jsonl", entries))


def test_file_without_changes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no change"):
        study.read(helper.write(tmp_path / "s.jsonl", []))


@pytest.mark.parametrize("content", [b"\x1f\x8bbroken", b"\xff\xfe\xff", b"\x1f\x8b"])
def test_unreadable_bytes_are_one_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as a study"):
        study.read(path)


@pytest.mark.parametrize("what", ["id", "patch"])
def test_change_that_comes_twice_is_refused(tmp_path: Path, what: str) -> None:
    entries = helper.rows()
    entries[2][what] = entries[0][what]
    with pytest.raises(InputError, match=f"change 3 has the {what} of an earlier one"):
        study.read(helper.write(tmp_path / "s.jsonl", entries))


def test_source_that_is_no_text_is_refused(tmp_path: Path) -> None:
    entries = helper.rows()
    entries[0]["old_source"] = 5
    with pytest.raises(InputError, match="old_source must be a string or null"):
        study.read(helper.write(tmp_path / "s.jsonl", entries))


def test_line_separator_inside_a_review_ends_no_row(tmp_path: Path) -> None:
    entries = helper.rows()
    entries[0]["reviews"][0]["text"] = "one\u2028two"
    path = tmp_path / "s.jsonl"
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in entries)
    path.write_text(text, encoding="utf-8")
    assert study.read(path).changes[0].reviews[0].text == "one\u2028two"
