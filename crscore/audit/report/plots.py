"""Charts of an overview, as values."""

from __future__ import annotations

from crscore.audit.overview import Estimate, Overview, Rate, Reviewer
from crscore.audit.report import words
from crscore.reports import view
from crscore.reports.charts import Bar, Event, Plot, Point, Trend

_PERCENT = ".0%"
_WHOLE = (0.0, 1.0)


def bots(found: Overview) -> list[Reviewer]:
    """Return the bots, the most useful first; people where there is no bot."""
    return [one for one in found.reviewers if one.is_bot] or list(found.reviewers)


def coverage(found: Overview) -> Plot:
    """Plot the share of merged pulls whose last head each bot reviewed."""
    bars = tuple(_rate(one.name, one.coverage.last_head, "main") for one in bots(found))
    return Plot("Merged pull requests whose last commit was reviewed", bars, (), _PERCENT, _WHOLE)


def noise(found: Overview) -> Plot:
    """Plot the share of noise of each bot."""
    bars = tuple(_rate(one.name, one.noise.share, "bad") for one in bots(found))
    return Plot("Comments that are noise", bars, (), _PERCENT, _WHOLE)


def usefulness(found: Overview) -> Plot:
    """Plot the mean usefulness of each bot."""
    bars = tuple(_estimate(one.name, one.usefulness) for one in bots(found))
    return Plot("Usefulness, 0 to 100", bars, domain=(0.0, 100.0))


def acted_on(found: Overview) -> Plot | None:
    """Plot how often the commented lines changed, beside the base rate; None when unknown."""
    pairs = [(one, words.acted(one, words.SIGNAL_OF_CHART)) for one in bots(found)]
    bars = tuple(_with_base(row.name, one.rate, one.base) for row, one in pairs if one)
    title = "Commented lines that changed before the merge; hollow: lines nobody commented on"
    return Plot(title, bars, (), _PERCENT, _WHOLE) if bars else None


def signals(row: Reviewer) -> Plot | None:
    """Plot every signal of a reviewer beside its base rate; None without any."""
    bars = tuple(_with_base(one.signal, one.rate, one.base) for one in row.acted_on)
    title = "Comments that were acted on; hollow: what nobody commented on"
    return Plot(title, bars, (), _PERCENT, _WHOLE) if bars else None


def usefulness_trend(found: Overview, row: Reviewer, title: str) -> Trend:
    """Show a reviewer's usefulness by day, broken where the scorer changed."""
    points = [(one, one.usefulness) for one in row.trend]
    return Trend(
        title=title,
        points=tuple(
            Point(
                *(one.day, value, one.signature),
                f"{words.day(one.day)}: {words.number(value)}, {one.pulls:,} pulls",
            )
            for one, value in points
            if value is not None
        ),
        since=found.since,
        until=found.until,
        events=_events(row),
        top=100.0,
    )


def comments_trend(found: Overview, row: Reviewer) -> Trend:
    """Show a reviewer's comments a pull by day."""
    points = [(one, one.comments) for one in row.trend]
    return Trend(
        title="Comments a pull request, by day",
        points=tuple(
            Point(one.day, value, 0, f"{words.day(one.day)}: {value:.1f}, {one.pulls:,} pulls")
            for one, value in points
            if value is not None
        ),
        since=found.since,
        until=found.until,
        events=_events(row),
    )


def _events(row: Reviewer) -> tuple[Event, ...]:
    return tuple(Event(one.day, f"change: {one.number}") for one in row.changes)


def _estimate(label: str, one: Estimate | None) -> Bar:
    if one is None:
        return Bar(label, None, None, None, words.number(None))
    return Bar(label, one.value, one.low, one.high, words.number(one.value), "main")


def _rate(label: str, one: Rate, look: str) -> Bar:
    return Bar(label, one.share, one.low, one.high, view.percent(one.share), look)


def _with_base(label: str, one: Rate, base: Rate | None) -> Bar:
    bar = _rate(label, one, "main")
    if base is None:
        return bar
    hollow = _rate("not commented on", base, "trivial")
    written = f"{bar.written} / {hollow.written}"
    return Bar(bar.label, bar.value, bar.low, bar.high, written, bar.tone, hollow)
