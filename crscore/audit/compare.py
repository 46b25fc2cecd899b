"""Compares reviewers: on how many of 100 pull requests does each find something worth acting on?

A pull request counts as 100 for a reviewer that made a critical, major or minor comment on it, and
as 0 for a reviewer that saw it and made no such comment. If two reviewers saw enough common pull
requests, the differences on these are averaged; otherwise the two means are compared within strata
of repository, language and size. Intervals come from a bootstrap over pull requests. A comparison
of the mean usefulness would distinguish a better bot less often, because a single misread comment
changes that mean considerably (`benchmarks/audit_planted.py`).
"""

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Final, Literal

import numpy as np
from msgspec.structs import replace

from crscore.audit.overview import Estimate, PairComparison
from crscore.audit.tables import GAINED, ReviewTable
from crscore.errors import InputError
from crscore.statistics import bootstrap, resampled
from crscore.statistics.bootstrap import RESAMPLES
from crscore.statistics.intervals import Doubles
from crscore.statistics.paired import SIGNIFICANCE, PairedComparison
from crscore.statistics.paired import compare as compare_draws
from crscore.statistics.paired import correct as correct_p_values
from crscore.text import count_noun

DETECT: Final = 5.0
"""Default smallest difference that matters, in pull requests per 100."""
MIN_PULLS: Final = 20
"""Minimum number of pull requests of each reviewer for a comparison. If at least this many were
seen by both reviewers, only these common ones are compared."""
LEAST_SHOWN: Final = 2.0
"""Minimum difference, in pull requests per 100, for which the report says how many more pull
requests would be needed to show it."""
MAX_NEEDED: Final = 1000
"""The report names a number of further pull requests only if it is at most this."""


def compare_all(
    table: ReviewTable,
    *,
    reviewers: Sequence[str] | None = None,
    detect: float = DETECT,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[PairComparison, ...]:
    """Compare each pair of reviewers.

    The p-values are corrected for the number of pairs by the method of Holm.

    Args:
        table: Reviews of a period.
        reviewers: Names to compare; None for all bots.
        detect: Smallest difference that matters, in pull requests per 100, in (0, 100].
        resamples: Number of bootstrap samples.
        seed: Seed of the bootstrap.

    Returns:
        One comparison for each pair, in the order of the names.

    Raises:
        InputError: A name is not in the table, or `detect` is out of range.
    """
    if reviewers is None:
        reviewers = [name for name in table.reviewers if table.is_bot[name]]
    if not 0 < detect <= 100:
        raise InputError(
            f"the difference to detect is {detect:g} %; it must be above 0 and up to 100 %"
        )
    if missing := set(reviewers) - set(table.reviewers):
        names = ", ".join(table.reviewers) or "none"
        raise InputError(f"no review by {min(missing)} in the period; reviewers in it: {names}")
    pairs = list(combinations(reviewers, 2))
    sides, is_paired, tests = _test_pairs(table, pairs, resamples=resamples, seed=seed)
    count = max(1, sum(test.p is not None for test in tests))
    return tuple(
        _make_comparison(names, both, test, paired, detect, count)
        for names, both, test, paired in zip(pairs, sides, tests, is_paired, strict=True)
    )


def _test_pairs(
    table: ReviewTable, pairs: Sequence[tuple[str, str]], *, resamples: int, seed: int
) -> tuple[list[list[Doubles]], list[bool], list[PairedComparison]]:
    """Test the difference of each pair.

    Returns:
        Three lists with one item for each pair: the values of both reviewers on the pull requests
        of the comparison, whether both reviewers saw all of these pull requests, and the test with
        its corrected p-value.
    """
    index_of = {name: index for index, name in enumerate(table.reviewers)}
    columns = [(index_of[first], index_of[second]) for first, second in pairs]
    # In synthetic histories, a bot that finds a defect on 70 % of 400 pull requests is
    # distinguished from a bot that finds one on 50 % in 99.6 % of the cases. By the mean
    # usefulness, it would be distinguished in 95.8 % (docs/design/031-decisions.md).
    values, strata = table.matrix(GAINED), table.stratum
    # Pull requests without these reviewers do not affect the result, so they are skipped.
    is_used = (~np.isnan(values[:, sorted({*chain(*columns)})])).any(axis=1)
    values, strata, pulls = values[is_used], strata[is_used], int(is_used.sum())
    sides = [(values[:, first], values[:, second]) for first, second in columns]
    common = [int((~np.isnan(first - second)).sum()) for first, second in sides]
    is_paired = np.array(common, dtype=np.int64) >= MIN_PULLS
    deltas = np.array([first - second for first, second in sides])[is_paired]

    def differ(weights: Doubles) -> Doubles:
        differences = np.empty((len(weights), len(sides)))
        if len(deltas):
            differences[:, is_paired] = resampled.means(deltas.T, weights)
        for index in np.flatnonzero(~is_paired):
            differences[:, index] = resampled.stratified_difference(*sides[index], strata, weights)
        return differences

    observed, draws = np.full(len(pairs), np.nan), np.full((1, len(pairs)), np.nan)
    if pulls:
        observed = differ(np.ones((1, pulls)))[0]
        # All pairs share the bootstrap samples, because one matrix product is then enough for all.
        draws = bootstrap.resample(differ, pulls, resamples=resamples, seed=seed)
    # A paired comparison counts the pull requests that both reviewers saw; any other comparison
    # counts those that at least one of them saw.
    is_counted = [
        ~(np.isnan(first) | np.isnan(second) if paired else np.isnan(first) & np.isnan(second))
        for (first, second), paired in zip(sides, is_paired, strict=True)
    ]
    tests = (
        compare_draws(
            None if np.isnan(value) else float(value), draws[:, index], units=int(counted.sum())
        )
        for index, (value, counted) in enumerate(zip(observed, is_counted, strict=True))
    )
    counted_sides = [
        [side[counted] for side in both] for both, counted in zip(sides, is_counted, strict=True)
    ]
    return counted_sides, is_paired.tolist(), correct_p_values(tests)


def _make_comparison(
    names: tuple[str, str],
    sides: Sequence[Doubles],
    test: PairedComparison,
    paired: bool,
    detect: float,
    tests: int,
) -> PairComparison:
    """Decide which reviewer of a pair finds more, and describe the comparison.

    Args:
        names: The two reviewers.
        sides: Values of each reviewer on the P pull requests of the comparison, shape (P,) each;
            NaN for a pull request that the reviewer did not see.
        test: The test, with a corrected p-value.
        paired: Whether both reviewers saw all of these pull requests.
        detect: Smallest difference that matters, in pull requests per 100.
        tests: Number of tests for which the p-values are corrected.
    """
    counts = [int((~np.isnan(side)).sum()) for side in sides]
    fewest, difference = min(counts), None
    gained: tuple[int, ...] = ()
    if test.difference is not None and test.low is not None and test.high is not None:
        difference = Estimate(value=test.difference, low=test.low, high=test.high)
    decision: Literal["better", "worse", "equivalent", "unknown"] = "unknown"
    if difference is not None and fewest >= MIN_PULLS:
        gained = tuple(int((side > 0).sum()) for side in sides)
        # Equivalence is checked first, because a significant difference may be too small to matter.
        if -detect <= difference.low and difference.high <= detect:
            decision = "equivalent"
        elif test.direction:
            decision = "better" if difference.value > 0 else "worse"
    needed = None
    if decision == "unknown" and test.error:
        # The number is computed for a power of 80 %. The significance level is divided by the
        # number of tests, which is the largest correction by the method of Holm.
        size = max(detect, abs(test.difference or 0.0))
        total = test.units_needed(size, significance=SIGNIFICANCE / tests)
        more = max((total or 0) - test.units, MIN_PULLS - fewest)
        needed = more if more > 0 else None
    cause = "no two pull requests that they saw are of the same repository, language and size"
    if fewest < MIN_PULLS:
        cause = f"{names[counts.index(fewest)]} saw only {count_noun(fewest, 'pull request')}"
    verdict = PairComparison(
        first=names[0],
        second=names[1],
        verdict=decision,
        difference=difference,
        p_value=test.p,
        pulls=test.units,
        paired=paired,
        needed=needed,
        gained=gained,
        text=f"{names[0]} and {names[1]} cannot be compared: {cause}",
    )
    text = _write_text(verdict, difference, counts) if difference and gained else verdict.text
    return replace(verdict, text=text)


def describe(pair: PairComparison, name: str) -> str:
    """Say how a reviewer of a pair compares with the other one, without the interval."""
    if not pair.gained:
        return pair.text
    is_first = name == pair.first
    rival = pair.second if is_first else pair.first
    more = "more" if is_first == (pair.verdict == "better") else "less"
    text = {
        "equivalent": f"{name} finds as much worth acting on as {rival}",
        "unknown": f"{name} shows no clear difference from {rival}",
    }.get(pair.verdict, f"{name} finds {more} worth acting on than {rival}")
    # If the pull requests differ, the difference within strata is not the difference of the counts.
    # Therefore, the counts are left out here; `_write_text` adds them after the interval.
    if not pair.paired:
        return f"{text} on pull requests of the same repository, language and size"
    count, rival_count = pair.gained if is_first else pair.gained[::-1]
    return f"{text}: on {count:,} against {rival_count:,} of {pair.pulls:,}"


def _write_text(pair: PairComparison, difference: Estimate, pulls: Sequence[int]) -> str:
    first, low, high, value = pair.first, difference.low, difference.high, difference.value
    if value < 0:
        first, low, high, value = pair.second, -high, -low, -value
    # The text names the bot with the higher share first and says "more", because readers took
    # "+31" next to the worst of three bots for praise.
    least = f"{format_score(-low)} fewer" if low < 0 else format_score(low)
    numbers = f"{format_score(value)} more of 100 (95 %: {least} to {format_score(high)} more)"
    if pair.verdict == "unknown" and low > 0:
        numbers += "; among so many pairs, that may be chance"
    for name, count, total in zip((pair.first, pair.second), pair.gained, pulls, strict=True):
        numbers += f"; {name} on {count:,} of all {total:,} that it saw" * (not pair.paired)
    # A team does not wait for more than `MAX_NEEDED` pull requests, nor to show a tiny difference.
    if pair.needed and pair.needed <= MAX_NEEDED and value >= LEAST_SHOWN:
        more = count_noun(pair.needed, f"more {'common ' * pair.paired}pull request")
        numbers += f"; about {more} would probably (4 in 5) show such a difference between the two"
    return f"{describe(pair, first)}{' pull requests that both saw' * pair.paired}, {numbers}"


def format_score(value: float) -> str:
    """Format a score or a difference, 0 to 100, with at most one decimal."""
    # Adding 0 turns -0.0 into 0.0.
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
