"""Comparison of reviewers: does one find more that is worth acting on than another?

A pull request counts as 1 if the reviewer has a critical, major or minor remark on it, and as 0 if
it saw it and has none. On pull requests that both saw, the differences on each one are averaged; on
different ones, the means are compared within strata of repository, language and size. Intervals
come from resampling pull requests. In planted histories this tells a better bot more often than the
mean usefulness, of which a single misread remark takes much: `benchmarks/audit_planted.py`.
"""

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.overview import Estimate, Verdict
from crscore.audit.tables import GAINED, ReviewTable
from crscore.errors import InputError
from crscore.statistics import bootstrap, resampled
from crscore.statistics.bootstrap import RESAMPLES
from crscore.statistics.paired import SIGNIFICANCE, PairedComparison
from crscore.statistics.paired import compare as compare_draws
from crscore.statistics.paired import correct as correct_p_values
from crscore.text import count_noun

Floats = npt.NDArray[np.float64]

DETECT: Final = 5.0
"""Default smallest difference that matters, of 100 pull requests."""
MIN_PULLS: Final = 20
"""Minimum number of pull requests of each reviewer, as for a decision, and of common ones for
comparing two reviewers on these only."""


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
    gained: tuple[int, int] = (0, 0)
    """Pull requests in the comparison on which each has a remark worth acting on."""
    difference: Estimate | None = None
    """None if they cannot be compared."""


def compare_all(
    table: ReviewTable,
    *,
    reviewers: Sequence[str] | None = None,
    detect: float = DETECT,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Verdict, ...]:
    """Compare each pair of reviewers; p-values are corrected for the number of pairs (Holm).

    Args:
        table: Reviews of a period.
        reviewers: Names to compare; None for all bots.
        detect: Smallest difference that matters, above 0 and at most 100 of 100 pull requests.
        resamples: Number of draws.
        seed: Seed of the draws.

    Returns:
        One verdict per pair, in the order of the names.

    Raises:
        InputError: A name is not in the table, or `detect` is out of range.
    """
    if reviewers is None:
        reviewers = [name for name, bot in zip(table.reviewers, table.is_bot, strict=True) if bot]
    if not 0 < detect <= 100:
        raise InputError(f"the difference to detect is {detect:g}; it must be in (0, 100]")
    if missing := set(reviewers) - set(table.reviewers):
        names = ", ".join(table.reviewers) or "none"
        raise InputError(
            f"no review of {min(missing)} in the period; there are reviews of: {names}"
        )
    pairs = _differences(table, list(combinations(reviewers, 2)), resamples, seed)
    corrected = correct_p_values(pair.test for pair in pairs)
    tests = max(1, sum(test.p is not None for test in corrected))
    return tuple(
        _verdict(pair._replace(test=test), detect, tests=tests)
        for pair, test in zip(pairs, corrected, strict=True)
    )


def _differences(
    table: ReviewTable, names: Sequence[tuple[str, str]], resamples: int, seed: int
) -> list[_Pair]:
    values = table.matrix(GAINED)
    index_of = {name: index for index, name in enumerate(table.reviewers)}
    columns = [(index_of[first], index_of[second]) for first, second in names]
    # Pull requests without these reviewers do not affect the result, so they are skipped.
    is_used = (~np.isnan(values[:, sorted({*chain(*columns)})])).any(axis=1)
    values, strata, pulls = values[is_used], table.stratum[is_used], int(is_used.sum())
    if not pulls:
        return [_Pair(first, second, False, 0, 0) for first, second in names]
    sides = [(values[:, first], values[:, second]) for first, second in columns]
    is_paired = np.array(
        [(~np.isnan(first - second)).sum() >= MIN_PULLS for first, second in sides], dtype=bool
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
        gained=(int((sides[0][counts] > 0).sum()), int((sides[1][counts] > 0).sum())),
        difference=Estimate(value=float(difference), low=test.low, high=test.high),
    )


def _verdict(pair: _Pair, detect: float, *, tests: int) -> Verdict:
    decision: Literal["better", "worse", "equivalent", "unknown"] = "unknown"
    if pair.difference is not None and pair.fewest >= MIN_PULLS:
        # Checked first, because a significant difference can still be too small to matter.
        if -detect <= pair.difference.low and pair.difference.high <= detect:
            decision = "equivalent"
        elif pair.test.direction:
            decision = "better" if pair.difference.value > 0 else "worse"
    needed = None
    if decision == "unknown" and pair.test.error:
        # The power is 80 %, at the significance level divided by the number of tests, which is
        # Holm's largest correction.
        size = max(detect, abs(pair.test.difference or 0.0))
        total = pair.test.units_needed(size, significance=SIGNIFICANCE / tests)
        more = max((total or 0) - pair.pulls, MIN_PULLS - pair.fewest)
        needed = more if more > 0 else None
    return Verdict(
        first=pair.first,
        second=pair.second,
        verdict=decision,
        difference=pair.difference,
        p_value=pair.test.p,
        pulls=pair.pulls,
        paired=pair.paired,
        needed=needed,
        text=_sentence(pair, decision, detect, needed),
    )


def _sentence(pair: _Pair, decision: str, detect: float, needed: int | None) -> str:
    first, second, difference, gained = pair.first, pair.second, pair.difference, pair.gained
    if difference is None or pair.fewest < MIN_PULLS:
        return (
            f"{first} and {second} cannot be compared yet: one of them has fewer than {MIN_PULLS} "
            "pull requests, or they share no kind of them"
        )
    low, high, value = difference.low, difference.high, difference.value
    if value < 0:
        first, second, gained = second, first, gained[::-1]
        low, high, value = -high, -low, -value
    # In words, since "+31" beside the worst of three bots was read as praise: the first one named
    # is the one that gained more.
    least = f"{format_score(-low)} fewer" if low < 0 else format_score(low)
    numbers = f"{format_score(value)} more of 100 (95 %: {least} to {format_score(high)} more)"
    # For different pull requests, the counts are omitted: their difference is another number than
    # the difference within strata.
    numbers = (
        f"on {gained[0]:,} against {gained[1]:,} of {pair.pulls:,} pull requests that both saw, "
        f"{numbers}"
        if pair.paired
        else f"on similar pull requests, {numbers}"
    )
    if decision in ("better", "worse"):
        return f"{first} finds more that is worth acting on than {second}: {numbers}"
    if decision == "equivalent":
        return f"{first} and {second} find as much, within {format_score(detect)} of 100: {numbers}"
    if low > 0:
        numbers += "; among so many pairs, that may be chance"
    if needed:
        more = count_noun(
            needed, "more common pull request" if pair.paired else "more pull request"
        )
        numbers += f"; about {more} would probably (4 in 5) show such a difference"
    return f"{first} and {second} are not surely different: {numbers}"


def format_score(value: float) -> str:
    """Format a score or a difference, 0 to 100, with at most one decimal."""
    # Adding 0 turns -0.0 into 0.0.
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
