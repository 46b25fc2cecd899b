"""Extraction of a comment's running text, unit by unit, without code and hidden text.

A unit is a paragraph, a heading, a list item, a table cell or an intentionally broken line; no
sentence crosses a unit boundary.
"""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from crscore.review.boilerplate import is_hidden_section
from crscore.review.labels import BADGE, LABEL_END, is_label, read_badge
from crscore.review.markdown import INLINE_TAGS, STRUCK, parse_html, render_html
from crscore.review.visibility import (
    UNSHOWN_ELEMENTS,
    attribute_texts,
    clean,
    hidden_formula,
    hides,
    smuggled,
)

MAX_PART_CHARS: Final = 65_536
"""GitHub's limit for a comment; a longer body is read in parts of at most this length."""

CODE_OPEN: Final = "\x02"
"""Mark before a code span in a unit; removed from the input, so it is unambiguous."""
CODE_CLOSE: Final = "\x03"
"""Mark after a code span in a unit."""

_TITLES: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "summary", "th"})
_BOLD: Final = frozenset({"b", "strong"})
_LABEL_TAGS: Final = _BOLD | {"em", "i", "kbd", "sub", "sup", "mark", "span", "td"}
_MAX_LABEL_PARTS: Final = 8
"""Maximum number of texts in the element of a label."""
_EMPTY_CODE: Final = f"{CODE_OPEN}``{CODE_CLOSE}"

# "language-suggestion"; of GitLab, also "language-suggestion:-0+1", ":-1" and ":+2":
# https://docs.gitlab.com/user/project/merge_requests/reviews/suggestions/
_SUGGESTION: Final = re.compile(
    r"language-suggestion(:(?:-?(\d{1,3}))?(?:\+(\d{1,3}))?$)?", re.IGNORECASE
)
_FENCE: Final = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
# A bot's whole review in one block, after "Here is my review:" or nothing, as in
# https://github.com/dotCMS/core/pull/36303. Its first inner fence, if any, opens a block.
_WRAPPED: Final = re.compile(
    r"\s*+(?:[^\n`]{0,200}\breview\b[^\n`]{0,200}\n\s*)?(`{3,9}|~{3,9})(?:markdown|md)[ \t]*\n"
    r"(?!(?:(?!\1).*\n)*+\1[ \t]*\n)",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<[^<>]*>")
# "<br>", "</p>", "<li class=a>"; not "<b>"
_BLOCK_TAG: Final = re.compile(r"</?(?:p|li|h[1-6]|t[dhr]|pre|br)\b[^<>]*>", re.IGNORECASE)
# An empty line, or a line that starts like an item: HTML comments are not Markdown but resemble it.
_UNSEEN_BREAK: Final = re.compile(r"\n[ \t]*(?:\n|(?=(?:[-*+•]|\d{1,3}[.)])[ \t]))")
# State that a bot stores in a comment, such as base64.
_STATE: Final = re.compile(r"(?<![A-Za-z0-9+/=-])[A-Za-z0-9+/=-]{200,}")


class Unit(NamedTuple):
    """Unit of running text."""

    text: str
    """Never blank; the two marks enclose code spans."""
    is_heading: bool = False
    """Whether it is a heading, a header cell, the title of a folded section or all bold."""


@dataclass(slots=True)
class Prose:
    """Text of one comment, sorted by kind."""

    units: list[Unit] = field(default_factory=list)
    """Units of running text, in order."""
    suggestions: list[str] = field(default_factory=list)
    """Contents of suggestion blocks, without the last newline."""
    suggestion_offsets: list[tuple[int, int] | None] = field(default_factory=list)
    """Offsets of each suggestion block, see `ParsedComment`."""
    code_blocks: list[str] = field(default_factory=list)
    """Contents of other non-blank code blocks, without the last newline."""
    diffs: list[str] = field(default_factory=list)
    """Contents of non-blank diff blocks, without the last newline."""
    follows: dict[str, int] = field(default_factory=dict)
    """Content of a block -> index of the unit that it follows; -1 at the start."""
    hidden: list[str] = field(default_factory=list)
    """Invisible texts, in order, never blank, without Markdown."""


def read_prose(body: str) -> Prose:
    """Extract the text of one comment.

    Never raises. Takes time linear in the length: bodies over `MAX_PART_CHARS` are read in parts,
    cut at line ends, each as a separate comment except that code blocks continue.

    Args:
        body: Markdown or plain text, any characters.
    """
    prose = Prose()
    reader = _ProseReader(prose)
    reader.hide(smuggled(body))
    text = clean(body)
    # Hosts show a comment with a fence around it as it is written, but its writer meant Markdown.
    if wrapped := _WRAPPED.match(end := text.rstrip()):
        text = end[wrapped.end() :].removesuffix(wrapped[1])
    for part in _parts(text):
        rendered = render_html(part)
        # Entities ("&#xE0041;") reintroduce characters that were removed from the body.
        reader.hide(smuggled(rendered))
        reader.read(parse_html(rendered))
    return prose


def _parts(text: str) -> Iterator[str]:
    begin, fence = 0, ""
    while len(text) - begin > MAX_PART_CHARS:
        end = text.rfind("\n", begin, begin + MAX_PART_CHARS) + 1 or begin + MAX_PART_CHARS
        # A code block that the cut divides continues in the next part, so its fence is repeated
        # there.
        yield fence + text[begin:end]
        for marker in _FENCE.findall(text, begin, end):
            fence = "" if fence.strip() == marker else fence or f"{marker}\n"
        begin = end
    yield fence + text[begin:]


@dataclass(slots=True)
class _Section:
    """Open `<details>`, with the numbers of items read before it."""

    units: int
    code_blocks: int
    diffs: int
    hidden: bool = False


class _ProseReader:
    """Single walk over the DOM that collects a `Prose`."""

    def __init__(self, prose: Prose) -> None:
        self._prose = prose
        self._seen: list[str] = []
        self._unseen: list[str] = []
        self._hiding = 0
        self._struck = 0
        self._code: list[str] | None = None
        self._code_depth = 0
        self._sections: list[_Section] = []
        self._summary_at = 0
        self._titles = 0
        self._bold = 0
        self._has_plain_text = False

    def read(self, node: LexborNode | None) -> None:
        """Read a node with its content and all nodes after it, in order."""
        opened: list[tuple[LexborNode, str, bool]] = []
        while node is not None or opened:
            if node is None:
                node, name, hiding = opened.pop()
                self._close(name, hiding=hiding)
                node = node.next
            elif node.is_element_node:
                name = (node.tag or "").removeprefix("x-")
                opened.append((node, name, self._open(node, name)))
                # `_open` has read the content of `pre`.
                node = None if name == "pre" else node.first_child
            else:
                self._read_text(node)
                node = node.next
        self._end_unit()

    def hide(self, texts: Iterable[str]) -> None:
        """Keep invisible texts, without a bot's stored state."""
        for text in texts:
            for part in _UNSEEN_BREAK.split(text):
                cleaned = " ".join(_STATE.sub(" ", clean(part)).split())
                if cleaned:
                    self._prose.hidden.append(cleaned)

    @property
    def _buffer(self) -> list[str]:
        if self._struck:
            return []  # taken back by its writer
        return self._unseen if self._hiding else self._seen

    def _read_text(self, node: LexborNode) -> None:
        if node.is_comment_node:
            text = _BLOCK_TAG.sub("\n\n", node.comment_content or "")
            self.hide([html.unescape(_TAG.sub("", text)).strip()])
        else:
            text = clean(node.text_content or "")
            is_plain = not (self._bold or self._hiding or self._struck)
            self._has_plain_text |= is_plain and any(map(str.isalnum, text))
            self._buffer.append(text)

    def _open(self, node: LexborNode, name: str) -> bool:
        """Read the start of an element; return True when it hides its content."""
        if _is_block(name):
            self._end_unit()
        attributes = {key: clean(value or "") for key, value in node.attributes.items()}
        address = attributes.get("src", "")
        badge = read_badge(attributes.get("alt", ""), address) if name == "img" else None
        if badge:
            self._buffer.append(BADGE.format(badge))
        elif badge is None:
            self.hide(attribute_texts(attributes))
        self._struck += name in STRUCK
        hiding = hides(name, attributes)
        self._hiding += hiding
        self._titles += name in _TITLES
        self._bold += name in _BOLD
        if name == "code":
            # Of nested spans, the outermost counts.
            if self._code is None:
                self._code = self._buffer
                self._code.append(f"{CODE_OPEN}`")
            self._code_depth += 1
        elif name == "pre":
            self._read_code(node)
        elif name == "details":
            read = self._prose
            section = _Section(len(read.units), len(read.code_blocks), len(read.diffs))
            self._sections.append(section)
        elif name == "summary":
            self._summary_at = len(self._prose.units)
        return hiding

    def _close(self, name: str, *, hiding: bool) -> None:
        is_short = name in _LABEL_TAGS and len(self._seen) <= _MAX_LABEL_PARTS
        if is_short and is_label("".join(self._seen)):
            self._seen.append(LABEL_END)
        if name == "code":
            self._code_depth -= 1
            if self._code is not None and not self._code_depth:
                self._code.append(f"`{CODE_CLOSE}")
                self._code = None
        elif _is_block(name):
            self._end_unit()
        self._hiding -= hiding
        self._struck -= name in STRUCK
        self._titles -= name in _TITLES
        self._bold -= name in _BOLD
        if hiding and not self._hiding:
            self._prose.hidden += self._take(self._unseen)
        if name == "details":
            self._close_section()
        elif name == "summary" and self._sections:
            summary = " ".join(unit.text for unit in self._prose.units[self._summary_at :])
            self._sections[-1].hidden |= is_hidden_section(summary)

    def _close_section(self) -> None:
        # Its suggestions are kept: CodeRabbit puts its committable ones under such a heading.
        section = self._sections.pop()
        if section.hidden:
            del self._prose.units[section.units :]
            del self._prose.code_blocks[section.code_blocks :]
            del self._prose.diffs[section.diffs :]
            # Its suggestions now follow the unit before the section.
            for content in reversed(self._prose.follows):
                if self._prose.follows[content] < section.units:
                    break
                self._prose.follows[content] = section.units - 1

    def _end_unit(self) -> None:
        """Close the open unit as visible or hidden text; a blank one is dropped."""
        self._prose.hidden += self._take(self._unseen)
        if not self._hiding:
            is_heading = bool(self._titles) or not self._has_plain_text
            self._prose.units += (Unit(text, is_heading) for text in self._take(self._seen))
            self._has_plain_text = False

    def _take(self, buffer: list[str]) -> Iterator[str]:
        """Empty a buffer and yield its text, unless it is blank."""
        if not buffer:
            return
        is_code = buffer is self._code
        # A unit can end within a code span: it is closed here and opened again in the next unit.
        written = "".join([*buffer, f"`{CODE_CLOSE}"] if is_code else buffer)
        buffer[:] = [f"{CODE_OPEN}`"] if is_code else []
        text = " ".join(written.replace(_EMPTY_CODE, "").split())
        if text:
            yield text

    def _read_code(self, node: LexborNode) -> None:
        content = clean(node.text(deep=True)).removesuffix("\n")
        fence = node.first_child
        info = (fence.attributes.get("class") or "") if fence and fence.tag == "x-code" else ""
        words = hidden_formula(content) if info.lower() == "language-math" else None
        if self._hiding or words is not None:
            self.hide([content if words is None else words])
            return
        if self._struck:
            return
        self._prose.follows.setdefault(content, len(self._prose.units) - 1)
        if block := _SUGGESTION.match(info):
            self._prose.suggestions.append(content)
            offsets = (int(block[2] or 0), int(block[3] or 0)) if block[1] else None
            self._prose.suggestion_offsets.append(offsets)
        elif content.strip():
            is_diff = info.lower() == "language-diff"
            (self._prose.diffs if is_diff else self._prose.code_blocks).append(content)


def _is_block(name: str) -> bool:
    return name not in INLINE_TAGS and name not in UNSHOWN_ELEMENTS
