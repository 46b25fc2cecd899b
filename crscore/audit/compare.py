"""Comparison of reviewers: is one significantly better than another?

On common pull requests, the differences on each one are averaged; on different pull requests, the
means are compared within strata of repository, language and size. Intervals come from resampling
pull requests.
"""

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.overview import Estimate, Verdict
from crscore.audit.tables import LOWER_IS_BETTER, MEASURES, ReviewTable
from crscore.errors import InputError
from crscore.statistics import bootstrap, resampled
from crscore.statistics.bootstrap import RESAMPLES
from crscore.statistics.paired import SIGNIFICANCE, PairedComparison
from crscore.statistics.paired import compare as compare_draws
from crscore.statistics.paired import correct as correct_p_values

Floats = npt.NDArray[np.float64]

DETECT: Final = 5.0
"""Default smallest difference that matters, 0 to 100."""
MIN_COMMON: Final = 20
"""Minimum number of common pull requests for comparing two reviewers on these only."""
MIN_PULLS: Final = 10
"""Minimum number of pull requests of each reviewer; fewer are too few for a bootstrap."""


class _Pair(NamedTuple):
    """Two reviewers with the difference of their means, first minus second."""

    first: str
    second: str
    paired: bool
    pulls: int
    """Number of pull requests in the comparison."""
    fewest: int
    """Number of pull requests of the reviewer with fewer."""
    test: PairedComparison = PairedComparison(None, None, None, None, None, 0)
    means: tuple[float, float] = (0.0, 0.0)
    difference: Estimate | None = None
    """None if they cannot be compared."""


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
        reviewers: Names to compare; None for all bots.
        measure: One of `tables.MEASURES`.
        detect: Smallest difference that matters, above 0 and at most 100.
        resamples: Number of draws.
        seed: Seed of the draws.

    Returns:
        One verdict per pair, in the order of the names.

    Raises:
        InputError: A name or the measure is not in the table, or `detect` is out of range.
    """
    if reviewers is None:
        reviewers = [name for name, bot in zip(table.reviewers, table.is_bot, strict=True) if bot]
    _check(table, reviewers, measure, detect)
    names = list(combinations(reviewers, 2))
    pairs = _differences(table, names, measure, resamples, seed)
    corrected = correct_p_values(pair.test for pair in pairs)
    tests = max(1, sum(test.p is not None for test in corrected))
    return tuple(
        _verdict(pair._replace(test=test), measure, detect, tests=tests)
        for pair, test in zip(pairs, corrected, strict=True)
    )


def _check(table: ReviewTable, reviewers: Sequence[str], measure: str, detect: float) -> None:
    if measure not in table.columns or measure not in MEASURES:
        raise InputError(f"there is no measure {measure}; there are: {', '.join(MEASURES)}")
    if not 0 < detect <= 100:
        raise InputError(f"the difference to detect is {detect:g}; it must be in (0, 100]")
    for name in reviewers:
        if name not in table.reviewers:
            names = ", ".join(table.reviewers) or "none"
            raise InputError(f"no review of {name} in the period; there are reviews of: {names}")


def _differences(
    table: ReviewTable, names: Sequence[tuple[str, str]], measure: str, resamples: int, seed: int
) -> list[_Pair]:
    values = table.matrix(measure)
    index_of = {name: index for index, name in enumerate(table.reviewers)}
    columns = [(index_of[first], index_of[second]) for first, second in names]
    # Pull requests without these reviewers do not affect the result, so they are skipped.
    is_used = (~np.isnan(values[:, sorted({*chain(*columns)})])).any(axis=1)
    values, strata, pulls = values[is_used], table.stratum[is_used], int(is_used.sum())
    if not pulls:
        return [_Pair(first, second, False, 0, 0) for first, second in names]
    sides = [(values[:, first], values[:, second]) for first, second in columns]
    is_paired = np.array(
        [(~np.isnan(first - second)).sum() >= MIN_COMMON for first, second in sides], dtype=bool
    )
    deltas = np.array([first - second for first, second in sides])[is_paired]

    def differ(weights: Floats) -> Floats:
        differences = np.empty((len(weights), len(sides)))
        if len(deltas):
            differences[:, is_paired] = resampled.means(deltas.T, weights)
        for index in np.flatnonzero(~is_paired):
            differences[:, index] = resampled.stratified_difference(*sides[index], strata, weights)
        return differences

    observed = differ(np.ones((1, pulls)))[0]
    draws = bootstrap.resample(differ, pulls, resamples=resamples, seed=seed)
    return [
        _pair(
            names[index],
            sides[index],
            observed[index],
            draws[:, index],
            paired=bool(is_paired[index]),
        )
        for index in range(len(names))
    ]


def _pair(
    names: tuple[str, str],
    sides: tuple[Floats, Floats],
    difference: float,
    draws: Floats,
    *,
    paired: bool,
) -> _Pair:
    has_value = [~np.isnan(side) for side in sides]
    counts = has_value[0] & has_value[1] if paired else has_value[0] | has_value[1]
    fewest = min(int((has & counts).sum()) for has in has_value)
    value = None if np.isnan(difference) else float(difference)
    test = compare_draws(value, draws, units=int(counts.sum()))
    pair = _Pair(*names, paired, test.units, fewest, test)
    if test.low is None or test.high is None:
        return pair
    return pair._replace(
        means=(
            float(sides[0][has_value[0] & counts].mean()),
            float(sides[1][has_value[1] & counts].mean()),
        ),
        difference=Estimate(value=float(difference), low=test.low, high=test.high),
    )


def _verdict(pair: _Pair, measure: str, detect: float, *, tests: int) -> Verdict:
    decision = _decide(pair, measure, detect)
    needed = _needed(pair, detect, tests=tests) if decision == "unknown" else None
    return Verdict(
        first=pair.first,
        second=pair.second,
        measure=measure,
        verdict=decision,
        difference=pair.difference,
        p_value=pair.test.p,
        pulls=pair.pulls,
        paired=pair.paired,
        needed=needed,
        text=_sentence(pair, decision, measure, detect, needed),
    )


def _decide(
    pair: _Pair, measure: str, detect: float
) -> Literal["better", "worse", "equivalent", "unknown"]:
    difference = pair.difference
    if difference is None or pair.fewest < MIN_PULLS:
        return "unknown"
    # Checked first, because a significant difference can still be too small to matter.
    if -detect <= difference.low and difference.high <= detect:
        return "equivalent"
    if not pair.test.direction:
        return "unknown"
    return "better" if (difference.value > 0) != (measure in LOWER_IS_BETTER) else "worse"


def _needed(pair: _Pair, detect: float, *, tests: int) -> int | None:
    """Return how many more pull requests would show such a difference with a power of 80 %.

    The significance level is divided by the number of tests, Holm's largest correction.
    """
    if not pair.test.error:
        return None
    total = pair.test.units_needed(detect, significance=SIGNIFICANCE / tests)
    missing = max((total or 0) - pair.pulls, MIN_PULLS - pair.fewest)
    return missing if missing > 0 else None


def _sentence(pair: _Pair, decision: str, measure: str, detect: float, needed: int | None) -> str:
    first, second, difference, means = pair.first, pair.second, pair.difference, pair.means
    if difference is None:
        return f"{first} and {second}: undecided: there are too few pull requests to compare them"
    low, high, value = difference.low, difference.high, difference.value
    if decision == "worse":
        first, second, means = second, first, means[::-1]
    if (decision in ("better", "worse")) and value < 0:
        low, high, value = -high, -low, -value
    in_measure = "" if measure == "usefulness" else f" in {measure}"
    interval = f"95 % interval {format_score(low)} to {format_score(high)}"
    # For different pull requests, the means are omitted: their difference is another number than
    # the difference within strata.
    numbers = (
        f"{format_score(means[0])} against {format_score(means[1])} of 100 on {pair.pulls} common "
        f"pull requests (difference {format_score(value)}, {interval})"
        if pair.paired
        else f"a difference of {format_score(value)} of 100 among similar ones of {pair.pulls} "
        f"pull requests ({interval})"
    )
    if decision in ("better", "worse"):
        return f"{first} is better than {second}{in_measure}: {numbers}"
    if decision == "equivalent":
        result = f"no difference{in_measure} larger than {format_score(detect)}"
    elif pair.fewest < MIN_PULLS:
        result = f"undecided{in_measure}: fewer than {MIN_PULLS} pull requests of one of them"
    elif low > 0 or high < 0:
        result = f"undecided{in_measure}: among so many pairs, such a difference may be chance"
    elif needed is None:
        result = (
            f"undecided{in_measure}: the difference may be larger than {format_score(detect)} or 0"
        )
    else:
        result = (
            f"undecided{in_measure}; about {needed:,} more {'common ' * pair.paired}pull requests "
            f"would probably (4 in 5) show a difference of {format_score(detect)}"
        )
    return f"{first} and {second}: {result}: {numbers}"


def format_score(value: float) -> str:
    """Format a score or a difference, 0 to 100, with at most one decimal."""
    # Adding 0 turns -0.0 into 0.0.
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
