"""Lines of a diff; coverage and the name that a signature gives the tools; remarks."""

import pytest
from msgspec.structs import replace

from crscore.diff.parse import parse_diff
from crscore.records import (
    ACTIONABLE_FROM,
    ON_TOPIC,
    Analysis,
    Coverage,
    Importance,
    LineKind,
    PseudoReference,
    ReferenceKind,
    Remark,
    Stance,
    ToolRun,
    ToolState,
)

RUFF = ToolRun(tool="ruff", version="1.0", state=ToolState.RAN, files=2)
BANDIT = ToolRun(tool="bandit", version="2.0", state=ToolState.RAN, files=2)


def made(*runs: ToolRun) -> Analysis:
    return Analysis(tools=runs)


def test_no_tool_is_no_coverage() -> None:
    assert made().coverage is Coverage.NONE
    assert made().identity == "none"
    assert type(made().identity) is str


def test_tools_that_read_everything_are_complete() -> None:
    assert made(RUFF, BANDIT).coverage is Coverage.COMPLETE
    assert made(RUFF, BANDIT).identity == "bandit@2.0,ruff@1.0"


@pytest.mark.parametrize("state", [one for one in ToolState if one is not ToolState.RAN])
def test_tool_that_did_not_run_is_not_named_and_makes_the_identity_partial(state) -> None:
    other = ToolRun(tool="pmd", version="7.0", state=state)
    assert made(RUFF, other).coverage is Coverage.PARTIAL
    assert made(RUFF, other).identity == "ruff@1.0,partial"
    assert made(other).identity == "partial"


@pytest.mark.parametrize("change", [{"unread": ("a.py",)}, {"reason": "saw hunks"}])
def test_tool_that_did_not_read_all_files_makes_the_identity_partial(change) -> None:
    run = ToolRun(tool="ruff", version="1.0", state=ToolState.RAN, files=1, **change)
    assert not run.is_complete
    assert made(run).identity == "ruff@1.0,partial"


def test_tool_without_a_version_is_named_without_one() -> None:
    run = ToolRun(tool="semgrep", version=None, state=ToolState.RAN, files=1)
    assert made(run).identity == "semgrep"


def test_identity_names_each_tool_once() -> None:
    lost = ToolRun(tool="pmd", version=None, state=ToolState.MISSING)
    assert made(RUFF, RUFF, BANDIT).identity == "bandit@2.0,ruff@1.0"
    assert made(RUFF, lost).identity == "ruff@1.0,partial"


def test_lines_of_all_files_are_in_the_order_of_the_diff() -> None:
    diff = parse_diff(
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x\n-a\n+b\n"
        "--- a/b.py\n+++ b/b.py\n@@ -1 +1,2 @@\n y\n+c\n"
    )
    assert [line.text for line in diff.lines()] == ["x", "a", "b", "y", "c"]
    assert [line.text for line in diff.lines(LineKind.ADDED)] == ["b", "c"]
    assert [line.text for line in diff.files[0].lines(LineKind.ADDED, LineKind.REMOVED)] == [
        "a",
        "b",
    ]


def test_field_reading_is_encoded_instead_of_the_text() -> None:
    claim = PseudoReference(text="`x`", kind=ReferenceKind.CLAIM, source="t")
    assert claim.encoded_text == "`x`"
    assert replace(claim, reading="the x").encoded_text == "the x"


@pytest.mark.parametrize(
    ("actionable", "about", "is_valuable"),
    [
        (ACTIONABLE_FROM, ON_TOPIC, True),
        (1.0, ON_TOPIC - 0.01, False),
        (ACTIONABLE_FROM - 0.01, 1.0, False),
    ],
)
def test_remark_is_valuable_if_it_is_actionable_and_about_the_change(
    actionable: float, about: float, is_valuable: bool
) -> None:
    remark = Remark(
        comment=0,
        sentences=(0,),
        stance=Stance.REQUEST,
        actionable=actionable,
        importance=0.5,
        level=Importance.MINOR,
        about=about,
        worth=3.0,
        specific=0.5,
        acts=0.5,
    )
    assert remark.is_valuable is is_valuable
