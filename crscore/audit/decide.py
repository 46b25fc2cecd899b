"""Decides whether to keep, tune or drop a bot, by two shares with their intervals and by evidence.

*Important* is the share of the bot's comments that are worth acting on. *Gained* is the share of
the pull requests that the bot saw on which it made a comment worth acting on; pull requests that it
saw and said nothing about are in the total. Both shares depend on the bot's own words, and a script
can write important words. The shares are enough to drop a bot; to keep or tune it, there must also
be evidence of what others did or said (docs/design/031-decisions.md).

A share is *surely* above a limit if its whole 95 % interval is above it; likewise for below.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import cycle, groupby, islice
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.audit.compare import MAX_NEEDED
from crscore.audit.coverage import rate, rate_of_pulls
from crscore.audit.overview import Comments, Coverage, Decision, EscapedRecall, Points, Rate
from crscore.audit.store.database import Store
from crscore.audit.store.reports import count_afterwards, count_points, read_comments
from crscore.audit.tables import IMPORTANT, ReviewTable
from crscore.pull_request.reviewers.profile import profiles
from crscore.reports import view
from crscore.statistics.intervals import LEVEL, Doubles, to_independent
from crscore.statistics.ranks import share_p

KEEP_FROM: Final = 1 / 3
"""To be kept, a bot must have surely more than this share of comments worth acting on."""
# The reader takes one in twenty empty comments for an important one (docs/design/031-decisions.md).
NEGLIGIBLE: Final = 0.15
"""A bot with a lower share of important comments may be one that says nothing useful."""
SWITCH_OFF_FROM: Final = 0.25
"""It is worthwhile to switch off kinds of comments that together are at least this share of all."""
MIN_PULLS: Final = 20
"""Minimum number of pull requests for a decision."""
# When the pair model says that two comments make the same point, the points differ in 7 % of the
# cases (`same_point.py` in benchmarks/README.md), so a few such pairs prove nothing.
CONFIRMED_FROM: Final = 0.1
"""The points that people made later are evidence if they are surely more than this share of the
bot's points; likewise the important comments that the code or a language model confirms."""
AFTERWARDS: Final = 0.1
"""If surely more than this share of a bot's posts was edited, hidden or deleted, or written after
the fix or the close, nothing counts as evidence for the bot."""
# If one of four comments is expected to be fixed by chance, three are in one case of twenty. There
# are several kinds of evidence, and each one can be there by chance.
MIN_COUNT: Final = 5
"""Minimum number of comments, or of pull requests with fixes to compare, for evidence."""
TOO_LATE: Final = 0.5
"""A bot is dropped if surely more than this share of its posts came after the fix or the close."""
CONDITION: Final = "only if its check stops being green without a review"
"""Condition of keeping or tuning a bot whose check is green on what it did not review."""
UNIMPORTANT: Final = "seemingly unimportant"
"""Words that name comments which seem unimportant, in the reason why a bot is undecided: people fix
these comments nevertheless, so the bot is not dropped."""
# A formula is a comment that says the same sentence as earlier ones of the bot, with other names,
# as a script does that fills in a template (`crscore/audit/formulas.py`).
KINDS: Final = {
    "critical": "critical",
    "major": "major",
    "minor": "minor",
    "nit": "nits",
    "formula": "formulas",
    "repeat": "repetitions",
    "restates": "summaries of the change",
    "praise": "praise",
    "nothing": "empty comments",
    "refuted": "refuted",
    "unread": "not read",
}
"""Name of each kind of comment, in order."""
_ACTS: Final = ("hidden or deleted", "edited", "written after the close", "written after the fix")
"""What made a post count as written or changed too late, in the order of `count_afterwards`."""
_JUDGES: Final = {"code": "the code", "model": "a language model's reading with a quoted line"}
"""Name of what confirmed a comment, by the column of `_COUNTS` that has the confirmed comments."""
_SWITCHES: Final = ("nit", "formula", "repeat", "restates", "praise", "nothing")
"""Kinds that a bot's settings or prompt can switch off."""


EXAMPLES: Final = 10
"""Maximum number of comments per reviewer and kind."""
_COUNTS: Final = np.dtype(
    [("kind", "U16"), ("repository", "i8"), ("number", "i8")]
    + [
        (name, "f8")
        for name in (
            "comments", "mattered", "fixed", "answered", "resolved", "compared", "compared_fixed",
            "chance", "lines", "threads", "code", "model",
        )
    ]
)  # fmt: skip
"""Columns of `read_comments`: counts of one kind of comments on one pull request."""
Counts: TypeAlias = npt.NDArray[np.void]
"""Rows of `_COUNTS`, sorted by pull request, shape (N,)."""


class Record(NamedTuple):
    """Counts of one reviewer that the `ReviewTable` lacks."""

    counts: Counts = np.zeros(0, _COUNTS)
    """Its comments by pull request and kind."""
    examples: tuple[tuple[Any, ...], ...] = ()
    """Examples of its comments, as in `read_comments` without the reviewer."""
    points: Points | None = None
    """None if they are not known."""
    afterwards: Rate = rate(0, 0)
    """See `Decision.afterwards`."""
    late: Rate = rate(0, 0)
    """See `Decision.late`."""
    near: EscapedRecall | None = None
    """Its comments next to later fixes; None if there are none."""
    acts: tuple[str, ...] = ()
    """See `Decision.acts`."""


def load_records(
    store: Store, table: ReviewTable, near: Iterable[EscapedRecall] = ()
) -> Mapping[str, Record]:
    """Return, by the reviewer's name, the counts that the table of reviews lacks.

    Args:
        store: The store.
        table: Reviews of a period.
        near: For each reviewer, how often it had commented next to a later fix.

    Raises:
        StoreError: The store cannot be read.
    """
    # Some bots with a profile edit their comments to mark what was addressed: these edits are not
    # held against them.
    marking = [profile.name for profile in profiles() if not profile.shared]
    later: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    acts: dict[str, Counter[str]] = defaultdict(Counter)
    for reviewer, count, late, total, *counts in count_afterwards(store, table.scope, marking):
        later[reviewer].append((count, late, total))
        acts[reviewer].update(dict(zip(_ACTS, map(int, counts), strict=True)))
    points = {
        reviewer: Points(total=total, only=int(only), people=int(people))
        for reviewer, total, only, people in count_points(
            store, table.scope, IMPORTANT, table.formulas
        )
    }
    near_by_name = {row.reviewer: row for row in near}
    counts_by_name, examples_by_name = (
        {name: [row[1:] for row in group] for name, group in groupby(rows, itemgetter(0))}
        for rows in read_comments(store, table.scope, table.formulas, EXAMPLES)
    )
    records = {}
    for name in counts_by_name.keys() | points.keys() | later.keys() | near_by_name.keys():
        after, late, total = np.array(later.get(name, [(0, 0, 0)]), dtype=np.float64).T
        records[name] = Record(
            np.array(counts_by_name.get(name, []), _COUNTS),
            tuple(examples_by_name.get(name, ())),
            points.get(name),
            rate_of_pulls(after, total),
            rate_of_pulls(late, total),
            near_by_name.get(name),
            tuple(f"{count:,} {act}" for act, count in acts[name].items() if count),
        )
    return records


def count_comments(rows: Counts) -> Comments:
    """Count the comments of a reviewer by kind, and those that people reacted to."""
    important = rows[np.isin(rows["kind"], IMPORTANT)]
    kinds = {kind: int(rows["comments"][rows["kind"] == kind].sum()) for kind in KINDS}
    mattered = {kind: int(rows["mattered"][rows["kind"] == kind].sum()) for kind in IMPORTANT}
    return Comments(
        total=int(rows["comments"].sum()),
        kinds={kind: count for kind, count in kinds.items() if count},
        mattered={kind: count for kind, count in mattered.items() if count},
        fixed=int(important["fixed"].sum()),
        fixed_formulas=int(rows["fixed"][rows["kind"] == "formula"].sum()),
        answered=int(important["answered"].sum()),
        resolved=int(important["resolved"].sum()),
    )


def decide(table: ReviewTable, name: str, record: Record, price: float | None = None) -> Decision:
    """Decide about a bot.

    Args:
        table: Reviews of a period.
        name: The bot.
        record: Counts of the bot that the table lacks.
        price: What the bot costs in the period, named in the reason; None if unknown.
    """
    comments, coverage = count_comments(record.counts), table.coverage.get(name)
    seen_pulls = table.seen_pulls(name)
    decision, all_fixes = _judge(record, len(seen_pulls))
    if decision.verdict == "undecided":
        decision = replace(decision, needed=_needed(record, seen_pulls))
    reasons = _reasons(decision, comments, all_fixes)
    start = "Undecided about" if decision.verdict == "undecided" else decision.verdict.capitalize()
    if coverage and (hollow := hollow_checks(coverage)):
        name += f" {CONDITION}" * (decision.verdict in ("keep", "tune"))
        reasons.append(f"its check was green on {hollow:,} pull requests that it did not review")
    if decision.needed:
        more = view.count_noun(decision.needed, "more pull request")
        reasons.append(f"about {more} would probably decide whether to keep it")
    elif decision.verdict == "undecided" and seen_pulls:
        reasons.append("more pull requests like these would not decide")
    if price is not None:
        mattered = 0 if is_late(decision) else sum(comments.mattered.values())
        cost = f"{price / mattered:,.2f} for each" if mattered else f"{price:,.2f} without a"
        reasons.append(f"it cost {cost} comment that mattered")
    return replace(decision, reason=f"{start} {name}: {'; '.join(reasons)}.")


def is_late(decision: Decision | None) -> bool:
    """Return whether surely most posts of a bot came after the fix or the close."""
    return decision is not None and _ends(decision.late)[0] > TOO_LATE


def is_staged(afterwards: Rate) -> bool:
    """Return whether a bot's record may have been made up afterwards.

    That is so if surely too many of its posts were edited, hidden or deleted, or written after the
    fix or the close: see `AFTERWARDS`.
    """
    return _ends(afterwards)[0] > AFTERWARDS


def hollow_checks(coverage: Coverage) -> int:
    """Return on how many pull requests a bot's check was green without a review by the bot.

    If they are at most the share `NEGLIGIBLE` of the pull requests merged since the bot's first
    post, the result is 0.
    """
    # A team takes a green check with nothing posted for a review that found nothing.
    count = coverage.green_unreviewed or 0
    return count if count > NEGLIGIBLE * coverage.reviewed.total else 0


def _starts(rows: Counts) -> npt.NDArray[np.intp]:
    """Return the index of the first row of each pull request."""
    changes = [np.diff(rows[name], prepend=-1) != 0 for name in ("repository", "number")]
    return np.flatnonzero(changes[0] | changes[1])


def _rate_of(rows: Counts, counts: Doubles, totals: Doubles) -> Rate:
    """Return a share of comments with its interval by pull request.

    Args:
        rows: N rows.
        counts: Comments of each row that belong to the share, shape (N,).
        totals: All comments of each row, shape (N,).
    """
    starts = _starts(rows)
    return rate_of_pulls(np.add.reduceat(counts, starts), np.add.reduceat(totals, starts))


class _Fixes(NamedTuple):
    """How often the lines of comments changed, compared with lines that have no comment."""

    share: Rate
    chance: float | None = None
    """Share of all these lines, with and without a comment, that changed; None if every line that
    could be compared has a comment."""
    limit: float = 0.0
    """If the share of the changed lines is lower, hardly any changed because of a comment."""
    is_more: bool = False
    """Whether the lines of comments changed surely more often than by chance, and no less often
    than the limit."""


def _fixes(rows: Counts) -> _Fixes:
    """Compare the fixes of comments with the changes of other lines, by pull request."""
    rows = rows[rows["compared"] > 0]
    starts = _starts(rows)
    fixed, compared, chances = (
        np.add.reduceat(rows[name], starts) for name in ("compared_fixed", "compared", "chance")
    )
    lines = np.maximum.reduceat(rows["lines"], starts)
    share = rate_of_pulls(fixed, compared)
    if share.share is None:
        return _Fixes(share)
    # If there are only a few other lines, their share is a poor estimate of chance. Therefore the
    # comment's own line is counted with the other lines, as in Fisher's exact test: without the
    # effect of the comment, it would change as often as they do.
    all_changed = (chances / compared * lines + fixed) / (lines + compared)
    chance = float(all_changed @ compared) / share.total
    limit = chance + NEGLIGIBLE * (1 - chance)
    p_value = share_p(*to_independent(fixed, compared), chance)
    is_more = len(fixed) >= MIN_COUNT and p_value < (1 - LEVEL) / 2 and share.share >= limit
    return _Fixes(share, chance, limit, is_more)


def _judge(record: Record, pull_count: int) -> tuple[Decision, _Fixes]:
    """Decide about a bot that saw `pull_count` pull requests, without a reason for people.

    Returns:
        The decision; the fixes of all the bot's comments, also of unimportant ones.
    """
    rows = record.counts
    is_important = np.isin(rows["kind"], IMPORTANT)
    # Only comments that could be read count: a bot is not judged for writing in another language.
    important = _rate_of(
        rows, rows["comments"] * is_important, rows["comments"] * (rows["kind"] != "unread")
    )
    fixes, all_fixes = _fixes(rows[is_important]), _fixes(rows)
    # Some teams resolve every thread, so resolved comments are compared with the bot's other ones.
    rest = rows[~is_important]
    by_habit = _rate_of(rest, rest["resolved"], rest["threads"])
    evidence = _evidence(rows[is_important], by_habit, fixes, record)
    counts = count_comments(rows).kinds
    # A script that fills in templates can place them on lines that are sure to change.
    if is_staged(record.afterwards) or is_mostly_formulas(counts):
        evidence = ()
    # Kinds that are fixed more often than other lines stay on.
    switch_off = tuple(
        kind
        for kind in sorted(_SWITCHES, key=lambda kind: -counts.get(kind, 0))
        if kind in counts and not _fixes(rows[rows["kind"] == kind]).is_more
    )
    decision = Decision(
        verdict="undecided",
        reason="",
        important=important,
        gained=rate(len(_starts(rows[is_important])), pull_count),
        fixed=fixes.share,
        chance=fixes.chance,
        by_habit=by_habit,
        evidence=evidence,
        afterwards=record.afterwards,
        late=record.late,
        acts=record.acts,
        switch_off=switch_off,
        needed=None,
    )
    share_off = sum(counts[kind] for kind in switch_off) / max(1, important.total)
    verdict = _verdict(decision, fixes, all_fixes, share_off)
    return replace(decision, verdict=verdict), all_fixes


def _evidence(important: Counts, by_habit: Rate, fixes: _Fixes, record: Record) -> tuple[str, ...]:
    """Return the acts and words of others that show the worth of a bot's important comments."""
    evidence = []
    points, near = record.points, record.near
    # Other lines show what happens by chance: authors acted on 41 % of 74 comments of bots, and
    # changed 14 % of the other lines of the same hunks (`python benchmarks/followed.py DATA`).
    if fixes.chance is not None and fixes.is_more:
        evidence.append(_fixed_text(fixes.share, fixes.chance))
    # Someone who resolves a thread and changes nothing may have found the comment wrong.
    resolved = _rate_of(important, important["resolved"], important["threads"])
    is_ignored = _ends(fixes.share)[1] < fixes.limit
    if by_habit.total >= MIN_COUNT and _is_above(resolved, _ends(by_habit)[1]) and not is_ignored:
        evidence.append(
            f"people resolved {resolved.count:,} of its {resolved.total:,} threads worth acting "
            f"on, and {by_habit.count:,} of its {by_habit.total:,} others"
        )
    if points and _is_above(rate(points.people, points.total), CONFIRMED_FROM):
        evidence.append(f"people later made {points.people:,} of its {points.total:,} points")
    if near and _is_above(near.near, _ends(near.near_base)[1]):
        evidence.append(
            f"it had commented next to {near.near.count:,} of {near.near.total:,} lines that were "
            f"fixed after the merge"
        )
    for column, judge in _JUDGES.items():
        confirmed = _rate_of(important, important[column], important["comments"])
        if _is_above(confirmed, CONFIRMED_FROM):
            counts = f"{confirmed.count:,} of the {confirmed.total:,} worth acting on"
            evidence.append(f"{judge} confirms {counts}")
    return tuple(evidence)


def _is_above(share: Rate, limit: float) -> bool:
    return share.total >= MIN_COUNT and _ends(share)[0] > limit


def _fixed_text(fixed: Rate, chance: float) -> str:
    comments = view.count_noun(fixed.total, "comparable comment")
    few = ", too few to count" * (fixed.total < MIN_COUNT)
    return f"people fixed {fixed.count:,} of {comments} ({fixed.total * chance:.0f} by chance{few})"


def listed(counts: Mapping[str, int]) -> str:
    """List kinds of comments with their counts, without those that do not occur."""
    return ", ".join(f"{KINDS[kind]} {count:,}" for kind, count in counts.items() if count)


def is_mostly_formulas(counts: Mapping[str, int]) -> bool:
    """Return whether more than half of a bot's comments are one sentence with other names."""
    return 2 * counts.get("formula", 0) > sum(counts.values())


def _verdict(
    decision: Decision, fixes: _Fixes, all_fixes: _Fixes, share_off: float
) -> Literal["keep", "tune", "drop", "undecided"]:
    # See benchmarks/README.md, "audits", for how often this rule keeps honest bots, and bots that
    # only make their comments look as if they mattered.
    gained, important, evidence = decision.gained, decision.important, decision.evidence
    if gained.total < MIN_PULLS:
        return "undecided"
    share = important.share or 0.0
    # A bot with few but important comments is not dropped: the share of its comments counts, too.
    # The share of the pull requests is not enough: as one in twenty empty comments is misread, a
    # bot with ten empty comments on each pull request seems to say something important on 40 % of
    # them.
    is_rare = _ends(gained)[1] < NEGLIGIBLE and share < KEEP_FROM
    # A bot that says little of importance, or that people ignore, would not be kept after more pull
    # requests either.
    is_weak = share < NEGLIGIBLE and _ends(important)[1] < KEEP_FROM
    is_ignored = _ends(fixes.share)[1] < fixes.limit
    # Late posts change nothing, whatever they say.
    if is_late(decision) or is_rare or (not evidence and (is_weak or is_ignored)):
        return "undecided" if all_fixes.is_more and not is_late(decision) else "drop"
    if not evidence:
        return "undecided"
    # Both are shares, not counts, so a quiet bot whose few comments are important can be kept.
    if _ends(gained)[0] > NEGLIGIBLE and _ends(important)[0] > KEEP_FROM:
        return "keep"
    if share_off >= SWITCH_OFF_FROM and (gained.share or 0.0) > NEGLIGIBLE:
        return "tune"
    return "undecided"


def _ends(share: Rate) -> tuple[float, float]:
    """Return the ends of an interval; 0 and 1 if the share is unknown."""
    return (0.0 if share.low is None else share.low, 1.0 if share.high is None else share.high)


def _needed(record: Record, seen_pulls: Collection[tuple[int, int]]) -> int | None:
    """Return how many more pull requests like those seen would decide about the bot.

    None is returned if `MAX_NEEDED` more would not decide.
    """
    rows = record.counts
    starts = _starts(rows)
    pulls = zip(rows["repository"][starts].tolist(), rows["number"][starts].tolist(), strict=True)
    comments = dict(zip(pulls, np.split(np.arange(len(rows)), starts[1:]), strict=False))
    # The pull requests to add are drawn evenly from the whole period.
    order = sorted(seen_pulls, key=lambda pull: (pull[1] % 4, pull))
    more = max(MIN_PULLS - len(order), len(order) // 4)
    while order and more <= MAX_NEEDED:
        parts = [comments[pull] for pull in islice(cycle(order), more) if pull in comments]
        # By index, because concatenating the rows of each pull request would compare their types
        # each time.
        counts = rows[np.concatenate([np.arange(len(rows)), *parts])]
        # The repeated pull requests get numbers that no other pull request has.
        counts["number"][len(rows) :] = [-2 - at for at, part in enumerate(parts) for _ in part]
        again = record._replace(counts=counts)
        if _judge(again, len(order) + more)[0].verdict != "undecided":
            return more
        more *= 2
    return None


def _reasons(decision: Decision, all_comments: Comments, all_fixes: _Fixes) -> list[str]:
    counts, important, gained = all_comments.kinds, decision.important, decision.gained
    pulls = view.count_noun(gained.total, "pull request")
    on_pulls = f"{gained.count:,} of {pulls} got a comment worth acting on"
    comments = "comments that could be read" if counts.get("unread") else "comments"
    of_comments = f"{important.count:,} of its {important.total:,} {comments} "
    of_comments += f"{'is' if important.count == 1 else 'are'} worth acting on"
    fixed = "there are no other lines to compare their fixes with"
    if not all_comments.mattered:
        fixed = "none was fixed or resolved"
    if decision.chance is not None:
        fixed = _fixed_text(decision.fixed, decision.chance)
    by_words = f"{of_comments}, going by the words"
    if decision.verdict == "keep":
        return [on_pulls, *decision.evidence]
    if decision.verdict == "tune":
        kinds = listed({kind: counts[kind] for kind in decision.switch_off})
        stay = {kind: counts.get(kind, 0) for kind in _SWITCHES if kind not in decision.switch_off}
        but = f", but not {listed(stay)}, which people fix" if listed(stay) else ""
        return [f"have it stop: {kinds}{but}", of_comments, *decision.evidence]
    copied = []
    if is_mostly_formulas(counts):
        formulas = f"{counts['formula']:,} of its {sum(counts.values()):,} comments"
        copied = [f"{formulas} are the same sentence with other names"]
    if decision.verdict == "undecided":
        cause = _why_open(decision, all_fixes)
        return [*copied, cause, by_words] if cause else [*copied, f"{by_words} alone", fixed]
    if is_late(decision):
        acts = " and ".join(act for act in decision.acts if "written" in act)
        return [f"of its {decision.late.total:,} posts, {acts}, too late to matter", by_words]
    reasons = [on_pulls if _ends(gained)[1] < NEGLIGIBLE else of_comments]
    if (important.share or 0.0) >= NEGLIGIBLE:
        reasons = [by_words, fixed]
    elif not copied and not decision.evidence:
        reasons.append(fixed)
    return [*copied, *reasons]


def _why_open(decision: Decision, all_fixes: _Fixes) -> str:
    """Return why a bot is undecided; "" if nothing but its own words speaks for it."""
    if is_staged(decision.afterwards):
        acts = ", ".join(decision.acts)
        return f"of its {decision.afterwards.total:,} posts, {acts}; so its fixes show nothing"
    if decision.gained.total < MIN_PULLS:
        return f"it saw only {view.count_noun(decision.gained.total, 'pull request')}"
    if decision.evidence and (decision.gained.share or 0.0) <= NEGLIGIBLE:
        return "it seldom says something important"
    if decision.evidence:
        return (
            "it is not clear that it says something important often enough to be kept, and too few "
            "of its comments are of kinds that can be switched off to tune it"
        )
    unimportant = f"{all_fixes.share.count - decision.fixed.count:,} of these {UNIMPORTANT}"
    fixed = _fixed_text(all_fixes.share, all_fixes.chance or 0.0)
    return f"{fixed}, {unimportant}; read those below" if all_fixes.is_more else ""
