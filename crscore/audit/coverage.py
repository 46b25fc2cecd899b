"""Computes which merged pull requests each reviewer reviewed, and shares with their intervals."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from crscore.audit.overview import Coverage, Rate
from crscore.audit.store import reports
from crscore.audit.store.database import Store
from crscore.audit.store.reports import Scope
from crscore.pull_request.reviewers.profile import profiles
from crscore.statistics.intervals import Doubles, clustered_wilson, wilson

_Pull = tuple[int, int]
"""Repository and number of a pull request."""


def load_coverage(
    store: Store, scope: Scope
) -> tuple[dict[str, Coverage], dict[str, Mapping[_Pull, bool]]]:
    """Load the coverage of each reviewer that posted in a period.

    A pull request counts only if the reviewer reviewed it, or if it was merged after the reviewer's
    first post in the repository. A check belongs to a reviewer if the app that ran it has the name
    of the reviewer or of the reviewer's account. If an app ran several checks on a pull request,
    the pull request is green if all of them are green.

    Args:
        store: The store.
        scope: Rows to load.

    Returns:
        Two mappings, keyed by the name of the reviewer: the coverage of each reviewer; and for each
        bot, the pull requests on which it posted or ran a check, each with whether the bot made a
        comment to score on it.

    Raises:
        StoreError: The store cannot be read.
    """
    # A shared account, such as that of GitHub Actions, also posts other things.
    review_bots = [profile.name for profile in profiles() if not profile.shared]
    posts_by_reviewer: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for name, *post in reports.read_posts(store, scope, review_bots):
        posts_by_reviewer[name].append(tuple(post))
    merged_at: dict[_Pull, str] = {}
    times: dict[int, list[str]] = defaultdict(list)
    for repository, number, time in reports.read_merged(store, scope):
        merged_at[repository, number] = time
        times[repository].append(time)
    green: dict[str, set[_Pull]] = defaultdict(set)
    for app, repository, number, is_green in reports.read_checks(store, scope):
        # An app whose checks are never green also gets an entry, so that its count is 0 and not
        # unknown. A check has the name of the app, such as `Otter Bot`; a comment has the login of
        # the app, such as `otter-bot[bot]`.
        green[_app_name(app)] |= {(repository, number)} if is_green else set()
    coverage: dict[str, Coverage] = {}
    pulls_by_bot: dict[str, Mapping[_Pull, bool]] = {}
    for name, posts in posts_by_reviewer.items():
        coverage[name], pulls = _compute_coverage(name, posts, merged_at, times, green)
        if posts[-1][0]:
            pulls_by_bot[name] = pulls
    return coverage, pulls_by_bot


def _compute_coverage(
    name: str,
    posts: Iterable[tuple[Any, ...]],
    merged_at: Mapping[_Pull, str],
    times: Mapping[int, Sequence[str]],
    green: Mapping[str, set[_Pull]],
) -> tuple[Coverage, Mapping[_Pull, bool]]:
    """Compute the coverage of one reviewer.

    Args:
        name: The reviewer.
        posts: The reviewer's rows of `reports.read_posts`, without the name.
        merged_at: When each pull request was merged.
        times: The same times for each repository, sorted.
        green: For each app, merged pull requests with a green check; keyed by `_app_name`.

    Returns:
        The coverage, and the pull requests on which the reviewer posted or ran a check, each with
        whether the reviewer made a comment to score on it.
    """
    first_post: dict[int, str] = {}
    app_names, reviewed, last_head = {_app_name(name)}, set(), 0
    skips: Counter[str] = Counter()
    pulls: dict[_Pull, bool] = {}
    all_hours: list[float] = []
    for row in posts:
        _, repository, number, merged, is_review, on_head, reasons, *more = row
        account, to_score, hours, first = more
        first_post[repository] = min(first, first_post.get(repository, first))
        # An app may have the name of the reviewer or of its account.
        app_names.add(_app_name(account or name))
        if reasons:
            skips.update(reasons.split(","))
        pulls[repository, number] = bool(to_score)
        if hours is not None:
            all_hours.append(hours)
        if merged and is_review:
            reviewed.add((repository, number))
            last_head += on_head
    # Pull requests that were merged before the first post do not count. Otherwise, a bot that was
    # tried for one week would seem to have been absent in the month before.
    since_first = sum(
        len(times[repository]) - bisect_left(times[repository], first)
        for repository, first in first_post.items()
    )
    # Pull requests that were reviewed count even if they were merged before the first post.
    total = since_first + sum(merged_at[pull] < first_post[pull[0]] for pull in reviewed)
    checks = [green[app] for app in app_names if app in green]
    green_pulls: set[_Pull] = set().union(*checks)
    coverage = Coverage(
        reviewed=rate(len(reviewed), total),
        last_head=rate(last_head, total),
        green_unreviewed=len(green_pulls - reviewed) if checks else None,
        skips=dict(sorted(skips.items(), key=lambda item: (-item[1], item[0]))),
        hours=float(np.median(all_hours)) if all_hours else None,
    )
    return coverage, dict.fromkeys(green_pulls, False) | pulls


def rate(count: int, total: int) -> Rate:
    """Return the share of `count` in `total` independent items, with its 95 % interval."""
    share, low, high = wilson(count, total) or (None, None, None)
    return Rate(count=count, total=total, share=share, low=low, high=high)


def rate_of_pulls(counts: Doubles, totals: Doubles) -> Rate:
    """Return a share of items that come in pull requests, with its 95 % interval.

    Args:
        counts: Number of items of each pull request that belong to the share, shape (N,).
        totals: Number of all items of each pull request, shape (N,).
    """
    share, low, high = clustered_wilson(counts, totals) or (None, None, None)
    return Rate(count=round(counts.sum()), total=int(totals.sum()), share=share, low=low, high=high)


def rate_of_events(events: Iterable[tuple[_Pull, bool]]) -> Rate:
    """Return the share of true values; each event has a pull request and a value."""
    counts: dict[_Pull, Counter[bool]] = defaultdict(Counter)
    for pull, value in events:
        counts[pull][value] += 1
    return rate_of_pulls(
        np.array([float(count[True]) for count in counts.values()]),
        np.array([float(count.total()) for count in counts.values()]),
    )


@cache  # called for each post, but a store has only few names
def _app_name(name: str) -> str:
    """Normalise a name, so that an app (`Otter Bot`) and its login (`otter-bot[bot]`) are equal."""
    return "".join(filter(str.isalnum, name.casefold().removesuffix("[bot]")))
