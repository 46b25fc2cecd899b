"""Markdown of a review -> its running text, unit by unit, with the code kept apart.

A unit is a paragraph, a heading, a list item, a table cell or a line that was broken on
purpose; no sentence crosses the border of a unit. What GitHub shows but CommonMark does not
know (details, alerts, task boxes, suggestion blocks) is read here and in `markup`. Quotes of
earlier comments, tags and link targets are dropped; comments, attributes and elements that
no reader sees are kept apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from crscore.review.boilerplate import is_hidden_section
from crscore.review.elements import MENTIONED, Elements, covers
from crscore.review.markdown import blocks, comment_text, lines
from crscore.review.visibility import attributes, clean, hides, smuggled, tag_name, unseen_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from markdown_it.token import Token

MAX_MARKDOWN_CHARS: Final = 131_072
"""Longer bodies are read line by line; GitHub's own limit is 65,536 characters."""

CODE_OPEN: Final = "\x02"
"""Stands before a code span in a unit; removed from the input, so it can only be ours."""
CODE_CLOSE: Final = "\x03"
"""Stands after a code span in a unit."""

# An empty line, or a line that starts like an item: comments are no Markdown, but look it.
_UNSEEN_BREAK: Final = re.compile(r"\n[ \t]*(?:\n|(?=(?:[-*+•]|\d{1,3}[.)])[ \t]))")
# State that a bot keeps in a comment: base64 and the like.
_STATE: Final = re.compile(r"(?<![A-Za-z0-9+/=-])[A-Za-z0-9+/=-]{200,}")

_INLINE_TAGS: Final = frozenset(
    {
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
    }
    | {"kbd", "mark", "picture", "q", "s", "samp", "small", "source", "span", "strike", "strong"}
    | {"sub", "sup", "tt", "u", "var", "wbr"}
)


@dataclass(slots=True)
class Prose:
    """What was read of one body; filled by `read`."""

    units: list[str] = field(default_factory=list)
    """Units of running text, in order, never blank; code spans between the two marks."""
    suggestions: list[str] = field(default_factory=list)
    """Contents of suggestion blocks, without the last newline."""
    code_blocks: list[str] = field(default_factory=list)
    """Contents of other code blocks that are not blank, without the last newline."""
    hidden: list[str] = field(default_factory=list)
    """Texts that a reader does not see, in order, never blank, without Markdown."""


@dataclass(frozen=True, slots=True)
class _Section:
    """An open `<details>`: how much had been read before it."""

    units: int
    code_blocks: int
    hidden: bool = False


def read_prose(body: str) -> Prose:
    """Read the Markdown of one comment.

    Never raises. Takes time linear in the length: bodies over `MAX_MARKDOWN_CHARS` are
    read line by line, without Markdown but for the fences and the tags.

    Args:
        body: Markdown or plain text, any characters.

    Returns:
        The units of running text, the suggestions, the other code blocks and what is hidden.
    """
    text = clean(body)
    tokens = lines(text) if len(text) > MAX_MARKDOWN_CHARS else blocks(text)
    reader = _Reader(tokens)
    reader.hide(smuggled(body))
    reader.read()
    return reader.prose


class _Reader:
    """Walks the tokens once and collects a `Prose`."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.prose = Prose()
        self._tokens = tokens
        self._pieces: list[str] = []
        self._unseen: list[str] = []
        self._code: list[str] | None = None
        self._sections: list[_Section] = []
        self._summary_at: int | None = None
        self._elements = Elements()
        self._covers = covers([_covering(tag) for tag in _tags(tokens)])
        self._tag = -1
        self._covered_to = -1

    def read(self) -> None:
        """Read all tokens in order."""
        for token in self._tokens:
            if token.type == "inline":
                self._read_inline(token.children or ())
                self._end_block()
            elif token.type == "unseen":
                self.hide([token.content])
            elif token.type in {"fence", "code_block", "pre"}:
                self._end_block()
                self._read_code(token)
            elif token.hidden:  # the paragraph of a tight list's item, which HTML has not
                continue
            elif token.nesting > 0:
                self._elements.open(token.tag)
            elif token.nesting < 0:
                self._elements.close(token.tag)
        self._end_block()

    def hide(self, texts: Iterable[str]) -> None:
        """Keep texts that nobody sees, without a bot's stored state."""
        for text in texts:
            for part in _UNSEEN_BREAK.split(text):
                kept = " ".join(_STATE.sub(" ", clean(part)).split())
                if kept:
                    self.prose.hidden.append(kept)

    @property
    def _is_hidden(self) -> bool:
        return self._tag < self._covered_to or self._elements.hidden

    @property
    def _open_unit(self) -> list[str]:
        return self._unseen if self._is_hidden else self._pieces

    def _read_code(self, token: Token) -> None:
        content = token.content.removesuffix("\n")
        is_pre = token.type == "pre"
        if self._is_hidden or (is_pre and hides("pre", attributes(token.info))):
            self.hide([content])
        elif not is_pre and token.info.strip().lower().startswith("suggestion"):
            self.prose.suggestions.append(content)
        elif content.strip():
            self.prose.code_blocks.append(content)

    def _read_inline(self, children: Sequence[Token]) -> None:
        """Add the text of one paragraph, heading or cell to the open unit."""
        invisible: list[str] = []
        for child in children:
            if child.type == "html_inline":
                self._read_tag(child.content)
            elif child.type == "code_inline":
                self._open_unit.append(f"{CODE_OPEN}`{child.content.strip()}`{CODE_CLOSE}")
            elif child.type == "hardbreak":
                self.end_unit()
            elif child.type == "softbreak":
                self._open_unit.append(" ")
            elif child.type == "image":
                self.hide((child.content, str(child.attrGet("title") or "")))
            elif child.type == "link_open":
                self.hide([str(child.attrGet("title") or "")])
            elif child.type == "formula":
                self.hide([child.content])
            else:
                text = clean(child.content)
                if len(text) < len(child.content):
                    invisible.append(child.content)
                self._open_unit.append(text)
        # Entities ("&#xE0041;") bring back what was taken out of the body.
        self.hide(smuggled("".join(invisible)))

    def end_unit(self) -> None:
        """Close the open unit where the text stands, seen or not; a blank one is dropped."""
        self._end_unseen()
        if not self._is_hidden:
            self._end_seen()

    def _end_block(self) -> None:
        self._end_unseen()
        self._end_seen()

    def _end_seen(self) -> None:
        if self._code is self._pieces:
            self._close_code()
        text = " ".join("".join(self._pieces).split())
        self._pieces.clear()
        if text:
            self.prose.units.append(text)

    def _end_unseen(self) -> None:
        if self._code is self._unseen:
            self._close_code()
        text = " ".join("".join(self._unseen).split())
        self._unseen.clear()
        if text:
            self.prose.hidden.append(text)

    def _read_tag(self, tag: str) -> None:
        self._tag += 1
        name, closes = tag_name(tag)
        covers_to = self._covers.get(self._tag, -1)
        if not name:
            self.hide([comment_text(tag)] if tag.startswith("<!--") else ())
        elif self._tag <= self._covered_to or covers_to >= 0:
            # What is covered has no structure of its own; covers may overlap.
            self.hide(unseen_texts(attributes(tag)) if not closes else ())
            self._covered_to = max(self._covered_to, covers_to)
            if name not in _INLINE_TAGS:
                self._end_unseen()
        elif name not in MENTIONED:
            self._read_element(tag, name, closes=closes)

    def _read_element(self, tag: str, name: str, *, closes: bool) -> None:
        is_block = name not in _INLINE_TAGS
        if is_block:
            self.end_unit()
        was_hidden = self._is_hidden
        if closes:
            self._act(name, closes=True)
            self._elements.close(name)
        else:
            attrs = attributes(tag)
            self.hide(unseen_texts(attrs))
            self._elements.open(name, hides=hides(name, attrs))
            self._act(name, closes=False)
        if was_hidden and not self._is_hidden:
            self._end_unseen()
            if is_block:
                self._end_seen()

    def _act(self, name: str, *, closes: bool) -> None:
        act = _TAG_ACTIONS.get((name, closes))
        if act is not None:
            act(self)

    def _open_code(self) -> None:
        if self._code is None:
            self._code = self._open_unit
            self._code.append(f"{CODE_OPEN}`")

    def _close_code(self) -> None:
        if self._code is not None:
            self._code.append(f"`{CODE_CLOSE}")
            self._code = None

    def _open_section(self) -> None:
        self.end_unit()
        self._sections.append(_Section(len(self.prose.units), len(self.prose.code_blocks)))

    def _open_summary(self) -> None:
        self.end_unit()
        self._summary_at = len(self.prose.units)

    def _close_summary(self) -> None:
        self.end_unit()
        if self._summary_at is None or not self._sections:
            return
        summary = " ".join(self.prose.units[self._summary_at :])
        self._summary_at = None
        if is_hidden_section(summary):
            last = self._sections.pop()
            self._sections.append(_Section(last.units, last.code_blocks, hidden=True))

    def _close_section(self) -> None:
        # Only a closed section is dropped: an open one may hold the rest of the review.
        # Its suggestions stay: CodeRabbit files its committable ones under such a heading.
        self.end_unit()
        if self._sections and (section := self._sections.pop()).hidden:
            del self.prose.units[section.units :]
            del self.prose.code_blocks[section.code_blocks :]


_TAG_ACTIONS: Final[dict[tuple[str, bool], Callable[[_Reader], None]]] = {
    ("code", False): _Reader._open_code,
    ("code", True): _Reader._close_code,
    ("details", False): _Reader._open_section,
    ("details", True): _Reader._close_section,
    ("summary", False): _Reader._open_summary,
    ("summary", True): _Reader._close_summary,
}


def _tags(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        yield from (child.content for child in token.children or () if child.type == "html_inline")


def _covering(tag: str) -> tuple[str, bool]:
    """Name of a tag and whether it closes, for `covers`; a dialog that is open is shown."""
    name, closes = tag_name(tag)
    return ("" if name == "dialog" and "open" in attributes(tag) else name, closes)
