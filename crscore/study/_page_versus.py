"""The page of two runs: which agrees better with people, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.reports import escape
from crscore.study import _plots, compare, versus
from crscore.study._page_parts import Card, Section, Table, p_value
from crscore.study._tables import NOTHING, many, number, probability, signed

if TYPE_CHECKING:
    from crscore.study.compare import Comparison, Difference


def facts(comparison: Comparison) -> tuple[str, ...]:
    """Say what was compared."""
    compared = (
        f"Compared on {many(comparison.reviews, 'review')} of "
        f"{many(comparison.changes, 'change')} that both have; left out: "
        f"{comparison.first.left_out:,} of A, {comparison.second.left_out:,} of B"
    )
    return (compared,)


def answer(comparison: Comparison) -> tuple[str, ...]:
    """Say which run is better, and how sure that is."""
    return tuple(versus.answer(comparison))


def cards(comparison: Comparison) -> tuple[Card, ...]:
    """Put the statistic to look at first."""
    row = comparison.differences[0]
    sure = f"{_interval(row)}, {p_value(row.p)}" if row.p is not None else "not sure"
    found = [
        Card(
            title="B − A",
            value=signed(row.difference),
            basis=f"{row.dimension}, {row.statistic}: {sure}",
        ),
        Card(title="A", value=number(row.first), basis=escape.one_line(comparison.first.metric)),
        Card(title="B", value=number(row.second), basis=escape.one_line(comparison.second.metric)),
    ]
    if row.changes_needed is not None:
        found.append(
            Card(
                title="Changes needed",
                value=f"{row.changes_needed:,}",
                basis=f"to see such a difference; these are {comparison.changes:,}",
            )
        )
    return tuple(found)


def sections(comparison: Comparison) -> list[Section]:
    """Show every statistic and the runs."""
    return [_differences(comparison), _runs(comparison)]


def _differences(comparison: Comparison) -> Section:
    plots = [
        _plots.forest(
            f"differences{place}",
            [_bar(row) for row in rows],
            title=f"B − A: {statistic}",
            write=lambda value: f"{value:+g}" if value else "0",
        )
        for place, statistic in enumerate((compare.SPEARMAN, compare.PAIR_ACCURACY))
        if (rows := [row for row in comparison.differences if row.statistic == statistic])
    ]
    return Section(
        name="differences",
        short="Differences",
        title="Every statistic: right of 0, B agrees better with people",
        plots=tuple(plots),
        tables=(
            Table(
                caption="Differences of the two runs",
                header=(
                    "Statistic",
                    "A",
                    "B",
                    "B − A",
                    "95 % interval",
                    "p",
                    "better",
                    "changes needed",
                ),
                rows=tuple(_cells(row) for row in comparison.differences),
                main=frozenset({0}),
            ),
        ),
        notes=(
            "Better: where p < 0.05. Changes needed: to see a true difference of this size at "
            "5 %, two-sided, with 80 % power.",
            f"Interval and p: {comparison.resamples:,} draws of whole changes, the same for both, "
            f"seed {comparison.seed}."
            if comparison.resamples
            else "There is no bootstrap, so no interval and no p.",
        ),
    )


def _bar(row: Difference) -> _plots.Bar:
    look = {"first": "bad", "second": "good", None: ""}[row.better]
    return _plots.Bar(
        label=f"{row.dimension}, {row.slice}",
        value=row.difference,
        low=row.low,
        high=row.high,
        written=signed(row.difference),
        look=look,
    )


def _cells(row: Difference) -> tuple[str, ...]:
    return (
        f"{row.dimension}: {row.statistic}, {row.slice}",
        number(row.first),
        number(row.second),
        signed(row.difference),
        _interval(row),
        probability(row.p),
        versus.LETTERS[row.better] if row.better else NOTHING,
        NOTHING if row.changes_needed is None else f"{row.changes_needed:,}",
    )


def _interval(row: Difference) -> str:
    if row.low is None or row.high is None:
        return NOTHING
    return f"[{signed(row.low)}, {signed(row.high)}]"


def _runs(comparison: Comparison) -> Section:
    both = (comparison.first, comparison.second)
    rows = [
        ("file", *(escape.one_line(side.name) for side in both)),
        ("score", *(escape.one_line(side.metric) for side in both)),
        ("reviews", *(f"{side.reviews:,}" for side in both)),
        ("left out", *(f"{side.left_out:,}" for side in both)),
        ("data, SHA-256", *(escape.one_line(side.sha256) for side in both)),
    ]
    return Section(
        name="runs",
        short="Runs",
        title="The two runs",
        tables=(
            Table(caption="The two runs", header=("", "A", "B"), rows=tuple(rows), is_prose=True),
        ),
    )
