"""Comment on the pull request, unchanged when the result is unchanged.

It begins with a hidden marker by which it is found again. The marker has the hash of the text below
it, so that an unchanged comment is not edited again and an edit by someone else is detected.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from crscore.pull_request.documents import _parts
from crscore.pull_request.overview import Overview
from crscore.reports import escape, view
from crscore.reports.blocks import Block
from crscore.reports.markdown import within

MARKER = "<!-- crscore:sticky "
"""Start of the body of crscore's comment, for every version of the marker."""
MAX_CHARS = 65_000
"""Maximum characters of the body; the host allows 65,536."""
SHOWN_POINTS = 3
"""Points shown openly."""
_NOTE_CHARS = 200


def render_comment(found: Overview) -> str:
    """Write the comment's body, within `MAX_CHARS` characters.

    Whole items are omitted near the limit, and counted.
    """
    end = _parts.signature(found)
    room = MAX_CHARS - len(end) - len(marker("")) - _NOTE_CHARS
    part = within(_blocks(found), room)
    if part.dropped:
        end = f"*Shortened: {view.many(part.dropped, 'item')} left out, to fit a comment.*\n\n{end}"
    body = escape.no_commands(part.text + end)
    return marker(body) + body


def marker(body: str) -> str:
    r"""Make the hidden first line.

    Args:
        body: Text below the marker.

    Example:
        >>> marker("Hello") == marker("Hello  \r\n")
        True
    """
    return f"{MARKER}v1 sha256:{_digest(body)} -->\n"


def _digest(body: str) -> str:
    return hashlib.sha256(_same_ends(body).encode("utf-8", "surrogatepass")).hexdigest()


def _same_ends(body: str) -> str:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _blocks(found: Overview) -> Iterator[Block]:
    """Yield the parts above the signature, the most useful first."""
    yield Block("### Review coverage\n\n", foot="")
    yield _parts.opening(found)
    yield from _parts.partial(found)
    yield from _parts.table(found, longer=False)
    yield from _parts.points(found, SHOWN_POINTS)
    yield _parts.notes(found)
