"""From topics to pseudo-references: their order, weight, places, and what the encoder reads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crscore.claims.structural.english import sentence
from crscore.records import LineKind, LineSpan, PseudoReference, ReferenceKind, Side, Topic, TopicState
from crscore.text.words import split_identifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.claims.structural.sentences import Told
    from crscore.claims.structural.topics import Change
    from crscore.records import ChangedFile

SOURCE = "structural"
READING = 400
"""Characters of code, in words, that the encoder reads for a topic."""
READING_OF_DETAIL = 240
"""The same for each further claim."""
GAP = 3
"""Unchanged lines between changed lines of one span."""
VERBS = {
    "new": "add", "removed": "remove", "renamed": "rename", "replaced": "rename", "moved": "move",
    "layout": "format", "comments": "comment",
}  # fmt: skip


_STATES = {
    "new": TopicState.NEW, "removed": TopicState.REMOVED, "renamed": TopicState.RENAMED,
    "moved": TopicState.MOVED, "layout": TopicState.LAYOUT, "comments": TopicState.COMMENTS,
}  # fmt: skip


def in_order(found: Sequence[tuple[Change, list[Told]]]) -> tuple[PseudoReference, ...]:
    """Return the claims of all topics, most informative first."""
    rows = []
    topics = [_topic(change) for change, _ in found]
    for at, (change, said) in enumerate(found):
        base = min(1.0, math.log2(1 + change.size) / 9)
        readings = _readings(change, said)
        for position, (one, reading) in enumerate(zip(said, readings, strict=True)):
            rows.append((base * 0.8**position, at, position, change, one, reading))
    rows.sort(key=lambda row: (-row[0], row[1], row[2]))
    return tuple(
        PseudoReference(
            text=sentence(one.text),
            kind=ReferenceKind.IMPLICATION if one.implies else ReferenceKind.CLAIM,
            source=SOURCE,
            spans=spans(change),
            identifiers=tuple(name for name in (change.name,) if name),
            weight=round(max(weight, 0.001), 4),
            reading=reading,
            topic=topics[at],
        )
        for weight, at, _, change, one, reading in rows
    )


def _topic(change: Change) -> Topic:
    places = spans(change)
    unit = change.unit
    if unit is not None and unit.name and unit.start:
        side = Side.NEW if change.new.units else Side.OLD
        path = change.file.path if side is Side.NEW else change.file.old_path or change.file.path
        place = LineSpan(path=path, side=side, start=unit.start, end=unit.end)
    elif places:
        last = [one for one in places if one.side is places[0].side][-1]
        place = LineSpan(path=last.path, side=last.side, start=places[0].start, end=last.end)
    else:
        place = LineSpan(path=change.file.path, side=Side.NEW, start=0, end=0)
    return Topic(
        name=change.name or change.file.path,
        noun=change.noun,
        state=_STATES.get(change.state, TopicState.CHANGED),
        lines=change.size,
        place=place,
    )


def _readings(change: Change, said: Sequence[Told]) -> list[str]:
    """Return what the encoder reads for each claim: the code that it is about, in words."""
    text = _texts(change.file)
    removed = [(False, line) for line in change.removed]
    added = [(True, line) for line in change.added]
    lines = [*removed, *added]
    verb = VERBS.get(change.state) or (
        "update" if added and removed else "add" if added else "remove"
    )
    code = _words((text.get(one, "") for one in lines), READING)
    names = " ".join(split_identifier(change.name))
    path = " ".join(split_identifier(change.file.path))
    head = f"{verb} {names}" + (f" in {path}" if path and names else path) + f": {code}"
    found = [head]
    shares: list[list[tuple[bool, int]]] = [[] for _ in said[1:]]
    held = [(at, place) for at, one in enumerate(said[1:]) for place in one.lines]
    for one in lines if held else ():
        nearest = min(held, key=lambda item: (item[1][0] != one[0], abs(item[1][1] - one[1])))
        shares[nearest[0]].append(one)
    for one, share in zip(said[1:], shares, strict=True):
        code = _words((text.get(item, "") for item in share), READING_OF_DETAIL)
        found.append(f"the new code {code}" if code else "")
    return found


def _texts(file: ChangedFile) -> dict[tuple[bool, int], str]:
    found: dict[tuple[bool, int], str] = {}
    for line in file.lines(LineKind.ADDED, LineKind.REMOVED):
        found[line.kind is LineKind.ADDED, line.new or line.old or 0] = line.text
    return found


def _words(lines: Iterable[str], limit: int) -> str:
    """Return code as words, cut at a word to `limit` characters."""
    found = ""
    for line in lines:
        found += " ".join(["", *split_identifier(line[:limit])])
        if len(found) > limit:
            return found[: limit + 1].rpartition(" ")[0].strip()
    return found.strip()


def spans(change: Change) -> tuple[LineSpan, ...]:
    """Return the changed lines of a topic as spans, the new version's first."""
    found = []
    for side, lines, path in (
        (Side.NEW, change.added, change.file.path),
        (Side.OLD, change.removed, change.file.old_path or change.file.path),
    ):
        start = None
        for at, line in enumerate(lines):
            start = line if start is None else start
            if at + 1 == len(lines) or lines[at + 1] > line + GAP:
                found.append(LineSpan(path=path, side=side, start=start, end=line))
                start = None
    return tuple(found)
