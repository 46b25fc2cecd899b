from dataclasses import replace

import pytest

from crscore.records import Comment, Finding, Sentence, Severity, Side, Verdict
from crscore.verdicts.checks.tools import check_findings
from crscore.verdicts.statements import Statement

UNUSED = Finding(
    tool="ruff",
    rule="F841",
    path="a.py",
    line=7,
    end_line=7,
    message="Local variable `total` is assigned to but never accessed",
    text="The variable `total` is never accessed.",
    severity=Severity.WARNING,
)
COMMENT = Comment(body="", path="a.py", line=8, start_line=6)


def _statement(text: str, comment: Comment = COMMENT) -> Statement:
    return Statement(sentences=(Sentence(text=text, comment=0),), comment=comment)


@pytest.mark.parametrize(
    "text", ["`total` is never accessed after this.", "Ruff's F841 is right about this."]
)
def test_a_finding_of_the_same_defect_confirms(text: str) -> None:
    receipt = check_findings(_statement(text), [UNUSED])
    assert receipt is not None
    assert receipt.verdict is Verdict.CONFIRMED
    assert receipt.lines[0].start == UNUSED.line


@pytest.mark.parametrize(
    "text", ["`total` overflows for long lists.", "`count` is never accessed after this."]
)
def test_a_finding_of_another_defect_or_name_confirms_nothing(text: str) -> None:
    assert check_findings(_statement(text), [UNUSED]) is None


@pytest.mark.parametrize(
    "comment",
    [
        replace(COMMENT, path="b.py"),
        replace(COMMENT, line=6, start_line=None),
        replace(COMMENT, line=None, start_line=None),
        replace(COMMENT, side=Side.OLD),
        replace(COMMENT, outdated=True),
    ],
)
def test_a_finding_on_other_lines_confirms_nothing(comment: Comment) -> None:
    text = "`total` is never accessed after this."
    assert check_findings(_statement(text, comment), [UNUSED]) is None
