"""Tools: a linter's finding of the same defect on the lines of a remark confirms it."""

import re
from collections.abc import Sequence
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Comment, Finding, LineSpan, Receipt, Side, Verdict
from crscore.text.content import words
from crscore.verdicts.checks.base import WORDS
from crscore.verdicts.statements import Statement

MIN_WORDS: Final = 2
"""Minimum words of a defect that a remark and a finding share; one, with a name of the code."""
_QUOTED: Final = re.compile(r"[`'\"]([^`'\"]+)[`'\"]")
_COMMON: Final = words(WORDS["common"].replace("|", " ")).stems


def check_findings(statement: Statement, findings: Sequence[Finding]) -> Receipt | None:
    """Return a confirmation of a remark by a finding on its lines; None without one."""
    return next(
        (
            _confirm(finding)
            for finding in findings
            if _is_there(finding, statement.comment) and _is_same(finding, statement)
        ),
        None,
    )


def _is_there(finding: Finding, comment: Comment) -> bool:
    if comment.path != finding.path or comment.line is None or comment.side is Side.OLD:
        return False
    start = comment.start_line or comment.line
    return not comment.outdated and finding.line <= comment.line and start <= finding.end_line


def _is_same(finding: Finding, statement: Statement) -> bool:
    """Return whether a remark names the rule of a finding, or its defect in rare words."""
    text = " ".join(sentence.text for sentence in statement.sentences)
    if len(finding.rule) > MIN_WORDS and re.search(rf"(?<!\w){re.escape(finding.rule)}\b", text):
        return True
    names = _QUOTED.findall(finding.message)
    # Names of the code say where a defect is, not which it is.
    defect = words(_QUOTED.sub(" ", finding.message)).stems - _COMMON
    shared = len(defect & words(text).stems)
    has_name = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)
    is_other = bool(names) and not has_name and "`" in text
    return not is_other and shared >= (1 if has_name else MIN_WORDS)


def _confirm(finding: Finding) -> Receipt:
    span = LineSpan(path=finding.path, side=Side.NEW, start=finding.line, end=finding.end_line)
    rule = f" ({finding.rule})" if finding.rule else ""
    message = finding.message.strip().rstrip(".")
    return Receipt(
        verdict=Verdict.CONFIRMED,
        says=f"{quote(finding.tool)} is right here",
        fact=f"{finding.tool}{rule} reports: {message}.",
        lines=(span,),
    )
