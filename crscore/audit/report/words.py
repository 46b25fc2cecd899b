"""Wording of an overview shared by the pages and the texts; nothing is escaped here."""

from __future__ import annotations

from datetime import date
from typing import Final

from crscore.audit.overview import (
    ActedOn,
    Estimate,
    Overview,
    Rate,
    Reviewer,
    SuggestedCode,
    Verdict,
)
from crscore.reports import view

SKIPS: Final = {"limit": "a limit was reached", "skipped": "skipped", "failed": "failed"}
NOISE: Final = {
    "nothing": "addresses nothing",
    "repeat": "repeats itself",
    "restates": "restates the change",
    "praise": "only praises",
}
MERGED: Final = {
    "edit": "characters",
    "chrf": "chrF",
    "sketch": "equal but for names",
    "codebertscore": "CodeBERTScore",
}
"""Words for the metrics beside what was merged."""
SIGNAL_OF_CHART: Final = "lines changed"


def heading(found: Overview) -> str:
    """Name the period."""
    return f"Review bots, {day(found.since)} to {day(found.until)} {found.until[:4]}"


def day(text: str) -> str:
    """Format a date without its year.

    Example:
        >>> day("2026-03-01")
        '1 March'
    """
    known = date.fromisoformat(text)
    return f"{known.day} {known:%B}"


def facts(found: Overview) -> str:
    """Say what the numbers are made of."""
    merged = f"{found.merged:,} merged, {found.scored:,} with a scored review"
    count = len(found.repositories)
    where = f"{count:,} {'repository' if count == 1 else 'repositories'}"
    pulls = view.count_noun(found.pulls, "pull request")
    return f"{pulls} created in the period ({merged}) in {where}."


def opening(found: Overview) -> str:
    """Say the main result in one or two sentences."""
    bots = [one for one in found.reviewers if one.is_bot and one.usefulness is not None]
    if not bots:
        return "No bot has a scored review in this period."
    first = bots[0]
    said = f"{first.name} has the highest mean usefulness of {view.count_noun(len(bots), 'bot')}: "
    said += f"{interval(first.usefulness)} of 100."
    if first.rank is not None and first.rank[1] > 1:
        said += f" Its rank is not certain: it may be {ranks(first)}."
    decided = sum(one.verdict in {"better", "worse"} for one in found.verdicts)
    if found.verdicts:
        pairs = view.count_noun(len(found.verdicts), "pair")
        said += f" {decided:,} of {pairs} of bots clearly differ."
    return said


def name(row: Reviewer) -> str:
    """Return a reviewer's name, with a note for a person."""
    return row.name if row.is_bot else f"{row.name} (person)"


def number(value: float | None) -> str:
    """Format a number for people: one decimal below 10, none above."""
    if value is None:
        return view.UNDEFINED
    return f"{value:.1f}" if abs(value) < 9.95 else f"{value:,.0f}"


def mean(estimate: Estimate | None) -> str:
    """Format an estimate without its interval."""
    return number(estimate.value if estimate else None)


def interval(one: Estimate | None) -> str:
    """Format an estimate with its interval."""
    if one is None:
        return view.UNDEFINED
    return f"{number(one.value)} ({number(one.low)} to {number(one.high)})"


def share(one: Rate | None) -> str:
    """Format a rate with its interval; a dash when there is nothing to count."""
    if one is None or one.share is None or one.low is None or one.high is None:
        return view.UNDEFINED
    low, high = view.hundred(one.low), view.hundred(one.high)
    return f"{view.percent(one.share)} ({low} to {high} %)"


def counted(one: Rate) -> str:
    """Format a rate as counts."""
    return f"{one.count:,} of {one.total:,}"


def ranks(row: Reviewer) -> str:
    """Format the ranks that the data allow; equal ranges are ties.

    Example:
        `2` or `2 to 4`.
    """
    if row.rank is None:
        return view.UNDEFINED
    low, high = row.rank
    return f"{low}" if low == high else f"{low} to {high}"


def skips(row: Reviewer) -> str:
    """List why a reviewer did not review, with the pulls of each reason."""
    listed = (f"{SKIPS.get(one.reason, one.reason)}: {one.pulls:,}" for one in row.coverage.skips)
    return ", ".join(listed) or "none"


def noise_parts(row: Reviewer) -> str:
    """List the kinds of noise, the most frequent first."""
    counts = [(getattr(row.noise, key), said) for key, said in NOISE.items()]
    listed = (f"{said}: {count:,}" for count, said in sorted(counts, reverse=True) if count)
    return ", ".join(listed) or "none"


def acted(row: Reviewer, signal: str) -> ActedOn | None:
    """Return one signal of a reviewer."""
    return next((one for one in row.acted_on if one.signal == signal), None)


def effects(one: SuggestedCode) -> str:
    """List what suggestion blocks change, the most frequent first."""
    return ", ".join(f"{each.effect}: {each.blocks:,}" for each in one.effects) or view.UNDEFINED


def merged(one: SuggestedCode) -> str:
    """List how near suggested code is to what was merged in its place."""
    listed = (f"{MERGED[each.metric]} {view.percent(each.mean)}" for each in one.merged)
    blocks = max((each.blocks for each in one.merged), default=0)
    return f"{', '.join(listed)} ({view.count_noun(blocks, 'block')})" if blocks else view.UNDEFINED


def unknown_share(one: ActedOn) -> str:
    """Format the share of comments of which the signal cannot be told."""
    whole = one.rate.total + one.unknown
    return view.percent(one.unknown / whole if whole else None)


def decided_first(found: Overview) -> list[Verdict]:
    """Return the verdicts: the clear ones first, and of them those on the most useful bots."""
    order = {"better": 0, "worse": 0, "equivalent": 1, "unknown": 2}
    place = {row.name: at for at, row in enumerate(found.reviewers)}

    def key(one: Verdict) -> tuple[int, list[int]]:
        return order[one.verdict], sorted((place[one.first], place[one.second]))

    return sorted(found.verdicts, key=key)
