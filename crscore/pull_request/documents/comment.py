"""Comment on the pull request, which is edited only when the result changes.

The writer adds the marker by which later runs find it: see `crscore.hosts.sticky`.
"""

from collections.abc import Iterator
from typing import Final

from crscore.hosts import sticky
from crscore.pull_request.documents import overview_blocks
from crscore.pull_request.overview import Overview
from crscore.reports.blocks import Block, Heading
from crscore.reports.markdown_blocks import render_markdown

MAX_CHARS: Final = 65_000
"""Maximum characters of the body; the host allows 65,536."""
SHOWN_POINTS: Final = 3
"""Points shown without unfolding; the others are folded."""
SHOWN_MISSING: Final = 3
"""Reasons for a partial result shown without unfolding; the others are folded."""


def render_comment(overview: Overview) -> str:
    """Write the comment's text, within `MAX_CHARS` characters together with a marker."""
    limit = MAX_CHARS - sticky.MAX_MARKER_CHARS
    return render_markdown([_blocks(overview)], limit=limit, noun="pull request")


def _blocks(overview: Overview) -> Iterator[Block]:
    """Yield the blocks, the most useful first."""
    yield Heading("Review coverage", 1)
    yield from overview_blocks.make_overview(overview, points=SHOWN_POINTS, missing=SHOWN_MISSING)
    yield overview_blocks.make_notes(overview, shown_missing=SHOWN_MISSING)
    yield overview_blocks.make_signature(overview)
