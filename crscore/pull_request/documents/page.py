"""Web page: the overview, then the report of the result; self-contained, without scripts."""

from typing import Final

from crscore.pull_request.documents import overview_blocks
from crscore.pull_request.overview import Overview
from crscore.records import Result
from crscore.reports import frame, html
from crscore.reports.blocks import Heading, Paragraph, Run

_FOLDER: Final = "pull_request/documents/templates"
SHOWN_POINTS: Final = 3
"""Points that are shown unfolded."""


def render_page(overview: Overview, result: Result) -> str:
    """Write the page.

    Args:
        overview: The overview.
        result: Result that it was made from.
    """
    commit = Run(overview.head[:7], "code", overview.commit_url)
    text = ". All that follows is the report of this measurement."
    content = (
        Heading((Run(overview.name, link=overview.url), Run(f" {overview.title}")), 1),
        *overview_blocks.make_overview(overview, points=SHOWN_POINTS),
        overview_blocks.make_notes(overview),
        Paragraph((Run("Measured at "), commit, Run(text)), "dim"),
    )
    pages = [html.make_page(result, prefix="", heading="")]
    return frame.page(
        f"{_FOLDER}/pull.html.j2",
        title=f"Review of {overview.name}",
        style=html.STYLE + frame.read_resource(f"{_FOLDER}/pull.css"),
        pages=pages,
        overview=content,
    )
