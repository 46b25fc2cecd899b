"""Comparison of reviewers: is one better than another, and is that more than chance?

On the same pulls, the differences on each pull are averaged; on different ones, the means are
compared inside strata of repository, language and size. Intervals draw whole pulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.overview import Estimate, Verdict
from crscore.audit.tables import LOWER_IS_BETTER, MEASURES, ReviewTable
from crscore.errors import InputError
from crscore.statistics import bootstrap, resampled
from crscore.statistics.bootstrap import RESAMPLES
from crscore.statistics.corrections import holm

Floats = npt.NDArray[np.float64]

DETECT: Final = 5.0
"""Difference that matters, 0 to 100, unless another is asked for."""
MIN_COMMON: Final = 20
"""Common pulls from which on two reviewers are compared on these alone."""
MIN_PULLS: Final = 10
"""Pulls of each below which nothing is decided: too few for a bootstrap."""
SIGNIFICANCE: Final = 0.05


class _Pair(NamedTuple):
    """Two reviewers with the difference of their means."""

    first: str
    second: str
    paired: bool
    pulls: int
    """Pulls that count."""
    fewest: int
    """Pulls of the one with fewer."""
    means: tuple[float, float] = (0.0, 0.0)
    difference: Estimate | None = None
    """First minus second; None where they cannot be compared."""
    p_value: float | None = None
    """Not corrected; None when the draws do not determine it."""
    error: float | None = None
    """Standard error of the difference."""


def compare(
    table: ReviewTable,
    first: str,
    second: str,
    *,
    measure: str = "usefulness",
    detect: float = DETECT,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Verdict:
    """Compare two reviewers.

    Args:
        table: Reviews of a period.
        first: Name of the first.
        second: Name of the second.
        measure: One of `tables.MEASURES`.
        detect: Difference that matters, above 0 and at most 100.
        resamples: Number of draws.
        seed: Seed of the draws.

    Raises:
        InputError: A name or the measure is not in the table, or `detect` is out of range.
    """
    return _verdicts(table, [(first, second)], measure, detect, resamples, seed)[0]


def compare_all(
    table: ReviewTable,
    *,
    reviewers: Sequence[str] | None = None,
    measure: str = "usefulness",
    detect: float = DETECT,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Verdict, ...]:
    """Compare each pair of reviewers; p-values are corrected for the number of pairs (Holm).

    Args:
        table: Reviews of a period.
        reviewers: Their names; all bots when None.
        measure: One of `tables.MEASURES`.
        detect: Difference that matters, above 0 and at most 100.
        resamples: Number of draws.
        seed: Seed of the draws.

    Returns:
        One verdict a pair, in the order of the names.

    Raises:
        InputError: A name or the measure is not in the table, or `detect` is out of range.
    """
    if reviewers is None:
        reviewers = [name for name, bot in zip(table.reviewers, table.is_bot, strict=True) if bot]
    pairs = list(combinations(reviewers, 2))
    return _verdicts(table, pairs, measure, detect, resamples, seed)


def _verdicts(
    table: ReviewTable,
    pairs: Sequence[tuple[str, str]],
    measure: str,
    detect: float,
    resamples: int,
    seed: int,
) -> tuple[Verdict, ...]:
    _check(table, pairs, measure, detect)
    found = _differences(table, pairs, measure, resamples, seed)
    tested = [at for at, pair in enumerate(found) if pair.p_value is not None]
    corrected = dict(zip(tested, holm([found[at].p_value or 0.0 for at in tested]), strict=True))
    return tuple(
        _verdict(
            pair._replace(p_value=corrected.get(at)), measure, detect, pairs=max(1, len(tested))
        )
        for at, pair in enumerate(found)
    )


def _check(
    table: ReviewTable, pairs: Sequence[tuple[str, str]], measure: str, detect: float
) -> None:
    if measure not in table.columns or measure not in MEASURES:
        raise InputError(f"there is no measure {measure}; there are: {', '.join(MEASURES)}")
    if not 0 < detect <= 100:
        raise InputError(f"the difference to detect is {detect:g}; it must be in (0, 100]")
    for name in (name for pair in pairs for name in pair):
        if name not in table.reviewers:
            known = ", ".join(table.reviewers) or "none"
            raise InputError(f"no review of {name} in the period; there are reviews of: {known}")


def _differences(
    table: ReviewTable,
    pairs: Sequence[tuple[str, str]],
    measure: str,
    resamples: int,
    seed: int,
) -> list[_Pair]:
    values = table.matrix(measure)
    sides = [
        (values[:, table.reviewers.index(first)], values[:, table.reviewers.index(second)])
        for first, second in pairs
    ]
    # Pulls without any of these reviewers change nothing but the time it takes.
    there = np.zeros(len(values), dtype=bool)
    for one, other in sides:
        there |= ~(np.isnan(one) & np.isnan(other))
    sides = [(one[there], other[there]) for one, other in sides]
    strata = table.stratum[there]
    common = [int((~np.isnan(one - other)).sum()) for one, other in sides]
    paired = [at for at, count in enumerate(common) if count >= MIN_COMMON]
    stratified = [at for at, count in enumerate(common) if count < MIN_COMMON]
    deltas = np.array([sides[at][0] - sides[at][1] for at in paired])

    def differ(weights: Floats) -> Floats:
        found = np.empty((len(weights), len(pairs)))
        if paired:
            found[:, paired] = resampled.means(deltas.T, weights)
        for at in stratified:
            found[:, at] = resampled.stratified_difference(*sides[at], strata, weights)
        return found

    pulls = int(there.sum())
    if not pulls:
        return [_Pair(first, second, False, 0, 0) for first, second in pairs]
    observed = differ(np.ones((1, pulls)))[0]
    drawn = bootstrap.resample(differ, pulls, resamples=resamples, seed=seed)
    return [
        _pair(pairs[at], sides[at], observed[at], drawn[:, at], paired=at in paired)
        for at in range(len(pairs))
    ]


def _pair(
    names: tuple[str, str],
    sides: tuple[Floats, Floats],
    difference: float,
    drawn: Floats,
    *,
    paired: bool,
) -> _Pair:
    known = [~np.isnan(side) for side in sides]
    counting = known[0] & known[1] if paired else known[0] | known[1]
    fewest = min(int((one & counting).sum()) for one in known)
    pair = _Pair(*names, paired, int(counting.sum()), fewest)
    found = bootstrap.bootstrap_test(
        None if np.isnan(difference) else float(difference),
        drawn,
        clusters=pair.pulls,
        is_correlation=False,
    )
    if found.low is None or found.high is None:
        return pair
    return pair._replace(
        means=(
            float(sides[0][known[0] & counting].mean()),
            float(sides[1][known[1] & counting].mean()),
        ),
        difference=Estimate(value=float(difference), low=found.low, high=found.high),
        p_value=found.p,
        error=found.error,
    )


def _verdict(pair: _Pair, measure: str, detect: float, *, pairs: int) -> Verdict:
    decided = _decide(pair, measure, detect)
    needed = _needed(pair, detect, pairs=pairs) if decided == "unknown" else None
    return Verdict(
        first=pair.first,
        second=pair.second,
        measure=measure,
        verdict=decided,
        difference=pair.difference,
        p_value=pair.p_value,
        pulls=pair.pulls,
        paired=pair.paired,
        needed=needed,
        text=_words(pair, decided, measure, detect, needed),
    )


def _decide(
    pair: _Pair, measure: str, detect: float
) -> Literal["better", "worse", "equivalent", "unknown"]:
    found = pair.difference
    if found is None or pair.fewest < MIN_PULLS:
        return "unknown"
    if -detect <= found.low and found.high <= detect:
        return "equivalent"
    if pair.p_value is None or pair.p_value >= SIGNIFICANCE or found.low <= 0 <= found.high:
        return "unknown"
    return "better" if (found.value > 0) != (measure in LOWER_IS_BETTER) else "worse"


def _needed(pair: _Pair, detect: float, *, pairs: int) -> int | None:
    """Return how many more pulls show such a difference with a power of 80 %.

    At a level divided by the number of pairs, as the largest of Holm's corrections does.
    """
    if not pair.error:
        return None
    total = bootstrap.clusters_needed(
        detect, pair.error, clusters=pair.pulls, significance=SIGNIFICANCE / pairs
    )
    more = max((total or 0) - pair.pulls, MIN_PULLS - pair.fewest)
    return more if more > 0 else None


def _words(pair: _Pair, decided: str, measure: str, detect: float, needed: int | None) -> str:
    first, second, found, means = pair.first, pair.second, pair.difference, pair.means
    if found is None:
        return f"{first} and {second}: can't tell: there are too few pulls to compare them on"
    low, high, value = found.low, found.high, found.value
    if decided == "worse":
        first, second, means = second, first, means[::-1]
    if (decided in ("better", "worse")) and value < 0:
        low, high, value = -high, -low, -value
    what = "" if measure == "usefulness" else f" in {measure}"
    pulls = f"{pair.pulls} common pulls" if pair.paired else f"{pair.pulls} pulls, by strata"
    numbers = (
        f"{_number(means[0])} against {_number(means[1])} of 100 on {pulls} "
        f"(difference {_number(value)}, 95 % interval {_number(low)} to {_number(high)})"
    )
    if decided in ("better", "worse"):
        return f"{first} is better than {second}{what}: {numbers}"
    if decided == "equivalent":
        says = f"no difference{what} larger than {_number(detect)}"
    elif needed is None:
        says = f"can't tell{what}: the difference may be larger than {_number(detect)} or none"
    else:
        more = f"about {needed:,} more {'common ' * pair.paired}pulls"
        shown = f"would probably (4 in 5) show a difference of {_number(detect)}"
        says = f"can't tell yet{what}, {more} {shown}"
    return f"{first} and {second}: {says}: {numbers}"


def _number(value: float) -> str:
    # Adding 0 turns -0.0 into 0.0.
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
