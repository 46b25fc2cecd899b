"""Positions of the lines, headings and folded parts of a Markdown body.

Rendered Markdown has no source positions, which are needed to remove a part and leave the rest
unchanged. One pass, linear in the length.
"""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

# "> ", "> > ", and spaces: prefixes of a line's content.
_LEAD: Final = re.compile(r"[ \t>]*")
# "```python", "~~~", "- ```"; the info string after backticks has no backticks.
_FENCE: Final = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:(`{3,}+)[^`]*|(~{3,}+).*)")
# A code span, the start of a comment, a tag that folds. A lone backtick is tried once per line.
_MARK: Final = re.compile(r"`[^`\n]*`|<!--|<(/?)(details|summary)\b[^<>\n]*>", re.IGNORECASE)
# "## Title ##", "<h3 align=left>Title</h3>"
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.+)|<h([1-6])\b[^<>]*>(.+)", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
_MAX_TITLE_CHARS: Final = 300


class Line(NamedTuple):
    """One line of a body."""

    start: int
    """Start offset."""
    end: int
    """End offset, before the newline."""
    inner: int
    """Offset after quote marks and spaces."""
    content: str
    """Text from `inner` on."""
    text: str
    """Text without quote marks, surrounding spaces and the asterisks of bold text."""
    quoted: bool
    """True when it starts with a quote mark."""
    is_visible: bool
    """False inside code blocks and comments."""
    in_code: bool
    """True inside code blocks, including their fences."""


class Part(NamedTuple):
    """A section under a heading, or a closed `<details>`."""

    start: int
    """Start of its heading or opening tag."""
    end: int
    """End offset in the text."""
    title: str
    """Heading or summary, without tags; empty when there is none."""


@dataclass(slots=True)
class Outline:
    """Parts of a body; only the lines are ordered."""

    lines: list[Line] = field(default_factory=list)
    """All lines."""
    sections: list[Part] = field(default_factory=list)
    """Sections, each from a heading to the next of its level or above, or to the end of its
    container.
    """
    folded: list[Part] = field(default_factory=list)
    """Closed `<details>`, inner ones before outer ones; an unclosed one is a typo, not a fold."""
    open_fence: str = ""
    """Line that would close a code block left open at the end of the text."""


def outline(text: str) -> Outline:
    """Find the lines, headings and folded parts of a body.

    The content of code blocks, code spans and comments is ignored. Never raises.

    Args:
        text: Markdown whose line ends are newlines.

    Example:
        >>> [part.title for part in outline("<details><summary>Why</summary>...</details>").folded]
        ['Why']
    """
    reader = _OutlineReader(text)
    reader.read()
    return reader.found


@dataclass(slots=True)
class _Heading:
    start: int
    level: int
    title: str


@dataclass(slots=True)
class _Container:
    """An open `<details>`, or the body itself."""

    start: int
    summary_from: int | None = None
    summary: tuple[int, int] | None = None
    headings: list[_Heading] = field(default_factory=list)


class _OutlineReader:
    def __init__(self, text: str) -> None:
        self.found = Outline()
        self._text = text
        self._boxes = [_Container(0)]
        self._fence = ""
        self._fence_quoted = False
        self._comment_end = 0
        self._last_comment_end = text.rfind("-->")

    def read(self) -> None:
        start = 0
        for raw in self._text.split("\n"):
            self._read_line(start, start + len(raw), raw)
            start += len(raw) + 1
        self.found.open_fence = self._fence
        while self._boxes:
            self._end_headings(self._boxes.pop(), 0, len(self._text))

    def _read_line(self, start: int, end: int, raw: str) -> None:
        lead = _LEAD.match(raw)
        indent = lead.end() if lead else 0
        quoted = ">" in raw[:indent]
        content = raw[indent:].rstrip()
        begins_in_comment = start < self._comment_end
        in_code = not begins_in_comment and self._in_fence(content, quoted=quoted)
        is_visible = not begins_in_comment and not in_code
        text = content.replace("*", "").strip()
        self.found.lines.append(
            Line(start, end, start + indent, content, text, quoted, is_visible, in_code)
        )
        if begins_in_comment:
            self._read_marks(self._comment_end, end)
        elif is_visible:
            self._read_heading(start + indent, content)
            self._read_marks(start, end)

    def _in_fence(self, content: str, *, quoted: bool) -> bool:
        """Return whether the line belongs to a code block, its fences included."""
        if self._fence and self._fence_quoted and not quoted:
            self._fence = ""  # the block ends with the quote that contains it
        if self._fence:
            if content.startswith(self._fence) and not content.strip(self._fence[0]):
                self._fence = ""
            return True
        opened = _FENCE.fullmatch(content)
        if opened is not None:
            self._fence = opened[1] or opened[2]
            self._fence_quoted = quoted
        return opened is not None

    def _read_heading(self, start: int, content: str) -> None:
        match = _HEADING.match(content)
        if match is None:
            return
        level = len(match[1]) if match[1] else int(match[3])
        title = _title(match[2] or match[4])
        self._end_headings(self._boxes[-1], level, start)
        self._boxes[-1].headings.append(_Heading(start, level, title))

    def _end_headings(self, box: _Container, level: int, end_offset: int) -> None:
        while box.headings and box.headings[-1].level >= level:
            last = box.headings.pop()
            self.found.sections.append(Part(last.start, end_offset, last.title))

    def _read_marks(self, begin: int, end: int) -> None:
        while begin < end and (mark := _MARK.search(self._text, begin, end)) is not None:
            begin = mark.end()
            if mark[0] == "<!--":
                if mark.start() + 2 <= self._last_comment_end:
                    # "<!-->" is a whole comment, so the search starts inside the mark.
                    begin = self._text.find("-->", mark.start() + 2) + 3
                    self._comment_end = begin
            elif mark[2] is not None:
                self._read_tag(mark, mark[2].lower(), closes=bool(mark[1]))

    def _read_tag(self, mark: re.Match[str], name: str, *, closes: bool) -> None:
        box = self._boxes[-1]
        if name == "summary":
            if not closes:
                box.summary_from = mark.start()
            elif box.summary_from is not None and box.summary is None:
                box.summary = box.summary_from, mark.start()
                box.summary_from = None
        elif not closes:
            box.summary_from = None
            self._boxes.append(_Container(mark.start()))
        elif len(self._boxes) > 1:
            self._boxes.pop()
            self._end_headings(box, 0, mark.start())
            start, end = box.summary or (box.start, box.start)
            title = _title(self._text[start : min(end, start + 10 * _MAX_TITLE_CHARS)])
            self.found.folded.append(Part(box.start, mark.end(), title))


def _title(source: str) -> str:
    text = " ".join(_TAG.sub("", source.replace("&nbsp;", " ").replace("*", "")).split())
    return text.strip("_#: ")[:_MAX_TITLE_CHARS]
