"""Sections of the validation page that compare metrics and parts of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.reports import escape
from crscore.study import _plots, agreement, slices
from crscore.study._page_parts import RELEVANCE, Fold, Section, Table, p_value, pooled, short
from crscore.study._tables import cut, many, number, percent, probability, ranged, shown
from crscore.study.measure import REPEATED_TOKENS, WORDS
from crscore.study.study import DIMENSIONS
from crscore.study.systems import HUMAN

if TYPE_CHECKING:
    from crscore.study.correlate import Correlation
    from crscore.study.levels import Sensitivity
    from crscore.study.results import Findings

TRIVIAL: Final = (WORDS, REPEATED_TOKENS)
"""What a score has to beat to say anything."""
_SAID: Final = {True: "rises", False: "does not", None: ""}


def metrics(findings: Findings) -> Section:
    """Show how every metric agrees with people."""
    names = [metric.name for metric in findings.measured.metrics]
    people = [
        _plots.Mark(value=row.value, label="two people")
        for row in findings.agreement
        if (row.what, row.measure) == (RELEVANCE, agreement.SPEARMAN) and row.value is not None
    ]
    plot = _plots.forest(
        "metrics",
        [_metric_bar(findings, name) for name in names],
        title="Spearman correlation with human relevance",
        marks=people,
    )
    return Section(
        name="metrics",
        short="Metrics",
        title="Relevance: every metric against people",
        lead=(
            "Rank correlation with the human rating over all reviews: 1 is full agreement, 0 is "
            "none. Hollow markers are the trivial measures that a score has to beat.",
        ),
        plots=(plot,),
        tables=(_relevance(findings, names), _other_dimensions(findings, names)),
        notes=(
            "No junk: without the systems "
            + ", ".join(slices.JUNK_SYSTEMS)
            + ", which any metric tells from the rest. In system: mean over the systems, each by "
            "itself. Pairs: of two reviews of one change, how often the better one is first. "
            "Systems: Spearman of their mean scores.",
        ),
        folds=_variants(findings),
    )


def _metric_bar(findings: Findings, name: str) -> _plots.Bar:
    row = pooled(findings, name, RELEVANCE)
    look = "main" if row.primary else "trivial" if name in TRIVIAL else ""
    return _bar(row, short(findings, name), look)


def _bar(row: Correlation, label: str, look: str = "") -> _plots.Bar:
    return _plots.Bar(
        label=label,
        value=row.spearman,
        low=row.low,
        high=row.high,
        written=number(row.spearman),
        look=look,
    )


def _relevance(findings: Findings, names: list[str]) -> Table:
    spearman = {
        (row.metric, row.slice): row.spearman
        for row in findings.correlations
        if row.dimension == RELEVANCE
    }
    pairs = {
        row.metric: row.accuracy
        for row in findings.same_diff
        if (row.dimension, row.slice) == (RELEVANCE, slices.POOLED)
    }
    ranking = {
        row.metric: row.spearman for row in findings.systems.ranking if row.dimension == RELEVANCE
    }
    rows = []
    for name in names:
        row = pooled(findings, name, RELEVANCE)
        rows.append(
            (
                short(findings, name),
                ranged(row.spearman, row.low, row.high),
                number(row.kendall),
                number(row.pearson),
                # A study of junk systems alone has no slice without them.
                number(spearman.get((name, slices.WITHOUT_JUNK))),
                number(spearman.get((name, slices.WITHIN_SYSTEM))),
                percent(pairs.get(name)),
                number(ranking.get(name)),
            )
        )
    return Table(
        caption="Relevance, every metric",
        header=(
            "Relevance",
            "Spearman",
            "Kendall",
            "Pearson",
            "no junk",
            "in system",
            "pairs",
            "systems",
        ),
        rows=tuple(rows),
        main=frozenset({0}),
    )


def _other_dimensions(findings: Findings, names: list[str]) -> Table:
    rows = []
    for name in names:
        cells = [short(findings, name)]
        for dimension in DIMENSIONS[:2]:
            row = pooled(findings, name, dimension)
            cells += [ranged(row.spearman, row.low, row.high), number(row.kendall)]
        rows.append(tuple(cells))
    return Table(
        caption="Conciseness and comprehensiveness, every metric",
        header=("Other dimensions", "conciseness", "Kendall", "comprehensiveness", "Kendall"),
        rows=tuple(rows),
        main=frozenset({0}),
    )


def _variants(findings: Findings) -> tuple[Fold, ...]:
    rows = tuple(
        (shown(one.name), escape.one_line(one.variant))
        for one in findings.measured.metrics
        if one.variant
    )
    if not rows:
        return ()
    table = Table(
        caption="How each metric was computed", header=("", "variant"), rows=rows, is_prose=True
    )
    return (Fold(title="How each metric was computed", table=table),)


def parts(findings: Findings) -> Section:
    """Show the score on parts of the reviews."""
    rows = [row for row in findings.correlations if row.primary]
    found = {(row.dimension, row.slice): row for row in rows}
    names = tuple(dict.fromkeys(row.slice for row in rows))
    relevance = [found[RELEVANCE, name] for name in names]
    plot = _plots.forest(
        "parts",
        [
            _bar(
                row,
                f"{_part(row.slice)} ({row.n:,})",
                "main" if row.slice == slices.POOLED else "",
            )
            for row in relevance
        ],
        title="Relevance on parts of the reviews: Spearman",
    )
    cells = [
        (
            _part(name),
            f"{found[RELEVANCE, name].n:,}",
            *(
                ranged(row.spearman, row.low, row.high)
                for row in (found[dimension, name] for dimension in DIMENSIONS)
            ),
            number(found[RELEVANCE, name].kendall),
            probability(found[RELEVANCE, name].p),
        )
        for name in names
    ]
    return Section(
        name="parts",
        short="Parts",
        title="The score on parts of the reviews",
        plots=(plot,),
        tables=(
            Table(
                caption="The score on parts of the reviews",
                header=("Spearman", "reviews", *DIMENSIONS, "relevance: Kendall", "relevance: p"),
                rows=tuple(cells),
                main=frozenset({0}),
            ),
        ),
    )


def _part(name: str) -> str:
    kind, _, value = name.partition(":")
    plain = {
        slices.POOLED: "all reviews",
        slices.WITHOUT_JUNK: "without junk systems",
        slices.WITHIN_SYSTEM: "within a system, mean",
    }
    return shown(f"{kind} {value}") if value else plain.get(name, shown(name))


def levels(findings: Findings) -> Section:
    """Show whether the score rises with the human rating."""
    own = [row for row in findings.levels if row.primary]
    plot = _plots.lines(
        "levels",
        [
            _plots.Series(
                label=row.dimension,
                points=tuple((float(one.level), one.mean) for one in row.levels),
            )
            for row in sorted(own, key=lambda row: row.dimension != RELEVANCE)
        ],
        title="Mean score of the reviews that people gave each rating",
        axes=("what people say", "mean score"),
        across=[float(one.level) for one in own[0].levels],
    )
    others = [row for row in findings.levels if row.dimension == RELEVANCE]
    counts = ("reviews", *(f"{one.n:,}" for one in others[0].levels), "")
    header = ("people say", *(str(one.level) for one in others[0].levels), "")
    return Section(
        name="levels",
        short="Ratings",
        title="Does the score rise with the human rating?",
        plots=(plot,),
        tables=(
            Table(
                caption="Mean relevance at each human rating",
                header=("Relevance: " + header[0], *header[1:]),
                rows=(counts, *(_level(short(findings, row.metric), row) for row in others)),
                main=frozenset({1}),
            ),
            Table(
                caption="The score's other dimensions at each human rating",
                header=("Score: " + header[0], *header[1:]),
                rows=tuple(_level(row.dimension, row) for row in own if row.dimension != RELEVANCE),
            ),
        ),
    )


def _level(label: str, row: Sensitivity) -> tuple[str, ...]:
    return (label, *(number(one.mean) for one in row.levels), _SAID[row.monotone])


def systems(findings: Findings) -> Section:
    """Show how the score ranks the systems."""
    score = findings.measured.primary.name
    ranking = next(
        row for row in findings.systems.ranking if row.primary and row.dimension == RELEVANCE
    )
    means = {
        (row.metric, row.system): row
        for row in findings.systems.means
        if row.dimension == RELEVANCE
    }
    names = [system for metric, system in means if metric == HUMAN]
    both = [(means[HUMAN, name], means[score, name]) for name in names]
    plot = _plots.slopes(
        "systems",
        [(people.system, people.rank, mine.rank) for people, mine in both],
        title="Ranks of the systems by mean relevance",
        sides=("people", "score"),
    )
    rows = tuple(
        (
            shown(people.system),
            f"{people.reviews:,}",
            f"{people.rank:g}",
            number(people.mean, 2),
            f"{mine.rank:g}",
            number(mine.mean),
        )
        for people, mine in both
    )
    return Section(
        name="systems",
        short="Systems",
        title="Does the score rank the systems as people do?",
        lead=(
            f"{many(ranking.n, 'system')} by mean relevance: "
            f"Spearman {number(ranking.spearman)} ({p_value(ranking.spearman_p)}), "
            f"Kendall {number(ranking.kendall)} ({p_value(ranking.kendall_p)}).",
        ),
        plots=(plot,),
        tables=(
            Table(
                caption="Systems by mean relevance",
                header=("System", "reviews", "people’s rank", "mean", "score’s rank", "mean"),
                rows=rows,
            ),
        ),
    )


def sweep(findings: Findings) -> Section | None:
    """Show the published rule at other thresholds."""
    if not findings.sweep:
        return None
    tau = findings.settings.threshold
    plot = _plots.lines(
        "sweep",
        [
            _plots.Series(
                label="Spearman",
                points=tuple((one.threshold, one.spearman) for one in findings.sweep),
            ),
            _plots.Series(
                label="Kendall",
                points=tuple((one.threshold, one.kendall) for one in findings.sweep),
            ),
        ],
        title="The published rule’s relevance against people’s, by threshold",
        axes=("τ", "correlation"),
        marks=[] if tau is None else [_plots.Mark(value=tau, label=f"τ of this run, {cut(tau)}")],
    )
    rows = tuple(
        (
            cut(one.threshold) + (" (this run)" if one.threshold == tau else ""),
            number(one.spearman),
            number(one.kendall),
            number(one.mean),
        )
        for one in findings.sweep
    )
    procedure = number(findings.measured.tau_by_procedure, 4)
    table = Table(
        caption="The published rule at other thresholds",
        header=("τ", "Spearman", "Kendall", "mean"),
        rows=rows,
        main=frozenset(place for place, one in enumerate(findings.sweep) if one.threshold == tau),
    )
    return Section(
        name="sweep",
        short="Threshold",
        title="The published rule at other thresholds",
        lead=(
            f"τ by the paper’s procedure on this data: {procedure}. The best of this curve is "
            "tuned on the reviews it is judged by; it is no estimate for others.",
        ),
        plots=(plot,),
        folds=(Fold(title="The numbers", table=table),),
    )
