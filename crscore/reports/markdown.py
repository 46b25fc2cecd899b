"""Report for a pull request comment or a job summary, in GitHub's Markdown.

It is short: the scores, the heaviest unaddressed pseudo-references, and the rest folded. All input
text is escaped; whole items are omitted, with a note, where the host's limit on the length of a
comment would be exceeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crscore.records import Result
from crscore.reports import blocks as _blocks
from crscore.reports import escape, view
from crscore.reports.base import Report
from crscore.reports.blocks import Block

MAX_CHARS = 65_000
"""Longest document: GitHub allows 65,536 characters in a comment; the rest is for markers."""
LEAST_CHARS = 2_000
"""Minimum room of a result when there are many; the last ones may get none."""
_NOTE_CHARS = 200


class Part(NamedTuple):
    """Blocks combined within a limit."""

    text: str
    """The blocks that fit."""
    dropped: int
    """Number of items omitted."""


@dataclass(frozen=True, slots=True)
class Markdown:
    """Report for GitHub."""

    def render(self, results: Sequence[Result]) -> str:
        """Render each result below the one before, within `MAX_CHARS` characters."""
        parts: list[str] = []
        left = MAX_CHARS - _NOTE_CHARS
        dropped = skipped = 0
        for index, result in enumerate(results):
            if left < LEAST_CHARS:
                skipped = len(results) - index
                break
            heading = f"Change {index + 1} of {len(results)}" if len(results) > 1 else None
            share = max(left // (len(results) - index), LEAST_CHARS)
            part = within(_blocks.blocks(result, heading), share)
            parts.append(part.text)
            left -= len(part.text)
            dropped += part.dropped
        parts.append(_note(dropped, skipped))
        return escape.no_commands("".join(parts).strip("\n") + "\n")


def within(blocks: Iterable[Block], limit: int) -> Part:
    """Combine blocks; near the limit, omit whole items and whole blocks.

    Args:
        blocks: Parts of a document, the most useful first.
        limit: Maximum length in characters.
    """
    parts: list[str] = []
    dropped = 0
    left = limit
    for block in blocks:
        room = left - len(block.head) - len(block.foot)
        kept: list[str] = []
        for item in block.items:
            if len(item) <= room:
                kept.append(item)
                room -= len(item)
        if room >= 0 and (kept or not block.items):
            parts.append(block.head + "".join(kept) + block.foot)
            left = room
            dropped += len(block.items) - len(kept)
        else:
            dropped += max(len(block.items), 1)
    return Part("".join(parts), dropped)


def _note(dropped: int, skipped: int) -> str:
    """Return a note on what was omitted; empty when nothing was."""
    what = [view.many(dropped, "item")] * bool(dropped)
    what += [view.many(skipped, "change")] * bool(skipped)
    if not what:
        return ""
    return f"\n*Shortened: {' and '.join(what)} left out to keep within a comment's length.*\n"


def create() -> Report:
    """Create the report; it takes no options: long parts are folded, not omitted."""
    return Markdown()
