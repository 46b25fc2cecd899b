"""Charts of an overview, as data."""

from collections.abc import Iterable

from crscore.audit.overview import Overview, Rate, Reviewer, TrendPoint
from crscore.audit.report import words
from crscore.reports import view
from crscore.reports.charts import Bar, DayPoint, Event, Plot, Trend


def bots(overview: Overview) -> list[Reviewer]:
    """Return the bots, the most useful first, or the people if there are no bots."""
    return [row for row in overview.reviewers if row.is_bot] or list(overview.reviewers)


def coverage(overview: Overview) -> Plot:
    """Plot the share of merged pull requests whose last head each bot reviewed."""
    return _share_plot(
        "Merged pull requests whose last commit was reviewed",
        (_rate_bar(row.name, row.coverage.last_head, "main") for row in bots(overview)),
    )


def noise(overview: Overview) -> Plot:
    """Plot the share of noise of each bot."""
    bars = (_rate_bar(row.name, row.noise.share, "bad") for row in bots(overview))
    return _share_plot("Comments that are noise", bars)


def usefulness(overview: Overview) -> Plot:
    """Plot the mean usefulness of each bot."""
    bars = []
    for row in bots(overview):
        written = words.mean(row.usefulness)
        if mean := row.usefulness:
            bars.append(Bar(row.name, mean.value, mean.low, mean.high, written, "main"))
        else:
            bars.append(Bar(row.name, None, None, None, written))
    return Plot("Usefulness, 0 to 100", tuple(bars), domain=(0.0, 100.0))


def acted_on(overview: Overview) -> Plot | None:
    """Plot the rate of comments that were acted on, with the base rate; None if unknown."""
    rates = {row.name: words.acted(row, words.SIGNAL_OF_CHART) for row in bots(overview)}
    plot = _share_plot(
        "Comments that were acted on; hollow: other lines of the same change, judged alike",
        (_based_bar(name, acted.rate, acted.base) for name, acted in rates.items() if acted),
    )
    return plot if plot.bars else None


def signals(row: Reviewer) -> Plot | None:
    """Plot all signals of a reviewer with their base rates; None if there are none."""
    plot = _share_plot(
        "Comments that were acted on; hollow: lines without a comment",
        (_based_bar(acted.signal, acted.rate, acted.base) for acted in row.acted_on),
    )
    return plot if plot.bars else None


def usefulness_trend(overview: Overview, row: Reviewer, title: str) -> Trend:
    """Plot a reviewer's usefulness by day; the line is broken where the scorer changed."""
    points = tuple(
        DayPoint(
            *(day.day, day.usefulness, day.signature), _tooltip(day, words.number(day.usefulness))
        )
        for day in row.trend
        if day.usefulness is not None
    )
    return _trend(overview, row, title, points, top=100.0)


def comments_trend(overview: Overview, row: Reviewer) -> Trend:
    """Plot a reviewer's comments per pull request by day."""
    points = tuple(
        DayPoint(day.day, day.comments, 0, _tooltip(day, f"{day.comments:.1f}"))
        for day in row.trend
        if day.comments is not None
    )
    return _trend(overview, row, "Comments per pull request, by day", points)


def _trend(
    overview: Overview,
    row: Reviewer,
    title: str,
    points: tuple[DayPoint, ...],
    top: float | None = None,
) -> Trend:
    events = tuple(Event(change.day, f"change: {change.number}") for change in row.changes)
    return Trend(
        title=title,
        points=points,
        since=overview.since,
        until=overview.until,
        events=events,
        top=top,
    )


def _tooltip(day: TrendPoint, value: str) -> str:
    return f"{words.day(day.day)}: {value}, {view.count_noun(day.pulls, 'pull request')}"


def _share_plot(title: str, bars: Iterable[Bar]) -> Plot:
    return Plot(title, tuple(bars), ".0%")


def _rate_bar(label: str, rate: Rate, tone: str, base: Bar | None = None) -> Bar:
    written = view.percent(rate.share) + (f" / {base.written}" if base else "")
    return Bar(label, rate.share, rate.low, rate.high, written, tone, base)


def _based_bar(label: str, rate: Rate, base: Rate | None) -> Bar:
    hollow = _rate_bar("not commented on", base, "trivial") if base else None
    return _rate_bar(label, rate, "main", hollow)
