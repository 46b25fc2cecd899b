"""Writes the facts about a bot on the first screen: titled texts with its most important numbers.

Page, terminal and JSON show the same texts, so that their numbers cannot differ. Each count is
shown with its total.
"""

from collections.abc import Iterable
from typing import Final

from crscore.audit.compare import describe
from crscore.audit.decide import MIN_COUNT, is_late, is_mostly_formulas, list_kinds
from crscore.audit.overview import Decision, Fact, PairComparison, Rate, Reviewer
from crscore.audit.tables import EMPTY, IMPORTANT
from crscore.reports import view

# With ten bots, each bot is in nine pairs. The page "Numbers" lists all pairs.
PAIRS: Final = 3
"""Maximum number of comparisons of a bot on the first screen; those with a clear result are shown
first."""
SKIPS: Final = {
    "limit": "because a limit was reached",
    "skipped": "because it skipped the pull request",
    "failed": "because it failed",
}


def make_facts(
    row: Reviewer, decision: Decision, verdicts: Iterable[PairComparison]
) -> tuple[Fact, ...]:
    """Write the facts about a bot.

    Args:
        row: The bot, without its facts.
        decision: The decision about the bot.
        verdicts: Comparisons of all bots.
    """
    # Bots with too few common pull requests are compared within strata (docs/design/025-audits.md).
    # The difference within strata is not the difference of the counts, and readers would take this
    # for an error, so these pairs are left out here.
    pairs = [pair for pair in verdicts if pair.paired and row.name in (pair.first, pair.second)]
    pairs.sort(key=lambda pair: {"equivalent": 1, "unknown": 2}.get(pair.verdict, 0))
    texts = [describe(pair, row.name) for pair in pairs[:PAIRS]]
    if (more := len(pairs) - PAIRS) > 0:
        texts.append(f"{view.count_noun(more, 'more pair')} on the page “Numbers”")
    if texts and (points := row.points) and points.total:
        texts.append(f"{points.only:,} of its {points.total:,} points were made by no one else")
    start = "Judged by the text alone" + ", although most came too late" * is_late(decision)
    start += ", although most are templated" * is_mostly_formulas(row.comments.kinds)
    lines = {
        "Found": _describe_gain(row, decision),
        "Cost": _describe_cost(row),
        "Present": _describe_presence(row, decision),
        "Compared": f"{start}: {'. '.join(texts)}." if texts else "",
        "Certainty": _describe_certainty(row, decision),
    }
    return tuple(Fact(title=title, text=text) for title, text in lines.items() if text)


def format_mattered(row: Reviewer) -> str:
    """Format the number of comments that mattered; "late" if most posts came too late to matter."""
    return "late" if is_late(row.decision) else f"{sum(row.comments.mattered.values()):,}"


def _describe_gain(row: Reviewer, decision: Decision) -> str:
    comments, important = row.comments, decision.important.count
    mattered = sum(comments.mattered.values())
    verb, end = ("are", ", but too late to matter") if is_late(decision) else ("mattered:", "")
    text = f"{mattered:,} of {_comments(row)} {verb} worth acting on, and fixed or resolved{end}"
    text += f" ({list_kinds(comments.mattered)})" if mattered else ""
    # The number of fixed comments is shown only next to the number that is expected by chance.
    if mattered > comments.fixed:
        text += f". People resolved {mattered - comments.fixed:,} of these without a fix"
        if decision.by_habit.total:
            text += f"; they also resolved {format_counts(decision.by_habit)} of its other threads"
    # A comment without a reaction may still have been right, and may have been fixed elsewhere.
    if (rest := important - mattered) > 0:
        kinds, acted = comments.kinds, comments.mattered
        left = {kind: kinds.get(kind, 0) - acted.get(kind, 0) for kind in IMPORTANT}
        text += f". Neither fixed nor resolved: {rest:,} more worth acting on ({list_kinds(left)})"
    if comments.answered:
        text += f". People replied to {comments.answered:,} worth acting on, perhaps to disagree"
    return f"{text}."


def _describe_cost(row: Reviewer) -> str:
    kinds = row.comments.kinds
    empty = {kind: count for kind, count in kinds.items() if kind in EMPTY}
    text = f"{sum(empty.values()):,} of {_comments(row)} gave nothing to do"
    fixed = row.comments.fixed_formulas
    formulas = f"; people fixed {fixed:,} of the templated comments" if fixed else ""
    text += f" ({list_kinds(empty)}{formulas})" if empty else ""
    small = {kind: count for kind, count in kinds.items() if kind in ("nit", "unread")}
    text += f". Others: {list_kinds(small)}" if small else ""
    # The time to check the comments in the code is unknown.
    text += f". Reading all: about {view.count_noun(max(1, round(row.minutes)), 'minute')}"
    if row.price is not None:
        text += f". Price: {row.price:,.2f} {row.price_basis}"
    return f"{text}."


def _describe_presence(row: Reviewer, decision: Decision) -> str:
    coverage, posts = row.coverage, decision.afterwards.total
    part = f"{row.pulls - row.silent:,} of the" if row.silent else "all"
    text = f"It commented on {part} {view.count_noun(row.pulls, 'pull request')} that it saw"
    reviewed = f"{format_counts(coverage.reviewed)} merged since its first post"
    text += f". It reviewed {reviewed}, {coverage.last_head.count:,} at their last commit"
    if decision.acts:
        text += f". Of its {view.count_noun(posts, 'post')}, {', '.join(decision.acts)}"
    if coverage.hours is not None:
        text += f". Half of its first reviews came within {coverage.hours:.1f} hours"
    if coverage.skips:
        reasons = (
            f"{view.count_noun(count, 'time')} that it did not review, {SKIPS.get(key, key)}"
            for key, count in coverage.skips.items()
        )
        text += f". It said {', '.join(reasons)}"
    return f"{text}."


def _describe_certainty(row: Reviewer, decision: Decision) -> str:
    noun = "comments that could be read" if "unread" in row.comments.kinds else "comments"
    text = f"Judged by their text, {_range(decision.important)} of its {noun} are worth acting on; "
    text += f"{_range(decision.gained)} of the pull requests that it saw have such a comment"
    if decision.fixed.total >= MIN_COUNT and not is_late(decision):
        text += f". People fix {_range(decision.fixed)} of the comparable comments"
        text += f", and would fix {view.percent(decision.chance)} by chance"
    return f"{text}."


def _range(rate: Rate) -> str:
    if rate.share is None:
        return view.UNDEFINED
    return f"{view.hundred(rate.low)} to {view.hundred(rate.high)} %"


def _comments(row: Reviewer) -> str:
    return view.count_noun(row.comments.total, "comment")


def format_share(rate: Rate) -> str:
    """Format a rate: counts and, unless these are few, share and interval; a dash if empty."""
    if rate.share is None or rate.total < MIN_COUNT:
        return format_counts(rate) if rate.total else view.UNDEFINED
    return f"{format_counts(rate)} ({view.percent(rate.share)}, {_range(rate)})"


def format_counts(rate: Rate) -> str:
    """Format the counts of a rate, such as `3 of 10`."""
    return f"{rate.count:,} of {rate.total:,}"


def format_usefulness(row: Reviewer) -> str:
    """Format the interval of the usefulness; "templated" if most comments are templated comments.

    A templated comment has the same usefulness each time that it is repeated, so the mean would say
    nothing.
    """
    estimate = row.usefulness
    if estimate is None or is_mostly_formulas(row.comments.kinds):
        return view.UNDEFINED if estimate is None else "templated"
    return f"{estimate.low:.0f} to {estimate.high:.0f}"
