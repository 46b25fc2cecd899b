"""`crscore triage` on files, and `crscore mcp` spoken to by the official client."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from crscore import cli

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
DIFF = ROOT / "examples" / "change.diff"
REVIEW = ROOT / "examples" / "review.md"
COMMENTS = [
    {
        "id": 1,
        "path": "payments/client.py",
        "line": 18,
        "body": "`timeout` has no default in `GatewayClient.__init__`, so every caller breaks.",
    },
    {"id": 2, "path": "payments/client.py", "line": 30, "body": "Looks good."},
]


@pytest.fixture
def triage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., tuple[int, str]]:
    draft = tmp_path / "draft.json"
    draft.write_text(json.dumps(COMMENTS))

    def run(*arguments: str) -> tuple[int, str]:
        code = cli.run(["triage", str(DIFF), str(draft), "-q", *arguments])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


def test_json_follows_its_schema(triage: Callable[..., tuple[int, str]]) -> None:
    code, output = triage("--format", "json")
    document = json.loads(output)
    schema = (ROOT / "crscore" / "schemas" / "triage.schema.json").read_text("utf-8")
    jsonschema.validate(document, json.loads(schema))
    assert code == 0
    assert [remark["action"] for remark in document["remarks"]] == ["fix", "skip"]
    assert [remark["id"] for remark in document["remarks"]] == ["1", "2"]


def test_draft_keeps_the_comments_that_are_worth_posting(
    triage: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    code, output = triage("--only", "worth-posting", "--format", "comments")
    assert (code, [comment["id"] for comment in json.loads(output)]) == (0, ["1"])
    assert json.loads(output)[0]["body"] == COMMENTS[0]["body"]
    (tmp_path / "posted.json").write_text(json.dumps(COMMENTS))
    posted = ["--posted", str(tmp_path / "posted.json")]
    assert json.loads(triage("--only", "worth-posting", "--format", "comments", *posted)[1]) == []


def test_text_lists_each_remark_with_its_reason(triage: Callable[..., tuple[int, str]]) -> None:
    code, output = triage()
    assert code == 0
    assert "fix" in output
    assert "payments/client.py:18" in output
    assert "needs no answer" in output
    assert [line[:9] for line in output.splitlines()[::2]] == ["  1  fix ", "  2  skip"]


def test_text_counts_remarks_from_1_and_json_from_0(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    draft = tmp_path / "draft.json"
    draft.write_text(json.dumps([COMMENTS[0], {**COMMENTS[0], "id": 3}]))
    assert cli.run(["triage", str(DIFF), str(draft), "-q"]) == 0
    assert "remark 1 makes the same point" in capsys.readouterr().out
    assert cli.run(["triage", str(DIFF), str(draft), "-q", "--format", "json"]) == 0
    assert "remark 0 makes the same point" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["triage", "score"])
def test_diff_in_place_of_the_review_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    utf16 = tmp_path / "utf16.diff"
    utf16.write_text(DIFF.read_text("utf-8"), "utf-16")
    quoting = tmp_path / "quoting.md"
    quoted = DIFF.read_text("utf-8").split("@@")[2]
    quoting.write_text(f"This breaks callers:\n```diff\n@@ -1 +1 @@{quoted}```\n", "utf-8")
    for diff in (DIFF, utf16):
        assert cli.run([command, str(quoting), str(diff)]) == cli.EXIT_USAGE
        assert f"{diff} is a diff; the order is DIFF REVIEW" in capsys.readouterr().err
        assert cli.run([command, str(diff), str(quoting), "--analyzers", "none"]) == 0
        assert "is a diff" not in capsys.readouterr().err


@pytest.mark.hosts
def test_agent_triages_and_scores_over_standard_input() -> None:
    mcp = pytest.importorskip("mcp")

    async def talk() -> tuple[list[str], list[Any]]:
        server = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "crscore", "mcp"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        pair = {"diff": DIFF.read_text("utf-8"), "review": REVIEW.read_text("utf-8")}
        async with mcp.Client(server) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            return tools, [
                await client.call_tool("triage_review", pair),
                await client.call_tool("score_review", pair),
                await client.call_tool("score_review", pair | {"diff": "no diff"}),
            ]

    tools, (triaged, scored, refused) = asyncio.run(talk())
    assert tools == ["triage_review", "score_review"]
    assert any(remark["post"] for remark in triaged.structured_content["remarks"])
    assert scored.structured_content["usefulness"] > 0.7
    assert refused.is_error
    assert "not a unified diff" in refused.content[0].text
