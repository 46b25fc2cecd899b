"""Ten lines on the review bots, for a chat."""

from typing import Final, NamedTuple

from crscore.audit.overview import Overview
from crscore.audit.report import contents
from crscore.reports import escape, view

MAX_LINES: Final = 10
"""Maximum number of lines, including the title."""
_BOTS: Final = 5


class Digest(NamedTuple):
    """Digest of a period."""

    title: str
    lines: tuple[str, ...]
    """At most `MAX_LINES` - 1 lines, the most important first."""


def digest(overview: Overview) -> Digest:
    """Digest a period: the recommendation, its reasons, changes of bots, and limits."""
    bots = [row for row in overview.reviewers if row.decision]
    lines = [overview.recommendation]
    lines += [row.decision.reason for row in bots[:_BOTS] if row.decision]
    if len(bots) > _BOTS:
        lines.append(f"And {view.count_noun(len(bots) - _BOTS, 'more bot')}.")
    lines += [*contents.list_changes(overview), *overview.notes]
    short = tuple(escape.one_line(line, 300) for line in lines[: MAX_LINES - 1])
    return Digest(contents.heading(overview), short)


def render_markdown(digest: Digest) -> str:
    """Write a digest as Markdown."""
    lines = "".join(f"- {escape.markdown(line, 300)}\n" for line in digest.lines)
    return f"**{escape.markdown(digest.title, 100)}**\n\n{lines}"
