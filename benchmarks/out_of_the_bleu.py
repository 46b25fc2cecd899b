"""Compute Tables 2 to 4 of "Out of the BLEU": do metrics and people see the same differences?

    python benchmarks/out_of_the_bleu.py GRADED [--bins hearthstone] [--resamples 1000]

GRADED is a file of several systems' code, each with one grade of 0 to 4
(`crscore_lab/code/graded.py`).

Source:
    Evtikhiev, Bogomolov, Sokolov and Bryksin, "Out of the BLEU: how should we assess quality of
    the code generation models?", Journal of Systems and Software 2023, sections 3 to 5.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore import plugins
from crscore.errors import InputError
from crscore.statistics import bootstrap, resampled
from crscore.statistics.intervals import percentiles
from crscore_lab.code.graded import GradedCode, read_graded
from crscore_lab.tables import make_table

Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

PRESET: Final = "out-of-the-bleu"
METRICS: Final = ("bleu", "rouge_l", "chrf", "meteor", "ruby", "codebleu")
"""Metrics of the paper."""
HUMAN: Final = "human"
ONE_SIDED: Final = 0.95
"""Minimum share of wins that the paper calls significant; a two-sided level of 90 %."""
SHARES: Final = (1, 3, 5, 10, 15, 20, 25, 30)
"""Percentages of snippets that are replaced in a synthetic system."""
BINS: Final = MappingProxyType(
    {"conala": (0.0, 2.0, 5.0, 10.0, 100.0), "hearthstone": (0.0, 1.0, 2.0, 4.0, 100.0)}
)
"""Data set -> the paper's bounds of the bins of differences, in points of 100; a bin does not
include its upper bound."""
MAX_GRADE: Final = 4
"""Highest grade of people; the lowest is 0."""


class SystemScore(Struct, frozen=True, kw_only=True):
    """Score of a system (Table 2), in points of 100."""

    metric: str
    """Name of the metric, or `human`."""
    system: str
    """Name of the system."""
    score: float
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""


class Bin(Struct, frozen=True, kw_only=True):
    """Pairs of systems whose scores differ by `low` to `high` (Tables 3 and 4)."""

    low: float
    """Smallest difference, in points of 100."""
    high: float
    """Upper bound of the difference, in points of 100, not included."""
    significant: int
    """Number of pairs whose difference is significant by the metric."""
    not_significant: int
    """Number of other pairs."""
    mismatch: float | None
    """Share of the significant pairs that people do not distinguish, or order in the opposite way;
    None without significant pairs."""


class Disagreement(Struct, frozen=True, kw_only=True):
    """Agreement of one metric with people on pairs of systems."""

    metric: str
    """Name of the metric."""
    origin: str
    """The metric's identity, or `published` for scores from the data."""
    bins: tuple[Bin, ...]
    """Pairs by the size of their difference."""
    not_significant: int
    """Number of pairs whose difference is not significant by the metric."""
    mismatch_not_significant: float | None
    """Share of these pairs that people distinguish; None without such pairs."""
    mismatch: float
    """Share of all pairs on which metric and people disagree."""


class Tables(Struct, frozen=True, kw_only=True):
    """Tables 2 to 4."""

    systems: int
    """Number of systems in the data."""
    models: int
    """Number of systems in the data and synthetic systems."""
    pairs: int
    """Number of pairs of these models."""
    problems: int
    """Number of problems that all systems answered."""
    resamples: int
    """Number of bootstrap resamples."""
    seed: int
    """Seed of the bootstrap."""
    sha256: str
    """Hash of the data."""
    scores: tuple[SystemScore, ...]
    """Table 2."""
    disagreements: tuple[Disagreement, ...]
    """Tables 3 and 4."""
    notes: tuple[str, ...]
    """Metrics that were left out or taken from the data, one sentence each."""


class Column(NamedTuple):
    """Scores of all systems by one metric."""

    name: str
    origin: str
    statistics: Doubles
    """Sufficient statistics of each system and problem, shape (M, N, S)."""
    corpus_scores: Callable[[Doubles], Doubles]
    """Function from sums of statistics over problems to scores, (B, S) -> (B,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Answers of M systems to the same N problems."""

    systems: tuple[str, ...]
    rows: Indices
    """Row of the data for each system and problem, shape (M, N)."""
    grades: Doubles
    """Grade of each system and problem, shape (M, N)."""
    texts: tuple[tuple[str, ...], ...]
    """Code of each system and problem, M times N."""


def make_tables(
    graded: GradedCode,
    *,
    bins: Sequence[float] = BINS["conala"],
    resamples: int = 1000,
    seed: int = 42,
) -> Tables:
    """Compute Tables 2 to 4.

    Args:
        graded: Code of several systems, each with one grade of 0 to 4
            (`read_graded(path, grades="aggregated")`).
        bins: Bounds of the bins of differences in points of 100, ascending, at least 2.
        resamples: Number of bootstrap resamples.
        seed: Seed of the bootstrap.

    Returns:
        The tables. For a metric that cannot judge this code, the `published` scores in the data are
        used; if there are none, the metric is left out, and a note says so.

    Raises:
        InputError: The data have no grades by people, only one system, or no problem that all
            systems answered.
        DependencyError: A metric's package is not installed.
    """
    grid = make_grid(graded)
    columns, notes = make_columns(graded, grid)
    models = synthetic_models(grid.grades, grid.texts)
    weights = bootstrap.weight_matrix(grid.rows.shape[1], resamples=resamples, seed=seed)
    human = human_column(grid)
    return Tables(
        systems=len(grid.systems),
        models=len(models),
        pairs=len(models) * (len(models) - 1) // 2,
        problems=grid.rows.shape[1],
        resamples=resamples,
        seed=seed,
        sha256=graded.sha256,
        scores=tuple(_system_scores([*columns, human], grid, weights)),
        disagreements=tuple(_disagreements(columns, human, models, weights, bins)),
        notes=notes,
    )


def make_grid(graded: GradedCode) -> Grid:
    """Return the answers of all systems to the problems that all of them answered.

    Raises:
        InputError: As in `make_tables`.
    """
    if graded.kind != "people":
        raise InputError("the tables need people's grades of several systems' code")
    systems = tuple(dict.fromkeys(graded.systems))
    row_of = {key: row for row, key in enumerate(zip(graded.problems, graded.systems, strict=True))}
    shared = [
        problem
        for problem in dict.fromkeys(graded.problems)
        if all((problem, system) in row_of for system in systems)
    ]
    if len(systems) < 2 or not shared:
        raise InputError(
            f"{len(systems)} systems answered {len(shared)} problems in common; "
            "the tables need at least 2 and 1"
        )
    rows = np.array([[row_of[problem, system] for problem in shared] for system in systems])
    texts = tuple(tuple(graded.samples[row].candidate for row in line) for line in rows)
    return Grid(systems, rows, graded.grades[rows], texts)


def human_column(grid: Grid) -> Column:
    """Return a column of people's grades, from 0 to 1."""
    return _mean_column(HUMAN, "people", grid.grades / MAX_GRADE)


def _mean_column(name: str, origin: str, scores: Doubles) -> Column:
    """Return a column whose corpus scores are means of `scores`, which has shape (M, N)."""
    statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
    return Column(name, origin, statistics, lambda totals: totals[:, 0] / totals[:, 1])


def make_columns(graded: GradedCode, grid: Grid) -> tuple[list[Column], tuple[str, ...]]:
    """Score all answers by each of `METRICS`.

    Returns:
        The columns, and notes on metrics that were left out or taken from the data.

    Raises:
        DependencyError: A metric's package is not installed.
    """
    columns, notes = [], []
    for name in METRICS:
        metric = plugins.create("metrics", name, offered={"preset": PRESET})
        if metric.find_obstacle(graded.samples) is None:
            statistics = metric.statistics(graded.samples)[grid.rows]
            columns.append(Column(name, metric.identity, statistics, metric.corpus_scores))
        # Published scores are used only if all answers have one.
        elif all(name in graded.published[row] for row in grid.rows.ravel()):
            scores = np.array([published.get(name, 0.0) for published in graded.published])
            columns.append(_mean_column(name, "published", scores[grid.rows]))
            notes.append(f"{name}: scores from the data, not computed here")
        else:
            notes.append(
                f"{name} is left out: it cannot judge this code, and the data has no scores"
            )
    return columns, tuple(notes)


def synthetic_models(grades: Doubles, texts: Sequence[Sequence[str]]) -> list[Indices]:
    """Make synthetic systems by replacing some snippets of a system by another system's.

    For each snippet, the replacement with the largest improvement of the grade is considered. In a
    synthetic system, the replacements with the largest improvements are made, for p % of the
    snippets, or fewer if there are not as many improvements. In further synthetic systems, the
    grades become worse instead.

    Args:
        grades: Grades of M systems on N snippets, shape (M, N).
        texts: The snippets, M times N.

    Returns:
        The systems, then the synthetic systems: for each, the index of the system that each snippet
        is from, shape (N,). Of models with equal snippets, only the first is kept.
    """
    models: dict[tuple[str, ...], Indices] = {}
    for model in _candidate_models(grades):
        key = tuple(texts[system][snippet] for snippet, system in enumerate(model))
        # Different replacements may give the same snippets, and such models would be equal.
        models.setdefault(key, model)
    return list(models.values())


def _candidate_models(grades: Doubles) -> Iterator[Indices]:
    systems, snippets = grades.shape
    for system in range(systems):
        yield np.full(snippets, system)
    for system in range(systems):
        for sign in (1, -1):
            gains = sign * (grades - grades[system])
            best_system, gain = gains.argmax(axis=0), gains.max(axis=0)
            # Snippets whose replacement has the same grade are left out.
            order = np.argsort(-gain, kind="stable")[: int((gain > 0).sum())]
            for share in SHARES:
                model = np.full(snippets, system)
                exchanged = order[: round(share * snippets / 100)]
                model[exchanged] = best_system[exchanged]
                yield model


def _system_scores(
    columns: Sequence[Column], grid: Grid, weights: Doubles
) -> Iterator[SystemScore]:
    for column in columns:
        drawn_scores = resampled.corpus_scores(column.statistics, column.corpus_scores, weights)
        totals = column.corpus_scores(column.statistics.sum(axis=1))
        for system, score, draws in zip(grid.systems, totals, drawn_scores, strict=True):
            low, high = percentiles(draws)
            yield SystemScore(
                metric=column.name,
                system=system,
                score=100 * float(score),
                low=100 * low,
                high=100 * high,
            )


def outcomes(
    column: Column, models: Sequence[Indices], weights: Doubles
) -> tuple[npt.NDArray[np.int8], Doubles]:
    """Compare all models by one metric.

    Returns:
        For each pair of models, 1 if the first is significantly better, -1 if the second is, and 0
        otherwise, shape (M, M); and the score of each model, shape (M,).
    """
    snippets = np.arange(column.statistics.shape[1])
    statistics = column.statistics[np.array(models), snippets]
    draws = resampled.corpus_scores(statistics, column.corpus_scores, weights)
    totals = column.corpus_scores(statistics.sum(axis=1))
    wins = np.array([(row > draws).mean(axis=1) for row in draws])
    # The rule of the paper, which does not correct for the number of comparisons.
    better = (wins >= ONE_SIDED).astype(np.int8)
    return better - better.T, totals


def _disagreements(
    columns: Sequence[Column],
    human: Column,
    models: Sequence[Indices],
    weights: Doubles,
    bins: Sequence[float],
) -> Iterator[Disagreement]:
    first, second = np.triu_indices(len(models), 1)
    people = outcomes(human, models, weights)[0][first, second]
    for column in columns:
        better, totals = outcomes(column, models, weights)
        points = 100 * np.abs(totals[first] - totals[second])
        mismatch = better[first, second] != people
        significant = better[first, second] != 0
        yield Disagreement(
            metric=column.name,
            origin=column.origin,
            bins=tuple(
                Bin(
                    low=low,
                    high=high,
                    significant=int((inside & significant).sum()),
                    not_significant=int((inside & ~significant).sum()),
                    mismatch=_share(mismatch[inside & significant]),
                )
                for low, high in itertools.pairwise(bins)
                for inside in [(points >= low) & (points < high)]
            ),
            not_significant=int((~significant).sum()),
            mismatch_not_significant=_share(mismatch[~significant]),
            mismatch=float(mismatch.mean()),
        )


def _share(flags: npt.NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if len(flags) else None


def print_tables(tables: Tables) -> None:
    """Print the tables as Markdown."""
    systems = dict.fromkeys(row.system for row in tables.scores)
    scores = {(row.metric, row.system): row for row in tables.scores}
    bins = [f"[{part.low:g}, {part.high:g})" for part in tables.disagreements[0].bins]

    def score(system: str) -> Callable[[str], str]:
        def cell(metric: str) -> str:
            row = scores[metric, system]
            return f"{row.score:.2f} -{row.score - row.low:.2f} +{row.high - row.score:.2f}"

        return cell

    def pairs(index: int) -> Callable[[Disagreement], str]:
        return lambda row: f"{row.bins[index].significant} / {row.bins[index].not_significant}"

    def share(index: int) -> Callable[[Disagreement], Any]:
        return lambda row: row.bins[index].mismatch

    print(
        f"{tables.systems} systems on {tables.problems:,} problems; {tables.models:,} models with "
        f"the synthetic ones, {tables.pairs:,} pairs; {tables.resamples:,} resamples"
    )
    print(*tables.notes, sep="\n")
    metrics = list(dict.fromkeys(row.metric for row in tables.scores))
    title = "Table 2: scores in points of 100, with 95 % intervals"
    print(make_table(title, metrics, ("metric", str), *((name, score(name)) for name in systems)))
    title = "Table 3: pairs with / without a significant difference, by its size in points"
    columns = [(name, pairs(index)) for index, name in enumerate(bins)]
    print(make_table(title, tables.disagreements, ("metric", "metric"), *columns))
    title = "Table 4: share of the pairs on which people disagree with the metric"
    columns = [(name, share(index)) for index, name in enumerate(bins)]
    rest = (("not significant", "mismatch_not_significant"), ("all", "mismatch"))
    print(make_table(title, tables.disagreements, ("metric", "metric"), *columns, *rest))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--bins", choices=BINS, default="conala")
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    graded = read_graded(options.data, grades="aggregated")
    print_tables(make_tables(graded, bins=BINS[options.bins], resamples=options.resamples))


if __name__ == "__main__":
    main()
