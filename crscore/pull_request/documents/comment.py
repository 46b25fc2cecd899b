"""The comment on the pull request: short, kind and useful, and the same when nothing changed.

It begins with a hidden marker by which it is found again. The marker has the hash of what follows,
so a rerun that would say the same need not edit, and a comment that somebody changed is noticed.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from crscore.pull_request.documents import _parts
from crscore.reports import escape, view
from crscore.reports.blocks import Block
from crscore.reports.markdown import within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.pull_request.overview import Overview

MARKER = "<!-- crscore:sticky "
"""Start of the body of our own comment, whatever the version of the marker."""
MAX_CHARS = 65_000
"""Longest body; the host takes 65,536 characters."""
SHOWN_POINTS = 3
"""Points that stand openly."""
_NOTE_CHARS = 200
_MARKER_LINE = re.compile(r"<!-- crscore:sticky v1 sha256:([0-9a-f]{64}) -->[ \t]*\n")


def render_comment(found: Overview) -> str:
    """Write the comment's body, within `MAX_CHARS` characters.

    Whole items are left out where the limit would be passed, and counted.
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
        body: What is shown below it.

    Example:
        >>> marker("Hello") == marker("Hello  \r\n")
        True
    """
    return f"{MARKER}v1 sha256:{_digest(body)} -->\n"


def fingerprint(body: str) -> str | None:
    """Take the hash of what a comment shows, if it is ours and as we wrote it.

    Args:
        body: As the host returns it; line ends and blanks at the ends of lines may differ.

    Returns:
        64 hex digits, the same for the same text; None when there is no marker in the first line
        or the text below it is not the one that it was made of.
    """
    body = _same_ends(body)
    found = _MARKER_LINE.match(body)
    if found is None or found[1] != _digest(body[found.end() :]):
        return None
    return found[1]


def _digest(body: str) -> str:
    return hashlib.sha256(_same_ends(body).encode("utf-8", "surrogatepass")).hexdigest()


def _same_ends(body: str) -> str:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _blocks(found: Overview) -> Iterator[Block]:
    """Return the parts above the signature, the most useful first."""
    yield Block("### Review coverage\n\n", foot="")
    yield _parts.opening(found)
    yield from _parts.partial(found)
    yield from _parts.table(found, longer=False)
    yield from _parts.points(found, SHOWN_POINTS)
    yield _parts.notes(found)
