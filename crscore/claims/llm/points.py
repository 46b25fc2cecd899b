"""Sections of numbered points, lists and prose, as language models write them.

What is no sentence about the change goes: section headers and the headers within a section,
numbers and bullets, bold labels, code blocks, greetings and closing remarks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.review.visibility import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE: Final = 4_000
"""Characters that are read of a line; no sentence is longer."""

_SUMMARY: Final = (
    r"(?:(?:a )?(?:brief |short )?summary(?: of (?:the |all )?(?:code )?changes?)?"
    r"|(?:key |main |code |notable )?changes(?: made| summary)?|change summary|claims)"
)
_IMPLIES: Final = (
    r"(?:(?:possible|potential|likely|key|main) )?(?:and )?implications?"
    r"(?: of (?:the|these|this) (?:code )?changes?)?"
)
# "### Summary of Changes:", "**Implications:**", "2. **Possible implications**",
# "Implications: callers break."; not "Implications of this change are unclear."
_HEADER: Final = re.compile(
    rf"(?:[#*_>\s]|\d{{1,2}}[.)]|[-•]){{0,12}}({_SUMMARY}|{_IMPLIES})[*_\s]{{0,6}}(?::[*_:\s]{{0,6}}|$)",
    re.IGNORECASE,
)
# "1. ", "12) ", "(3) ", "- ", "* ", "• ", "a) ", "1.2. ", "- 1. ", "**1.** "
_NUMBER: Final = r"(?:\(?\d{1,3}(?:\.\d{1,3}){0,3}[.):]|\(?[a-h]\)|[-*•–‣◦+])"
_MARKER: Final = re.compile(rf"\s{{0,40}}(?:>\s)?(?:\*\*{_NUMBER}\*\*|{_NUMBER})(?:\s{{1,8}}|$)")
_FENCE: Final = re.compile(r"\s{0,20}(?:```|~~~)\s{0,9}(\w{0,20})")
_TEXTUAL: Final = frozenset({"markdown", "md", "text", "txt", "plaintext"})
_RULE: Final = re.compile(r"[\s\W_]*$")
_HASHES: Final = re.compile(r"\s{0,3}#{1,6}\s")
# A bold label before a text: "**Improved readability**: ...", "**Name:** ...", "**Name** - ..."
_LABEL: Final = re.compile(
    r"\*\*([^*\n]{1,200})\*\*\s{0,3}(?:[:–—]|-\s)\s{0,3}|\*\*([^*\n]{1,200}):\*\*\s{0,3}"
)
_ALL_BOLD: Final = re.compile(r"(?:\*\*|__)([^*\n]{1,300})(?:\*\*|__)[:.]?")
_BOLD: Final = re.compile(r"\*\*(?=\S)([^*\n`]{1,500}(?<=\S))\*\*")
_CODE: Final = re.compile(r"`[^`\n]{1,1000}`")
_NAMED: Final = re.compile(r"[`_./()]|[a-z][A-Z]|\d")
_REMARK: Final = re.compile(
    r"(?:let me know\b|i hope\b|hope (?:this|that)\b|feel free\b|please (?:note|let|feel)\b"
    r"|if you (?:have|need|want|would)\b|sure\b|certainly\b|of course\b|absolutely\b"
    r"|here(?:'s| is| are)\b"
    r"|below (?:is|are)\b|the following (?:is|are)\b|in (?:summary|conclusion|short|total)\b"
    r"|to (?:summari[sz]e|sum up)\b|overall\b|note\s?:|note that\b|thank"
    r"|i(?:'m| am|'ve| have|'ll| will| can)\b"
    r"|as an ai\b|okay\b|ok[,.!]|end of (?:answer|summary|list)\b)",
    re.IGNORECASE,
)
_ENDS: Final = (".", "!", "?", "`", '"', "'", ")", "]", "}", "”", "’", ";")
# "e.g. x", "i.e. y", "vs. z", "etc. And": no sentence ends there.
_SHORT: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|cf|approx|resp|incl|no|fig|mr|ms|dr)|\b[A-Za-z])\.$", re.IGNORECASE
)
_END: Final = re.compile(r"[.!?][\"')\]”*]{0,3}\s{1,9}(?=[A-Z`\"'(\[“])")
_DANGLING: Final = frozenset(
    """
    a an the and or but of to in on for with from by as at is are was were be that which this
    into than if when where while because it its
    """.split()  # noqa: SIM905 - the list reads better as prose
)
_LEAD_WORDS: Final = 8


class Point(NamedTuple):
    """One sentence or item of an answer."""

    text: str
    """Without number, label and bold marks."""
    implies: bool
    """True in the section of implications."""
    marked: bool = True
    """True when it was an item of a list."""


class Points(NamedTuple):
    """An answer's items."""

    points: list[Point]
    """In order."""
    cut: bool
    """True when the last one broke off and was left out."""
    unread: int
    """Code blocks, remarks and other text that is none of them."""


def read(raw: str, *, cut: bool) -> Points:
    """Read an answer that is no JSON.

    Args:
        raw: The answer.
        cut: Whether it is known to have been cut off.

    Returns:
        Its items: one a list item, one a sentence of prose.
    """
    reader = _Reader()
    for line in clean(raw).split("\n"):
        reader.line(line[:MAX_LINE])
    found = reader.points
    # A line end behind the last item shows that it was over before the limit was met.
    ends = raw.endswith("\n") or not reader.open
    broken = bool(found) and not ends and (cut or _breaks_off(found))
    return Points(found[:-1] if broken else found, cut or broken, reader.unread)


def sentence(text: str) -> str:
    """Clean one item: no number, label, bold marks or header; "" when nothing is left."""
    text = " ".join(clean(text[:MAX_LINE]).split())
    header = _HEADER.match(text)
    if header is not None:
        text = text[header.end() :]
    text = _unmarked(text)
    return text if _speaks(text) else ""


def _unmarked(text: str) -> str:
    """Take off numbers, bullets, labels and bold marks."""
    while (marker := _MARKER.match(text)) is not None:
        text = text[marker.end() :]
    if _ALL_BOLD.fullmatch(text.strip()) and not text.strip().endswith((".", ".**")):
        return ""
    label = _LABEL.match(text)
    if label is not None and text[label.end() :].strip():
        title = label[1] or label[2]
        rest = text[label.end() :].strip()
        # A label that names code says of what the rest speaks.
        text = f"{title.rstrip(':')}: {rest}" if _NAMED.search(title) else rest
    return _without_bold(text).strip()


def _without_bold(text: str) -> str:
    if "**" not in text:
        return text
    parts: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        parts += (_BOLD.sub(r"\1", text[at : code.start()]), code[0])
        at = code.end()
    joined = "".join((*parts, _BOLD.sub(r"\1", text[at:])))
    # What is bold around code was not seen as one above.
    return re.sub(r"\*\*(`[^`\n]{1,200}`)\*\*", r"\1", joined)


def _speaks(text: str) -> bool:
    return any(map(str.isalpha, text))


class _Reader:
    """Reads line by line."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.unread = 0
        self.open = False
        """True when the last line is part of the last point."""
        self._implies = False
        self._in_code = False
        self._begun = False
        self._gap = True

    def line(self, line: str) -> None:
        self.open = False
        fence = _FENCE.match(line)
        if fence is not None:
            self._fence(fence[1].lower())
        elif self._in_code:
            return
        elif _RULE.match(line):
            # A number or bullet alone is one that broke off, an empty line ends a paragraph.
            self._gap = True
        else:
            self._text(line)
            self._begun, self._gap = True, False

    def _fence(self, language: str) -> None:
        if self._in_code:
            self._in_code = False
        elif self._begun and language not in _TEXTUAL:
            # A fence around the whole answer is read through.
            self._in_code = bool(language) or not self._closes()
            self.unread += self._in_code
        self._begun = True

    def _closes(self) -> bool:
        """True when a bare fence closes one that was read through."""
        return not self.points or self.points[-1].marked

    def _text(self, line: str) -> None:
        header = _HEADER.match(line)
        if header is not None:
            self._implies = "implication" in header[1].lower()
            line = line[header.end() :]
            if not _speaks(line):
                return
        elif _HASHES.match(line):
            self.unread += 1
            return
        marked = _MARKER.match(line) is not None
        if not marked and self._continues(line):
            last = self.points[-1]
            self.points[-1] = last._replace(text=f"{last.text} {_without_bold(line.strip())}")
            self.open = True
            return
        text = _unmarked(line.strip())
        if marked and not _REMARK.match(text):
            self._item(text)
        elif marked or not _speaks(text):
            self.unread += 1
        else:
            self._prose(text)

    def _continues(self, line: str) -> bool:
        """True for a line that a model broke: the item before goes on in it."""
        if self._gap or not self.points:
            return False
        last = self.points[-1].text
        return not last.endswith((".", "!", "?", ":", ";")) and line.lstrip()[:1].islower()

    def _item(self, text: str) -> None:
        if text.endswith(":"):
            text = _lead(text)
        if _speaks(text):
            self._add(text, marked=True)
        else:
            self.unread += 1

    def _prose(self, text: str) -> None:
        for piece in sentences(text):
            said = _lead(piece) if piece.endswith(":") else piece
            if _speaks(said) and not _REMARK.match(said):
                self._add(said, marked=False)
            else:
                self.unread += 1
                self.open = False

    def _add(self, text: str, *, marked: bool) -> None:
        self.points.append(Point(text, self._implies, marked))
        self.open = True


def _lead(text: str) -> str:
    """What leads in a list: kept as a sentence when it says something itself."""
    whole, _, last = text.rpartition(". ")
    if whole and len(last.split()) < _LEAD_WORDS:
        return whole + "."
    if len(text.split()) < _LEAD_WORDS or text.startswith("**"):
        return ""
    return text.rstrip(":* ") + "."


def sentences(text: str) -> Iterator[str]:
    """Cut prose into sentences; code between backticks is never cut.

    Example:
        >>> list(sentences("Sets `a. B`. It was 1, e.g. `x`. Done."))
        ['Sets `a. B`.', 'It was 1, e.g. `x`.', 'Done.']
    """
    start, ticks, seen = 0, 0, 0
    for end in _END.finditer(text):
        ticks += text.count("`", seen, end.start())
        seen = end.start()
        stop = end.start() + 1
        if ticks % 2 or _SHORT.search(text[max(start, stop - 12) : stop]):
            continue
        yield text[start : end.end()].strip()
        start = end.end()
    if text[start:].strip():
        yield text[start:].strip()


def _breaks_off(found: list[Point]) -> bool:
    """True when the last point is unfinished, as far as the others tell."""
    last = found[-1].text.rstrip("*_ ")
    if last.endswith(_ENDS) and last.count("`") % 2 == 0:
        return False
    if last.endswith((",", "(", "[", "{", "=", "-", "/")) or last.count("`") % 2:
        return True
    if last.split()[-1].lower() in _DANGLING:
        return True
    # A model that ends no point with a full stop did not break off for the want of one.
    return sum(point.text.endswith(_ENDS) for point in found[:-1]) * 2 > len(found[:-1])
