"""What a validation run found, for a terminal: the most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.reports import escape
from crscore.study import _details, _issue_tables, slices
from crscore.study._tables import (
    INDENT,
    explained,
    many,
    number,
    percent,
    probability,
    ranged,
    shown,
    table,
)
from crscore.study.measure import REPEATED_TOKENS, WORDS
from crscore.study.study import DIMENSIONS
from crscore.study.systems import HUMAN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.study.correlate import Correlation
    from crscore.study.results import Findings

RELEVANCE: Final = DIMENSIONS[2]
TRIVIAL: Final = (WORDS, REPEATED_TOKENS)
"""What a score has to beat to say anything."""


def to_text(findings: Findings) -> str:
    """Render a run as titled tables."""
    lines: list[str] = []
    for section in (
        _head,
        _relevance,
        _other_dimensions,
        _parts,
        _systems,
        _levels,
        _details.addressed,
        _details.errors,
        _details.length,
        _details.attacks,
        _issue_tables.section,
        _details.sweep,
        _details.claims,
        _details.agreement,
        _foot,
    ):
        found = list(section(findings))
        lines += [*found, ""] if found else []
    return escape.no_commands("\n".join(lines).rstrip() + "\n")


def _head(findings: Findings) -> Iterator[str]:
    measured = findings.measured
    rows = [row for row in findings.correlations if row.primary]
    pooled = _row(rows, RELEVANCE, slices.POOLED)
    pairs = next(row for row in findings.same_diff if row.primary and row.dimension == RELEVANCE)
    yield f"How well {shown(measured.primary.name)} agrees with people"
    yield ""
    yield INDENT + (
        f"{many(len(measured.rows), 'review')} of {many(len(set(measured.changes)), 'change')} "
        f"by {many(len(set(measured.systems)), 'system')}, "
        f"{measured.references:.1f} pseudo-references a change"
    )
    have = "has no sentence and counts" if measured.blank == 1 else "have no sentence and count"
    yield f"{INDENT}{many(measured.blank, 'review')} {have} as 0"
    if measured.excluded:
        yield INDENT + (
            f"{many(len(measured.excluded), 'change')} left out for having no pseudo-reference"
        )
    yield from (f"{INDENT}note: {escape.one_line(note)}" for note in findings.notes)
    yield ""
    yield INDENT + (
        f"Relevance: Spearman {ranged(pooled.spearman, pooled.low, pooled.high)} with the human "
        f"rating, p {_p(pooled.p)}."
    )
    yield INDENT + (
        f"It puts the better of two reviews of one change first in {percent(pairs.accuracy)} of "
        f"{many(pairs.n, 'pair')}; a coin: 50 %."
    )
    trivial = [
        (row.spearman, row.metric)
        for row in findings.correlations
        if (row.dimension, row.slice) == (RELEVANCE, slices.POOLED)
        and row.metric in TRIVIAL
        and row.spearman is not None
    ]
    if trivial:
        value, metric = max(trivial)
        yield f"{INDENT}The best trivial measure, {metric}, has Spearman {number(value)}."


def _p(value: float | None) -> str:
    text = probability(value)
    return text if text.startswith("<") else f"= {text}"


def _row(rows: Sequence[Correlation], dimension: str, name: str) -> Correlation:
    return next(row for row in rows if (row.dimension, row.slice) == (dimension, name))


def _pooled(findings: Findings, metric: str, dimension: str) -> Correlation:
    rows = [row for row in findings.correlations if row.metric == metric]
    return _row(rows, dimension, slices.POOLED)


def _spearman(findings: Findings, metric: str, name: str) -> str:
    wanted = (metric, RELEVANCE, name)
    found = (
        row.spearman
        for row in findings.correlations
        if (row.metric, row.dimension, row.slice) == wanted
    )
    # A study of junk systems alone has no slice without them.
    return number(next(found, None))


def _relevance(findings: Findings) -> Iterator[str]:
    yield "Relevance, every metric: rank correlation with people (1 is full agreement, 0 is none)"
    header = ("", "Spearman", "Kendall", "no junk", "in system", "pairs", "systems")
    rows = []
    for metric in findings.measured.metrics:
        pooled = _pooled(findings, metric.name, RELEVANCE)
        mine = (metric.name, RELEVANCE)
        pairs = next(row for row in findings.same_diff if (row.metric, row.dimension) == mine)
        ranking = next(
            row for row in findings.systems.ranking if (row.metric, row.dimension) == mine
        )
        rows.append(
            (
                _short(findings, metric.name),
                ranged(pooled.spearman, pooled.low, pooled.high),
                number(pooled.kendall),
                _spearman(findings, metric.name, slices.WITHOUT_JUNK),
                _spearman(findings, metric.name, slices.WITHIN_SYSTEM),
                percent(pairs.accuracy),
                number(ranking.spearman),
            )
        )
    yield from table(header, rows)
    yield from explained(
        "no junk: without the systems " + ", ".join(slices.JUNK_SYSTEMS) + ", which any metric "
        "tells from the rest; in system: mean over the systems, each by itself; pairs: of two "
        "reviews of one change, how often the better one is first; systems: of their mean scores"
    )


def _other_dimensions(findings: Findings) -> Iterator[str]:
    yield "Conciseness and comprehensiveness, every metric, all reviews: Spearman and Kendall"
    header = ("", "conciseness", "", "comprehensiveness", "")
    rows = []
    for metric in findings.measured.metrics:
        cells = [_short(findings, metric.name)]
        for dimension in DIMENSIONS[:2]:
            row = _pooled(findings, metric.name, dimension)
            cells += [ranged(row.spearman, row.low, row.high), number(row.kendall)]
        rows.append(cells)
    yield from table(header, rows)


def _parts(findings: Findings) -> Iterator[str]:
    yield "The score on parts of the reviews: Spearman"
    rows = [row for row in findings.correlations if row.primary]
    lines = [
        (
            shown(name.replace(":", " ")),
            f"{_row(rows, RELEVANCE, name).n:,}",
            *(
                ranged(row.spearman, row.low, row.high)
                for row in (_row(rows, dimension, name) for dimension in DIMENSIONS)
            ),
        )
        for name in dict.fromkeys(row.slice for row in rows)
    ]
    yield from table(("", "reviews", *DIMENSIONS), lines)


def _systems(findings: Findings) -> Iterator[str]:
    score = findings.measured.primary.name
    ranking = next(
        row for row in findings.systems.ranking if row.primary and row.dimension == RELEVANCE
    )
    yield (
        f"Ranking {many(ranking.n, 'system')} by mean relevance: "
        f"Spearman {number(ranking.spearman)} (p {_p(ranking.spearman_p)}), "
        f"Kendall {number(ranking.kendall)} (p {_p(ranking.kendall_p)})"
    )
    means = {
        (row.metric, row.system): row
        for row in findings.systems.means
        if row.dimension == RELEVANCE
    }
    lines = []
    for system in [name for metric, name in means if metric == HUMAN]:
        people, mine = means[HUMAN, system], means[score, system]
        lines.append(
            (
                shown(system),
                f"{people.reviews:,}",
                f"{people.rank:g}",
                number(people.mean, 2),
                f"{mine.rank:g}",
                number(mine.mean),
            )
        )
    yield from table(("", "reviews", "people's rank", "mean", "score's rank", "mean"), lines)


def _levels(findings: Findings) -> Iterator[str]:
    yield "Mean relevance at each human rating: it should rise from left to right"
    rows = [row for row in findings.levels if row.dimension == RELEVANCE]
    counts = [("reviews", *(f"{one.n:,}" for one in rows[0].levels), "")]
    said = {True: "rises", False: "does not", None: ""}
    lines = [
        (
            _short(findings, row.metric),
            *(number(one.mean) for one in row.levels),
            said[row.monotone],
        )
        for row in rows
    ]
    header = ("people say", *(str(one.level) for one in rows[0].levels), "")
    yield from table(header, [*counts, *lines])


def _foot(findings: Findings) -> Iterator[str]:
    settings = findings.settings
    if settings.resamples:
        yield (
            f"[low, high]: 95 % interval from {settings.resamples:,} draws of whole changes, "
            f"seed {settings.seed}; p from the same draws"
        )
    if settings.split:
        yield f"held out: {escape.one_line(settings.split)}"
    variants = [(m.name, m.variant) for m in findings.measured.metrics if m.variant]
    yield from (f"{shown(name)}: {escape.one_line(variant)}" for name, variant in variants)
    yield escape.one_line(settings.signature)


def _short(findings: Findings, metric: str) -> str:
    """Name a metric in a narrow column: the variants of the score without its name."""
    score = findings.measured.primary.name
    if metric.startswith(f"{score} "):
        return INDENT + shown(metric.removeprefix(f"{score} "))
    return shown(metric)
