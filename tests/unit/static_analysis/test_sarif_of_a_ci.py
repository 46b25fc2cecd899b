"""Findings from SARIF files of a user's CI in a change."""

import re

import pytest

from crscore.diff import parse
from crscore.records import ToolState
from crscore.static_analysis import sarif
from crscore.static_analysis.reports import RawFinding, RawReport
from tests.helpers.toys import added_files

MADE = parse.parse_diff(
    "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"
    "--- a/src/b.py\n+++ b/src/b.py\n@@ -1 +1 @@\n-x\n+y\n"
)


def raw(line: int = 2, path: str = "src/a.py", **more: object) -> RawFinding:
    arguments = {"rule": "r", "message": "Bad.", "line": line, "end_line": line} | more
    return RawFinding(path=path, **arguments)


def one(*findings: RawFinding, made=MADE, **more: object):
    report = RawReport(**{"tool": "codeql", "version": "2.1", "findings": findings} | more)
    (external,) = sarif.find_runs([report], made)
    return external.tools[0], external.findings


def test_finding_on_a_changed_line_is_in_the_change() -> None:
    run, found = one(raw(1), raw(2))
    assert [(each.line, each.in_change) for each in found] == [(1, False), (2, True)]
    assert (run.tool, run.state, run.files) == ("codeql", ToolState.RAN, 1)
    assert re.fullmatch(r"2\.1-[0-9a-f]{8}", run.version)
    assert run.is_complete


@pytest.mark.parametrize("path", ["src/c.py", "a.py", "", "https://x.example/src/a.py"])
def test_finding_of_another_file_is_left_out(path) -> None:
    assert one(raw(path=path))[1] == ()


def test_suppressed_finding_is_left_out() -> None:
    assert one(raw(suppressed=True))[1] == ()


def test_finding_without_a_message_is_left_out() -> None:
    assert one(raw(message=" \n"))[1] == ()


@pytest.mark.parametrize(
    ("baseline", "older"), [("unchanged", True), ("new", False), (None, False)]
)
def test_baseline_marks_older_findings(baseline, older) -> None:
    assert [each.pre_existing for each in one(raw(baseline=baseline))[1]] == [older]


@pytest.mark.parametrize(
    ("level", "severity"),
    [
        ("error", "error"),
        ("warning", "warning"),
        ("note", "note"),
        ("none", "note"),
        (None, "warning"),
    ],
)
def test_levels_are_those_of_sarif(level, severity) -> None:
    assert [str(each.severity) for each in one(raw(level=level))[1]] == [severity]


def test_file_that_the_tool_could_not_read_is_named() -> None:
    run, found = one(raw(rule="invalid-syntax", path="src/b.py"), unparsed=("src/a.py", "c.py"))
    assert run.unread == ("src/a.py", "src/b.py")
    assert (found, run.is_complete) == ((), False)


def test_tool_without_a_name_is_called_sarif() -> None:
    run, found = one(raw(), tool=None, version=None)
    assert (run.tool, found[0].tool) == ("sarif", "sarif")
    assert re.fullmatch(r"[0-9a-f]{8}", run.version)


def test_other_findings_are_another_source() -> None:
    versions = {one(raw(message=text))[0].version for text in ("Bad.", "Worse.", "Worst.")}
    assert len(versions) == 3


def test_name_cannot_forge_a_part_of_the_signature() -> None:
    run, _ = one(raw(), tool="x@1,ruff@0.17.6,partial\n\x1b[31m", version="2,partial")
    assert not set(run.tool) & set(",@\n\x1b")
    assert "," not in run.version


def test_message_becomes_a_sentence_and_stays_beside_it() -> None:
    (found,) = one(raw(message="**bad** thing 'x'.\nMore."))[1]
    assert (found.text, found.message) == ("Bad thing `x`.", "**bad** thing 'x'.\nMore.")


def test_gigantic_lines_are_accepted() -> None:
    (found,) = one(raw(1, end_line=10_000_000))[1]
    assert (found.in_change, found.line, found.end_line) == (True, 2, 2)
    assert not one(raw(10_000_000))[1][0].in_change


def test_runs_stay_apart_and_in_order() -> None:
    reports = [RawReport(tool="b", findings=(raw(),)), RawReport(tool="a")]
    findings = sarif.find_runs(reports, MADE)
    assert [(each.tools[0].tool, len(each.findings)) for each in findings] == [("b", 1), ("a", 0)]
    assert sarif.find_runs([], MADE) == ()


def test_added_file_counts_whole() -> None:
    diff = added_files({"n.py": "a\nb\n"})
    assert all(each.in_change for each in one(raw(1, "n.py"), raw(2, "n.py"), made=diff)[1])
