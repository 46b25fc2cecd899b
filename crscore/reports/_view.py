"""What several reports show in the same words: numbers, counts, places and the order of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crscore.records import LineKind, ScopeKind, Side

if TYPE_CHECKING:
    from crscore.records import (
        ChangedFile,
        Comment,
        LineSpan,
        PseudoReference,
        Result,
        Scope,
        Scores,
    )

UNDEFINED = "–"
"""Stands where there is no score."""


class LineCount(NamedTuple):
    """Size of a change."""

    added: int
    """Lines added."""
    removed: int
    """Lines removed."""


class Row(NamedTuple):
    """One of the three scores with the counts behind it."""

    name: str
    """The score's name."""
    value: float | None
    """In [0, 1]; None when undefined."""
    basis: str
    """What it is made of, in words."""


def number(value: float | None) -> str:
    """Write a score or similarity with two decimals, or a dash.

    Example:
        >>> number(0.666), number(None), number(-0.001)
        ('0.67', '–', '0.00')
    """
    if value is None:
        return UNDEFINED
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\N{MINUS SIGN}")


def count(value: float) -> str:
    """Write a count, or a sum of degrees with one decimal.

    Example:
        >>> count(7.0), count(6.25)
        ('7', '6.2')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def many(amount: int, noun: str) -> str:
    """Write an amount with its noun.

    Example:
        >>> many(1, "file"), many(1200, "file")
        ('1 file', '1,200 files')
    """
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def percent(value: float | None) -> str:
    """Write a share in [0, 1] as a percentage, or a dash."""
    return UNDEFINED if value is None else f"{100 * value:.0f} %"


def rows(scores: Scores) -> tuple[Row, Row, Row]:
    """Name the three scores and say what each rests on."""
    return (
        Row("Relevance", scores.relevance, "harmonic mean of the two below"),
        Row(
            "Conciseness",
            scores.conciseness,
            f"{count(scores.matched_sentences)} of {many(scores.sentences, 'sentence')} on topic",
        ),
        Row(
            "Comprehensiveness",
            scores.comprehensiveness,
            f"{count(scores.matched_references)} of "
            f"{many(scores.references, 'pseudo-reference')} addressed",
        ),
    )


def lines_of(file: ChangedFile) -> LineCount:
    """Count a file's added and removed lines."""
    kinds = [line.kind for hunk in file.hunks for line in hunk.lines]
    return LineCount(kinds.count(LineKind.ADDED), kinds.count(LineKind.REMOVED))


def change(result: Result) -> str:
    """Say how large the change is: files, lines added, lines removed."""
    sizes = [lines_of(file) for file in result.diff.files]
    added = sum(size.added for size in sizes)
    removed = sum(size.removed for size in sizes)
    return f"{many(len(sizes), 'file')} changed, +{added:,} \N{MINUS SIGN}{removed:,}"


def place(span: LineSpan) -> str:
    """Name a span: path, line or lines if any, and the side when it is the old one.

    The path is as it came: the caller escapes the whole.
    """
    before = " (before)" if span.side is Side.OLD else ""
    if span.start == 0:
        return f"{span.path or 'the file'}{before}"
    lines = f"{span.start}" if span.start == span.end else f"{span.start}-{span.end}"
    return f"{span.path or 'line'}:{lines}{before}"


def places(reference: PseudoReference, most: int = 1, *, before: bool = False) -> str:
    """Name where a pseudo-reference stands; the whole change when it has no lines.

    Args:
        reference: Its spans are named.
        most: Spans named before the rest is counted.
        before: Name spans of the old side beside those of the new side too.
    """
    spans = reference.spans
    if not spans:
        return "whole change"
    if not before:
        spans = tuple(span for span in spans if span.side is Side.NEW) or spans
    named = ", ".join(place(span) for span in spans[:most])
    more = len(spans) - most
    return f"{named} and {more} more" if more > 0 else named


def unaddressed(result: Result) -> tuple[int, ...]:
    """List the counted pseudo-references that no sentence addresses, the heaviest first."""
    found = [
        index
        for index, (reference, match) in enumerate(
            zip(result.references, result.reference_matches, strict=True)
        )
        if reference.counted and not match.matched
    ]
    return tuple(sorted(found, key=lambda index: -result.references[index].weight))


def attached(result: Result) -> tuple[int, ...]:
    """List the comments that are attached to a file or line."""
    return tuple(i for i, item in enumerate(result.comments) if item.comment.path is not None)


def author(name: str | None) -> str:
    """Name a reviewer."""
    return name or "unknown author"


def comment_place(comment: Comment) -> str:
    """Name where a comment is attached; `(unattached)` when it is not."""
    if comment.path is None:
        return "(unattached)"
    if comment.line is None:
        return comment.path
    first = comment.start_line
    lines = f"{comment.line}" if first in (None, comment.line) else f"{first}-{comment.line}"
    before = " (before)" if comment.side is Side.OLD else ""
    return f"{comment.path}:{lines}{before}"


def scope(value: Scope) -> str:
    """Say what a comment was scored against, without its path."""
    if value.kind is ScopeKind.HUNK:
        return UNDEFINED if value.hunk is None else f"hunk {value.hunk + 1}"
    return "file" if value.kind is ScopeKind.FILE else "whole change"


def notes(result: Result) -> tuple[str, ...]:
    """All notes of a result, each once: the reader's, the run's, then why a comment abstained.

    When the whole result abstained, its reason stands at the top and its comments' are left out.
    """
    comments = result.comments if result.scores.reason is None else ()
    abstained = (
        f"No score for the comment on {comment_place(item.comment)}: {item.scores.reason}."
        for item in comments
        if item.scores.reason is not None
    )
    return tuple(dict.fromkeys((*result.diff.notes, *result.notes, *abstained)))
