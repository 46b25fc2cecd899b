"""Comment on the pull request, which is edited only when the result changes.

The writer adds the marker by which later runs find it: see `crscore.hosts.sticky`.
"""

from typing import Final

from crscore.hosts import sticky
from crscore.pull_request.documents import overview_blocks
from crscore.pull_request.overview import Overview
from crscore.reports.blocks import Heading
from crscore.reports.markdown_blocks import render_markdown

# GitHub refuses more than 65,536 with 422: https://github.com/danger/danger/issues/424
MAX_CHARS: Final = 65_000
"""Maximum characters of the body."""
SHOWN_POINTS: Final = 3
"""Points shown without unfolding; the others are folded."""


def render_comment(overview: Overview) -> str:
    """Write the comment's text, within `MAX_CHARS` characters together with a marker."""
    limit = MAX_CHARS - sticky.MAX_MARKER_CHARS
    content = (  # the most useful first
        Heading("Review coverage", 1),
        *overview_blocks.make_overview(overview, points=SHOWN_POINTS),
        overview_blocks.make_notes(overview),
        overview_blocks.make_signature(overview),
    )
    return render_markdown([content], limit=limit, noun="pull request")
