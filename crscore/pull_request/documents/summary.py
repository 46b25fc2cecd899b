"""Job summary: a longer form of the comment, for each pull request of a run.

A runner discards a whole summary above 1,024 KiB, and has done so silently a few bytes below that,
so the summary stays well under it.
"""

from collections.abc import Sequence
from typing import Final

from crscore.pull_request.documents import overview_blocks
from crscore.pull_request.overview import Overview
from crscore.reports.blocks import Heading, Paragraph, Run
from crscore.reports.markdown_blocks import render_markdown

# https://docs.github.com/actions/reference/workflow-commands-for-github-actions: 1 MiB a step.
MAX_BYTES: Final = 1_000 * 1_024
"""Maximum UTF-8 bytes in the file of a step's summary."""
SHOWN_POINTS: Final = 10
"""Points shown openly."""


def render_summary(overviews: Sequence[Overview], *, room: int = MAX_BYTES) -> str:
    """Write one section per pull request, each under its own heading.

    Args:
        overviews: Overviews to show, in order.
        room: Maximum UTF-8 bytes of the text: the remaining room in the file.

    Returns:
        Markdown; "" when there is no room for anything.
    """
    documents = [
        (  # the most useful first
            Heading((Run("Review of "), Run(overview.name, link=overview.url)), 1),
            Paragraph((Run(overview.title),)),
            *overview_blocks.make_overview(overview, points=SHOWN_POINTS),
            overview_blocks.make_notes(overview),
            overview_blocks.make_signature(overview),
        )
        for overview in overviews
    ]
    text = render_markdown(
        documents, limit=room, noun="pull request", heading="##", size=_count_bytes
    )
    return text if _count_bytes(text) <= room else ""


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
