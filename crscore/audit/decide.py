"""Keep, tune or drop a bot: a rule on two shares, each with its interval, and on evidence.

*Important* is the share of the bot's comments with a remark worth acting on. *Gained* is the share
of the pull requests that it saw with such a comment; pull requests without a comment count. Both
rest on the bot's own words, which a script can write, so they can drop a bot; to keep or tune it
takes something that others did or said: docs/design/031-decisions.md.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from crscore.audit.coverage import ReviewerCoverage, rate, rate_of_pulls
from crscore.audit.formulas import find_formulas
from crscore.audit.overview import Decision, EscapedRecall, KindCount, Points, Rate
from crscore.audit.signals import Signal
from crscore.audit.store.database import Store
from crscore.audit.store.reports import (
    Scope,
    count_afterwards,
    count_kinds,
    count_points,
    count_said_again,
)
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
CONFIRMED_FROM: Final = 0.1
"""Points that people made later, or important comments that the code confirms, are evidence if
their interval lies above this share: of the points that the pair model joins, 7 % are different."""
AFTERWARDS: Final = 0.1
"""Nothing is evidence if the share of comments that were changed or written when all was over is
surely above this."""
_WORDS_PER_MINUTE: Final = 200
_CLOSE: Final = 0.02
"""Minimum distance of a share to a limit; smaller distances count as this one."""
KINDS: Final = {
    "critical": "critical remarks",
    "major": "major remarks",
    "minor": "minor remarks",
    "nit": "nits",
    "nothing": "remarks with nothing to act on",
    "formula": "formulas (the same sentence with other names)",
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
    base: float
    """Sum of the base rates of the decided ones."""
    confirmed: int
    refuted: int


class Record(NamedTuple):
    """What an audit knows about a bot's comments."""

    kinds: Sequence[Kind] = ()
    points: Points | None = None
    """None if they are not known."""
    afterwards: Rate = rate(0, 0)
    """See `Decision.afterwards`."""


class Acted(NamedTuple):
    """Comments that were acted on."""

    rate: Rate
    chance: float
    """Base rate."""

    @property
    def lift(self) -> int:
        """1 or -1 if they are surely acted on more or less often than by chance, else 0."""
        low, high = _ends(self.rate)
        return int(low > self.chance) - int(high < self.chance)


def load_records(store: Store, scope: Scope) -> Mapping[str, Record]:
    """Return what is known about the comments of each reviewer.

    Raises:
        StoreError: The store cannot be read.
    """
    formulas = find_formulas(store, scope)
    kinds: dict[str, list[Kind]] = defaultdict(list)
    for reviewer, *row in count_kinds(store, scope, Signal.ACTED_ON, formulas):
        kinds[reviewer].append(Kind(*row))
    listed = [profile.name for profile in profiles() if not profile.shared]
    later: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for reviewer, count, total in count_afterwards(store, scope, listed):
        later[reviewer].append((count, total))
    points = _points(store, scope, formulas)
    return {
        name: Record(
            kinds.get(name, ()),
            points.get(name),
            rate_of_pulls(*np.array(later.get(name, [(0.0, 0)]), dtype=np.float64).T),
        )
        for name in kinds.keys() | points.keys() | later.keys()
    }


def _points(store: Store, scope: Scope, formulas: str) -> Mapping[str, Points]:
    """Return the counts of each reviewer's points, and of those that only it made."""
    days = (date.fromisoformat(scope.until) - date.fromisoformat(scope.since)).days + 1
    again = count_said_again(store, scope)
    rows = count_points(store, scope, IMPORTANT, formulas)
    counts = {row[0]: [int(count) for count in row[1:]] for row in rows}
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
    record: Record,
    near: EscapedRecall | None = None,
) -> Decision:
    """Decide about a bot.

    Args:
        table: Reviews of a period.
        name: The bot.
        coverage: The pull requests on which it posted.
        record: What is known about its comments.
        near: Its comments next to later fixes; None if there are none.
    """
    kinds, points, afterwards = record
    weights: Counter[tuple[int, int]] = Counter()
    totals: Counter[tuple[int, int]] = Counter()
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for row in kinds:
        pull = (row.repository, row.number)
        totals[pull] += row.comments
        weights[pull] += row.comments * (row.kind in IMPORTANT)
        counted = {"comments": row.comments, "acted_on": row.acted_on, "decided": row.decided}
        by_kind[row.kind].update({key: int(count) for key, count in counted.items()})
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
    weighty = [row for row in kinds if row.kind in IMPORTANT]
    acted, acted_at_all = _acted(weighty), _acted(kinds)
    evidence = _evidence(weighty, acted, points, near)
    if _ends(afterwards)[0] > AFTERWARDS:
        evidence = ()
    switch_off = tuple(row for row in counts if _is_useless(row, acted_at_all))
    share_off = sum(row.comments for row in switch_off) / max(1, important.total)
    verdict = _verdict(important, gained, acted_at_all, bool(evidence), share_off)
    words = table.columns["words"][table.rows_of(name)]
    decision = Decision(
        verdict=verdict,
        text="",
        weighty=important,
        gained=gained,
        evidence=evidence,
        afterwards=afterwards,
        silent=len(present - set(totals)),
        kinds=counts,
        switch_off=tuple(row.kind for row in switch_off),
        confirmed=int(sum(row.confirmed for row in kinds)),
        refuted=int(sum(row.refuted for row in kinds)),
        minutes=float(np.nansum(words)) / _WORDS_PER_MINUTE,
        points=points,
        hours=coverage.hours,
    )
    return replace(decision, text=_sentence(decision, name, acted, acted_at_all))


def _acted(kinds: Sequence[Kind]) -> Acted:
    """Return how many of these comments were acted on, and how many would be by chance."""
    listed = [row for row in kinds if row.decided]
    acted, decided = (
        np.array([float(count) for count in counts])
        for counts in ([row.acted_on for row in listed], [row.decided for row in listed])
    )
    base = sum(row.base for row in listed)
    return Acted(rate_of_pulls(acted, decided), base / max(1.0, decided.sum()))


def _evidence(
    weighty: Sequence[Kind], acted: Acted, points: Points | None, near: EscapedRecall | None
) -> tuple[str, ...]:
    """Return what others did or said that shows the worth of a bot's important comments."""
    evidence = []
    if acted.lift > 0:
        evidence.append(_acted_on(acted))
    if points and (_ends(rate(points.people, points.total))[0] > CONFIRMED_FROM):
        evidence.append(f"people later made {points.people:,} of its {points.total:,} points")
    if near and _ends(near.near)[0] > _ends(near.near_base)[1]:
        evidence.append(
            f"it had commented next to {near.near.count:,} of {near.near.total:,} lines that were "
            f"fixed after the merge"
        )
    confirmed = int(sum(row.confirmed for row in weighty))
    total = sum(row.comments for row in weighty)
    if _ends(rate(confirmed, total))[0] > CONFIRMED_FROM:
        evidence.append(f"the code confirms {confirmed:,} of its {total:,} comments of weight")
    return tuple(evidence)


def _acted_on(acted: Acted) -> str:
    return (
        f"authors acted on {acted.rate.count:,} of {acted.rate.total:,} comments worth acting on, "
        f"{view.percent(acted.chance)} are expected by chance"
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


def _is_useless(row: KindCount, acted: Acted) -> bool:
    """Return whether a kind can be switched off: not important, and not wanted by authors."""
    share = wilson(row.acted_on, row.decided)
    return row.kind not in IMPORTANT and not (share is not None and share.low > acted.chance)


def _verdict(
    important: Rate, gained: Rate, acted: Acted, has_evidence: bool, share_off: float
) -> Literal["keep", "tune", "drop", "undecided"]:
    if gained.total < MIN_PULLS:
        return "undecided"
    least, most = _ends(gained)
    least_important, most_important = _ends(important)
    # A bot with few but important comments is not dropped automatically.
    if most < DROP_GAINED and (important.share or 0.0) < KEEP_FROM:
        return "undecided" if acted.lift > 0 else "drop"
    if not has_evidence:
        return "undecided"
    if min(least, least_important) > KEEP_FROM:
        return "keep"
    is_useful = least > DROP_GAINED or (
        most_important < KEEP_FROM and (gained.share or 0.0) > DROP_GAINED
    )
    return "tune" if is_useful and share_off >= SWITCH_OFF_FROM else "undecided"


def _ends(share: Rate | None) -> tuple[float, float]:
    """Return the ends of an interval; 0 and 1 if the share is unknown."""
    if share is None or share.low is None or share.high is None:
        return 0.0, 1.0
    return share.low, share.high


def _sentence(decision: Decision, name: str, acted: Acted, acted_at_all: Acted) -> str:
    important, gained, verdict = decision.weighty, decision.gained, decision.verdict
    if gained.total < MIN_PULLS:
        more = view.count_noun(MIN_PULLS - gained.total, "more pull request")
        return f"Undecided about {name}: to decide takes {more}."
    facts = [
        f"{_share(gained)} of the {gained.total:,} pull requests that it saw have a comment worth "
        "acting on"
        + (
            f", and {_share(important)} of its {important.total:,} comments are"
            if important.total
            else ""
        ),
        *decision.evidence,
    ]
    if decision.points is not None and decision.points.total:
        lost_points = view.count_noun(round(decision.points.monthly), "point")
        facts.append(f"without it, about {lost_points} a month would be missing")
    if verdict == "tune":
        switch_off = [row for row in decision.kinds if row.kind in decision.switch_off]
        comments = sum(row.comments for row in switch_off)
        kinds = " and ".join(KINDS.get(row.kind, row.kind) for row in switch_off[:2])
        more = f" and other kinds ({len(switch_off) - 2})" if len(switch_off) > 2 else ""
        facts.insert(
            0, f"switch off {kinds}{more}, {comments:,} of its {important.total:,} comments"
        )
    if verdict == "undecided":
        facts.insert(0, _why_open(decision, acted, acted_at_all))
        return f"Undecided about {name}: {'; '.join(facts)}."
    return f"{verdict.capitalize()} {name}: {'; '.join(facts)}."


def _why_open(decision: Decision, acted: Acted, acted_at_all: Acted) -> str:
    important, gained, later = decision.weighty, decision.gained, decision.afterwards
    most = _ends(gained)[1]
    if most < DROP_GAINED and acted_at_all.lift > 0:
        return "authors act on comments that seem unimportant; read these comments"
    if _ends(later)[0] > AFTERWARDS:
        return (
            f"{later.count:,} of its {later.total:,} comments were hidden, deleted or edited, or "
            "written after the fix, so nothing that happened speaks for it"
        )
    formulas = sum(row.comments for row in decision.kinds if row.kind == "formula")
    if 2 * formulas > important.total:
        return f"{formulas:,} of its {important.total:,} comments are {KINDS['formula']}"
    if not decision.evidence and most >= DROP_GAINED:
        outcome = "it is not known whether authors acted on them"
        if acted.rate.total:
            outcome = (
                f"nobody acted on them more often than on other lines ({acted.rate.count:,} of "
                f"{acted.rate.total:,}, chance {view.percent(acted.chance)})"
            )
        return f"its words alone cannot decide: {outcome}"
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
