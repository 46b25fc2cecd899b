"""Runs of programs, and the document."""

from __future__ import annotations

from types import SimpleNamespace

from crscore.code.execution import report, runner
from crscore.code.execution.programs import Completion, Problem

PROBLEMS = {"p": Problem(id="p", tests="assert f() == 1")}
PROGRAMS = [
    Completion(problem="p", code=f"def f(): return {value}", index=value) for value in range(3)
]


def test_equal_programs_are_run_once_and_results_are_printable(monkeypatch):
    codes = []

    def judge(_, problem, code):
        codes.append(code)
        return "passed" if code.endswith("1") else "failed: \ud800"

    plugin = SimpleNamespace(create=lambda: judge)
    monkeypatch.setattr(runner.plugins, "load", lambda *_: plugin)
    monkeypatch.setattr(runner, "network_denied", lambda: True)
    outcomes = runner.run_programs(PROBLEMS, [*PROGRAMS, PROGRAMS[0]], allowed=True, workers=1)
    assert codes == [program.code for program in PROGRAMS]
    failed = r"failed: \ud800"
    assert [outcome.result for outcome in outcomes] == [failed, "passed", failed, failed]


def test_report_names_undefined_k_and_reasons():
    lacking = "failed: ModuleNotFoundError: No module named 'torch'"
    outcomes = [
        runner.Outcome(program, result)
        for program, result in zip(PROGRAMS, (lacking, "passed", lacking), strict=True)
    ]
    document = report.make_document(PROBLEMS, outcomes, ks=[1, 10], timeout=3)
    assert document.undefined_k == (10,)
    text = report.render_text(document)
    assert "pass@10: undefined, because a problem has only 3 programs" in text
    assert f"{lacking} (2 programs, the first: p, program 0)" in " ".join(text.split())
