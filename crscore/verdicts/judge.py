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
from crscore.verdicts.code import Code, RestOfRepository
from crscore.verdicts.statements import Statement

VERSION: Final = "4"
"""Part of the signature; raised when a check decides differently: a refuted remark scores 0."""
MAX_STATEMENTS: Final = 500
"""Maximum statements about a change that are judged."""


def judge_remarks(
    remarks: Sequence[Sequence[Sentence]],
    comments: Sequence[Comment],
    suggestions: Sequence[tuple[Suggestion, ...]],
    change: Diff,
    repository: RestOfRepository | None = None,
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
    statements: Sequence[Statement], diff: Diff, repository: RestOfRepository | None = None
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
        _judge(statement, code)
        if index < MAX_STATEMENTS and not statement.comment.is_older
        else None
        for index, statement in enumerate(statements)
    ]


def _judge(statement: Statement, code: Code) -> Receipt | None:
    """Return the first refutation, else the first confirmation."""
    if receipt := check_suggestions(statement):
        return receipt
    confirmed = None
    for phrase in statement.phrases:
        for check in uses.CHECKS:
            receipt = check(phrase, code)
            if receipt and receipt.verdict is Verdict.REFUTED:
                return receipt
            confirmed = confirmed or receipt
    return confirmed


def check_suggestions(statement: Statement) -> Receipt | None:
    """Refute a remark if none of its suggestion blocks can be used."""
    facts = [_find_fault(suggestion) for suggestion in statement.suggestions]
    if not facts or not all(facts):
        return None
    return Receipt(
        verdict=Verdict.REFUTED,
        says="the suggested code is better",
        fact=facts[0] or "",
        lines=_lines_of(statement.comment),
    )


def _find_fault(suggestion: Suggestion) -> str | None:
    """Return the fault of a suggestion, if any; the host's refusal to apply it is not a fault."""
    if suggestion.effect is Effect.NOTHING:
        return "The suggested code is already there."
    if suggestion.parses is False:
        return "The file does not parse with the suggested code."
    return None


def _lines_of(comment: Comment) -> tuple[LineSpan, ...]:
    """Return the lines that a comment is on; empty without a file and a line."""
    if comment.path is None or comment.line is None:
        return ()
    start = comment.start_line or comment.line
    return (LineSpan(path=comment.path, side=comment.side, start=start, end=comment.line),)
