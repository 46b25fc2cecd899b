"""Job summary: a longer form of the comment, for each pull request of a run.

A runner discards a whole summary above 1,024 KiB, and has done so silently a few bytes below that,
so the summary stays well under it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crscore.pull_request.documents import _parts
from crscore.pull_request.overview import Overview
from crscore.reports import escape, view
from crscore.reports.blocks import Block
from crscore.reports.escape import markdown
from crscore.reports.markdown import within

MAX_BYTES = 1_000 * 1_024
"""Maximum UTF-8 bytes in the file of a step's summary."""
SHOWN_POINTS = 10
"""Points shown openly."""
LEAST_BYTES = 2_000
"""Minimum room of a pull request when there are many; the last ones may get none."""
_NOTE_BYTES = 200


def render_summary(overviews: Sequence[Overview], *, room: int = MAX_BYTES) -> str:
    """Write one section per pull request, each under its own heading.

    Args:
        overviews: Overviews to show, in order.
        room: Maximum UTF-8 bytes of the text: the remaining room in the file.

    Returns:
        Markdown; "" when there is no room for anything.
    """
    parts: list[str] = []
    left = room - _NOTE_BYTES
    dropped = skipped = 0
    for index, found in enumerate(overviews):
        if left < LEAST_BYTES:
            skipped = len(overviews) - index
            break
        share = max(left // (len(overviews) - index), LEAST_BYTES)
        text, lost = _section(found, share)
        parts.append(text)
        left -= _size(text)
        dropped += lost
    document = "".join(parts) + _note(dropped, skipped)
    return document if _size(document) <= room else ""


def _section(found: Overview, room: int) -> tuple[str, int]:
    """Write one pull request within `room` bytes; also return how many items were omitted."""
    end = f"{_parts.signature(found)}\n"
    limit = room - _size(end)
    blocks = tuple(_blocks(found))
    while True:
        part = within(blocks, limit)
        text = escape.no_commands(part.text + end)
        if _size(text) <= room or not part.text:
            return text, part.dropped
        # `within` counts characters: reduce the limit until the bytes fit.
        limit = min(limit - 1, limit * room // _size(text))


def _blocks(found: Overview) -> Iterator[Block]:
    """Yield the parts above the signature, the most useful first."""
    name = f"{markdown(found.repository)}&#35;{found.number}"
    heading = f"## Review of [{name}]({found.url})"
    yield Block(f"{heading}\n\n{markdown(found.title, 200)}\n\n", foot="")
    yield _parts.opening(found)
    yield from _parts.partial(found)
    yield from _parts.table(found, longer=True)
    yield from _parts.points(found, SHOWN_POINTS)
    yield _parts.notes(found)


def _note(dropped: int, skipped: int) -> str:
    what = [view.many(dropped, "item")] * bool(dropped)
    what += [view.many(skipped, "pull request")] * bool(skipped)
    if not what:
        return ""
    return f"*Shortened: {' and '.join(what)} left out, to fit a summary.*\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
