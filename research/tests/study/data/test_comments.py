import json
from pathlib import Path

import pytest

from crscore.errors import InputError
from crscore.scorer import Scorer
from crscore_lab.study.data import comments
from crscore_lab.study.data.comments import Comments
from tests.helpers import study as helper

SCORER = Scorer(encoder="hashing", threshold=0.3, analyzers="none", cache=False)
PATCH = "@@ -1 +1 @@\n-limit = 10\n+limit = 20\n"
WHOLE = "--- a/one.go\n+++ b/one.go\n" + PATCH


def row(**fields: object) -> dict:
    return {"comment": "Why 20?", "patch": PATCH, **fields}


def read(tmp_path: Path, *rows: dict) -> Comments:
    return comments.read_comments(helper.write(tmp_path / "c.jsonl", list(rows)), SCORER)


@pytest.mark.parametrize("text", ["comment", "subject", "body"])
@pytest.mark.parametrize("patch", ["patch", "diff_hunk", "diff"])
def test_text_and_change_have_several_names(tmp_path: Path, text: str, patch: str) -> None:
    path = helper.write(tmp_path / "c.jsonl.gz", [{text: "Why 20?", patch: PATCH, "mine": [1]}])
    assert comments.is_comments(path)
    (one,) = comments.read_comments(path, SCORER).rows
    assert (one.text, one.patch) == ("Why 20?", PATCH)


def test_subject_goes_before_body_and_null_is_not_a_text(tmp_path: Path) -> None:
    found = read(tmp_path, {"body": "", "subject": "Raise it", "comment": None, "diff": PATCH})
    assert found.rows[0].text == "Raise it"


def test_rows_of_one_change_share_it(tmp_path: Path) -> None:
    first, second, other = read(tmp_path, row(), row(comment="More."), row(language="go")).rows
    assert first.diff is second.diff
    assert first.diff is not other.diff


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"patch": PATCH}, "c.jsonl:2: comment: missing, and so are subject and body"),
        ({"body": "Why?"}, "c.jsonl:2: patch: missing, and so are diff_hunk and diff"),
        ({"comment": 3, "patch": PATCH}, "c.jsonl:2: comment: expected `str | null`, got `int`"),
        ({"comment": "Why?", "diff": "no diff"}, "c.jsonl:2: diff"),
        ({"comment": "Why?", "patch": PATCH, "path": 1}, "c.jsonl:2: path: expected"),
    ],
)
def test_wrong_row_is_named_with_its_field(tmp_path: Path, broken: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, row(), broken)
    assert message in str(error.value)


def test_field_of_a_group_is_text_number_or_null(tmp_path: Path) -> None:
    found = read(tmp_path, row(by="a"), row(by=None), row(by=7), row(by=[1]), row())
    assert [one.value("by") for one in found.rows[:3]] == ["a", "", "7"]
    with pytest.raises(InputError, match=r"c\.jsonl:4: by: expected a text"):
        found.rows[3].value("by")
    with pytest.raises(InputError, match=r"c\.jsonl:5: by: missing"):
        found.rows[4].value("by")


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (json.dumps(helper.rows()[0]), False),
        (json.dumps(row(reviews=[])), False),
        ("\n" + json.dumps(row()) + "\nnonsense", True),
        ('{"patch": "x"}', True),
        ('{"other": 1}', False),
        ("[]", False),
        ("{", False),
        ("", False),
    ],
)
def test_file_is_recognised_by_its_first_row(tmp_path: Path, content: str, known: bool) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(content, encoding="utf-8")
    assert comments.is_comments(path) == known


def test_file_that_is_not_there_or_empty_has_no_comments(tmp_path: Path) -> None:
    assert not comments.is_comments(tmp_path / "c.jsonl")
    with pytest.raises(InputError, match="has no comments"):
        read(tmp_path)
