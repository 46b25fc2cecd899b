"""Tables 2 to 4 of "Out of the BLEU": do metrics and people see the same differences of systems?

Source:
    Evtikhiev, Bogomolov, Sokolov and Bryksin, "Out of the BLEU: how should we assess quality of
    the code generation models?", Journal of Systems and Software 2023, sections 3 to 5.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore import plugins
from crscore.errors import InputError
from crscore.lab.study.code.graded import GradedCode
from crscore.lab.study.formats import NOTHING, count, percent, whole
from crscore.reports.layout import Card, Report, Section, make_table
from crscore.statistics import bootstrap, resampled
from crscore.statistics.intervals import percentiles

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

SCHEMA: Final = "urn:crscore:out-of-the-bleu:1"
"""Schema identifier of the tables."""
PRESET: Final = "out-of-the-bleu"
METRICS: Final = ("bleu", "rouge_l", "chrf", "meteor", "ruby", "codebleu")
"""Metrics of the paper."""
HUMAN: Final = "human"
SHARES: Final = (1, 3, 5, 10, 15, 20, 25, 30)
"""Percentages of snippets that are exchanged in a synthetic system."""
BINS: Final = (0.0, 2.0, 5.0, 10.0, 100.0)
"""Bounds of the bins of differences on CoNaLa, in points of 100; each bin is without its upper one.
On HearthStone the paper's are 0, 1, 2, 4 and 100."""
MAX_GRADE: Final = 4


class Row(Struct, frozen=True, kw_only=True):
    """Score of a system (Table 2)."""

    metric: str
    """Name of the metric, or `human`."""
    system: str
    """Name of the system."""
    score: float
    """In points of 100."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""


class Bin(Struct, frozen=True, kw_only=True):
    """Pairs of systems whose scores differ by about as much (Tables 3 and 4)."""

    low: float
    """Smallest difference, in points of 100."""
    high: float
    """Upper bound of the difference."""
    significant: int
    """Pairs that the metric tells apart."""
    not_significant: int
    """Pairs that it does not tell apart."""
    mismatch: float | None
    """Share of the significant ones that people do not tell apart or order the other way round;
    None without one."""


class Disagreement(Struct, frozen=True, kw_only=True):
    """Agreement of one metric with people on pairs of systems."""

    metric: str
    """Name of the metric."""
    origin: str
    """The metric's identity, or `published` for scores that come with the data."""
    bins: tuple[Bin, ...]
    """By size of the difference."""
    not_significant: int
    """Pairs that the metric does not tell apart."""
    mismatch_not_significant: float | None
    """Share of them that people tell apart; None without one."""
    mismatch: float
    """Share of all pairs on which metric and people disagree."""


class Tables(Struct, frozen=True, kw_only=True):
    """Tables 2 to 4."""

    schema: Literal["urn:crscore:out-of-the-bleu:1"] = SCHEMA
    systems: int
    """Systems of the data."""
    models: int
    """Those and the synthetic ones."""
    pairs: int
    """Pairs of models."""
    problems: int
    """Problems that all systems answered."""
    resamples: int
    """Draws of the bootstrap."""
    seed: int
    """Seed of the draws."""
    sha256: str
    """Hash of the data."""
    scores: tuple[Row, ...]
    """Table 2."""
    disagreements: tuple[Disagreement, ...]
    """Tables 3 and 4."""
    notes: tuple[str, ...]
    """Notes to read before the numbers."""


class Column(NamedTuple):
    """Scores of all systems by one metric."""

    name: str
    origin: str
    statistics: Floats
    """Shape (M, N, S): systems, problems, statistics."""
    corpus_scores: Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Answers of M systems to the same N problems."""

    systems: tuple[str, ...]
    rows: Indices
    """Row of the data by system and problem, shape (M, N)."""
    grades: Floats
    """Shape (M, N)."""
    texts: tuple[tuple[str, ...], ...]
    """Code by system and problem."""


def tables(
    graded: GradedCode,
    *,
    bins: Sequence[float] = BINS,
    resamples: int = 1000,
    seed: int = 42,
) -> Tables:
    """Compute Tables 2 to 4.

    Args:
        graded: Code of several systems, with grades of 0 to 4 that were made one
            (`read_graded(path, grades="aggregated")`, or `mmsr`).
        bins: Bounds of the bins of differences, rising, from 0 to 100 points.
        resamples: Draws of the bootstrap.
        seed: Seed of the draws.

    Returns:
        The tables. A metric that does not exist here is taken from the `published` scores of the
        data; one that is missing there too has a note.

    Raises:
        InputError: No people's grades, a single system, or no problem that all of them answered.
        DependencyError: A metric's package is missing.
    """
    grid = make_grid(graded)
    columns, notes = make_columns(graded, grid)
    models = synthetic_models(grid.grades, grid.texts)
    counts = bootstrap.weight_matrix(grid.rows.shape[1], resamples=resamples, seed=seed)
    one, two = np.triu_indices(len(models), 1)
    people = outcomes(human_column(grid), models, counts)[0][one, two]
    return Tables(
        systems=len(grid.systems),
        models=len(models),
        pairs=len(one),
        problems=grid.rows.shape[1],
        resamples=resamples,
        seed=seed,
        sha256=graded.sha256,
        scores=tuple(_scores([*columns, human_column(grid)], grid, counts)),
        disagreements=tuple(
            _disagreement(column, models, counts, people, bins) for column in columns
        ),
        notes=notes,
    )


def make_grid(graded: GradedCode) -> Grid:
    """Arrange the problems that all systems answered.

    Raises:
        InputError: As in `tables`.
    """
    if graded.kind != "people":
        raise InputError("the tables need people's grades of several systems' code")
    systems = tuple(dict.fromkeys(graded.systems))
    places = {key: row for row, key in enumerate(zip(graded.problems, graded.systems, strict=True))}
    shared = [
        problem
        for problem in dict.fromkeys(graded.problems)
        if all((problem, system) in places for system in systems)
    ]
    if len(systems) < 2 or not shared:
        raise InputError(
            f"{len(systems)} systems answered {len(shared)} problems in common; "
            "the tables need at least 2 and 1"
        )
    rows = np.array([[places[problem, system] for problem in shared] for system in systems])
    texts = tuple(tuple(graded.samples[row].candidate for row in line) for line in rows)
    return Grid(systems, rows, graded.grades[rows], texts)


def human_column(grid: Grid) -> Column:
    """Make a column of people's grades, 0 to 1."""
    return Column(HUMAN, "people", _with_count(grid.grades / MAX_GRADE), _mean)


def _with_count(values: Floats) -> Floats:
    return np.stack([values, np.ones_like(values)], axis=-1)


def _mean(totals: Floats) -> Floats:
    mean: Floats = totals[:, 0] / totals[:, 1]
    return mean


def make_columns(graded: GradedCode, grid: Grid) -> tuple[list[Column], tuple[str, ...]]:
    """Score everything by each of `METRICS`.

    Returns:
        The columns, and notes on those that were not computed here.

    Raises:
        DependencyError: A metric's package is missing.
    """
    columns, notes = [], []
    for name in METRICS:
        metric = plugins.create("metrics", name, offered={"preset": PRESET})
        if metric.inapplicable(graded.samples) is None:
            statistics = metric.statistics(graded.samples)[grid.rows]
            columns.append(Column(name, metric.identity, statistics, metric.corpus_scores))
        elif all(name in graded.published[row] for row in grid.rows.ravel()):
            values = np.array([scores.get(name, 0.0) for scores in graded.published])
            columns.append(Column(name, "published", _with_count(values[grid.rows]), _mean))
            notes.append(f"{name}: the scores that come with the data, not computed here")
        else:
            notes.append(
                f"{name} is left out: it cannot judge this code, and the data has no scores"
            )
    return columns, tuple(notes)


def synthetic_models(grades: Floats, texts: Sequence[Sequence[str]]) -> list[Indices]:
    """Make systems by exchanging a share of a system's snippets for better or worse ones.

    Of each snippet the largest improvement (or worsening) by another system is taken; the p % with
    the largest ones of all are exchanged, fewer where there are not as many.

    Args:
        grades: Grades of M systems on N snippets, shape (M, N).
        texts: The snippets, M times N.

    Returns:
        For each model the system that each snippet is of, shape (N,); first the systems
        themselves. Of models of equal snippets the first one stays.
    """
    snippets = range(grades.shape[1])
    models: dict[tuple[str, ...], Indices] = {}
    for model in _candidates(grades):
        key = tuple(texts[system][snippet] for snippet, system in zip(snippets, model, strict=True))
        models.setdefault(key, model)
    return list(models.values())


def _candidates(grades: Floats) -> Iterator[Indices]:
    systems, snippets = grades.shape
    for system in range(systems):
        yield np.full(snippets, system)
    for system in range(systems):
        for sign in (1, -1):
            gains = sign * (grades - grades[system])
            other, gain = gains.argmax(axis=0), gains.max(axis=0)
            order = np.argsort(-gain, kind="stable")[: int((gain > 0).sum())]
            for share in SHARES:
                model = np.full(snippets, system)
                exchanged = order[: round(share * snippets / 100)]
                model[exchanged] = other[exchanged]
                yield model


def _scores(columns: Sequence[Column], grid: Grid, counts: Floats) -> Iterator[Row]:
    for column in columns:
        drawn = resampled.corpus_scores(column.statistics, column.corpus_scores, counts)
        totals = column.corpus_scores(column.statistics.sum(axis=1))
        for system, score, draws in zip(grid.systems, totals, drawn, strict=True):
            low, high = percentiles(draws)
            yield Row(
                metric=column.name,
                system=system,
                score=100 * float(score),
                low=100 * low,
                high=100 * high,
            )


def outcomes(
    column: Column, models: Sequence[Indices], counts: Floats
) -> tuple[npt.NDArray[np.int8], Floats]:
    """Compare all models by one metric.

    Returns:
        For each pair 1 or -1 when the first or second is significantly better, else 0, shape
        (M, M); and the score of each model, shape (M,).
    """
    snippets = np.arange(column.statistics.shape[1])
    chosen = column.statistics[np.array(models), snippets]
    drawn = resampled.corpus_scores(chosen, column.corpus_scores, counts)
    totals = column.corpus_scores(chosen.sum(axis=1))
    above = np.array([(row > drawn).mean(axis=1) for row in drawn])
    better = (above >= bootstrap.ONE_SIDED).astype(np.int8)
    return better - better.T, totals


def _disagreement(
    column: Column,
    models: Sequence[Indices],
    counts: Floats,
    people: npt.NDArray[np.int8],
    bins: Sequence[float],
) -> Disagreement:
    better, totals = outcomes(column, models, counts)
    one, two = np.triu_indices(len(models), 1)
    found = better[one, two]
    points = 100 * np.abs(totals[one] - totals[two])
    unlike, told = found != people, found != 0
    return Disagreement(
        metric=column.name,
        origin=column.origin,
        bins=tuple(
            _bin(low, high, (points >= low) & (points < high), told, unlike)
            for low, high in itertools.pairwise(bins)
        ),
        not_significant=int((~told).sum()),
        mismatch_not_significant=_share(unlike[~told]),
        mismatch=float(unlike.mean()),
    )


def _bin(
    low: float,
    high: float,
    inside: npt.NDArray[np.bool_],
    told: npt.NDArray[np.bool_],
    unlike: npt.NDArray[np.bool_],
) -> Bin:
    return Bin(
        low=low,
        high=high,
        significant=int((inside & told).sum()),
        not_significant=int((inside & ~told).sum()),
        mismatch=_share(unlike[inside & told]),
    )


def _share(flags: npt.NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if len(flags) else None


def tables_report(found: Tables) -> Report:
    """Lay out the tables."""
    scores = {(row.metric, row.system): row for row in found.scores}
    systems = tuple(dict.fromkeys(row.system for row in found.scores))
    names = tuple(dict.fromkeys(row.metric for row in found.scores))
    limits = tuple((part.low, part.high) for part in found.disagreements[0].bins)
    return Report(
        title="Out of the BLEU",
        heading="Do metrics and people see the same differences between systems?",
        facts=(
            f"{count(found.systems, 'system')} on {count(found.problems, 'problem')}; "
            f"{found.models:,} models with the synthetic ones, {count(found.pairs, 'pair')}; "
            f"{found.resamples:,} resamples, seed {found.seed}",
        ),
        notes=found.notes,
        cards=tuple(
            Card(row.metric, percent(row.mismatch), "of the pairs: people disagree")
            for row in found.disagreements
        ),
        sections=(
            Section(
                "scores",
                "Scores",
                "Table 2: scores in points of 100, with 95 % intervals",
                tables=(
                    make_table(
                        "Scores",
                        names,
                        ("Metric", str),
                        *((system, partial(_score_cell, scores, system)) for system in systems),
                    ),
                ),
            ),
            Section(
                "significance",
                "Significance",
                "Table 3: pairs told apart / not told apart, by the difference in points",
                tables=(
                    make_table(
                        "Significance",
                        found.disagreements,
                        ("Metric", _name),
                        *(
                            (_limits(*limit), partial(_significance_cell, place))
                            for place, limit in enumerate(limits)
                        ),
                    ),
                ),
            ),
            Section(
                "disagreement",
                "Disagreement",
                "Table 4: % of the pairs on which people disagree with the metric (of how many)",
                tables=(
                    make_table(
                        "Disagreement",
                        found.disagreements,
                        ("Metric", _name),
                        *(
                            (_limits(*limit), partial(_mismatch_cell, place))
                            for place, limit in enumerate(limits)
                        ),
                        ("not told apart", _indifferent_cell),
                        ("all", lambda row: f"{100 * row.mismatch:.2f}"),
                    ),
                ),
            ),
        ),
        signatures=tuple(f"{row.metric}: {row.origin}" for row in found.disagreements),
    )


def _name(row: Disagreement) -> str:
    return row.metric


def _limits(low: float, high: float) -> str:
    return f"[{low:g}, {high:g})"


def _score_cell(scores: Mapping[tuple[str, str], Row], system: str, metric: str) -> str:
    row = scores[metric, system]
    return f"{row.score:.2f} -{row.score - row.low:.2f} +{row.high - row.score:.2f}"


def _significance_cell(place: int, row: Disagreement) -> str:
    return f"{row.bins[place].significant} / {row.bins[place].not_significant}"


def _mismatch_cell(place: int, row: Disagreement) -> str:
    return _percent(row.bins[place].mismatch, row.bins[place].significant)


def _indifferent_cell(row: Disagreement) -> str:
    return _percent(row.mismatch_not_significant, row.not_significant)


def _percent(share: float | None, pairs: int) -> str:
    return NOTHING if share is None else f"{100 * share:.1f} ({whole(pairs)})"
