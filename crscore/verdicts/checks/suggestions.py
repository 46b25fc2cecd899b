"""Suggestion blocks: one that does not parse or changes nothing is refuted."""

from typing import Final

from crscore.records import Comment, Effect, LineSpan, Receipt, Suggestion, Verdict
from crscore.verdicts.statements import Statement

_USELESS: Final = "The suggested code is what is there already."
_BROKEN: Final = "The file does not parse with the suggested code."


def check_suggestions(statement: Statement) -> Receipt | None:
    """Return a refutation of a remark none of whose suggestion blocks can be used."""
    facts = [_fact_against(suggestion) for suggestion in statement.suggestions]
    if not facts or not all(facts):
        return None
    return Receipt(
        verdict=Verdict.REFUTED,
        says="the suggested code is better",
        fact=facts[0] or "",
        lines=place_of(statement.comment),
    )


def _fact_against(suggestion: Suggestion) -> str | None:
    """Return what is wrong with a suggestion; whether the host can apply it proves nothing."""
    if suggestion.effect is Effect.NOTHING:
        return _USELESS
    return _BROKEN if suggestion.parses is False else None


def place_of(comment: Comment) -> tuple[LineSpan, ...]:
    """Return the lines that a comment is on; empty without a file and a line."""
    if comment.path is None or comment.line is None:
        return ()
    start = comment.start_line or comment.line
    return (LineSpan(path=comment.path, side=comment.side, start=start, end=comment.line),)
