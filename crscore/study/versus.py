"""What a comparison of two runs found, for a terminal: the answer first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.reports import escape
from crscore.study._tables import INDENT, NOTHING, many, number, probability, signed, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.study.compare import Comparison, Difference, Side

LETTERS: Final = {"first": "A", "second": "B"}


def to_text(comparison: Comparison) -> str:
    """Render a comparison as an answer and a table."""
    lines = [
        *answer(comparison),
        "",
        *_runs(comparison),
        "",
        *_differences(comparison),
        "",
        *_foot(comparison),
    ]
    return escape.no_commands("\n".join(lines) + "\n")


def answer(comparison: Comparison) -> Iterator[str]:
    """Say which is better by the statistic to look at: pooled Spearman on relevance."""
    row = comparison.differences[0]
    if row.difference is None:
        yield "No answer: the relevance of a run, or of people, is the same for all reviews."
        return
    if row.difference == 0:
        yield "Both agree with people equally well on relevance."
        return
    higher = "second" if row.difference > 0 else "first"
    verb = "agrees" if row.better else "seems to agree"
    yield (
        f"{LETTERS[higher]} {verb} better with people on relevance: "
        f"Spearman {number(max(row.first or 0, row.second or 0))} "
        f"against {number(min(row.first or 0, row.second or 0))}."
    )
    if row.p is None or row.changes_needed is None:
        yield "How sure that is cannot be said: there is no bootstrap, or too few changes."
        return
    if row.better is None:
        yield (
            "The difference is no larger than the choice of changes alone would make "
            f"(p = {number(row.p)})."
        )
    needed = many(row.changes_needed, "change")
    yield (
        f"To see a difference of {number(abs(row.difference))} in four of five studies takes "
        f"{needed}; these are {comparison.changes:,}."
    )


def _runs(comparison: Comparison) -> Iterator[str]:
    yield from _run("A", comparison.first)
    yield from _run("B", comparison.second)
    yield (
        f"compared on {many(comparison.reviews, 'review')} of "
        f"{many(comparison.changes, 'change')} that both have; left out: "
        f"{comparison.first.left_out:,} of A, {comparison.second.left_out:,} of B"
    )
    yield from (f"warning: {warning}" for warning in comparison.warnings)


def _run(letter: str, side: Side) -> Iterator[str]:
    yield f"{letter}  {escape.one_line(side.name)}: {escape.one_line(side.metric)}"
    yield f"   {escape.one_line(side.signature)}"


def _differences(comparison: Comparison) -> Iterator[str]:
    dimension = ""
    rows = []
    for row in comparison.differences:
        if row.dimension != dimension:
            dimension = row.dimension
            rows.append((dimension, *[""] * 7))
        rows.append(_cells(row))
    header = ("", "A", "B", "B - A", "95 % interval", "p", "better", "changes needed")
    yield from table(header, rows)


def _cells(row: Difference) -> tuple[str, ...]:
    interval = NOTHING
    if row.low is not None and row.high is not None:
        interval = f"[{signed(row.low)}, {signed(row.high)}]"
    return (
        f"{INDENT}{row.statistic}, {row.slice}",
        number(row.first),
        number(row.second),
        signed(row.difference),
        interval,
        probability(row.p),
        LETTERS[row.better] if row.better else NOTHING,
        NOTHING if row.changes_needed is None else f"{row.changes_needed:,}",
    )


def _foot(comparison: Comparison) -> Iterator[str]:
    if comparison.resamples:
        yield (
            f"interval and p: {comparison.resamples:,} draws of whole changes, the same for both, "
            f"seed {comparison.seed}"
        )
    yield "better: where p < 0.05; – where the difference is not clear"
    yield "changes needed: to see a true difference of this size at 5 %, two-sided, with 80 % power"
