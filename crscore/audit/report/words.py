"""Wording of an overview in pages and texts; nothing is escaped here."""

from datetime import date
from typing import Final

from crscore.audit.overview import (
    ActedOn,
    Estimate,
    Overview,
    Rate,
    Reviewer,
    Verdict,
)
from crscore.audit.signals import TITLES, Signal
from crscore.reports import view

SKIPS: Final = {"limit": "a limit was reached", "skipped": "skipped", "failed": "failed"}
NOISE: Final = {
    "nothing": "nothing to act on",
    "repeat": "repeats itself",
    "restates": "restates the change",
    "praise": "only praises",
}
SIGNAL_OF_CHART: Final = TITLES[Signal.ACTED_ON]


def heading(overview: Overview) -> str:
    """Return the title, with the period."""
    since, until = overview.since, overview.until
    year = f" {since[:4]}" if since[:4] != until[:4] else ""
    return f"Review bots, {day(since)}{year} to {day(until)} {until[:4]}"


def day(text: str) -> str:
    """Format a date without its year.

    Example:
        >>> day("2026-03-01")
        '1 March'
    """
    parsed = date.fromisoformat(text)
    return f"{parsed.day} {parsed:%B}"


def month(text: str) -> str:
    """Format a year and month.

    Example:
        >>> month("2026-03")
        'March 2026'
    """
    return f"{date.fromisoformat(f'{text}-01'):%B %Y}"


def facts(overview: Overview) -> str:
    """Describe the amount of data."""
    pulls = view.count_noun(overview.pulls, "pull request")
    merged = f"{overview.merged:,} merged, {overview.scored:,} with a scored review"
    count = len(overview.repositories)
    repositories = f"{count:,} {'repository' if count == 1 else 'repositories'}"
    return f"{pulls} created in the period ({merged}) in {repositories}."


def opening(overview: Overview) -> str:
    """Say what to do with the bots, and how many of them differ."""
    names_by_verdict: dict[str, list[str]] = {
        verdict: [] for verdict in ("keep", "tune", "drop", "undecided")
    }
    for row in overview.reviewers:
        if row.decision:
            names_by_verdict[row.decision.verdict].append(row.name)
    parts = [
        f"{word.capitalize()}: {', '.join(names)}."
        for word, names in names_by_verdict.items()
        if names
    ]
    if not parts:
        return "No bot has a scored review in this period."
    if overview.verdicts:
        decided = sum(verdict.verdict in {"better", "worse"} for verdict in overview.verdicts)
        pairs = view.count_noun(len(overview.verdicts), "pair")
        parts.append(f"{decided:,} of {pairs} of bots differ significantly.")
    return " ".join(parts)


def number(value: float | None) -> str:
    """Format a number with one decimal below 10, and none above."""
    if value is None:
        return view.UNDEFINED
    return f"{value:.1f}" if abs(value) < 9.95 else f"{value:,.0f}"


def mean(estimate: Estimate | None) -> str:
    """Format an estimate without its interval."""
    return number(estimate.value if estimate else None)


def interval(estimate: Estimate | None) -> str:
    """Format an estimate with its interval."""
    if estimate is None:
        return view.UNDEFINED
    return f"{number(estimate.value)} ({number(estimate.low)} to {number(estimate.high)})"


def share(rate: Rate | None) -> str:
    """Format a rate with its interval; a dash if it is unknown."""
    if rate is None or rate.share is None:
        return view.UNDEFINED
    return f"{view.percent(rate.share)} ({view.hundred(rate.low)} to {view.hundred(rate.high)} %)"


def of_total(rate: Rate) -> str:
    """Format the counts of a rate."""
    return f"{rate.count:,} of {rate.total:,}"


def ranks(row: Reviewer) -> str:
    """Format the ranks that the data allow, `2` or `2 to 4`; equal ranges are ties."""
    if row.rank is None:
        return view.UNDEFINED
    return " to ".join(map(str, dict.fromkeys(row.rank)))


def skips(row: Reviewer) -> str:
    """List the reasons for not reviewing, with their numbers of pull requests."""
    reasons = (
        f"{SKIPS.get(skip.reason, skip.reason)}: {skip.pulls:,}" for skip in row.coverage.skips
    )
    return ", ".join(reasons) or "none"


def noise_parts(row: Reviewer) -> str:
    """List the kinds of noise, the most frequent first."""
    counts = sorted(((getattr(row.noise, key), kind) for key, kind in NOISE.items()), reverse=True)
    return ", ".join(f"{kind}: {count:,}" for count, kind in counts if count) or "none"


def remarks(row: Reviewer) -> str:
    """List the shares of remarks by level, and of remarks with nothing to act on."""
    parts = (f"{name} {view.percent(share)}" for name, share in row.remarks.items() if share)
    return ", ".join(parts).replace("empty", "nothing to act on") or view.UNDEFINED


def acted(row: Reviewer, signal: str) -> ActedOn | None:
    """Return one signal of a reviewer."""
    return {acted_on.signal: acted_on for acted_on in row.acted_on}.get(signal)


def decided_first(overview: Overview) -> list[Verdict]:
    """Sort the verdicts: significant ones first, then by the usefulness of the bots."""
    order = {"better": 0, "worse": 0, "equivalent": 1, "unknown": 2}
    position = {row.name: index for index, row in enumerate(overview.reviewers)}
    return sorted(
        overview.verdicts,
        key=lambda verdict: (
            order[verdict.verdict],
            sorted((position[verdict.first], position[verdict.second])),
        ),
    )
