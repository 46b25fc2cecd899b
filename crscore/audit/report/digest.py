"""Ten-line summary of the review bots' week."""

from typing import Final, NamedTuple

from crscore.audit.overview import Overview, Reviewer
from crscore.audit.report import words
from crscore.reports import escape, view

MAX_LINES: Final = 10
"""Maximum number of lines, including the title."""
_BOTS: Final = 5


class Digest(NamedTuple):
    """Digest of a period."""

    title: str
    lines: tuple[str, ...]
    """At most `MAX_LINES` - 1 lines, the most important first."""


def digest(now: Overview, before: Overview, longer: Overview) -> Digest:
    """Digest a period.

    Args:
        now: The period.
        before: The previous period, for comparison.
        longer: A longer period with the same end, for the decisions about the bots.
    """
    bots = [row for row in now.reviewers if row.is_bot]
    earlier = {row.name: row for row in before.reviewers}
    verdicts = {row.name: row.decision.verdict for row in longer.reviewers if row.decision}
    lines = [
        words.facts(now),
        *(_line(row, earlier.get(row.name), verdicts.get(row.name)) for row in bots[:_BOTS]),
    ]
    if len(bots) > _BOTS:
        lines.append(f"And {view.count_noun(len(bots) - _BOTS, 'more bot')}.")
    lines += [
        f"{row.name} changed about {words.day(change.day)}: {change.number} "
        f"{words.number(change.before)} before, {words.number(change.after)} after."
        for row in bots
        for change in row.changes[:1]
    ]
    lines += now.notes
    short = tuple(escape.one_line(line, 300) for line in lines[: MAX_LINES - 1])
    return Digest(words.heading(now), short)


def render_markdown(digest: Digest) -> str:
    """Write a digest as Markdown."""
    lines = "".join(f"- {escape.markdown(line, 300)}\n" for line in digest.lines)
    return f"**{escape.markdown(digest.title, 100)}**\n\n{lines}"


def _line(row: Reviewer, before: Reviewer | None, verdict: str | None) -> str:
    usefulness = f"usefulness {words.mean(row.usefulness)}"
    if before is not None and before.usefulness is not None:
        usefulness += f" ({words.mean(before.usefulness)} in the period before)"
    facts = [
        verdict,
        f"{row.comments:,} comments on {view.count_noun(row.pulls, 'pull request')}",
        f"{row.decision.weighty.count:,} worth acting on" if row.decision else None,
        usefulness,
        f"noise {view.percent(row.noise.share.share)}",
        f"last commit reviewed on {view.percent(row.coverage.last_head.share)} of merges",
    ]
    return f"{row.name}: {', '.join(filter(None, facts))}."
