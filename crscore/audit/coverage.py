"""Which merged pull requests each reviewer really reviewed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.overview import Coverage, Rate, SkipCount
from crscore.audit.store.database import Store
from crscore.audit.store.reviews import Scope
from crscore.statistics.intervals import clustered_wilson, wilson

Floats = npt.NDArray[np.float64]

_Pull = tuple[int, int]

# Two posts are no review: a notice that nothing was reviewed, and what the author of the pull says.
# The summary of a bot that found nothing is one.
_POSTS: Final = """
SELECT c.reviewer, c.is_bot, c.repository, c.number, p.state = 'merged',
  MAX(c.skip IS NULL AND c.author IS NOT p.author),
  MAX(c.skip IS NULL AND c.author IS NOT p.author
    AND c.commit_id IS p.head AND c.created <= p.merged),
  group_concat(DISTINCT c.skip), MAX(c.author)
FROM pulls p JOIN comments c USING (repository, number)
WHERE substr(p.created, 1, 10) BETWEEN ? AND ?
  AND p.repository IN (SELECT value FROM json_each(?))
GROUP BY c.repository, c.number, c.reviewer"""
_MERGED: Final = """
SELECT repository, COUNT(*) FROM pulls
WHERE state = 'merged' AND substr(created, 1, 10) BETWEEN ? AND ?
  AND repository IN (SELECT value FROM json_each(?))
GROUP BY repository"""
_CHECKS: Final = """
SELECT k.app, k.repository, k.number, MIN(k.outcome IN ('success', 'neutral'))
FROM pulls p JOIN checks k USING (repository, number)
WHERE p.state = 'merged' AND substr(p.created, 1, 10) BETWEEN ? AND ?
  AND p.repository IN (SELECT value FROM json_each(?))
GROUP BY k.app, k.repository, k.number"""


@dataclass(slots=True)
class _Seen:
    """Posts of one reviewer."""

    is_bot: bool = False
    repositories: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    """The reviewer and its accounts, as `_plain` writes them."""
    reviewed: set[_Pull] = field(default_factory=set)
    """Merged pulls."""
    last_head: int = 0
    skips: Counter[str] = field(default_factory=Counter)


class Covered(NamedTuple):
    """Coverage of a reviewer."""

    is_bot: bool
    coverage: Coverage


def load_coverage(store: Store, scope: Scope) -> Mapping[str, Covered]:
    """Load the coverage of each account that wrote in a period, by the reviewer's name.

    The pulls that count are the merged ones of the repositories in which the reviewer wrote at
    least once. A check belongs to a reviewer when its app has the name of the reviewer or of its
    account; a pull with several checks of an app is green when all are.

    Args:
        store: The store.
        scope: Rows that count.

    Raises:
        StoreError: The store cannot be read.
    """
    period = scope[1:]
    seen: dict[str, _Seen] = defaultdict(_Seen)
    for name, is_bot, repository, number, merged, wrote, on_head, skips, author in store.query(
        _POSTS, *period
    ):
        one = seen[name]
        one.is_bot = bool(is_bot)
        one.repositories.add(repository)
        one.names |= {_plain(name), _plain(author or name)}
        one.skips.update((skips or "").split(",") if skips else ())
        if merged and wrote:
            one.reviewed.add((repository, number))
            one.last_head += on_head
    merged_pulls = dict(store.query(_MERGED, *period))
    green: dict[str, set[_Pull]] = defaultdict(set)
    for app, repository, number, is_green in store.query(_CHECKS, *period):
        green[_plain(app)] |= {(repository, number)} if is_green else set()
    return {
        name: Covered(
            one.is_bot,
            _coverage(one, sum(merged_pulls.get(at, 0) for at in one.repositories), green),
        )
        for name, one in seen.items()
    }


def rate(yes: float, count: float) -> Rate:
    """Return a share with its interval; whole numbers, `yes` at most `count`."""
    found = wilson(int(yes), int(count))
    share, low, high = found or (None, None, None)
    return Rate(yes=int(yes), all=int(count), share=share, low=low, high=high)


def rate_of_pulls(yes: Floats, count: Floats) -> Rate:
    """Return a share of things that belong to pulls: counts of each pull, shape (N,)."""
    share, low, high = clustered_wilson(yes, count) or (None, None, None)
    return Rate(yes=int(yes.sum()), all=int(count.sum()), share=share, low=low, high=high)


def _coverage(one: _Seen, merged: int, green: Mapping[str, set[_Pull]]) -> Coverage:
    checks = [green[name] for name in one.names if name in green]
    unreviewed = set().union(*checks) - one.reviewed
    return Coverage(
        reviewed=rate(len(one.reviewed), merged),
        last_head=rate(one.last_head, merged),
        green_unreviewed=len(unreviewed) if checks else None,
        skips=tuple(
            SkipCount(reason=reason, pulls=pulls)
            for reason, pulls in sorted(one.skips.items(), key=lambda item: (-item[1], item[0]))
        ),
    )


def _plain(name: str) -> str:
    """Return a name as far as an app's and its account's agree: `Otter Bot`, `otter-bot[bot]`."""
    bare = name.casefold().removesuffix("[bot]")
    return "".join(letter for letter in bare if letter.isalnum())
