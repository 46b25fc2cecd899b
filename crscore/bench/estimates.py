"""Computes precision, recall and F of bots from matched findings, with intervals and ranks."""

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
"""Fields of `BotScore` that have an interval."""


class Row(NamedTuple):
    """Decisions about the findings of one bot for one change."""

    decisions: list[Decision]
    pairs: list[Pair]
    counts: tuple[float, ...]
    """Six counts: required problems that the bot found; findings about a known problem; distinct
    findings; required problems; then the first and the fourth count, weighted by severity.
    """


def compute(
    golden: GoldenSet,
    bots: Sequence[str],
    rows: Mapping[tuple[str, str], Row],
    beta: float,
    *,
    resamples: int,
    seed: int,
) -> tuple[tuple[BotScore, ...], tuple[Comparison, ...]]:
    """Compute the scores of bots, and compare each pair of bots.

    Args:
        golden: The set.
        bots: Names of the bots.
        rows: Decisions and counts for each pair of a change and a bot.
        beta: Weight of recall against precision in F, above 0.
        resamples: Number of bootstrap samples of the changes; 0 for no intervals.
        seed: Seed of the bootstrap.

    Returns:
        The scores, the best F first; and the difference in F of each pair of bots, with p-values
        corrected by Holm's method.
    """
    names = [change.id for change in golden.changes]
    counts = np.array([[rows[name, bot].counts for name in names] for bot in bots])

    def measure(weights: Doubles) -> Doubles:
        """Return precision, recall, F and weighted recall of each of M bots, shape (b, 4, M).

        Args:
            weights: How often each of N changes occurs in each of b samples, shape (b, N).
        """
        # Counts are summed before they are divided, because the share of a change with one problem
        # or no finding says little.
        hits, right, distinct, required, weighted, weight = np.einsum(
            "bn,mnk->kbm", weights, counts
        )
        precision, recall = resampled.divide(right, distinct), resampled.divide(hits, required)
        # A bot without findings has no precision. Its F is set to 0, so that it is ranked last.
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
                unread=outcomes["unread"],
                unsure=sum(pair.is_unsure for name in names for pair in rows[name, bot].pairs),
                silent=sum(not rows[name, bot].decisions for name in names),
                groups=_recall_by_group(golden, bot, rows),
            )
        )
    scores.sort(key=lambda row: (-(row.f.value or 0.0), row.bot))
    return tuple(scores), _compare(bots, observed[0, 2], draws[:, 2], len(names))


def _mean(decisions: Sequence[Decision], field: str) -> float | None:
    """Return the mean time or cost of a bot's run, over the changes whose findings state it.

    If the findings of a change state several amounts, the highest counts. None is returned if no
    finding states an amount.
    """
    amounts = [(d.finding.change, getattr(d.finding, field)) for d in decisions]
    # In sorted order, the highest amount of a change is the last one, which the dictionary keeps.
    highest = dict(sorted(row for row in amounts if row[1] is not None))
    return round(sum(highest.values()) / len(highest), 3) if highest else None


def _estimate(value: float, draws: Doubles, changes: int) -> Estimate:
    # The intervals are expanded, because with 30 changes those of plain percentiles contained the
    # true value in 92 % of cases instead of 95 % (docs/design/029-golden-sets.md).
    low, high = bootstrap.percentile_interval(draws, clusters=changes, expanded=True)
    return Estimate(value=None if math.isnan(value) else float(value), low=low, high=high)


def _compare(
    bots: Sequence[str], observed: Doubles, draws: Doubles, changes: int
) -> tuple[Comparison, ...]:
    """Compare the F of each pair of bots on the same bootstrap samples of the changes."""
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
