"""A model's raw answer to claims and implications, whatever shape it came in.

JSON where there is some, whole or broken off; otherwise sections of points or prose
(`points.py`). Every text is read once from left to right.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crscore.claims.llm import points
from crscore.claims.llm.points import Point

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS: Final = 200_000
"""Characters that are read of an answer; some fifty times as many as any real one has."""

_CLAIMS: Final = ("claims", "claim", "changes", "summary_of_changes", "summary", "points")
_IMPLICATIONS: Final = ("implications", "implication", "possible_implications")
_TEXTS: Final = ("text", "sentence", "description", "statement", "content")
# `{"claims": [`, `{ "Summary of changes":`, also behind prose or a code fence.
_START: Final = re.compile(
    r"""\{\s{0,200}["'](?:claims?|changes|summary|summary[ _]of[ _]changes|(?:possible[ _])?"""
    r"""implications?)["']\s{0,20}:""",
    re.IGNORECASE,
)
# What models that think aloud write before the answer. A closing tag right before a quote is one
# that a claim quotes.
_NAMES: Final = r"(?:think|thinking|thought|thoughts|reasoning)"
_THOUGHT_ENDS: Final = re.compile(
    rf"</{_NAMES}\s{{0,9}}>(?![`\"'\\])|<\|channel\|>final[^\n]{{0,60}}?<\|message\|>",
    re.IGNORECASE,
)
_THOUGHT: Final = re.compile(
    rf"^[ \t]{{0,40}}(?:<{_NAMES}\s{{0,9}}>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^\n]{0,60}?<\|message\|>)",
    re.IGNORECASE | re.MULTILINE,
)
_TURN_ENDS: Final = re.compile(r"<\|(?:end|return)\|>\s{0,200}\Z")
_KEY: Final = re.compile(r'"([A-Za-z _]{1,40})"\s{0,20}:\s{0,200}(?=[\["])')
_BETWEEN: Final = re.compile(r"[\s,]*")
_LIST: Final = re.compile(r'\s{0,200}(?:```(?:json)?\s{0,200})?\[\s{0,200}["{]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a model said of a piece of a change."""

    claims: tuple[str, ...]
    """What the change does, in the answer's order; no header, number or markup in them."""
    implications: tuple[str, ...]
    """What follows from it."""
    cut: bool
    """True when the answer broke off; its unfinished part is left out."""
    unread: int
    """Parts of the answer that are no sentence and were left out."""


def read(raw: str, *, whole: bool = True) -> Said:
    r"""Read an answer.

    Args:
        raw: What the model wrote; "" is an answer without claims.
        whole: False when the engine says that the answer was cut off by the limit on tokens.

    Returns:
        Its sentences. Of an answer that was cut off, or whose last line breaks off, the last
        sentence is left out, unless a JSON answer was complete by then. What a model thinks aloud
        (`<think>...</think>`) is no part of its answer; an unfinished thought is one cut off.

    Source:
        Naik et al., NAACL 2025; `split_claims_and_impl` of the reference code reads the two
        sections. JSON, prose, markup, headers within a section and remarks around it are ours.

    Example:
        >>> read("**Summary of Changes:**\n1. **Limit**: `n` is 5.\n2. `m` is go", whole=False)
        Said(claims=('`n` is 5.',), implications=(), cut=True, unread=0)
        >>> read('{"claims": ["`n` is 5.", "`m` is go', whole=False).claims
        ('`n` is 5.',)
    """
    raw, thinks = _spoken(raw)
    cut = not whole or thinks or len(raw) > MAX_CHARS
    raw = raw[:MAX_CHARS]
    start = _START.search(raw)
    if start is not None:
        return _from_object(raw, start.start(), cut=cut)
    if _LIST.match(raw) is not None:
        reader = _Reader()
        reader.items(raw, raw.index("["), implies=False)
        return reader.said(cut=cut or reader.broken)
    found = points.read(raw, cut=cut)
    return _said(found.points, cut=found.cut, unread=found.unread)


def _spoken(raw: str) -> tuple[str, bool]:
    """The answer without what a model thought aloud, and whether a thought was cut off."""
    start = 0
    for end in _THOUGHT_ENDS.finditer(raw):
        start = end.end()
    raw = raw[start:]
    thought = _THOUGHT.search(raw)
    if thought is not None:
        return raw[: thought.start()], True
    return _TURN_ENDS.sub("", raw), False


def _from_object(raw: str, start: int, *, cut: bool) -> Said:
    reader = _Reader()
    try:
        loaded, _ = json.JSONDecoder(strict=False).raw_decode(raw, start)
    except (ValueError, RecursionError):
        reader.broken_object(raw, start)
        return reader.said(cut=cut or reader.broken)
    reader.document(loaded)
    return reader.said(cut=False)


class _Reader:
    """Collects sentences from JSON."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.unread = 0
        self.broken = False

    def said(self, *, cut: bool) -> Said:
        return _said(self.points, cut=cut, unread=self.unread)

    def document(self, loaded: dict[str, Any]) -> None:
        for name, value in loaded.items():
            implies = _section(name)
            if implies is None:
                self.unread += 1
            elif isinstance(value, list):
                for item in value:
                    self._add(item, implies=implies)
            else:
                self._add(value, implies=implies)

    def broken_object(self, raw: str, at: int) -> None:
        """Take the whole items of an object that cannot be read as one."""
        while (key := _KEY.search(raw, at)) is not None:
            implies = _section(key[1])
            at = key.end()
            if implies is None:
                self.unread += 1
            elif raw[at] == "[":
                at = self.items(raw, at, implies=implies)
            else:
                at = self._item(raw, at, implies=implies)
        self.broken = True

    def items(self, raw: str, at: int, *, implies: bool) -> int:
        """Take the items of a list; the one that breaks off ends it."""
        at += 1
        while True:
            at = _skipped(raw, at)
            if at >= len(raw):
                self.broken = True
                return at
            if raw[at] == "]":
                return at + 1
            before = at
            at = self._item(raw, at, implies=implies)
            if self.broken or at <= before:
                return max(at, before + 1)

    def _item(self, raw: str, at: int, *, implies: bool) -> int:
        try:
            item, end = json.JSONDecoder(strict=False).raw_decode(raw, at)
        except (ValueError, RecursionError):
            self.broken = True
            self.unread += 1
            return len(raw)
        self._add(item, implies=implies)
        return end

    def _add(self, item: Any, *, implies: bool) -> None:
        if isinstance(item, dict):
            texts = [item[name] for name in (*_TEXTS, *_CLAIMS, *_IMPLICATIONS) if name in item]
            item = texts[0] if len(texts) == 1 else None
        text = points.sentence(item) if isinstance(item, str) else ""
        if text:
            self.points.append(Point(text, implies))
        else:
            self.unread += 1


def _skipped(raw: str, at: int) -> int:
    found = _BETWEEN.match(raw, at)
    return at if found is None else found.end()


def _section(name: str) -> bool | None:
    """Tell claims (False) from implications (True); None for anything else."""
    plain = name.strip().lower().replace(" ", "_")
    if plain in _IMPLICATIONS:
        return True
    return False if plain in _CLAIMS else None


def _said(found: list[Point], *, cut: bool, unread: int) -> Said:
    return Said(
        claims=tuple(_texts(found, implies=False)),
        implications=tuple(_texts(found, implies=True)),
        cut=cut,
        unread=unread,
    )


def _texts(found: list[Point], *, implies: bool) -> Iterator[str]:
    return (point.text for point in found if point.implies is implies)
