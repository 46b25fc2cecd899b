"""Web page: the overview, then the report of the result; self-contained, without scripts."""

from __future__ import annotations

from crscore.pull_request.documents import _words
from crscore.pull_request.overview import Overview
from crscore.records import Result
from crscore.reports import frame, html, page

_FOLDER = "pull_request/documents/templates"
SHOWN_POINTS = 3
"""Points that are shown unfolded."""


def render_page(found: Overview, result: Result) -> str:
    """Write the page.

    Args:
        found: The overview.
        result: Result from which it was made.
    """
    pages = [page.page(result, prefix="", heading="")]
    sheet = html.style(pages) + frame.read_resource(f"{_FOLDER}/pull.css")
    return frame.page(
        f"{_FOLDER}/pull.html.j2",
        title=f"Review of {found.repository}#{found.number}",
        style=sheet,
        pages=pages,
        found=found,
        words=_words,
        shown=SHOWN_POINTS,
    )
