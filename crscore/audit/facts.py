"""The five lines of a reviewer on the first screen, in words.

Page, terminal, digest and JSON show these texts, so that their numbers cannot differ. Each count is
shown with its total.
"""

from collections.abc import Iterable
from typing import Final

from crscore.audit.compare import describe
from crscore.audit.decide import MIN_COUNT, is_late, is_mostly_formulas, listed
from crscore.audit.overview import Decision, Fact, PairComparison, Rate, Reviewer
from crscore.audit.tables import EMPTY, IMPORTANT
from crscore.reports import view

# The page of numbers lists all pairs. With ten bots, each bot is in nine pairs.
PAIRS: Final = 3
"""Maximum number of comparisons of a bot on the first screen; those with a clear result are
first."""
SKIPS: Final = {
    "limit": "because a limit was reached",
    "skipped": "because it skipped the pull request",
    "failed": "because it failed",
}


def make_facts(
    row: Reviewer, decision: Decision, verdicts: Iterable[PairComparison]
) -> tuple[Fact, ...]:
    """Write the lines of a bot.

    Args:
        row: The bot, without its lines.
        decision: The decision about it.
        verdicts: Comparisons of all bots.
    """
    # Bots without common pull requests are compared inside strata (docs/design/025-audits.md). The
    # difference inside strata is not the difference of the counts that are shown, which people
    # take for an error, so these pairs are left out here.
    pairs = [pair for pair in verdicts if pair.paired and row.name in (pair.first, pair.second)]
    pairs.sort(key=lambda pair: {"equivalent": 1, "unknown": 2}.get(pair.verdict, 0))
    texts = [describe(pair, row.name) for pair in pairs[:PAIRS]]
    if (more := len(pairs) - PAIRS) > 0:
        texts.append(f"{view.count_noun(more, 'more pair')} on the page of numbers")
    if texts and row.points and row.points.total:
        texts.append(f"Only it made {row.points.only:,} of its {row.points.total:,} points")
    start = "By the words alone" + ", although late" * is_late(decision)
    start += ", although mostly formulas" * is_mostly_formulas(row.comments.kinds)
    lines = {
        "Found": _gain(row, decision),
        "Cost": _cost(row),
        "Present": _presence(row, decision),
        "Compared": f"{start}: {'. '.join(texts)}." if texts else "",
        "Sure": _certainty(row, decision),
    }
    return tuple(Fact(title=title, text=text) for title, text in lines.items() if text)


def mattered_text(row: Reviewer) -> str:
    """Format the number of comments that mattered; "late" if most posts came too late to matter."""
    return "late" if is_late(row.decision) else f"{sum(row.comments.mattered.values()):,}"


def _gain(row: Reviewer, decision: Decision) -> str:
    # Counts are shown with their totals: "12 fixed" alone says nothing.
    comments, important = row.comments, decision.important.count
    mattered = sum(comments.mattered.values())
    verb, end = ("are", ", but too late to matter") if is_late(decision) else ("mattered:", "")
    text = f"{mattered:,} of {_comments(row)} {verb} worth acting on, and fixed or resolved{end}"
    text += f" ({listed(comments.mattered)})" if mattered else ""
    # How many comments were fixed is shown elsewhere, for those that can be compared with chance.
    if mattered > comments.fixed:
        text += f". People resolved {mattered - comments.fixed:,} of these without a fix"
        if decision.by_habit.total:
            text += f"; they also resolved {of_total(decision.by_habit)} of its other threads"
    # A comment without a reaction may still have been right, and fixed in another place.
    if (rest := important - mattered) > 0:
        kinds, acted = comments.kinds, comments.mattered
        levels = {kind: kinds.get(kind, 0) - acted.get(kind, 0) for kind in IMPORTANT}
        text += f". Neither fixed nor resolved: {rest:,} more worth acting on ({listed(levels)})"
    if comments.answered:
        text += f". People answered {comments.answered:,} worth acting on, which can also be a no"
    return f"{text}."


def _cost(row: Reviewer) -> str:
    kinds = row.comments.kinds
    empty = {kind: count for kind, count in kinds.items() if kind in EMPTY}
    text = f"{sum(empty.values()):,} of {_comments(row)} gave nothing to do"
    fixed = row.comments.fixed_formulas
    formulas = f"; people fixed {fixed:,} of the formulas" if fixed else ""
    text += f" ({listed(empty)}{formulas})" if empty else ""
    small = {kind: count for kind, count in kinds.items() if kind in ("nit", "unread")}
    text += f". Besides: {listed(small)}" if small else ""
    # This is the time for reading the words. How long it takes to check them in the code is
    # unknown.
    text += f". Plain reading: about {view.count_noun(max(1, round(row.minutes)), 'minute')}"
    if row.price is not None:
        text += f". Price: {row.price:,.2f} {row.price_basis}"
    return f"{text}."


def _presence(row: Reviewer, decision: Decision) -> str:
    coverage, posts = row.coverage, decision.afterwards.total
    part = f"{row.pulls - row.silent:,} of the" if row.silent else "all"
    text = f"It commented on {part} {view.count_noun(row.pulls, 'pull request')} that it saw"
    reviewed = f"{of_total(coverage.reviewed)} merged since its first post"
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


def _certainty(row: Reviewer, decision: Decision) -> str:
    noun = "comments that could be read" if "unread" in row.comments.kinds else "comments"
    text = f"{_range(decision.important)} of its {noun} are worth acting on by their words, and "
    text += f"{_range(decision.gained)} of the pull requests that it saw have one"
    if decision.fixed.total >= MIN_COUNT and not is_late(decision):
        text += f". Of the comparable ones, people fix {_range(decision.fixed)}"
        text += f", of other lines {view.percent(decision.chance)}"
    return f"{text}."


def _range(rate: Rate) -> str:
    if rate.share is None:
        return view.UNDEFINED
    return f"{view.hundred(rate.low)} to {view.hundred(rate.high)} %"


def _comments(row: Reviewer) -> str:
    return view.count_noun(row.comments.total, "comment")


def share(rate: Rate) -> str:
    """Format a rate with its counts and, unless they are few, the interval; a dash if unknown."""
    if rate.share is None or rate.total < MIN_COUNT:
        return of_total(rate) if rate.total else view.UNDEFINED
    return f"{of_total(rate)} ({view.percent(rate.share)}, {_range(rate)})"


def of_total(rate: Rate) -> str:
    """Format the counts of a rate."""
    return f"{rate.count:,} of {rate.total:,}"


def usefulness(row: Reviewer) -> str:
    """Format the interval of the usefulness; "formulas" if most comments are one sentence.

    The reader finds that sentence equally useful each time, so a number would say nothing.
    """
    estimate = row.usefulness
    if estimate is None or is_mostly_formulas(row.comments.kinds):
        return view.UNDEFINED if estimate is None else "formulas"
    return f"{estimate.low:.0f} to {estimate.high:.0f}"
