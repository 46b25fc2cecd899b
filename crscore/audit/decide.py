"""Keep, tune or drop a bot: a rule on two shares, each with its interval, and on evidence.

*Weighty* is the share of the bot's remarks that are worth acting on. *Gained* is the share of the
pull requests that it saw with such a remark; pull requests without a remark count. Both rest on the
bot's own words, which a script can write, so they can drop a bot; to keep or tune it takes
something that others did or said: docs/design/031-decisions.md.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from crscore.audit.coverage import rate, rate_of_pulls
from crscore.audit.overview import Decision, EscapedRecall, Points, Rate, Remarks
from crscore.audit.store.database import Store
from crscore.audit.store.reports import count_afterwards, count_points
from crscore.audit.tables import IMPORTANT, Kind, ReviewTable
from crscore.pull_request.reviewers.profile import profiles
from crscore.reports import view
from crscore.statistics.intervals import wilson

KEEP_FROM: Final = 1 / 3
"""A bot is kept if surely more than this share of its remarks is worth acting on."""
NEGLIGIBLE: Final = 0.15
"""A share below this one is as good as nothing: the reader takes one in twenty empty remarks for a
weighty one, so less does not differ from a bot that says nothing of use."""
SWITCH_OFF_FROM: Final = 0.25
"""Minimum share of a bot's remarks for which switching kinds off is worthwhile."""
MIN_PULLS: Final = 20
"""Minimum number of pull requests for a decision."""
CONFIRMED_FROM: Final = 0.1
"""Points that people made later, or weighty remarks that the code confirms, are evidence if their
interval lies above this share: of the points that the pair model joins, 7 % are different."""
AFTERWARDS: Final = 0.1
"""Nothing is evidence if the share of posts that were changed or written when all was over is
surely above this."""
MIN_REMARKS: Final = 5
"""Minimum number of remarks for evidence: three of four fixed where one is expected is luck in one
case of twenty, and there are several kinds of evidence."""
_CLOSE: Final = 0.02
"""Minimum distance of a share to a limit; smaller distances count as this one."""
KINDS: Final = {
    "critical": "critical",
    "major": "major",
    "minor": "minor",
    "nit": "nits",
    "formula": "formulas",
    "repeat": "repetitions",
    "restates": "summaries of the change",
    "praise": "praise",
    "nothing": "empty remarks",
    "refuted": "refuted by the code",
    "unread": "not read",
}
"""Name of each kind of remark, in order."""
_ACTS: Final = ("hidden or deleted", "edited", "written after the close", "written after the fix")
"""Later fates of posts, in the order of `count_afterwards`."""
_NO_SETTING: Final = {"repeat": "it repeats itself", "nothing": "it writes empty remarks"}
"""Kinds to switch off that are named apart, as no bot has a setting for them."""
_SWITCHES: Final = ("nit", "formula", "repeat", "restates", "praise", "nothing")
"""Kinds that a bot's settings or prompt can switch off."""


class Record(NamedTuple):
    """Counts of a bot that are not in the table."""

    points: Points | None = None
    """None if they are not known."""
    afterwards: Rate = rate(0, 0)
    """See `Decision.afterwards`."""
    near: EscapedRecall | None = None
    """Its remarks next to later fixes; None if there are none."""
    acts: tuple[str, ...] = ()
    """See `Decision.acts`."""


def load_records(
    store: Store, table: ReviewTable, near: Iterable[EscapedRecall] = ()
) -> Mapping[str, Record]:
    """Return the counts of each reviewer that are not in the table.

    Args:
        store: The store.
        table: Reviews of a period.
        near: Comments next to later fixes.

    Raises:
        StoreError: The store cannot be read.
    """
    # Some bots with a profile mark in their comments what was addressed, which is no afterthought.
    marking = [profile.name for profile in profiles() if not profile.shared]
    later: dict[str, list[tuple[float, int]]] = defaultdict(list)
    acts: dict[str, Counter[str]] = defaultdict(Counter)
    for reviewer, count, total, *counts in count_afterwards(store, table.scope, marking):
        later[reviewer].append((count, total))
        acts[reviewer].update(dict(zip(_ACTS, map(int, counts), strict=True)))
    points = {
        reviewer: Points(total=total, only=int(only), people=int(people))
        for reviewer, total, only, people in count_points(
            store, table.scope, IMPORTANT, table.formulas
        )
    }
    near_by_name = {row.reviewer: row for row in near}
    return {
        name: Record(
            points.get(name),
            rate_of_pulls(*np.array(later.get(name, [(0.0, 0)]), dtype=np.float64).T),
            near_by_name.get(name),
            tuple(f"{count:,} {act}" for act, count in acts[name].items() if count),
        )
        for name in points.keys() | later.keys() | near_by_name.keys()
    }


def count_remarks(table: ReviewTable, name: str) -> Remarks:
    """Count the remarks of a reviewer by kind, and those that people reacted to."""
    rows = [row for kinds in table.kinds.get(name, {}).values() for row in kinds]
    weighty = [row for row in rows if row.kind in IMPORTANT]
    kinds: Counter[str] = Counter()
    mattered: Counter[str] = Counter()
    for row in rows:
        kinds[row.kind] += row.remarks
        mattered[row.kind] += int(row.mattered)
    return Remarks(
        total=kinds.total(),
        kinds={kind: kinds[kind] for kind in KINDS if kinds[kind]},
        mattered={kind: mattered[kind] for kind in IMPORTANT if mattered[kind]},
        fixed=int(sum(row.fixed for row in weighty)),
        answered=int(sum(row.answered for row in weighty)),
        resolved=int(sum(row.resolved for row in weighty)),
    )


def decide(table: ReviewTable, name: str, record: Record) -> Decision:
    """Decide about a bot.

    Args:
        table: Reviews of a period.
        name: The bot.
        record: Its counts that are not in the table.
    """
    pulls = table.kinds.get(name, {})
    seen_pulls = table.seen_by(name)
    weighty_rows = {
        pull: [row for row in rows if row.kind in IMPORTANT] for pull, rows in pulls.items()
    }
    # Of those that could be read: a bot that writes in another language is not judged by that.
    weighty = _rate_of(
        pulls,
        lambda row: (row.remarks * (row.kind in IMPORTANT), row.remarks * (row.kind != "unread")),
    )
    gained = rate(sum(map(bool, weighty_rows.values())), len(seen_pulls))
    # A fix whose chance is unknown would count for the bot and not for chance.
    fixed, all_fixed = (
        _rate_of(rows, lambda row: (row.compared_fixed, row.compared))
        for rows in (weighty_rows, pulls)
    )
    chance, chance_of_all = _chance(weighty_rows), _chance(pulls)
    evidence = _evidence(pulls, weighty_rows, fixed, chance, record)
    counts = count_remarks(table, name).kinds
    # A script that fills in templates can place them on lines that are sure to change.
    if _ends(record.afterwards)[0] > AFTERWARDS or is_mostly_formulas(counts):
        evidence = ()
    switch_off = []
    for kind in sorted(_SWITCHES, key=lambda kind: -counts.get(kind, 0)):
        rows = [row for of_pull in pulls.values() for row in of_pull if row.kind == kind]
        share = wilson(sum(row.compared_fixed for row in rows), sum(row.compared for row in rows))
        # Kinds that are fixed more often than other lines stay on.
        if rows and (share is None or share.low <= (chance_of_all or 0.0)):
            switch_off.append(kind)
    share_off = sum(counts[kind] for kind in switch_off) / max(1, weighty.total)
    is_wanted = chance_of_all is not None and _ends(all_fixed)[0] > chance_of_all
    verdict = _verdict(weighty, gained, bool(evidence), is_wanted, share_off)
    decision = Decision(
        verdict=verdict,
        reason="",
        weighty=weighty,
        gained=gained,
        fixed=fixed,
        chance=chance,
        evidence=evidence,
        afterwards=record.afterwards,
        acts=record.acts,
        switch_off=tuple(switch_off),
        needed=None,
    )
    if verdict == "undecided":
        decision = replace(decision, needed=_needed(decision))
    return replace(decision, reason=_sentence(decision, name, counts, is_wanted=is_wanted))


_Pulls = Mapping[tuple[int, int], Sequence[Kind]]
"""Remarks by repository and number of the pull request."""


def _rate_of(pulls: _Pulls, count: Callable[[Kind], tuple[float, float]]) -> Rate:
    """Return the share of remarks, given the counts of each kind on a pull request."""
    pairs = [[count(row) for row in rows] for rows in pulls.values() if rows]
    sums = [[sum(column) for column in zip(*of_pull, strict=True)] for of_pull in pairs]
    return rate_of_pulls(*np.array(sums, dtype=np.float64).reshape(-1, 2).T)


def _chance(pulls: _Pulls) -> float | None:
    rows = [row for rows in pulls.values() for row in rows]
    compared = sum(row.compared for row in rows)
    return sum(row.chance for row in rows) / compared if compared else None


def _evidence(
    pulls: _Pulls, weighty: _Pulls, fixed: Rate, chance: float | None, record: Record
) -> tuple[str, ...]:
    """Return the acts and words of others that show the worth of a bot's weighty remarks."""
    evidence = []
    points, near = record.points, record.near
    # The chance is that of other lines: authors acted on 0.41 of 74 comments of bots in hunks where
    # 0.14 of the other lines changed (`python benchmarks/followed.py DATA`).
    if chance is not None and fixed.total >= MIN_REMARKS and _ends(fixed)[0] > chance:
        evidence.append(_fixed_text(fixed, chance))
    # Some teams resolve every thread, so the bot's other remarks are the measure.
    other_rows = {
        pull: [row for row in rows if row.kind not in IMPORTANT] for pull, rows in pulls.items()
    }
    resolved, by_habit = (
        _rate_of(rows, lambda row: (row.resolved, row.threads)) for rows in (weighty, other_rows)
    )
    if (
        min(by_habit.total, resolved.total) >= MIN_REMARKS
        and _ends(resolved)[0] > _ends(by_habit)[1]
    ):
        evidence.append(
            f"people resolved {resolved.count:,} of its {resolved.total:,} threads worth acting "
            f"on, and {by_habit.count:,} of its {by_habit.total:,} others"
        )
    if (
        points
        and points.total >= MIN_REMARKS
        and (_ends(rate(points.people, points.total))[0] > CONFIRMED_FROM)
    ):
        evidence.append(f"people later made {points.people:,} of its {points.total:,} points")
    if near and near.near.total >= MIN_REMARKS and (_ends(near.near)[0] > _ends(near.near_base)[1]):
        evidence.append(
            f"it had commented next to {near.near.count:,} of {near.near.total:,} lines that were "
            f"fixed after the merge"
        )
    rows = [row for rows in weighty.values() for row in rows]
    confirmed, total = int(sum(row.confirmed for row in rows)), sum(row.remarks for row in rows)
    if total >= MIN_REMARKS and _ends(rate(confirmed, total))[0] > CONFIRMED_FROM:
        evidence.append(f"the code confirms {confirmed:,} of the {total:,} worth acting on")
    return tuple(evidence)


def _fixed_text(fixed: Rate, chance: float) -> str:
    return (
        f"people fixed {fixed.count:,} of {view.count_noun(fixed.total, 'remark')} that can be "
        f"compared with chance ({fixed.total * chance:.0f} expected)"
    )


def listed(counts: Mapping[str, int]) -> str:
    """List kinds of remarks with their counts, without those that do not occur."""
    return ", ".join(f"{KINDS[kind]} {count:,}" for kind, count in counts.items() if count)


def is_mostly_formulas(counts: Mapping[str, int]) -> bool:
    """Return whether more than half of a bot's remarks are formulas."""
    return 2 * counts.get("formula", 0) > sum(counts.values())


def _verdict(
    weighty: Rate, gained: Rate, has_evidence: bool, is_wanted: bool, share_off: float
) -> Literal["keep", "tune", "drop", "undecided"]:
    # In `benchmarks/audit_staged.py`, this keeps none of 300 bots that stage their worth, and all
    # of 60 honest ones.
    if gained.total < MIN_PULLS:
        return "undecided"
    # A bot with few but weighty remarks is not dropped automatically. By remarks and not only by
    # pull requests, as one that writes ten remarks on each has a misread one on four of ten.
    has_little = _ends(gained)[1] < NEGLIGIBLE and (weighty.share or 0.0) < KEEP_FROM
    if has_little or (_ends(weighty)[1] < NEGLIGIBLE and not has_evidence):
        return "undecided" if is_wanted else "drop"
    if not has_evidence:
        return "undecided"
    if _ends(gained)[0] > NEGLIGIBLE and _ends(weighty)[0] > KEEP_FROM:
        return "keep"
    if share_off >= SWITCH_OFF_FROM and (gained.share or 0.0) > NEGLIGIBLE:
        return "tune"
    return "undecided"


def _ends(share: Rate) -> tuple[float, float]:
    """Return the ends of an interval; 0 and 1 if the share is unknown."""
    return (0.0 if share.low is None else share.low, 1.0 if share.high is None else share.high)


def _needed(decision: Decision) -> int | None:
    """Return how many more pull requests would probably decide; None if more would not."""
    gained, few = decision.gained, MIN_PULLS - decision.gained.total
    if few > 0:
        return few
    # The distance of a share to a limit within its interval shows how many more are needed.
    limits = [(gained, NEGLIGIBLE), (decision.weighty, KEEP_FROM)]
    # Without evidence, only more fixes can show some; for a bot whose lines change less often than
    # others, no number of pull requests would.
    if not decision.evidence:
        limits = [(decision.fixed, decision.chance or 0.0)] * (decision.chance is not None)
    needed = []
    for share, limit in limits:
        low, high = _ends(share)
        distance = (share.share or 0.0) - limit
        if low <= limit <= high and (decision.evidence or distance > 0):
            # The half width falls with the root of the number of pull requests.
            half = (high - low) / 2 / max(abs(distance), _CLOSE)
            needed.append(max(1, round(gained.total * (half**2 - 1))))
    return max(needed, default=None)


def _sentence(decision: Decision, name: str, counts: Mapping[str, int], *, is_wanted: bool) -> str:
    weighty, gained, verdict = decision.weighty, decision.gained, decision.verdict
    on_pulls = f"{gained.count:,} of the {gained.total:,} pull requests that it saw "
    on_pulls += f"{'has' if gained.count == 1 else 'have'} a remark worth acting on"
    remarks = "remarks that could be read" if counts.get("unread") else "remarks"
    of_remarks = f"{weighty.count:,} of its {weighty.total:,} {remarks} "
    of_remarks += f"{'is' if weighty.count == 1 else 'are'} worth acting on"
    match verdict:
        case "keep":
            reasons = [on_pulls, *decision.evidence]
        case "tune":
            kinds = {kind: counts[kind] for kind in decision.switch_off}
            apart = [
                f"{text}: {kinds.pop(kind):,}"
                for kind, text in _NO_SETTING.items()
                if kind in kinds
            ]
            switch_off = [f"switch off {listed(kinds)}"] if kinds else []
            reasons = [*switch_off, *apart, of_remarks, *decision.evidence]
        case "drop":
            by_chance = ", which the reader's errors alone can give" if weighty.count else ""
            reasons = [on_pulls if _ends(gained)[1] < NEGLIGIBLE else of_remarks + by_chance]
            if not decision.evidence:
                reasons.append("no act of others speaks for it")
        case _:
            cause = f"it saw only {view.count_noun(gained.total, 'pull request')}"
            if gained.total >= MIN_PULLS:
                cause = _why_open(decision, counts, is_wanted=is_wanted)
            reasons = [cause, of_remarks]
            if decision.needed:
                more = view.count_noun(decision.needed, "more pull request")
                reasons.append(f"about {more} would probably decide")
    start = "Undecided about" if verdict == "undecided" else verdict.capitalize()
    return f"{start} {name}: {'; '.join(reasons)}."


def _why_open(decision: Decision, counts: Mapping[str, int], *, is_wanted: bool) -> str:
    gained, later = decision.gained, decision.afterwards
    if _ends(later)[0] > AFTERWARDS:
        acts = ", ".join(decision.acts)
        return f"of its {later.total:,} posts, {acts}; so nothing that happened speaks for it"
    if is_mostly_formulas(counts):
        of_all = f"{counts['formula']:,} of its {sum(counts.values()):,} remarks"
        return f"{of_all} are the same sentence with other names"
    if decision.evidence:
        return "it seldom says something important, or few of its remarks could be switched off"
    if is_wanted and _ends(gained)[1] < NEGLIGIBLE:
        return "people fix remarks that seem unimportant; read these"
    if decision.chance is None:
        return (
            "its words alone cannot decide: it is not known whether people fix these lines more "
            "often than others"
        )
    return f"its words alone cannot decide: {_fixed_text(decision.fixed, decision.chance)}"
