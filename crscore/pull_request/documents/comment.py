"""Comment on the pull request, which is edited only when the result changes.

It begins with a hidden marker, so that later runs find it. The marker contains a hash of the text
below it, so that an unchanged comment is not edited and an edit by someone else is detected.
"""

import hashlib
from collections.abc import Iterator
from typing import Final

from crscore.pull_request.documents import overview_blocks
from crscore.pull_request.overview import Overview
from crscore.reports.blocks import Block, Heading
from crscore.reports.markdown_blocks import render_markdown

MARKER: Final = "<!-- crscore:sticky "
"""Start of the body of crscore's comment, for every version of the marker."""
MAX_CHARS: Final = 65_000
"""Maximum characters of the body; the host allows 65,536."""
SHOWN_POINTS: Final = 3
"""Points shown without unfolding; the others are folded."""
SHOWN_MISSING: Final = 3
"""Reasons for a partial result shown without unfolding; the others are folded."""


def render_comment(overview: Overview) -> str:
    """Write the comment's body, within `MAX_CHARS` characters."""
    limit = MAX_CHARS - len(marker(""))
    body = render_markdown([_blocks(overview)], limit=limit, noun="pull request")
    return marker(body) + body


def marker(body: str) -> str:
    r"""Make the hidden first line.

    Its hash ignores line ends and trailing blanks, which a host may change.

    Args:
        body: Text below the marker.

    Example:
        >>> marker("Hello") == marker("Hello  \r\n")
        True
    """
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{MARKER}v1 sha256:{digest} -->\n"


def _blocks(overview: Overview) -> Iterator[Block]:
    """Yield the blocks, the most useful first."""
    yield Heading("Review coverage", 1)
    yield from overview_blocks.make_overview(overview, points=SHOWN_POINTS, missing=SHOWN_MISSING)
    yield overview_blocks.make_notes(overview, shown_missing=SHOWN_MISSING)
    yield overview_blocks.make_signature(overview)
