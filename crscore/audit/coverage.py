"""Coverage: the merged pull requests that each reviewer really reviewed."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.overview import Coverage, Rate
from crscore.audit.store import reports
from crscore.audit.store.database import Store
from crscore.audit.store.reports import Scope
from crscore.pull_request.reviewers.profile import profiles
from crscore.statistics.intervals import clustered_wilson, wilson

Floats = npt.NDArray[np.float64]

_Pull = tuple[int, int]


@dataclass(slots=True)
class _Posts:
    """Posts of one reviewer."""

    is_bot: bool = False
    first: dict[int, str] = field(default_factory=dict)
    """Time of the first post by repository."""
    names: set[str] = field(default_factory=set)
    """The reviewer and its accounts, as `_app_name` writes them."""
    reviewed: set[_Pull] = field(default_factory=set)
    """Merged pull requests."""
    last_head: int = 0
    skips: Counter[str] = field(default_factory=Counter)
    pulls: dict[_Pull, bool] = field(default_factory=dict)
    """Pull requests with any post, each with whether a comment on it is to be scored."""
    hours: list[float] = field(default_factory=list)


class ReviewerCoverage(NamedTuple):
    """Coverage of a reviewer."""

    is_bot: bool
    coverage: Coverage
    pulls: Mapping[tuple[int, int], bool] = MappingProxyType({})
    """Whether a comment is to be scored, by repository and number of each pull request with a post
    or check of the reviewer."""


def load_coverage(store: Store, scope: Scope) -> Mapping[str, ReviewerCoverage]:
    """Load the coverage of each account that wrote in a period, by the reviewer's name.

    Only pull requests count that were merged after the reviewer's first post in their repository,
    so that a bot tried for a week does not look absent for the month before, or that it reviewed.
    A check belongs to a reviewer if its app has the name of the reviewer or of its account. With
    several checks of an app, a pull request is green if all are.

    Args:
        store: The store.
        scope: Rows to load.

    Raises:
        StoreError: The store cannot be read.
    """
    by_reviewer: dict[str, _Posts] = defaultdict(_Posts)
    # A shared account, such as that of workflows, also posts other messages than reviews.
    review_bots = [profile.name for profile in profiles() if not profile.shared]
    for row in reports.read_posts(store, scope, review_bots):
        (
            name,
            is_bot,
            repository,
            number,
            merged,
            reviewed,
            on_head,
            skips,
            account,
            to_score,
            hours,
            first,
        ) = row
        posts = by_reviewer[name]
        posts.is_bot = bool(is_bot)
        posts.first[repository] = min(first, posts.first.get(repository, first))
        # An app may have the name of the reviewer or of its account.
        posts.names |= {_app_name(name), _app_name(account or name)}
        posts.skips.update(skips.split(",") if skips else ())
        posts.pulls[repository, number] = bool(to_score)
        if hours is not None:
            posts.hours.append(hours)
        if merged and reviewed:
            posts.reviewed.add((repository, number))
            posts.last_head += on_head
    merged_at: dict[_Pull, str] = {}
    times: dict[int, list[str]] = defaultdict(list)
    for repository, number, time in reports.read_merged(store, scope):
        merged_at[repository, number] = time
        times[repository].append(time)
    green: dict[str, set[_Pull]] = defaultdict(set)
    for app, repository, number, is_green in reports.read_checks(store, scope):
        # An app that is never green has an entry too: 0 is known, not unknown.
        green[_app_name(app)] |= {(repository, number)} if is_green else set()
    return {
        name: ReviewerCoverage(
            posts.is_bot,
            _coverage(
                posts,
                sum(
                    len(times[id_]) - bisect_left(times[id_], at) for id_, at in posts.first.items()
                )
                + sum(merged_at[pull] < posts.first[pull[0]] for pull in posts.reviewed),
                green,
            ),
            {pull: False for app in posts.names for pull in green.get(app, ())} | posts.pulls,
        )
        for name, posts in by_reviewer.items()
    }


def rate(count: int, total: int) -> Rate:
    """Return a share of independent items with its interval."""
    share, low, high = wilson(count, total) or (None, None, None)
    return Rate(count=count, total=total, share=share, low=low, high=high)


def rate_of_pulls(counts: Floats, totals: Floats) -> Rate:
    """Return the share of items, given the counts of each pull request, shape (N,)."""
    share, low, high = clustered_wilson(counts, totals) or (None, None, None)
    return Rate(count=round(counts.sum()), total=int(totals.sum()), share=share, low=low, high=high)


def rate_of_events(events: Iterable[tuple[_Pull, bool]]) -> Rate:
    """Return the share of true events; each event has its pull request and its value."""
    counts: dict[_Pull, Counter[bool]] = defaultdict(Counter)
    for pull, value in events:
        counts[pull][value] += 1
    return rate_of_pulls(
        np.array([float(count[True]) for count in counts.values()]),
        np.array([float(count.total()) for count in counts.values()]),
    )


def _coverage(posts: _Posts, merged: int, green: Mapping[str, set[_Pull]]) -> Coverage:
    checks = [green[name] for name in posts.names if name in green]
    unreviewed = set().union(*checks) - posts.reviewed
    return Coverage(
        reviewed=rate(len(posts.reviewed), merged),
        last_head=rate(posts.last_head, merged),
        green_unreviewed=len(unreviewed) if checks else None,
        skips=dict(sorted(posts.skips.items(), key=lambda item: (-item[1], item[0]))),
        hours=float(np.median(posts.hours)) if posts.hours else None,
    )


@cache  # asked for each post, but a store has few names
def _app_name(name: str) -> str:
    """Return the part common to an app's and its account's name: `Otter Bot`, `otter-bot[bot]`."""
    return "".join(filter(str.isalnum, name.casefold().removesuffix("[bot]")))
