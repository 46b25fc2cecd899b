"""`crscore validate` on comments, through the command line: which options it takes."""

from pathlib import Path

import pytest

from crscore import cli
from tests.helpers import study as helper


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    row = {"comment": "Why 2?", "patch": "@@ -1 +1 @@\n-a = 1\n+a = 2\n"}
    return helper.write(tmp_path / "comments.jsonl.gz", [row])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--no-attacks"], "--attacks has no effect on a comparison of readers; leave it out"),
        (["--split", "grouped-cv", "3"], "--split has no effect on a comparison of readers"),
        (["--judge", "openai:m"], "--judge has no effect on a comparison of readers"),
        (["--claims", "recorded"], "recorded"),
    ],
)
def test_option_of_rated_reviews_is_refused(data: Path, capsys, words, message) -> None:
    assert cli.run(["validate", str(data), *words]) == 2
    assert message in capsys.readouterr().err


def test_network_reads_comments_without_a_reader(data: Path, capsys) -> None:
    assert cli.run(["validate", str(data)]) == 3
    assert "no comment has an outcome" in capsys.readouterr().err


def test_option_of_comments_is_refused_by_rated_reviews(tmp_path: Path, capsys) -> None:
    path = helper.write(tmp_path / "study.jsonl")
    assert cli.run(["validate", str(path), "--group", "id"]) == 2
    assert "--group has no effect on a study of rated reviews" in capsys.readouterr().err


def test_wrong_row_is_named(data: Path, capsys, tmp_path: Path) -> None:
    path = helper.write(tmp_path / "bad.jsonl", [{"comment": "Why?"}])
    assert cli.run(["validate", str(path)]) == 3
    assert "bad.jsonl:1: patch: missing, and so are diff_hunk and diff" in capsys.readouterr().err
