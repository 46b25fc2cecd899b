"""Report of two runs: which agrees better with people, and how significantly."""

from collections.abc import Iterator
from typing import Final

from crscore.reports.blocks import Table, make_table
from crscore.reports.charts import Bar, Plot
from crscore.reports.layout import Card, Report, Section
from crscore_lab.formats import (
    DASH,
    columns,
    count,
    number,
    p_value,
    probability,
    signed,
    signed_interval,
    whole,
)
from crscore_lab.study.measures import comparison as measures
from crscore_lab.study.measures import slices
from crscore_lab.study.measures.comparison import Comparison

LETTERS: Final = {"first": "A", "second": "B", None: DASH}
# The question is whether B improves on A.
_TONES: Final = {"first": "bad", "second": "good", None: ""}


def comparison_report(comparison: Comparison) -> Report:
    """Lay out a comparison, the answer first."""
    first, second = comparison.first, comparison.second
    return Report(
        title="Comparison",
        heading="Which of two runs agrees better with people",
        facts=(
            *_answer(comparison),
            f"Compared on {count(comparison.reviews, 'review')} of "
            f"{count(comparison.changes, 'change')} in both runs; left out: "
            f"{first.left_out:,} of A, {second.left_out:,} of B",
        ),
        notes=comparison.warnings,
        cards=tuple(_cards(comparison)),
        sections=(_differences(comparison), _runs(comparison)),
        signatures=(first.signature, second.signature),
    )


def _answer(comparison: Comparison) -> Iterator[str]:
    """Yield the main result: which run is better by pooled Spearman on relevance."""
    row = comparison.differences[0]
    if row.difference is None:
        yield "No answer: the relevance of a run, or of people, is the same for all reviews."
        return
    if row.difference == 0:
        yield "Both agree with people equally well on relevance."
        return
    better = "B" if row.difference > 0 else "A"
    # Without significance, the sentence must not claim a difference.
    verb = "agrees" if row.better else "seems to agree"
    low, high = sorted((row.first or 0, row.second or 0))
    yield (
        f"{better} {verb} better with people on relevance: "
        f"Spearman {number(high)} against {number(low)}."
    )
    if row.p is None or row.changes_needed is None:
        yield "Its significance is unknown: there is no bootstrap, or too few changes."
        return
    if row.better is None:
        yield f"The difference is not significant ({p_value(row.p)})."
    yield (
        f"To detect a difference of {number(abs(row.difference))} in four of five studies takes "
        f"{count(row.changes_needed, 'change')}; this comparison has {comparison.changes:,}."
    )


def _cards(comparison: Comparison) -> Iterator[Card]:
    row = comparison.differences[0]
    interval = signed_interval(row.low, row.high)
    test = "no test" if row.p is None else f"{interval}, {p_value(row.p)}"
    yield Card("B - A", signed(row.difference), f"{row.dimension}, {row.statistic}: {test}")
    yield Card("A", number(row.first), comparison.first.metric)
    yield Card("B", number(row.second), comparison.second.metric)
    if row.changes_needed is not None:
        basis = f"to detect such a difference; this comparison has {comparison.changes:,}"
        yield Card("Changes needed", whole(row.changes_needed), basis)


def _differences(comparison: Comparison) -> Section:
    plots = []
    for statistic in (measures.SPEARMAN, measures.PAIR_ACCURACY):
        bars = tuple(
            Bar(
                f"{row.dimension}, {slices.label(row.slice)}",
                *(row.difference, row.low, row.high, signed(row.difference)),
                tone=_TONES[row.better],
            )
            for row in comparison.differences
            if row.statistic == statistic
        )
        if bars:
            plots.append(Plot(f"B - A: {statistic}", bars, tick_format="+~f"))
    table = make_table(
        "Differences between the two runs",
        comparison.differences,
        ("Statistic", lambda r: f"{r.dimension}: {r.statistic}, {slices.label(r.slice)}"),
        *columns(number, A="first", B="second"),
        ("B - A", lambda row: signed(row.difference)),
        ("95 % interval", lambda row: signed_interval(row.low, row.high)),
        ("p", lambda row: probability(row.p)),
        ("better", lambda row: LETTERS[row.better]),
        ("changes needed", lambda row: whole(row.changes_needed)),
        main=lambda row: row is comparison.differences[0],
    )
    draws = "There is no bootstrap, so no interval and no p."
    if comparison.resamples:
        draws = (
            f"Interval and p: {comparison.resamples:,} draws of whole changes, the same for both, "
            f"seed {comparison.seed}."
        )
    return Section(
        "differences",
        "Differences",
        "Every statistic: above 0, B agrees better with people",
        plots=tuple(plots),
        tables=(table,),
        notes=(
            f"Better: where p < 0.05; {DASH} where the difference is not significant. Changes "
            "needed: to detect a true difference of this size at 5 %, two-sided, with 80 % power.",
            draws,
        ),
    )


def _runs(comparison: Comparison) -> Section:
    runs = (comparison.first, comparison.second)
    rows = (
        ("file", *(run.name for run in runs)),
        ("score", *(run.metric for run in runs)),
        ("reviews", *(whole(run.reviews) for run in runs)),
        ("left out", *(whole(run.left_out) for run in runs)),
        ("data, SHA-256", *(run.sha256 for run in runs)),
    )
    table = Table("The two runs", ("", "A", "B"), rows, is_prose=True)
    return Section("runs", "Runs", "The two runs", tables=(table,))
