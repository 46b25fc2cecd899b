"""Overview as text for a terminal."""

from collections.abc import Sequence
from typing import Final

from crscore.pull_request.documents import overview_blocks
from crscore.pull_request.overview import Overview
from crscore.reports import console
from crscore.reports.blocks import Heading, Paragraph, Run, Signature

SHOWN_POINTS: Final = 8


def render_terminal(
    overviews: Sequence[Overview],
    *,
    color: bool = False,
    width: int = 80,
    signature: bool = False,
) -> str:
    """Write each pull request below the one before, without the notes.

    Args:
        overviews: Overviews to show.
        color: Write colour sequences.
        width: Columns of the terminal; kept between 60 and 160.
        signature: Show the whole signature instead of its short form.

    Returns:
        Text that ends in a newline, without trailing blanks.
    """
    texts = []
    for overview in overviews:
        content = (
            Heading((Run(overview.name), Run(f" · {overview.title}")), 1),
            Paragraph((Run(overview.url),), "dim"),
            *overview_blocks.make_overview(overview, points=SHOWN_POINTS),
            Signature(overview.signature, whole=signature),
        )
        texts.append(console.render_blocks(content, color=color, width=width))
    return "\n".join(texts)
