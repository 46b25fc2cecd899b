"""Reviews of a period as columns: one row for each reviewer on each pull request.

All means, intervals and verdicts are computed from this table. It has the scores of one signature,
from the last scoring of each pull request.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.signals import FILE_SIGNALS, TITLES, Signal
from crscore.audit.store import reports
from crscore.audit.store.database import Store
from crscore.audit.store.queries import all_repositories
from crscore.audit.store.reports import Scope
from crscore.errors import InputError
from crscore.pull_request.reviewers import wildcards
from crscore.statistics.resampled import divide

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_Key = tuple[int, int, str]

SCORES: Final = ("usefulness", "importance", "relevance", "conciseness", "comprehensiveness")
"""Measures of a reviewer's comments on a pull request, 0 to 100."""
REMARKS: Final = ("critical", "major", "minor", "nit", "empty")
"""Counts of remarks by level, and of remarks with nothing to act on."""
NOISE: Final = "noise"
"""Share of a reviewer's comments on a pull request that are noise, 0 to 100."""
NOISE_REASONS: Final = ("nothing", "repeat", "restates", "praise")
MEASURES: Final = (*SCORES, NOISE, *TITLES.values())
"""Measures for comparing reviewers; a signal is measured as a share of comments, 0 to 100."""
LOWER_IS_BETTER: Final = frozenset({NOISE, TITLES[Signal.THUMBS_DOWN]})
_COVERS: Final = 0.9
"""Minimum share of the scored pull requests that a signature must have to cover a period."""
_SIZES: Final = (20, 100, 500)
"""Upper bounds of the size classes, in changed lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Selection of pull requests by day of creation and by repository."""

    since: str
    """First day, ISO 8601."""
    until: str
    """Last day, inclusive."""
    repositories: tuple[str, ...] = ("*",)
    """Names or patterns with `*`."""

    def __post_init__(self) -> None:
        """Check the days.

        Raises:
            InputError: A day is not a date, or the first is after the last.
        """
        try:
            days = [date.fromisoformat(day) for day in (self.since, self.until)]
        except ValueError as exc:
            raise InputError(f"{self.since} to {self.until}: {exc}; write 2026-03-01") from exc
        if days[0] > days[1]:
            raise InputError(f"the period ends on {self.until}, before its start on {self.since}")


class SignalCounts(NamedTuple):
    """Counts of comments by the value of one signal, one row per review, shape (N,) each."""

    positive: Floats
    decided: Floats
    unknown: Floats
    base_positive: Floats
    base_total: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewTable:
    """Reviews of a period: N rows, K reviewers, P pull requests."""

    period: Period
    scope: Scope
    signature: str
    """Text of the signature; empty if there are no scores."""
    other_signatures: tuple[tuple[int, str], ...]
    """Ids and texts of other signatures in the period, which are excluded."""
    repository: Ints
    """Repository of each pull request, shape (P,)."""
    number: Ints
    """Number of each pull request, shape (P,)."""
    day: Ints
    """Day of creation of each pull request as `date.toordinal`, shape (P,)."""
    is_merged: npt.NDArray[np.bool_]
    """Shape (P,)."""
    stratum: Ints
    """Repository, language and size class of each pull request, numbered from 0, shape (P,)."""
    reviewers: tuple[str, ...]
    """Names, sorted."""
    is_bot: npt.NDArray[np.bool_]
    """Shape (K,)."""
    pull: Ints
    """Index of the pull request of each row, shape (N,)."""
    reviewer: Ints
    """Index of the reviewer of each row, shape (N,)."""
    columns: Mapping[str, Floats]
    """Numbers of each row, shape (N,) each, NaN if unknown: `MEASURES`, and counts of comments,
    words, `REMARKS`, scored comments and `NOISE_REASONS`.
    """
    signals: Mapping[Signal, SignalCounts]
    """Counts by signal; empty if they were not loaded."""

    def rows_of(self, reviewer: str) -> npt.NDArray[np.bool_]:
        """Return a mask of a reviewer's rows, shape (N,)."""
        index = self.reviewers.index(reviewer) if reviewer in self.reviewers else -1
        is_row: npt.NDArray[np.bool_] = self.reviewer == index
        return is_row

    def matrix(self, column: str) -> Floats:
        """Return a column as a matrix of shape (P, K); NaN for a missing review."""
        values = np.full((len(self.number), len(self.reviewers)), np.nan)
        values[self.pull, self.reviewer] = self.columns[column]
        return values


def load_reviews(
    store: Store, period: Period, *, signature: int | None = None, measure: str | None = None
) -> ReviewTable:
    """Load the reviews of a period.

    Args:
        store: The store.
        period: Pull requests to load.
        signature: Number of the signature; None for the newest one that covers the period, with at
            least 90 % as many pull requests as the signature with the most.
        measure: Measure to load besides the scores; None for all. Noise and signals take most of
            the time, so their columns are missing unless needed.

    Raises:
        StoreError: The store cannot be read.
        InputError: A name matches no repository, or the store is empty.
    """
    repositories = json.dumps(find_repositories(store, period.repositories))
    scored = reports.count_scored_pulls(store, period.since, period.until, repositories)
    signature_id = signature if signature is not None else _covering(scored)
    scope = Scope(signature_id, period.since, period.until, repositories)
    pulls = reports.read_pulls(store, scope)
    pull_indices = {row[:2]: index for index, row in enumerate(pulls)}
    scores = reports.read_scores(store, scope)
    bots = {row[2]: bool(row[3]) for row in scores}
    names = tuple(sorted(bots))
    columns, signals = _columns(store, scope, scores, measure)
    signatures = store.signatures()
    # Numbered in the order of the pull requests, so that equal stores lead to equal draws.
    strata: dict[tuple[int, str | None, int], int] = {}
    return ReviewTable(
        period=period,
        scope=scope,
        signature=signatures.get(signature_id, ""),
        other_signatures=tuple(
            (number, signatures[number]) for number in sorted(scored) if number != signature_id
        ),
        repository=_integers(row[0] for row in pulls),
        number=_integers(row[1] for row in pulls),
        day=_integers(date.fromisoformat(row[2]).toordinal() for row in pulls),
        is_merged=np.array([row[5] for row in pulls], dtype=bool),
        stratum=_integers(
            strata.setdefault((repository, language, _size(lines)), len(strata))
            for repository, _, _, language, lines, _ in pulls
        ),
        reviewers=names,
        is_bot=np.array([bots[name] for name in names], dtype=bool),
        pull=_integers(pull_indices[row[:2]] for row in scores),
        reviewer=_integers(names.index(row[2]) for row in scores),
        columns=columns,
        signals=signals,
    )


def find_repositories(store: Store, patterns: Sequence[str]) -> list[int]:
    """Return the sorted numbers of the repositories that match the patterns, ignoring case.

    Raises:
        InputError: A pattern matches no repository, or there are no repositories.
    """
    repositories = all_repositories(store)
    if not repositories:
        raise InputError(f"{store.path} has no repository yet: run crscore audit sync OWNER/REPO")
    numbers: set[int] = set()
    for pattern in patterns:
        matches = {
            repository.id
            for repository in repositories
            if wildcards.matches(pattern, repository.name)
        }
        if not matches:
            raise InputError(f"no repository in the store matches {pattern}")
        numbers |= matches
    return sorted(numbers)


def _covering(counts: Mapping[int, int]) -> int:
    """Return the newest signature that covers the period; 0 if there is none."""
    # A newer signature with the scores of only a few nights does not replace a complete one.
    max_count = max(counts.values(), default=0)
    return max(
        (number for number, count in counts.items() if count >= _COVERS * max_count), default=0
    )


def _size(lines: int | None) -> int:
    """Return the size class; -1 if unknown."""
    return -1 if lines is None else sum(lines > limit for limit in _SIZES)


def _integers(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _columns(
    store: Store, scope: Scope, scores: Sequence[tuple[Any, ...]], measure: str | None
) -> tuple[dict[str, Floats], dict[Signal, SignalCounts]]:
    names = ("comments", "words", *SCORES, *REMARKS)
    numbers = np.array([row[4:] for row in scores], dtype=np.float64).reshape(-1, len(names))
    columns = dict(zip(names, numbers.T, strict=True))
    if measure in SCORES:
        return columns, {}
    row_indices = {row[:3]: index for index, row in enumerate(scores)}
    counted = ("scored", "threads", *NOISE_REASONS)
    counts, indices = _numbers(
        reports.count_comments(store, scope, NOISE_REASONS), row_indices, width=len(counted)
    )
    table = np.zeros((len(scores), len(counted)))
    table[indices] = counts
    columns |= zip(counted, table.T, strict=True)
    columns[NOISE] = 100 * divide(table[:, 2:].sum(axis=1), columns["scored"])
    if measure == NOISE:
        return columns, {}
    signals = _signals(store, scope, row_indices, columns)
    columns |= {
        TITLES[key]: 100 * divide(count.positive, count.decided) for key, count in signals.items()
    }
    return columns, signals


def _signals(
    store: Store, scope: Scope, row_indices: Mapping[_Key, int], columns: Mapping[str, Floats]
) -> dict[Signal, SignalCounts]:
    numbers, indices = _numbers(reports.count_signals(store, scope), row_indices, width=6)
    counts = {}
    for signal in Signal:
        table = np.zeros((len(row_indices), 5))
        is_signal = numbers[:, 0] == signal
        table[indices[is_signal]] = numbers[is_signal, 1:]
        count = SignalCounts(*table.T)
        if signal not in FILE_SIGNALS:
            total = columns["threads" if signal is Signal.RESOLVED else "scored"]
            count = count._replace(decided=total - count.unknown)
        counts[signal] = count
    return counts


def _numbers(
    rows: Sequence[tuple[Any, ...]], row_indices: Mapping[_Key, int], *, width: int
) -> tuple[Floats, Ints]:
    """Split the rows of a query into numbers and the indices of their reviews.

    Rows of reviewers without a score are skipped.
    """
    scored = [row for row in rows if row[:3] in row_indices]
    numbers = np.array([row[3:] for row in scored], dtype=np.float64).reshape(-1, width)
    return numbers, _integers(row_indices[row[:3]] for row in scored)
