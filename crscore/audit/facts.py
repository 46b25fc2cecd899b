"""The five lines of a reviewer on the first screen, in words.

Page, terminal, digest and JSON show these texts, so that their numbers cannot differ. Each
count stands with the number that it is part of.
"""

from collections.abc import Iterable
from typing import Final

from crscore.audit.compare import MIN_PULLS, describe
from crscore.audit.decide import is_mostly_formulas, listed
from crscore.audit.overview import Decision, Estimate, Fact, Rate, Reviewer, Verdict
from crscore.audit.tables import EMPTY, IMPORTANT
from crscore.reports import view

# The page of numbers has all pairs: of ten bots, nine for each.
PAIRS: Final = 3
"""Number of comparisons of a bot on the first screen, clear ones first."""
SKIPS: Final = {
    "limit": "as a limit was reached",
    "skipped": "as it skipped the pull request",
    "failed": "as it failed",
}


def make_facts(row: Reviewer, decision: Decision, verdicts: Iterable[Verdict]) -> tuple[Fact, ...]:
    """Write the lines of a bot.

    Args:
        row: The bot, without its lines.
        decision: The decision about it.
        verdicts: Comparisons of all bots.
    """
    own_verdicts = [verdict for verdict in verdicts if row.name in (verdict.first, verdict.second)]
    order = {"better": 0, "worse": 0, "equivalent": 1, "unknown": 2}
    own_verdicts.sort(key=lambda verdict: order[verdict.verdict])
    texts = [describe(verdict, row.name) for verdict in own_verdicts[:PAIRS]]
    if (more := len(own_verdicts) - PAIRS) > 0:
        texts.append(f"{view.count_noun(more, 'more pair')} on the page of numbers")
    if row.points and row.points.total:
        texts.append(f"Only it made {row.points.only:,} of its {row.points.total:,} points")
    compared = f"By the words alone: {'. '.join(texts)}."
    if row.pulls < MIN_PULLS or not own_verdicts:
        compared = "There are too few pull requests or bots to compare it."
    lines = {
        "Found": _gain(row, decision),
        "Cost": _cost(row),
        "Present": _presence(row),
        "Compared": compared,
        "Sure": _certainty(row, decision),
    }
    return tuple(Fact(title=title, text=text) for title, text in lines.items())


def _gain(row: Reviewer, decision: Decision) -> str:
    # Counts with the number that they are part of: "12 fixed" alone says nothing.
    remarks, weighty = row.remarks, decision.weighty.count
    mattered = sum(remarks.mattered.values())
    text = f"{mattered:,} of {_remarks(row)} mattered: worth acting on, and fixed or resolved"
    if mattered:
        of_levels = f"{listed(remarks.mattered)}; fixed {remarks.fixed:,}"
        text += f" ({of_levels}, resolved {remarks.resolved:,})"
    if mattered and decision.chance is not None:
        text += f". Chance alone gives about {decision.fixed.total * decision.chance:.0f} fixes"
    # A remark without a reaction may still have been right, and fixed in another place.
    if weighty > mattered:
        levels = {
            kind: count - remarks.mattered.get(kind, 0)
            for kind, count in remarks.kinds.items()
            if kind in IMPORTANT
        }
        text += f". Worth acting on by the words alone: {weighty - mattered:,} ({listed(levels)})"
    if remarks.answered:
        text += f". People answered {remarks.answered:,} worth acting on, which can also be a no"
    return f"{text}."


def _cost(row: Reviewer) -> str:
    kinds = row.remarks.kinds
    empty = {kind: count for kind, count in kinds.items() if kind in EMPTY}
    text = f"{sum(empty.values()):,} of {_remarks(row)} gave nothing to do"
    text += f" ({listed(empty)})" if empty else ""
    small = {kind: count for kind, count in kinds.items() if kind in ("nit", "unread")}
    text += f". Besides: {listed(small)}" if small else ""
    # Of the words alone: the time to look remarks up in the code is unknown.
    text += f". Plain reading: about {view.count_noun(max(1, round(row.minutes)), 'minute')}"
    if row.price is not None:
        text += f". Price: {row.price:,.2f} in the period"
        if mattered := sum(row.remarks.mattered.values()):
            text += f", {row.price / mattered:,.2f} for each remark that mattered"
    return f"{text}."


def _presence(row: Reviewer) -> str:
    coverage = row.coverage
    part, last = f"{row.pulls - row.silent:,} of the" if row.silent else "all", coverage.last_head
    text = f"It commented on {part} {view.count_noun(row.pulls, 'pull request')} that it saw"
    text += f". It reviewed the last commit of {of_total(last)} merged since its first post"
    if coverage.hours is not None:
        text += f". Half of its first reviews came within {coverage.hours:.1f} hours"
    # A team takes a green check with nothing posted for a review that found nothing.
    if coverage.green_unreviewed:
        text += f". Its check was green on {coverage.green_unreviewed:,} that it did not review"
    if coverage.skips:
        reasons = (
            f"{view.count_noun(count, 'time')} that it did not review, {SKIPS.get(key, key)}"
            for key, count in coverage.skips.items()
        )
        text += f". It said {', '.join(reasons)}"
    return f"{text}."


def _certainty(row: Reviewer, decision: Decision) -> str:
    remarks = "remarks that could be read" if "unread" in row.remarks.kinds else "remarks"
    texts = [
        f"Worth acting on: {share(decision.weighty)} of its {remarks}, and a remark on "
        f"{share(decision.gained)} of the pull requests that it saw"
    ]
    if decision.fixed.total:
        chance = f"these and other lines of the same changes: {view.percent(decision.chance)}"
        texts.append(f"Fixed: {share(decision.fixed)} that can be compared with chance; {chance}")
    # As a range only: by this mean bots must not be compared, since one misread remark moves it.
    # The words of a formula are useful each time.
    if row.usefulness and not is_mostly_formulas(row.remarks.kinds):
        texts.append(f"Usefulness {interval(row.usefulness)} of 100")
    return f"{'. '.join(texts)}."


def _remarks(row: Reviewer) -> str:
    return view.count_noun(row.remarks.total, "remark")


def share(rate: Rate) -> str:
    """Format a rate with its counts and interval; a dash if it is unknown."""
    if rate.share is None:
        return view.UNDEFINED
    ends = f"{view.hundred(rate.low)} to {view.hundred(rate.high)} %"
    return f"{of_total(rate)} ({view.percent(rate.share)}, {ends})"


def of_total(rate: Rate) -> str:
    """Format the counts of a rate."""
    return f"{rate.count:,} of {rate.total:,}"


def interval(estimate: Estimate | None) -> str:
    """Format a score with its interval."""
    if estimate is None:
        return view.UNDEFINED
    return f"{estimate.value:.0f} ({estimate.low:.0f} to {estimate.high:.0f})"
