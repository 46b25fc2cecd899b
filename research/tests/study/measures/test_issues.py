from pathlib import Path

import pytest

from crscore import Scorer
from crscore.records import (
    Analysis,
    Finding,
    PseudoReference,
    ReferenceKind,
    Severity,
    ToolRun,
    ToolState,
)
from crscore.settings import override_settings
from crscore_lab.study.measures import issues
from crscore_lab.study.measures.issues import AnalyzedChange, Issues
from crscore_lab.study.results import ValidationResult
from tests.helpers import findings as helper
from tests.helpers import study as studies
from tests.helpers.measured import row

SETTINGS = override_settings(helper.SETTINGS, {"analyzers": "ruff"})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ValidationResult:
    folder = tmp_path_factory.mktemp("study")
    settings = override_settings(SETTINGS, {"cache_dir": str(folder)})
    return helper.made(folder, studies.analysed_rows(), settings=settings)


def of(findings: ValidationResult) -> Issues:
    assert findings.issues is not None
    return findings.issues


def test_run_without_analyzers_says_nothing_of_them(tmp_path: Path) -> None:
    assert helper.made(tmp_path).issues is None


def test_real_tool_is_counted_by_language(found: ValidationResult) -> None:
    rows = {(one.language, one.tool): one for one in of(found).tools}
    assert list(rows) == [
        ("javascript", "all"),
        ("python", "ruff"),
        ("python", "all"),
        ("all", "all"),
    ]
    ruff = rows["python", "ruff"]
    # In each of two changes: `os`, which the change adds, and `json`, which was there before.
    assert (ruff.changes, ruff.unread, ruff.findings, ruff.in_change) == (2, 0, 4, 2)
    assert (ruff.pre_existing, ruff.counted) == (0, 2)
    assert rows["javascript", "all"].changes == 0
    assert rows["all", "all"].counted == 2


def test_findings_of_tools_replace_the_stored_issues(found: ValidationResult) -> None:
    # Two claims and an issue, one and one, one and none: the study's own rows are gone.
    assert found.data.references_per_change == (3 + 2 + 1) / 3
    assert "claims:recorded-claims@" in found.signature
    assert "analyzers:ruff@" in found.signature


def finding(tool: str = "a", rule: str = "R1", **fields: object) -> Finding:
    given: dict = {"line": 1, "severity": Severity.WARNING, "text": "Bad.", "message": "bad"}
    given |= fields
    return Finding(tool=tool, rule=rule, path="", end_line=given["line"], **given)


def look_at(
    *findings: Finding, tools: tuple[ToolRun, ...] = (), sources: tuple[str, ...] = ()
) -> AnalyzedChange:
    references = tuple(
        PseudoReference(text="Bad.", kind=ReferenceKind.ISSUE, source=one) for one in sources
    )
    analysis = Analysis(findings=findings, tools=tools)
    return AnalyzedChange(row("c", "s").change, references, analysis)


def assessed(*looks: AnalyzedChange) -> Issues:
    return issues.count_findings(looks, Scorer(helper.SETTINGS, analyzers="none"))


def run_of(tool: str, state: ToolState = ToolState.RAN, **fields: object) -> ToolRun:
    return ToolRun(tool=tool, version="1", state=state, **{"files": 1, **fields})


def test_issue_of_two_tools_is_one_of_both_and_one_of_all() -> None:
    both = look_at(
        finding("a", in_change=True, counted=True),
        finding("b", in_change=True, counted=True),
        tools=(run_of("a"), run_of("b")),
        sources=("a+b",),
    )
    counted = {one.tool: one.counted for one in assessed(both).tools if one.language == "python"}
    assert counted == {"a": 1, "b": 1, "all": 1}


def test_tool_that_read_less_than_all_is_unread() -> None:
    looks = [
        look_at(tools=(run_of("a"),)),
        look_at(tools=(run_of("a", ToolState.FAILED, files=0),)),
        look_at(tools=(run_of("a", unread=("x",)),)),
        look_at(tools=(run_of("a", reason="saw hunks, not whole files"),)),
        look_at(),
    ]
    (mine,) = [one for one in assessed(*looks).tools if one.tool == "a"]
    assert (mine.changes, mine.unread) == (4, 3)


def test_missing_tool_is_reported_once() -> None:
    missing = run_of("pmd", ToolState.MISSING, files=0, reason="not installed")
    found = assessed(look_at(tools=(missing,)), look_at(tools=(missing,)))
    assert found.notes == ("pmd did not run: not installed",)


def test_matters_of_taste_are_distinguished() -> None:
    found = assessed(
        look_at(
            finding(rule="R1", in_change=True, is_style=True),
            finding(rule="R1", in_change=True, is_style=True, pre_existing=True),
            finding(rule="R2", in_change=True),
            tools=(run_of("a"),),
        )
    )
    assert (found.tools[0].in_change, found.tools[0].pre_existing, found.tools[0].style) == (
        3,
        1,
        1,
    )
