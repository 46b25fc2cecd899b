"""Judgement of statements about a change, by checks of both versions of the code."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from crscore.records import (
    Comment,
    Diff,
    Effect,
    LineSpan,
    Receipt,
    Sentence,
    Suggestion,
    Verdict,
)
from crscore.verdicts import uses
from crscore.verdicts.repository import Code, Repository
from crscore.verdicts.statements import Statement

VERSION: Final = "4"
"""Part of the signature; raised when a check decides differently: a refuted remark scores 0."""
# Verdicts take 2 % of the time of an ordinary run, which has far fewer remarks
# (benchmarks/verdicts.py); a flood of them must not take more.
MAX_STATEMENTS: Final = 500
"""Maximum statements about a change that are judged."""


def judge_remarks(
    remarks: Sequence[Sequence[Sentence]],
    comments: Sequence[Comment],
    suggestions: Sequence[tuple[Suggestion, ...]],
    change: Diff,
    repository: Repository | None = None,
) -> list[Receipt | None]:
    """Check the remarks of a review against its change.

    Args:
        remarks: The sentences of each remark.
        comments: The comments.
        suggestions: Their suggestion blocks, judged.
        change: The change.
        repository: The rest of the repository; None if it is unknown.

    Returns:
        A receipt for each remark; None if no check decides it.
    """
    counts = Counter(units[0].comment for units in remarks)
    statements = [
        Statement(
            sentences=tuple(units),
            comment=comments[units[0].comment],
            # If the comment has several remarks, the one with the proposal has the blocks.
            suggestions=suggestions[units[0].comment]
            if counts[units[0].comment] == 1 or any(unit.proposal for unit in units)
            else (),
        )
        for units in remarks
    ]
    return judge_statements(statements, change, repository)


def judge_statements(
    statements: Sequence[Statement], diff: Diff, repository: Repository | None = None
) -> list[Receipt | None]:
    """Check statements against a change.

    Args:
        statements: The statements.
        diff: The change, with full files where they are known.
        repository: The rest of the repository; None if it is unknown.

    Returns:
        A receipt for each statement; None if no check decides it, or if it is on an older
        version of the change: the author may have done by now what it asked for.
    """
    code = Code(diff, repository)
    return [
        check_suggestions(statement) or _check_uses(statement, code)
        if index < MAX_STATEMENTS and not statement.comment.is_older
        else None
        for index, statement in enumerate(statements)
    ]


def check_suggestions(statement: Statement) -> Receipt | None:
    """Refute a remark if none of its suggestion blocks can be used.

    That the host refuses to apply a block is not a fault.
    """
    faults = [
        "The suggested code is already there."
        if suggestion.effect is Effect.NOTHING
        else "The file does not parse with the suggested code."
        for suggestion in statement.suggestions
        if suggestion.effect is Effect.NOTHING or suggestion.parses is False
    ]
    if not faults or len(faults) < len(statement.suggestions):
        return None
    comment = statement.comment
    lines: tuple[LineSpan, ...] = ()
    if comment.path is not None and comment.line is not None:
        start = comment.start_line or comment.line
        lines = (LineSpan(path=comment.path, side=comment.side, start=start, end=comment.line),)
    claim = "the suggested code is better"
    return Receipt(verdict=Verdict.REFUTED, says=claim, fact=faults[0], lines=lines)


def _check_uses(statement: Statement, code: Code) -> Receipt | None:
    """Return the first refutation, else the first confirmation."""
    confirmed = None
    # One false clause refutes a remark, however much of the rest is true.
    for phrase in statement.phrases:
        for check in uses.CHECKS:
            receipt = check(phrase, code)
            if receipt and receipt.verdict is Verdict.REFUTED:
                return receipt
            confirmed = confirmed or receipt
    return confirmed
