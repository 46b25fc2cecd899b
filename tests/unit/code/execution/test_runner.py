"""Runs of programs: results on disk, and the document."""

from __future__ import annotations

import json

import pytest

from crscore.code.execution import report, runner
from crscore.code.execution.programs import Completion, Problem
from crscore.errors import InputError

PROBLEMS = {"p": Problem(id="p", tests="assert f() == 1")}
PROGRAMS = [
    Completion(problem="p", code=f"def f(): return {value}", index=value) for value in range(3)
]


@pytest.fixture
def judged(monkeypatch):
    """Judge programs without a sandbox, and list those that were run."""
    codes = []

    def judge(_, problem, code):
        codes.append(code)
        if code == "stop":
            raise KeyboardInterrupt
        return "passed" if code.endswith("1") else "failed: \ud800"

    monkeypatch.setattr(runner, "_judge_of", lambda _: judge)
    monkeypatch.setattr(runner, "_check", lambda **_: None)
    return codes


def test_interrupted_run_continues(judged, tmp_path):
    path = tmp_path / "results.jsonl"
    stopped = [*PROGRAMS[:2], Completion(problem="p", code="stop", index=9)]
    with pytest.raises(KeyboardInterrupt):
        runner.run_programs(PROBLEMS, stopped, allowed=True, workers=1, results=path)
    assert [json.loads(line)["result"] for line in path.read_text().splitlines()] == [
        r"failed: \ud800",
        "passed",
    ]
    judged.clear()
    outcomes = runner.run_programs(PROBLEMS, PROGRAMS, allowed=True, results=path)
    assert judged == [PROGRAMS[2].code]
    assert [outcome.result for outcome in outcomes] == [
        r"failed: \ud800", "passed", r"failed: \ud800",
    ]  # fmt: skip
    changed = {"p": Problem(id="p", tests="assert f() == 2")}
    runner.run_programs(changed, PROGRAMS, allowed=True, results=path)
    assert len(judged) == 4


def test_file_of_something_else_is_refused(judged, tmp_path):
    path = tmp_path / "results.jsonl"
    for content in (
        '{"task_id": "p"}\n',
        "a list to keep",
        '{"id": 1}\n{"id": 2}',
        '{"task_id": "p", "resu',
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=r"results.jsonl"):
            runner.run_programs(PROBLEMS, PROGRAMS, allowed=True, results=path)
        assert path.read_text() == content
    assert judged == []


def test_report_names_undefined_k_and_missing_modules():
    lacking = "failed: ModuleNotFoundError: No module named 'torch'"
    outcomes = [
        runner.Outcome(program, result)
        for program, result in zip(PROGRAMS, (lacking, "passed", lacking), strict=True)
    ]
    document = report.make_document(PROBLEMS, outcomes, ks=[1, 10], timeout=3)
    assert document.undefined_k == (10,)
    text = report.render_text(document)
    assert "pass@10: undefined, a problem has only 3 programs" in text
    assert "Not installed here: torch, needed by 2 programs" in text
