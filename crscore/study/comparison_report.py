"""The report of two runs: which agrees better with people, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.study import compare, slices
from crscore.study.formats import (
    NOTHING,
    count,
    number,
    p_value,
    probability,
    signed,
    signed_interval,
)
from crscore.study.layout import Card, Report, Section, Table
from crscore.study.plot import Bar, Plot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.study.compare import Comparison, Difference

LETTERS: Final = {"first": "A", "second": "B", None: NOTHING}
_LOOKS: Final = {"first": "bad", "second": "good", None: ""}


def comparison_report(comparison: Comparison) -> Report:
    """Lay out a comparison, the answer first."""
    first, second = comparison.first, comparison.second
    return Report(
        title="Comparison",
        heading="Which of two runs agrees better with people",
        facts=(
            *_answer(comparison),
            f"Compared on {count(comparison.reviews, 'review')} of "
            f"{count(comparison.changes, 'change')} that both have; left out: "
            f"{first.left_out:,} of A, {second.left_out:,} of B",
        ),
        notes=comparison.warnings,
        cards=tuple(_cards(comparison)),
        sections=(_differences(comparison), _runs(comparison)),
        signatures=(first.signature, second.signature),
    )


def _answer(comparison: Comparison) -> Iterator[str]:
    """Tell which is better by the statistic to look at: pooled Spearman on relevance."""
    row = comparison.differences[0]
    if row.difference is None:
        yield "No answer: the relevance of a run, or of people, is the same for all reviews."
        return
    if row.difference == 0:
        yield "Both agree with people equally well on relevance."
        return
    better = "B" if row.difference > 0 else "A"
    verb = "agrees" if row.better else "seems to agree"
    low, high = sorted((row.first or 0, row.second or 0))
    yield (
        f"{better} {verb} better with people on relevance: "
        f"Spearman {number(high)} against {number(low)}."
    )
    if row.p is None or row.changes_needed is None:
        yield "How sure that is cannot be said: there is no bootstrap, or too few changes."
        return
    if row.better is None:
        yield (
            "The difference is no larger than the choice of changes alone would make "
            f"({p_value(row.p)})."
        )
    yield (
        f"To see a difference of {number(abs(row.difference))} in four of five studies takes "
        f"{count(row.changes_needed, 'change')}; these are {comparison.changes:,}."
    )


def _cards(comparison: Comparison) -> Iterator[Card]:
    row = comparison.differences[0]
    interval = signed_interval(row.low, row.high)
    sure = "not sure" if row.p is None else f"{interval}, {p_value(row.p)}"
    yield Card(
        title="B - A",
        value=signed(row.difference),
        basis=f"{row.dimension}, {row.statistic}: {sure}",
    )
    yield Card(title="A", value=number(row.first), basis=comparison.first.metric)
    yield Card(title="B", value=number(row.second), basis=comparison.second.metric)
    if row.changes_needed is not None:
        yield Card(
            title="Changes needed",
            value=f"{row.changes_needed:,}",
            basis=f"to see such a difference; these are {comparison.changes:,}",
        )


def _differences(comparison: Comparison) -> Section:
    rows = comparison.differences
    columns = ("A", "B", "B - A", "95 % interval", "p", "better", "changes needed")
    return Section(
        anchor="differences",
        short="Differences",
        title="Every statistic: above 0, B agrees better with people",
        plots=tuple(
            Plot(
                title=f"B - A: {statistic}",
                bars=tuple(_bar(row) for row in rows if row.statistic == statistic),
                write=lambda value: f"{value:+g}" if value else "0",
            )
            for statistic in (compare.SPEARMAN, compare.PAIR_ACCURACY)
        ),
        tables=(
            Table(
                caption="Differences of the two runs",
                header=("Statistic", *columns),
                rows=tuple(_cells(row) for row in rows),
                main=frozenset({0}),
            ),
        ),
        notes=(
            f"Better: where p < 0.05; {NOTHING} where the difference is not clear. Changes needed: "
            "to see a true difference of this size at 5 %, two-sided, with 80 % power.",
            f"Interval and p: {comparison.resamples:,} draws of whole changes, the same for both, "
            f"seed {comparison.seed}."
            if comparison.resamples
            else "There is no bootstrap, so no interval and no p.",
        ),
    )


def _bar(row: Difference) -> Bar:
    return Bar(
        label=f"{row.dimension}, {slices.label(row.slice)}",
        value=row.difference,
        low=row.low,
        high=row.high,
        written=signed(row.difference),
        look=_LOOKS[row.better],
    )


def _cells(row: Difference) -> tuple[str, ...]:
    return (
        f"{row.dimension}: {row.statistic}, {slices.label(row.slice)}",
        number(row.first),
        number(row.second),
        signed(row.difference),
        signed_interval(row.low, row.high),
        probability(row.p),
        LETTERS[row.better],
        NOTHING if row.changes_needed is None else f"{row.changes_needed:,}",
    )


def _runs(comparison: Comparison) -> Section:
    both = (comparison.first, comparison.second)
    table = Table(
        caption="The two runs",
        header=("", "A", "B"),
        rows=(
            ("file", *(side.name for side in both)),
            ("score", *(side.metric for side in both)),
            ("reviews", *(f"{side.reviews:,}" for side in both)),
            ("left out", *(f"{side.left_out:,}" for side in both)),
            ("data, SHA-256", *(side.sha256 for side in both)),
        ),
        is_prose=True,
    )
    return Section(anchor="runs", short="Runs", title="The two runs", tables=(table,))
