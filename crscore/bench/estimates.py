"""Computes precision, recall and F of bots from judged findings, with intervals and ranks."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.bench.records import GoldenSet
from crscore.bench.results import BotScore, Comparison, Decision, Estimate, Group, Pair
from crscore.records import Importance
from crscore.statistics import bootstrap, paired, resampled

Doubles = npt.NDArray[np.float64]

MEASURES: Final = ("precision", "recall", "f", "weighted_recall")
"""Fields of a bot's scores that have an interval."""


class Row(NamedTuple):
    """Findings of one bot for one change, judged."""

    decisions: list[Decision]
    pairs: list[Pair]
    counts: tuple[float, ...]
    """Required problems that it found, findings about a problem, distinct findings, required
    problems, and the first and the fourth number weighted by severity."""


def compute(
    golden: GoldenSet,
    bots: Sequence[str],
    rows: Mapping[tuple[str, str], Row],
    beta: float,
    *,
    resamples: int,
    seed: int,
) -> tuple[tuple[BotScore, ...], tuple[Comparison, ...]]:
    """Compute the scores of bots, and compare each pair.

    Args:
        golden: The set.
        bots: Names of the bots.
        rows: Judged findings by change and bot.
        beta: Weight of recall against precision in F, above 0.
        resamples: Draws of the bootstrap over changes; 0 for no interval.
        seed: Seed of the draws.

    Returns:
        Scores, the best F first; differences in F, with p-values corrected by Holm's method.
    """
    names = [change.id for change in golden.changes]
    counts = np.array([[rows[name, bot].counts for name in names] for bot in bots])

    def measure(weights: Doubles) -> Doubles:
        """Return precision, recall, F and weighted recall of each bot, shape (b, 4, M)."""
        # Counts are summed before they are divided, because the share of a change with one problem
        # or no finding says little.
        hits, right, distinct, required, weighted, weight = np.einsum(
            "bn,mnk->kbm", weights, counts
        )
        precision, recall = resampled.divide(right, distinct), resampled.divide(hits, required)
        # A bot without findings has no precision, but an F of 0: it is ranked below the others.
        p, r = np.nan_to_num(precision), np.nan_to_num(recall)
        f = np.nan_to_num(resampled.divide((1 + beta**2) * p * r, beta**2 * p + r))
        return np.stack([precision, recall, f, resampled.divide(weighted, weight)], axis=1)

    observed = measure(np.ones((1, len(names))))
    draws = bootstrap.resample(measure, len(names), resamples=resamples, seed=seed)
    draws = draws if resamples else np.full_like(observed, np.nan)
    ranks = bootstrap.rank_ranges(draws[:, 2] if resamples else observed[:, 2])

    scores = []
    for number, bot in enumerate(bots):
        decisions = [decision for name in names for decision in rows[name, bot].decisions]
        unlisted = [decision for decision in decisions if decision.outcome == "unlisted"]
        outcomes = Counter(decision.outcome for decision in decisions)
        levels = Counter(decision.importance for decision in unlisted)
        estimates: dict[str, Any] = {
            name: _estimate(observed[0, at, number], draws[:, at, number], len(names))
            for at, name in enumerate(MEASURES)
        }
        estimates |= {name: _mean(decisions, name) for name in ("seconds", "cost")}
        scores.append(
            BotScore(
                bot=bot,
                **estimates,
                best_rank=ranks[number][0],
                worst_rank=ranks[number][1],
                hits=outcomes["hit"],
                also_right=outcomes["also right"],
                unlisted=len(unlisted),
                serious=levels[Importance.CRITICAL] + levels[Importance.MAJOR],
                duplicates=outcomes["duplicate"],
                unsure=sum(pair.is_unsure for name in names for pair in rows[name, bot].pairs),
                silent=sum(not rows[name, bot].decisions for name in names),
                groups=_recall_by_group(golden, bot, rows),
            )
        )
    scores.sort(key=lambda row: (-(row.f.value or 0.0), row.bot))
    return tuple(scores), _compare(bots, observed[0, 2], draws[:, 2], len(names))


def _mean(decisions: Sequence[Decision], field: str) -> float | None:
    """Return the mean over changes of what a run took, which each of its findings may state."""
    amounts = [(d.finding.change, getattr(d.finding, field)) for d in decisions]
    # Of a change, the last in order, which is the most.
    most = dict(sorted(row for row in amounts if row[1] is not None))
    return round(sum(most.values()) / len(most), 3) if most else None


def _estimate(value: float, draws: Doubles, changes: int) -> Estimate:
    # With 30 changes, plain percentiles covered 92 % instead of 95 %
    # (docs/design/029-golden-sets.md).
    low, high = bootstrap.percentile_interval(draws, clusters=changes, expanded=True)
    return Estimate(value=None if math.isnan(value) else float(value), low=low, high=high)


def _compare(
    bots: Sequence[str], observed: Doubles, draws: Doubles, changes: int
) -> tuple[Comparison, ...]:
    """Compare each pair of bots on the same draws of changes."""
    pairs = list(combinations(range(len(bots)), 2))
    comparisons = paired.correct(
        paired.compare(float(observed[a] - observed[b]), draws[:, a] - draws[:, b], units=changes)
        for a, b in pairs
    )
    return tuple(
        Comparison(
            first=bots[a],
            second=bots[b],
            difference=_estimate(observed[a] - observed[b], draws[:, a] - draws[:, b], changes),
            p_value=comparison.p,
        )
        for (a, b), comparison in zip(pairs, comparisons, strict=True)
    )


def _recall_by_group(
    golden: GoldenSet, bot: str, rows: Mapping[tuple[str, str], Row]
) -> tuple[Group, ...]:
    hits = defaultdict[tuple[str, str], list[bool]](list)
    for change in golden.changes:
        matched = {d.problem for d in rows[change.id, bot].decisions if d.outcome == "hit"}
        for index, problem in enumerate(change.problems):
            kinds = {"severity": problem.severity, "category": problem.category,
                     "language": change.language}  # fmt: skip
            for kind, name in kinds.items():
                if name and problem.is_required:
                    hits[kind, name].append(index in matched)
    return tuple(
        Group(kind=kind, name=name, hits=sum(values), problems=len(values))
        for (kind, name), values in sorted(hits.items())
    )
