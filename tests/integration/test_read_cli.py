"""`crscore read`: the requests about one review, and about many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crscore import cli
from tests.helpers.model_readings import answer, remark

ROOT = Path(__file__).parents[2]
DIFF = str(ROOT / "examples" / "change.diff")
REVIEW = str(ROOT / "examples" / "review.md")
PLAIN = ("--analyzers", "none")


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "requests.jsonl"


def run(*arguments: object) -> int:
    return cli.run(["read", *map(str, arguments), *PLAIN])


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_requests_of_one_review_are_written_with_what_a_batch_service_needs(
    target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(DIFF, REVIEW, "--requests", target) == 0
    (row,) = rows(target)
    assert [*row] == ["pair", "id", "comments", "messages", "max_tokens", "schema"]
    assert row["comments"] == [0]
    assert "1 request, about" in capsys.readouterr().err


def test_requests_of_many_pairs_name_their_pair_and_a_wrong_line_is_reported(
    target: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = "@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    pairs = tmp_path / "pairs.jsonl"
    lines = [{"id": "a", "diff": patch, "review": "Why?"}, {"id": "b", "diff": "no", "review": "x"}]
    pairs.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert run(pairs, "--requests", target) == 3
    assert [row["pair"] for row in rows(target)] == ["a"]
    assert "pairs.jsonl:2" in capsys.readouterr().err


def test_recorded_answers_are_read_for_many_pairs(
    target: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = "@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    pairs = tmp_path / "pairs.jsonl"
    lines = [{"id": name, "diff": patch, "review": f"Why {name}?"} for name in ("a", "b")]
    pairs.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert run(pairs, "--requests", target) == 0
    answers = tmp_path / "answers.jsonl"
    said = answer(remark("Why", worth=2))
    answers.write_text(
        "\n".join(json.dumps({"id": row["id"], "answer": said}) for row in rows(target))
    )
    capsys.readouterr()
    arguments = ["score", str(pairs), *PLAIN, "--format", "json", "--reader", f"replay:{answers}"]
    assert cli.run(arguments) == 0
    captured = capsys.readouterr()
    documents = [json.loads(line) for line in captured.out.splitlines()]
    assert [document["remarks"][0]["reading"]["worth"] for document in documents] == [2, 2]
    assert "A language model read 2 of 2 comments (requests: 2" in captured.err


def test_whole_files_are_shown(target: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def limit():\n    x = 2\n    return x\n", "utf-8")
    (tmp_path / "a.diff").write_text(
        "--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-    x = 1\n+    x = 2\n"
    )
    (tmp_path / "r.json").write_text('[{"path": "a.py", "line": 2, "body": "Why?"}]', "utf-8")
    root = ("--source-root", tmp_path)
    assert run(tmp_path / "a.diff", tmp_path / "r.json", "--requests", target, *root) == 0
    assert "\n def limit():\n-    x = 1\n+    x = 2\n     return x\n" in str(
        rows(target)[0]["messages"][0]["content"]  # type: ignore[index]
    )


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((DIFF, REVIEW), "--requests"),
        ((DIFF, REVIEW, "--requests", "no/such/folder.jsonl"), "folder does not exist"),
        ((DIFF, "--requests", "-"), "JSON Lines"),
        (("pairs.jsonl", "--requests", "-", "--path", "a.py"), "--sarif need a REVIEW"),
    ],
)
def test_wrong_call_is_one_line(
    target: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], word: str
) -> None:
    assert run(*arguments) in (2, 3)
    captured = capsys.readouterr()
    assert word in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
