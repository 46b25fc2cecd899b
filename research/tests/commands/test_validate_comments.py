"""`crscore validate` on comments without ratings, through the command line."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from crscore import cli
from tests.helpers import study as helper

SCHEMA = json.loads(files("crscore_lab").joinpath("schemas/validation.schema.json").read_text())
FAST = ("--encoder", "hashing", "--threshold", "0.3", "--resamples", "20")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "id": str(at),
            "subject": f"Raise the {name}",
            "diff": f"--- a/{name}.py\n+++ b/{name}.py\n@@ -1 +1 @@\n-{name} = 1\n+{name} = 2\n",
            "repository": "one" if at < 3 else "two",
        }
        for at, name in enumerate(["limit", "margin", "timeout", "colour", "volume", "retries"])
    ]
    return helper.write(tmp_path / "comments.jsonl.gz", rows)


def test_document_keeps_to_the_schema(data: Path, capsys) -> None:
    words = ["--within", "repository", "--group", "repository", "--format", "json", "-v"]
    assert cli.run(["validate", str(data), *FAST, *words]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    jsonschema.validate(found, SCHEMA)
    assert found["schema"] == "urn:crscore:separation:2"
    assert (found["own"], found["others"]) == (6, 6)
    assert "claims:structural" in found["signature"]
    assert captured.err == "crscore: scored 12 of 12 pairs of comment and change\n"


@pytest.mark.parametrize(
    ("words", "there"),
    [
        ([], {"own change against another of the same language", "6 other"}),
        (["--within", "repository", "--others", "2"], {"of the same repository", "12 other"}),
    ],
)
def test_text_says_what_was_measured(data: Path, capsys, words, there) -> None:
    assert cli.run(["validate", str(data), *FAST, *words]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(one in text for one in there)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--no-attacks"], "--attacks has no effect on comments without ratings; leave it out"),
        (["--split", "grouped-cv", "3"], "--split has no effect on comments without ratings"),
        (["--judge", "openai:m"], "--judge has no effect on comments without ratings"),
        (["--claims", "recorded"], "recorded"),
    ],
)
def test_option_of_rated_reviews_is_refused(data: Path, capsys, words, message) -> None:
    assert cli.run(["validate", str(data), *FAST, *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--others", "2"], ["--within", "language"]])
def test_option_of_comments_is_refused_by_rated_reviews(tmp_path: Path, capsys, words) -> None:
    path = helper.write(tmp_path / "study.jsonl")
    assert cli.run(["validate", str(path), *FAST, *words]) == 2
    assert f"{words[0]} has no effect on a study of rated reviews" in capsys.readouterr().err


def test_wrong_row_is_named(data: Path, capsys, tmp_path: Path) -> None:
    path = helper.write(tmp_path / "bad.jsonl", [{"comment": "Why?"}])
    assert cli.run(["validate", str(path), *FAST]) == 3
    assert "bad.jsonl:1: patch: missing, and so are diff_hunk and diff" in capsys.readouterr().err
