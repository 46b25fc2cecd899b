"""Finds the positions of lines, headings and folded parts of a Markdown body.

A Markdown renderer does not report these positions, which are needed to remove a part and leave the
rest unchanged. The body is read once, in time linear in its length.
"""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

# "> ", "> > ", and spaces: prefixes of a line's content.
_LEAD: Final = re.compile(r"[ \t>]*")
# https://github.github.com/gfm/#fenced-code-blocks
# Possessive (`{3,}+`), so that a long run of backticks is not tried again with each smaller length.
# "```python", "~~~", "- ```"; the info string after backticks has no backticks.
_FENCE: Final = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:(`{3,}+)[^`]*|(~{3,}+).*)")
# A code span, the start of a comment, or a tag of a folded part. A code span ends on its line, so
# that a lone backtick costs little.
_MARK: Final = re.compile(r"`[^`\n]*`|<!--|<(/?)(details|summary)\b[^<>\n]*>", re.IGNORECASE)
# https://github.github.com/gfm/#atx-headings: one to six number signs, then a space.
# "## Title ##", "<h3 align=left>Title</h3>"
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.+)|<h([1-6])\b[^<>]*>(.+)", re.IGNORECASE)
# "<b>", "</summary>", "<h3 align=left>" in a title.
_TAG: Final = re.compile(r"<[^<>]*>")
_MAX_TITLE_CHARS: Final = 300


class Line(NamedTuple):
    """One line of a body."""

    start: int
    """Start offset."""
    end: int
    """End offset, before the newline."""
    content_start: int
    """Offset after quote marks and spaces."""
    content: str
    """Text from `content_start` on."""
    text: str
    """Text without quote marks, surrounding spaces and the asterisks of bold text."""
    quoted: bool
    """True for a line that starts with a quote mark."""
    is_visible: bool
    """False inside code blocks and comments."""
    in_code: bool
    """True inside code blocks, including their fences."""


class Part(NamedTuple):
    """Section under a heading, or `<details>` that has an end tag."""

    start: int
    """Offset of the heading or opening tag."""
    end: int
    """Offset of the end."""
    title: str
    """Heading or summary, without tags; empty when there is none."""


@dataclass(slots=True)
class _Container:
    """`<details>` whose end tag was not read yet, or the body itself."""

    start: int
    summary_start: int | None = None
    title: str | None = None
    headings: list[tuple[int, Part]] = field(default_factory=list)
    """Open sections with their levels, the innermost last; their ends are still unknown."""


class Outline:
    """Lines, headings and folded parts of a body.

    Headings and tags in code blocks, code spans and comments are ignored. No text raises an error.
    Sections and folded parts are in the order of their ends, inner ones first.

    Args:
        text: Markdown whose line ends are newlines.

    Example:
        >>> [part.title for part in Outline("<details><summary>Why</summary>...</details>").folded]
        ['Why']
    """

    def __init__(self, text: str) -> None:
        self.lines: list[Line] = []
        """All lines."""
        self.sections: list[Part] = []
        """Sections, each from a heading to the next heading of the same or a higher level, or to
        the end of the container.
        """
        self.folded: list[Part] = []
        """`<details>` that have an end tag, inner ones before outer ones. Those without an end tag
        are left out, because the rest of the body would seem to be folded.
        """
        self.open_fence = ""
        """Line that would close a code block left open at the end of the text."""
        self._containers = [_Container(0)]
        self._text = text
        self._is_fence_quoted = False
        self._comment_end = 0
        # The last `-->` is searched for only once, because a search from each of many unclosed
        # `<!--` would take quadratic time.
        self._last_comment_end = text.rfind("-->")
        start = 0
        for raw in text.split("\n"):
            self._read_line(start, raw)
            start += len(raw) + 1
        while self._containers:
            self._end_headings(self._containers.pop(), 0, len(text))

    def _read_line(self, start: int, raw: str) -> None:
        end, lead = start + len(raw), _LEAD.match(raw)
        indent = lead.end() if lead else 0
        quoted, content = ">" in raw[:indent], raw[indent:].rstrip()
        begins_in_comment = start < self._comment_end
        in_code = not begins_in_comment and self._read_fence(content, quoted=quoted)
        is_visible = not begins_in_comment and not in_code
        text = content.replace("*", "").strip()
        self.lines.append(
            Line(start, end, start + indent, content, text, quoted, is_visible, in_code)
        )
        if in_code:
            return
        if is_visible and (match := _HEADING.match(content)):
            container, level = self._containers[-1], len(match[1] or "") or int(match[3])
            self._end_headings(container, level, start + indent)
            section = Part(start + indent, 0, _clean_title(match[2] or match[4]))
            container.headings.append((level, section))
        self._read_marks(max(start, self._comment_end), end)

    def _end_headings(self, container: _Container, level: int, end: int) -> None:
        """End the open sections of `level` and of lower levels."""
        while container.headings and container.headings[-1][0] >= level:
            self.sections.append(container.headings.pop()[1]._replace(end=end))

    def _read_fence(self, content: str, *, quoted: bool) -> bool:
        """Update `open_fence`; return whether the line is in a code block or one of its fences."""
        fence = self.open_fence
        if fence and self._is_fence_quoted and not quoted:
            fence = ""  # the block ends with the quote that contains it
        if fence:
            is_end = content.startswith(fence) and not content.strip(fence[0])
            self.open_fence = "" if is_end else fence
            return True
        opened = _FENCE.fullmatch(content)
        self.open_fence = (opened[1] or opened[2]) if opened else ""
        self._is_fence_quoted = quoted
        return opened is not None

    def _read_marks(self, begin: int, end: int) -> None:
        """Read the comments and the tags of folded parts between two offsets."""
        while begin < end and (mark := _MARK.search(self._text, begin, end)) is not None:
            begin, closes, name = mark.end(), mark[1], (mark[2] or "").lower()
            container = self._containers[-1]
            if mark[0] == "<!--":
                if mark.start() + 2 <= self._last_comment_end:
                    # https://spec.commonmark.org/0.31.2/#html-comment
                    # "<!-->" is a complete comment, so the search starts inside the mark.
                    begin = self._text.find("-->", mark.start() + 2) + 3
                    self._comment_end = begin
            elif name == "summary" and closes:
                if container.summary_start is not None and container.title is None:
                    # The length is limited, because an unclosed summary could be very long.
                    limit = container.summary_start + 10 * _MAX_TITLE_CHARS
                    source = self._text[container.summary_start : min(mark.start(), limit)]
                    container.title, container.summary_start = _clean_title(source), None
            elif name == "summary":
                container.summary_start = mark.start()
            elif name and not closes:
                container.summary_start = None
                self._containers.append(_Container(mark.start()))
            elif name and len(self._containers) > 1:
                self._containers.pop()
                self._end_headings(container, 0, mark.start())
                part = Part(container.start, mark.end(), container.title or "")
                self.folded.append(part)


def _clean_title(source: str) -> str:
    text = " ".join(_TAG.sub("", source.replace("&nbsp;", " ").replace("*", "")).split())
    return text.strip("_#: ")[:_MAX_TITLE_CHARS]
