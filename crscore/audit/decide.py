"""Decides whether to keep, tune or drop a bot, from two shares with intervals and from evidence.

*Important* is the share of the bot's comments that are worth acting on. *Gained* is the share of
the pull requests that the bot saw on which it made a comment worth acting on. Both shares depend
only on the bot's own texts, and a script can write texts that seem important. Therefore, low shares
are enough to drop a bot, but to keep or tune it, there must also be evidence: acts or texts of
others that show the worth of its comments (docs/design/031-decisions.md).

A share is *surely* above a limit if its entire 95 % interval is above the limit, and surely below
if the entire interval is below. A *formula* is a templated comment: it has the same sentences as
earlier comments of the bot, with other names, like the comments of a script that fills in a
template (`crscore/audit/formulas.py`).
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
"""A bot is kept only if surely more than this share of its comments is worth acting on."""
# The network takes one in twenty empty comments for an important one, and a bot may write several
# comments on a pull request (docs/design/031-decisions.md).
NEGLIGIBLE: Final = 0.15
"""If the share of important comments, or of pull requests with such comments, is below this, all of
them may be misread empty comments."""
SWITCH_OFF_FROM: Final = 0.25
"""A bot is tuned only if the kinds of comments to switch off are at least this share of all its
comments that could be read."""
MIN_PULLS: Final = 20
"""Minimum number of pull requests for a decision."""
# When the pair model says that two comments make the same point, the points differ in 7 % of the
# cases (`same_point.py` in benchmarks/README.md), so a few such pairs prove nothing.
CONFIRMED_FROM: Final = 0.1
"""Points that people also made later are evidence if they are surely more than this share of the
bot's points. Important comments that the code or a language model confirms are evidence if they are
surely more than this share of its important comments."""
AFTERWARDS: Final = 0.1
"""If surely more than this share of a bot's posts was edited, hidden or deleted, or written after
the fix or the close, nothing counts as evidence for the bot."""
# If the chance of a fix is one in four, three of four comments are fixed by chance in one case of
# twenty. Each of several kinds of evidence can arise by chance, so four comments are too few.
MIN_COUNT: Final = 5
"""Minimum number of comments, or of pull requests with fixes to compare, for evidence."""
TOO_LATE: Final = 0.5
"""A bot is dropped if surely more than this share of its posts came after the fix or the close."""
CONDITION: Final = "only if its check stops being green without a review"
"""Condition for keeping or tuning a bot whose check is green on pull requests that it did not
review."""
UNIMPORTANT: Final = "seemingly unimportant"
"""Words for comments that seem unimportant, but that people fix more often than by chance. A bot
with such comments is not dropped, but undecided; its reason has these words."""
KINDS: Final = {
    "critical": "critical",
    "major": "major",
    "minor": "minor",
    "nit": "nits",
    "formula": "templated comments",
    "repeat": "repetitions",
    "restates": "summaries of the change",
    "praise": "praise",
    "nothing": "empty comments",
    "refuted": "refuted",
    "unread": "not read",
}
"""Name of each kind of comment in reports, in the order of the reports."""
_ACTS: Final = ("hidden or deleted", "edited", "written after the close", "written after the fix")
"""Ways in which a post was changed later or written too late, in the order of the last columns of
`count_afterwards`."""
_JUDGES: Final = {"code": "the code", "model": "a language model's reading with a quoted line"}
"""Who confirms comments, for each column of `_COUNTS` that counts confirmed comments."""
_SWITCHES: Final = ("nit", "formula", "repeat", "restates", "praise", "nothing")
"""Kinds that a bot's settings or prompt can switch off."""


EXAMPLES: Final = 10
"""Maximum number of quoted comments per reviewer and kind."""
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
"""Columns of the counts of `read_comments`, which are of one kind of comments on a pull request."""
Counts: TypeAlias = npt.NDArray[np.void]
"""Rows of `_COUNTS`, sorted by pull request, shape (N,)."""


class Record(NamedTuple):
    """Data on one reviewer's comments that the `ReviewTable` does not have."""

    counts: Counts = np.zeros(0, _COUNTS)
    """Numbers of the comments of each kind on each pull request."""
    examples: tuple[tuple[Any, ...], ...] = ()
    """Examples of the comments: rows of `read_comments` without the reviewer."""
    points: Points | None = None
    """Numbers of points worth acting on; None if unknown."""
    afterwards: Rate = rate(0, 0)
    """See `Decision.afterwards`."""
    late: Rate = rate(0, 0)
    """See `Decision.late`."""
    near: EscapedRecall | None = None
    """How often the reviewer had commented near later fixes; None if there are no later fixes."""
    acts: tuple[str, ...] = ()
    """See `Decision.acts`."""


def load_records(
    store: Store, table: ReviewTable, near: Iterable[EscapedRecall] = ()
) -> Mapping[str, Record]:
    """Load the record of each reviewer in a period, keyed by the name of the reviewer.

    Args:
        store: The store.
        table: Reviews of the period.
        near: How often each reviewer had commented near later fixes.

    Raises:
        StoreError: The store cannot be read.
    """
    # Some bots with a profile edit their comments to mark them as addressed. Such an edit does not
    # count as a change of the comment.
    known_bots = [profile.name for profile in profiles() if not profile.shared]
    later: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    acts: dict[str, Counter[str]] = defaultdict(Counter)
    for reviewer, count, late, total, *counts in count_afterwards(store, table.scope, known_bots):
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
    """Count the comments of a reviewer by kind and by the reactions of people."""
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
        price: Price of the bot in the period, which the reason names; None if unknown.
    """
    comments, coverage = count_comments(record.counts), table.coverage.get(name)
    seen_pulls = table.seen_pulls(name)
    decision, all_fixes = _judge(record, len(seen_pulls))
    if decision.verdict == "undecided":
        decision = replace(decision, needed=_count_needed(record, seen_pulls))
    reasons = _list_reasons(decision, comments, all_fixes)
    start = "Undecided about" if decision.verdict == "undecided" else decision.verdict.capitalize()
    if coverage and (hollow := count_hollow_checks(coverage)):
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
    """Return whether a bot may have improved its record afterwards.

    This is so if surely too many of its posts were edited, hidden or deleted, or written after the
    fix or the close (`AFTERWARDS`).
    """
    return _ends(afterwards)[0] > AFTERWARDS


def count_hollow_checks(coverage: Coverage) -> int:
    """Return on how many pull requests a bot's check was green without a review by the bot.

    The result is 0 if this happened on at most the share `NEGLIGIBLE` of the pull requests that
    were merged since the bot's first post.
    """
    # If a check is green and nothing is posted, people believe that a review found nothing.
    count = coverage.green_unreviewed or 0
    return count if count > NEGLIGIBLE * coverage.reviewed.total else 0


def _find_starts(rows: Counts) -> npt.NDArray[np.intp]:
    """Return the index of the first row of each pull request."""
    changes = [np.diff(rows[name], prepend=-1) != 0 for name in ("repository", "number")]
    return np.flatnonzero(changes[0] | changes[1])


def _rate_of(rows: Counts, counts: Doubles, totals: Doubles) -> Rate:
    """Return a share of comments with its interval, clustered by pull request.

    Args:
        rows: N rows of counts.
        counts: Number of comments of each row that belong to the share, shape (N,).
        totals: Number of all comments of each row, shape (N,).
    """
    starts = _find_starts(rows)
    return rate_of_pulls(np.add.reduceat(counts, starts), np.add.reduceat(totals, starts))


class _Fixes(NamedTuple):
    """How often the lines of comments changed, compared with lines that have no comment."""

    share: Rate
    """Share of the comparable comments whose lines changed."""
    chance: float | None = None
    """Share of the lines with and without a comment that changed: the expected share of fixes by
    chance. None if there is no comparable comment."""
    limit: float = 0.0
    """If `share` is below this, hardly any comment was the reason for a change."""
    is_more: bool = False
    """Whether the lines of comments changed surely more often than by chance, and `share` is not
    below the limit."""


def _compare_fixes(rows: Counts) -> _Fixes:
    """Compare the fixes of comments with the changes of other lines, by pull request."""
    rows = rows[rows["compared"] > 0]
    starts = _find_starts(rows)
    fixed, compared, chances = (
        np.add.reduceat(rows[name], starts) for name in ("compared_fixed", "compared", "chance")
    )
    lines = np.maximum.reduceat(rows["lines"], starts)
    share = rate_of_pulls(fixed, compared)
    if share.share is None:
        return _Fixes(share)
    # If there are only a few other lines, their share is a poor estimate of the chance. Therefore,
    # commented lines are counted with the other lines, as in Fisher's exact test: if a comment had
    # no effect, its lines would change as often as the other lines.
    all_changed = (chances / compared * lines + fixed) / (lines + compared)
    chance = float(all_changed @ compared) / share.total
    limit = chance + NEGLIGIBLE * (1 - chance)
    p_value = share_p(*to_independent(fixed, compared), chance)
    is_more = len(fixed) >= MIN_COUNT and p_value < (1 - LEVEL) / 2 and share.share >= limit
    return _Fixes(share, chance, limit, is_more)


def _judge(record: Record, pull_count: int) -> tuple[Decision, _Fixes]:
    """Decide about a bot that saw `pull_count` pull requests.

    Returns:
        The decision without the reason and `needed`; and the fixes of all the bot's comments,
        including unimportant comments.
    """
    rows = record.counts
    is_important = np.isin(rows["kind"], IMPORTANT)
    # Comments in other languages are not in the total, because it is unknown if they are important.
    important = _rate_of(
        rows, rows["comments"] * is_important, rows["comments"] * (rows["kind"] != "unread")
    )
    fixes, all_fixes = _compare_fixes(rows[is_important]), _compare_fixes(rows)
    # Some teams resolve every thread, so the important threads are compared with the bot's others.
    rest = rows[~is_important]
    by_habit = _rate_of(rest, rest["resolved"], rest["threads"])
    evidence = _evidence(rows[is_important], by_habit, fixes, record)
    counts = count_comments(rows).kinds
    # A script can place templated comments on lines that are sure to change, so their fixes show
    # nothing.
    if is_staged(record.afterwards) or is_mostly_formulas(counts):
        evidence = ()
    # A kind of comments that is fixed more often than by chance is not to be switched off.
    switch_off = tuple(
        kind
        for kind in sorted(_SWITCHES, key=lambda kind: -counts.get(kind, 0))
        if kind in counts and not _compare_fixes(rows[rows["kind"] == kind]).is_more
    )
    decision = Decision(
        verdict="undecided",
        reason="",
        important=important,
        gained=rate(len(_find_starts(rows[is_important])), pull_count),
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
    verdict = _choose_verdict(decision, fixes, all_fixes, share_off)
    return replace(decision, verdict=verdict), all_fixes


def _evidence(important: Counts, by_habit: Rate, fixes: _Fixes, record: Record) -> tuple[str, ...]:
    """Return the acts and texts of others that show the worth of a bot's important comments."""
    evidence = []
    points, near = record.points, record.near
    # The other lines show how often lines change by chance: authors acted on 41 % of 74 comments of
    # bots, and changed 14 % of the other lines of the same hunks
    # (`python benchmarks/followed.py DATA`).
    if fixes.chance is not None and fixes.is_more:
        evidence.append(_describe_fixes(fixes.share, fixes.chance))
    # A person who resolves a thread but changes nothing may think that the comment is wrong, so
    # resolved threads do not count if hardly any important comment was fixed.
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


def _describe_fixes(fixed: Rate, chance: float) -> str:
    comments = view.count_noun(fixed.total, "comparable comment")
    few = ", too few to count" * (fixed.total < MIN_COUNT)
    return f"people fixed {fixed.count:,} of {comments} ({fixed.total * chance:.0f} by chance{few})"


def list_kinds(counts: Mapping[str, int]) -> str:
    """Format the counts of the kinds of comments, without the kinds that have no comment."""
    return ", ".join(f"{KINDS[kind]} {count:,}" for kind, count in counts.items() if count)


def is_mostly_formulas(counts: Mapping[str, int]) -> bool:
    """Return whether more than half of a bot's comments are templated comments."""
    return 2 * counts.get("formula", 0) > sum(counts.values())


def _choose_verdict(
    decision: Decision, fixes: _Fixes, all_fixes: _Fixes, share_off: float
) -> Literal["keep", "tune", "drop", "undecided"]:
    # benchmarks/README.md, "audits", says how often this rule keeps honest bots, and how often it
    # keeps bots that only make their comments seem to matter.
    gained, important, evidence = decision.gained, decision.important, decision.evidence
    if gained.total < MIN_PULLS:
        return "undecided"
    share = important.share or 0.0
    # A bot that comments rarely, but then says something important, is not dropped for its low
    # share of pull requests.
    is_rare = _ends(gained)[1] < NEGLIGIBLE and share < KEEP_FROM
    # This considers the share of the comments, because one in twenty empty comments is misread:
    # a bot that makes ten empty comments on each pull request seems to say something important on
    # 40 % of the pull requests.
    is_weak = share < NEGLIGIBLE and _ends(important)[1] < KEEP_FROM
    is_ignored = _ends(fixes.share)[1] < fixes.limit
    # Without evidence, a bot that says little of importance, or that people ignore, would not be
    # kept after more pull requests either. Late posts change nothing, whatever they say.
    if is_late(decision) or is_rare or (not evidence and (is_weak or is_ignored)):
        return "undecided" if all_fixes.is_more and not is_late(decision) else "drop"
    if not evidence:
        return "undecided"
    # A bot with few comments can be kept if most of them are important, because both are shares.
    if _ends(gained)[0] > NEGLIGIBLE and _ends(important)[0] > KEEP_FROM:
        return "keep"
    if share_off >= SWITCH_OFF_FROM and (gained.share or 0.0) > NEGLIGIBLE:
        return "tune"
    return "undecided"


def _ends(share: Rate) -> tuple[float, float]:
    """Return the ends of the interval of a share; 0 and 1 if the share is unknown."""
    return (0.0 if share.low is None else share.low, 1.0 if share.high is None else share.high)


def _count_needed(record: Record, seen_pulls: Collection[tuple[int, int]]) -> int | None:
    """Return how many more pull requests like those seen would lead to a decision about the bot.

    The result is None if `MAX_NEEDED` more pull requests would not lead to a decision.
    """
    rows = record.counts
    starts = _find_starts(rows)
    pulls = zip(rows["repository"][starts].tolist(), rows["number"][starts].tolist(), strict=True)
    comments = dict(zip(pulls, np.split(np.arange(len(rows)), starts[1:]), strict=False))
    # The added pull requests repeat those seen, in an order that mixes early and late ones.
    order = sorted(seen_pulls, key=lambda pull: (pull[1] % 4, pull))
    more = max(MIN_PULLS - len(order), len(order) // 4)
    while order and more <= MAX_NEEDED:
        parts = [comments[pull] for pull in islice(cycle(order), more) if pull in comments]
        # Indices are concatenated, because concatenating the rows of each pull request would
        # compare their types each time.
        counts = rows[np.concatenate([np.arange(len(rows)), *parts])]
        # Give the repeated pull requests numbers that no other pull request has.
        counts["number"][len(rows) :] = [-2 - at for at, part in enumerate(parts) for _ in part]
        again = record._replace(counts=counts)
        if _judge(again, len(order) + more)[0].verdict != "undecided":
            return more
        more *= 2
    return None


def _list_reasons(decision: Decision, all_comments: Comments, all_fixes: _Fixes) -> list[str]:
    """Return the reasons for a verdict, a clause each, the most important first."""
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
        fixed = _describe_fixes(decision.fixed, decision.chance)
    by_text = f"{of_comments}, judged by their text"
    if decision.verdict == "keep":
        return [on_pulls, *decision.evidence]
    if decision.verdict == "tune":
        kinds = list_kinds({kind: counts[kind] for kind in decision.switch_off})
        stay = {kind: counts.get(kind, 0) for kind in _SWITCHES if kind not in decision.switch_off}
        but = f", but not {list_kinds(stay)}, which people fix" if list_kinds(stay) else ""
        return [f"have it stop: {kinds}{but}", of_comments, *decision.evidence]
    copied = []
    if is_mostly_formulas(counts):
        formulas = f"{counts['formula']:,} of its {sum(counts.values()):,} comments"
        copied = [f"{formulas} are the same sentence with other names"]
    if decision.verdict == "undecided":
        cause = _explain_undecided(decision, all_fixes)
        return [*copied, cause, by_text] if cause else [*copied, f"{by_text} alone", fixed]
    if is_late(decision):
        acts = " and ".join(act for act in decision.acts if "written" in act)
        return [f"of its {decision.late.total:,} posts, {acts}, too late to matter", by_text]
    reasons = [on_pulls if _ends(gained)[1] < NEGLIGIBLE else of_comments]
    if (important.share or 0.0) >= NEGLIGIBLE:
        reasons = [by_text, fixed]
    elif not copied and not decision.evidence:
        reasons.append(fixed)
    return [*copied, *reasons]


def _explain_undecided(decision: Decision, all_fixes: _Fixes) -> str:
    """Return why a bot is undecided; "" if only its own texts speak for it."""
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
    fixed = _describe_fixes(all_fixes.share, all_fixes.chance or 0.0)
    return f"{fixed}, {unimportant}; read those below" if all_fixes.is_more else ""
