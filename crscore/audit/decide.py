"""Keep, tune or drop a bot: a rule on two shares, each with its interval.

*Important* is the share of the bot's comments with a remark worth acting on. *Gained* is the share
of the pull requests that it saw with such a comment; pull requests without a comment count. The
reactions of authors can only prevent a verdict, because they are known for few comments:
docs/design/031-decisions.md.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, Literal, NamedTuple

import numpy as np

from crscore.audit.coverage import ReviewerCoverage, rate, rate_of_pulls
from crscore.audit.overview import ActedOn, Decision, KindCount, Points, Rate
from crscore.audit.signals import TITLES, Signal
from crscore.audit.store.database import Store
from crscore.audit.store.reports import Scope, count_kinds, count_points, count_said_again
from crscore.audit.tables import ReviewTable
from crscore.pull_request.reviewers.profile import profiles
from crscore.reports import view
from crscore.statistics.intervals import wilson

IMPORTANT: Final = ("critical", "major", "minor")
"""Levels of remarks that are worth acting on."""
KEEP_FROM: Final = 1 / 3
"""A bot is kept if the intervals of both shares lie above this share."""
DROP_GAINED: Final = 0.15
"""A bot is dropped if the interval of *gained* lies below this share. The model rates one in twenty
empty comments as important, so a smaller share cannot be told from nothing."""
SWITCH_OFF_FROM: Final = 0.25
"""Minimum share of a bot's comments for which switching kinds off is worthwhile."""
MIN_PULLS: Final = 20
"""Minimum number of pull requests for a decision."""
_WORDS_PER_MINUTE: Final = 200
_CLOSE: Final = 0.02
"""Minimum distance of a share to a limit; smaller distances count as this one."""
KINDS: Final = {
    "critical": "critical remarks",
    "major": "major remarks",
    "minor": "minor remarks",
    "nit": "nits",
    "nothing": "remarks with nothing to act on",
    "repeat": "repetitions",
    "restates": "summaries of the change",
    "praise": "praise",
}
"""Name of each kind of comment, the most important first."""
LISTED: Final = KINDS | {
    "confirmed": "confirmed by the code",
    "refuted": "refuted by the code",
    "acted": "acted on",
}
"""`KINDS`, with labels for properties that comments of any kind can have."""


class Kind(NamedTuple):
    """Comments of one kind of a reviewer on a pull request."""

    repository: int
    number: int
    kind: str
    comments: int
    acted_on: int
    decided: int
    confirmed: int
    refuted: int


def load_kinds(store: Store, scope: Scope) -> Mapping[str, Sequence[Kind]]:
    """Return the scored comments of each reviewer, counted by pull request and kind.

    Raises:
        StoreError: The store cannot be read.
    """
    kinds: dict[str, list[Kind]] = defaultdict(list)
    for reviewer, repository, number, kind, *counts in count_kinds(store, scope, Signal.ACTED_ON):
        kinds[reviewer].append(Kind(repository, number, kind, *map(int, counts)))
    return kinds


def load_points(store: Store, scope: Scope) -> Mapping[str, Points]:
    """Return the counts of each reviewer's points, and of those that only it made.

    Raises:
        StoreError: The store cannot be read.
    """
    days = (date.fromisoformat(scope.until) - date.fromisoformat(scope.since)).days + 1
    again = count_said_again(store, scope)
    counts = {
        row[0]: [int(count) for count in row[1:]] for row in count_points(store, scope, IMPORTANT)
    }
    points = {}
    for reviewer in again.keys() | counts.keys():
        total, only, first, people = counts.get(reviewer, [0] * 4)
        points[reviewer] = Points(
            total=total, only=only, first=first, people=people, monthly=30 * only / days,
            again=again.get(reviewer, 0),
        )  # fmt: skip
    return points


def decide(
    table: ReviewTable,
    name: str,
    coverage: ReviewerCoverage,
    kinds: Sequence[Kind],
    acted_on: Sequence[ActedOn],
    points: Points | None,
) -> Decision:
    """Decide about a bot.

    Args:
        table: Reviews of a period.
        name: The bot.
        coverage: The pull requests on which it posted.
        kinds: Its scored comments.
        acted_on: Rates of its comments that were acted on.
        points: Its points; None if they are not known.
    """
    weights: Counter[tuple[int, int]] = Counter()
    totals: Counter[tuple[int, int]] = Counter()
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for row in kinds:
        pull = (row.repository, row.number)
        totals[pull] += row.comments
        weights[pull] += row.comments * (row.kind in IMPORTANT)
        by_kind[row.kind].update(comments=row.comments, acted_on=row.acted_on, decided=row.decided)
    important = rate_of_pulls(
        np.array([float(weights[pull]) for pull in totals]),
        np.array([float(total) for total in totals.values()]),
    )
    present = pulls_there(table, name, coverage) | set(totals)
    gained = rate(sum(count > 0 for count in weights.values()), len(present))
    counts = tuple(
        KindCount(kind=kind, **count)
        for kind, count in sorted(by_kind.items(), key=lambda item: (-item[1]["comments"], item[0]))
    )
    acted = next((row for row in acted_on if row.signal == TITLES[Signal.ACTED_ON]), None)
    switch_off = tuple(row for row in counts if _is_useless(row, acted))
    share_off = sum(row.comments for row in switch_off) / max(1, important.total)
    verdict = _verdict(important, gained, acted, share_off)
    words = table.columns["words"][table.rows_of(name)]
    return Decision(
        verdict=verdict,
        text=_sentence(verdict, name, important, gained, acted, switch_off, points),
        weighty=important,
        gained=gained,
        silent=len(present - set(totals)),
        kinds=counts,
        switch_off=tuple(row.kind for row in switch_off),
        confirmed=sum(row.confirmed for row in kinds),
        refuted=sum(row.refuted for row in kinds),
        minutes=float(np.nansum(words)) / _WORDS_PER_MINUTE,
        points=points,
        hours=coverage.hours,
    )


def pulls_there(table: ReviewTable, name: str, coverage: ReviewerCoverage) -> set[tuple[int, int]]:
    """Return the pull requests that a bot saw, except those not scored yet."""
    present = {pull for pull, is_heard in coverage.pulls.items() if not is_heard}
    if any(profile.name == name and profile.shared for profile in profiles()):
        return present
    pulls = list(
        zip(table.repository.tolist(), table.number.tolist(), table.day.tolist(), strict=True)
    )
    days: dict[int, list[int]] = defaultdict(list)
    for repository, number, day in pulls:
        if (repository, number) in coverage.pulls:
            days[repository].append(day)
    silent = {
        (repository, number)
        for (repository, number, day), merged in zip(pulls, table.is_merged, strict=True)
        if merged and repository in days and min(days[repository]) <= day <= max(days[repository])
    }
    return present | (silent - set(coverage.pulls))


def _is_useless(row: KindCount, acted: ActedOn | None) -> bool:
    """Return whether a kind can be switched off: not important, and not wanted by authors."""
    share = wilson(row.acted_on, row.decided)
    base = acted.base.share if acted and acted.base else None
    is_wanted = share is not None and base is not None and share.low > base
    return row.kind not in IMPORTANT and not is_wanted


def _verdict(
    important: Rate, gained: Rate, acted: ActedOn | None, share_off: float
) -> Literal["keep", "tune", "drop", "undecided"]:
    if gained.total < MIN_PULLS:
        return "undecided"
    (least, most), lift = _ends(gained), _lift(acted)
    least_important, most_important = _ends(important)
    # A bot with few but important comments is not dropped automatically.
    if most < DROP_GAINED and (important.share or 0.0) < KEEP_FROM:
        return "undecided" if lift > 0 else "drop"
    if min(least, least_important) > KEEP_FROM:
        return "undecided" if lift < 0 else "keep"
    is_useful = least > DROP_GAINED or (
        most_important < KEEP_FROM and (gained.share or 0.0) > DROP_GAINED
    )
    return "tune" if is_useful and share_off >= SWITCH_OFF_FROM else "undecided"


def _ends(share: Rate | None) -> tuple[float, float]:
    """Return the ends of an interval; 0 and 1 if the share is unknown."""
    if share is None or share.low is None or share.high is None:
        return 0.0, 1.0
    return share.low, share.high


def _lift(acted: ActedOn | None) -> int:
    """Return 1 or -1 if comments are surely acted on more or less often than the base, else 0."""
    if acted is None or acted.base is None or acted.base.share is None:
        return 0
    low, high = _ends(acted.rate)
    return int(low > acted.base.share) - int(high < acted.base.share)


def _sentence(
    verdict: str,
    name: str,
    important: Rate,
    gained: Rate,
    acted: ActedOn | None,
    switch_off: Sequence[KindCount],
    points: Points | None,
) -> str:
    if gained.total < MIN_PULLS:
        more = view.count_noun(MIN_PULLS - gained.total, "more pull request")
        return f"Undecided about {name}: {more} are needed to decide."
    evidence = f"{_share(gained)} of the {gained.total:,} pull requests that it saw have "
    evidence += "a comment worth acting on"
    if important.total:
        evidence += f", and {_share(important)} of its {important.total:,} comments are"
    if acted is not None and acted.rate.share is not None and acted.base is not None:
        evidence += (
            f"; authors acted on {view.percent(acted.rate.share)} of its comments, "
            f"{view.percent(acted.base.share)} are expected by chance"
        )
    if points is not None and points.total:
        lost_points = view.count_noun(round(points.monthly), "point")
        evidence += f"; without it, about {lost_points} a month would be missing"
    if verdict == "tune":
        comments = sum(row.comments for row in switch_off)
        decided = sum(row.decided for row in switch_off)
        lost = sum(row.acted_on for row in switch_off)
        loss = f", of which authors acted on {lost:,} of {decided:,}" if decided else ""
        kinds = " and ".join(KINDS.get(row.kind, row.kind) for row in switch_off[:2])
        more = f" and other kinds ({len(switch_off) - 2})" if len(switch_off) > 2 else ""
        return (
            f"Tune {name}: switch off {kinds}{more}, {comments:,} of its {important.total:,} "
            f"comments{loss}; {evidence}."
        )
    if verdict == "undecided":
        return f"Undecided about {name}: {_why_open(important, gained, acted)}; {evidence}."
    return f"{verdict.capitalize()} {name}: {evidence}."


def _why_open(important: Rate, gained: Rate, acted: ActedOn | None) -> str:
    (least, most), lift = _ends(gained), _lift(acted)
    if lift > 0 and most < DROP_GAINED:
        return "authors act on comments that seem unimportant; read these comments"
    if lift < 0 and min(least, _ends(important)[0]) > KEEP_FROM:
        return "authors do not act on comments that seem important; read these comments"
    # The distance of a share to a limit within its interval shows how many more pull requests
    # would decide.
    limits = [(gained, DROP_GAINED), (gained, KEEP_FROM), (important, KEEP_FROM)]
    needed = []
    for share, limit in limits:
        low, high = _ends(share)
        if low <= limit <= high:
            distance = max(abs((share.share or 0.0) - limit), _CLOSE)
            needed.append(gained.total * ((high - low) / 2 / distance) ** 2 - gained.total)
    if not needed:
        return "it seldom says something important, and few of its comments could be switched off"
    more = view.count_noun(max(1, round(max(needed))), "more pull request")
    return f"about {more} would probably decide"


def _share(value: Rate) -> str:
    return (
        f"{view.percent(value.share)} ({view.hundred(value.low)} to {view.hundred(value.high)} %)"
    )
