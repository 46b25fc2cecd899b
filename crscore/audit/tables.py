"""Loads the reviews of a period as a table: one row for each reviewer on each pull request.

The numbers of an audit are computed from this table. It has the scores of one signature, from the
last scoring of each pull request.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.audit.coverage import load_coverage
from crscore.audit.formulas import find_formulas
from crscore.audit.overview import Coverage
from crscore.audit.store import reports
from crscore.audit.store.database import Store
from crscore.audit.store.queries import all_repositories
from crscore.audit.store.reports import Scope
from crscore.errors import InputError
from crscore.pull_request.reviewers import wildcards
from crscore.pull_request.reviewers.profile import profiles
from crscore.statistics.intervals import Doubles
from crscore.statistics.resampled import divide

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Nits are neither important nor empty: the author may act on them, but a bot is not kept for nits.
IMPORTANT: Final[tuple[str, ...]] = ("critical", "major", "minor")
"""Kinds of comments that are worth acting on."""
EMPTY: Final[tuple[str, ...]] = ("formula", "repeat", "restates", "praise", "nothing", "refuted")
"""Kinds of comments that give the author nothing to do; formulas are templated comments."""
GAINED: Final = "gained"
"""Name of the column that is 100 if a review has a comment worth acting on, else 0."""
# There are only a few classes, because a stratum without pull requests of both bots does not count.
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
    """Names of repositories, or patterns with `*`."""

    def __post_init__(self) -> None:
        """Check the days.

        Raises:
            InputError: A day is not a date, or the first day is after the last day.
        """
        try:
            days = [date.fromisoformat(day) for day in (self.since, self.until)]
        except ValueError as exc:
            raise InputError(f"{self.since} to {self.until}: {exc}; use YYYY-MM-DD") from exc
        if days[0] > days[1]:
            raise InputError(f"the period ends on {self.until}, before its start on {self.since}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewTable:
    """Reviews of a period: N rows, K reviewers, P pull requests."""

    scope: Scope
    signature: str
    """Signature of the scores in the table; empty if there are no scores."""
    other_signatures: tuple[str, ...]
    """Signatures of the scores in the period that are not in the table."""
    formulas: str
    """Keys of the comments that are formulas (templated comments: see `audit.formulas`), as a JSON
    list."""
    repository: Ints
    """Repository of each pull request, shape (P,)."""
    number: Ints
    """Number of each pull request, shape (P,)."""
    day: Ints
    """Day of creation of each pull request as `date.toordinal`, shape (P,)."""
    is_merged: Mask
    """Whether each pull request is merged, shape (P,)."""
    stratum: Ints
    """Number of the stratum of each pull request, from 0, shape (P,); a stratum is a combination of
    repository, language and size class."""
    reviewers: tuple[str, ...]
    """Names of the reviewers, sorted."""
    is_bot: Mapping[str, bool]
    """Whether each reviewer and each account in `coverage` is a bot."""
    pull: Ints
    """Index of the pull request of each row, shape (N,)."""
    reviewer: Ints
    """Index of the reviewer of each row, shape (N,)."""
    columns: Mapping[str, Doubles]
    """Values of each column, shape (N,), NaN if unknown: the numbers of `comments` and `words`, the
    `usefulness` (0 to 100), `scored` (1 or 0), `GAINED`, and `noise`, the percentage of comments
    that give the author nothing to do."""
    commented: Mapping[str, Mask]
    """Whether each reviewer commented on each pull request, shape (P,) each."""
    is_seen: Mapping[str, Mask]
    """Whether each reviewer saw each pull request, shape (P,) each.

    A pull request does not count as seen while a comment of the reviewer still has to be scored.
    People saw the pull requests on which they commented. A bot also saw those on which it made
    another post or ran a check and, if its account does nothing but review, all those that were
    merged between its first and its last post.
    """
    coverage: Mapping[str, Coverage]
    """Coverage of each account that posted, including accounts without a score."""

    def rows_of(self, reviewer: str) -> Mask:
        """Return a mask of a reviewer's rows, shape (N,)."""
        index = self.reviewers.index(reviewer) if reviewer in self.reviewers else -1
        is_row: Mask = self.reviewer == index
        return is_row

    def matrix(self, column: str) -> Doubles:
        """Return a column as a matrix of pull requests and reviewers, shape (P, K).

        A value is NaN if there is no review. But in the column `GAINED`, it is 0 if the reviewer
        saw the pull request and did not comment.
        """
        values = np.full((len(self.number), len(self.reviewers)), np.nan)
        # A bot that did not comment found nothing, but its usefulness, for example, is unknown.
        if column == GAINED:
            for index, name in enumerate(self.reviewers):
                values[self.is_seen[name], index] = 0.0
        values[self.pull, self.reviewer] = self.columns[column]
        return values

    def seen_pulls(self, reviewer: str) -> set[tuple[int, int]]:
        """Return the repository and number of each pull request that a reviewer saw."""
        rows = self.is_seen[reviewer]
        return set(zip(self.repository[rows].tolist(), self.number[rows].tolist(), strict=True))


def load_reviews(store: Store, period: Period) -> ReviewTable:
    """Load the reviews of a period.

    Only scores of one signature are used: the newest signature that has at least 90 % as many
    scored pull requests in the period as the signature with the most.

    Raises:
        StoreError: The store cannot be read.
        InputError: A pattern matches no repository, or the store has no repositories.
    """
    repositories = json.dumps(find_repositories(store, period.repositories))
    scored = reports.count_scored_pulls(store, period.since, period.until, repositories)
    # A newer signature must not replace an older one before most pull requests are scored with it.
    enough = 0.9 * max(scored.values(), default=0)
    signature = max((id_ for id_, count in scored.items() if count >= enough), default=0)
    scope = Scope(signature, period.since, period.until, repositories)
    pulls = reports.read_pulls(store, scope)
    index_of = {row[:2]: index for index, row in enumerate(pulls)}
    scores = reports.read_scores(store, scope)
    is_bot = {row[2]: bool(row[3]) for row in scores}
    names = tuple(sorted(is_bot))
    formulas = find_formulas(store, scope)
    coverage, pulls_by_bot = load_coverage(store, scope)
    counts: dict[tuple[int, int, str], tuple[float, ...]] = {}
    commented = {name: np.zeros(len(pulls), dtype=bool) for name in {*names, *coverage}}
    for *key, important, empty, total in reports.count_comments(
        store, scope, formulas, IMPORTANT, EMPTY
    ):
        repository, number, reviewer = key
        if reviewer in is_bot:
            counts[repository, number, reviewer] = important, empty, total
            commented[reviewer][index_of[repository, number]] = True
    signatures = store.signatures()
    # Strata are numbered in the order of the pull requests: equal stores have equal numbers.
    strata: dict[tuple[int, str | None, int], int] = {}
    table = ReviewTable(
        scope=scope,
        signature=signatures.get(signature, ""),
        other_signatures=tuple(signatures[id_] for id_ in sorted(scored) if id_ != signature),
        formulas=formulas,
        repository=_integers(row[0] for row in pulls),
        number=_integers(row[1] for row in pulls),
        day=_integers(date.fromisoformat(row[2]).toordinal() for row in pulls),
        is_merged=np.array([row[5] for row in pulls], dtype=bool),
        stratum=_integers(
            strata.setdefault(
                (repository, language, -1 if lines is None else bisect_left(_SIZES, lines)),
                len(strata),
            )
            for repository, _, _, language, lines, _ in pulls
        ),
        reviewers=names,
        is_bot={name: name in pulls_by_bot for name in coverage} | is_bot,
        pull=_integers(index_of[row[:2]] for row in scores),
        reviewer=_integers(names.index(row[2]) for row in scores),
        columns=_columns(scores, [counts.get(row[:3], (0, 0, 0)) for row in scores]),
        commented=commented,
        is_seen={},
        coverage=coverage,
    )
    shared = {profile.name for profile in profiles() if profile.shared}
    is_seen = {
        name: _find_seen(table, name, index_of, pulls_by_bot.get(name), name in shared)
        for name in commented
    }
    return replace(table, is_seen=is_seen)


def _find_seen(
    table: ReviewTable,
    name: str,
    index_of: Mapping[tuple[int, int], int],
    pulls: Mapping[tuple[int, int], bool] | None,
    is_shared: bool,
) -> Mask:
    """Return which pull requests a reviewer saw: see `ReviewTable.is_seen`."""
    is_seen = table.commented[name].copy()
    if pulls is None:
        return is_seen
    has_post = np.zeros(len(is_seen), dtype=bool)
    for pull, to_score in pulls.items():
        has_post[index_of[pull]] = True
        is_seen[index_of[pull]] |= not to_score
    if is_shared:
        return is_seen
    for repository in np.unique(table.repository[has_post]):
        in_repository = table.repository == repository
        days = table.day[in_repository & has_post]
        is_between = (table.day >= days.min()) & (table.day <= days.max())
        is_seen |= in_repository & is_between & table.is_merged & ~has_post
    return is_seen


def _columns(scores: reports.Rows, comments: Sequence[tuple[float, ...]]) -> dict[str, Doubles]:
    """Return `ReviewTable.columns`.

    Args:
        scores: Rows of `reports.read_scores`.
        comments: Numbers of important, of empty and of all comments for each of these rows.
    """
    names = ("comments", "words", "usefulness", "scored")
    numbers = np.array([row[4:] for row in scores], dtype=np.float64).reshape(-1, len(names))
    important, empty, total = np.array(comments, dtype=np.float64).reshape(-1, 3).T
    columns: dict[str, Doubles] = dict(zip(names, numbers.T, strict=True))
    columns[GAINED] = np.where(important > 0, 100.0, 0.0)
    columns["noise"] = 100 * divide(empty, total)
    return columns


def find_repositories(store: Store, patterns: Sequence[str]) -> list[int]:
    """Return the sorted ids of the repositories that match the patterns, ignoring case.

    Raises:
        InputError: A pattern matches no repository, or the store has no repositories.
    """
    repositories = all_repositories(store)
    if not repositories:
        raise InputError(f"{store.path} has no repository yet: run crscore audit sync OWNER/REPO")
    numbers: set[int] = set()
    for pattern in patterns:
        matches = {row.id for row in repositories if wildcards.matches(pattern, row.name)}
        if not matches:
            raise InputError(f"no repository in the store matches {pattern}")
        numbers |= matches
    return sorted(numbers)


def _integers(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)
