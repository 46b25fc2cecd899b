"""The web page: the overview, then the report of the result; self-contained, without script."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crscore.pull_request.documents import _words
from crscore.reports import escape, frame, html, page, view

if TYPE_CHECKING:
    from markupsafe import Markup

    from crscore.pull_request.overview import Overview, Point, Reviewer
    from crscore.records import Result

_FOLDER = "pull_request/documents/templates"
SHOWN_POINTS = 3


class ReviewerRow(NamedTuple):
    """A reviewer's row, cleaned."""

    name: str
    """Who."""
    reason: str | None
    """Why there is no score."""
    scores: tuple[str, str, str]
    """Relevance, conciseness, comprehensiveness."""
    comments: str
    """How many, and how many of them are outdated."""
    resolved: str
    """Of the threads."""


class Entry(NamedTuple):
    """A point, cleaned."""

    text: Markup
    """The sentence."""
    place: str
    """File and lines."""
    href: str | None
    """Its lines in the pull request."""
    finder: str
    """Who found it, and how bad it is."""


def render_page(found: Overview, result: Result) -> str:
    """Write the page.

    Args:
        found: The overview.
        result: What it was condensed from.
    """
    pages = [page.page(result, prefix="", heading="")]
    sheet = html.style(pages) + frame.read_resource(f"{_FOLDER}/pull.css")
    return frame.page(
        f"{_FOLDER}/pull.html.j2",
        title=f"Review of {found.repository}#{found.number}",
        style=sheet,
        pages=pages,
        view=view,
        found=found,
        words=_words,
        name=escape.one_line(found.title, 300),
        opening=escape.one_line(_words.opening(found)),
        missing=[page.prose(text) for text in found.missing],
        notes=[page.prose(text) for text in found.notes],
        rows=[_row(one) for one in found.reviewers],
        points=[_entry(found, point) for point in found.open],
        shown=SHOWN_POINTS,
    )


def _row(one: Reviewer) -> ReviewerRow:
    return ReviewerRow(
        name=escape.one_line(one.name, 80) + " (bot)" * one.is_bot,
        reason=None if one.reason is None else escape.one_line(one.reason, 300).rstrip("."),
        scores=_words.three(one),
        comments=_words.comments(one),
        resolved=_words.resolved(one),
    )


def _entry(found: Overview, point: Point) -> Entry:
    return Entry(
        text=page.prose(point.text),
        place=escape.one_line(_words.place(point), 300),
        href=_words.address(found, point),
        finder=escape.one_line(_words.finder(point), 100),
    )
