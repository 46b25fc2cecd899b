"""Markdown of a review -> its running text, unit by unit, with the code kept apart.

A unit is a paragraph, a heading, a list item, a table cell or a line that was broken on
purpose; no sentence crosses the border of a unit. CommonMark is read by markdown-it-py;
what GitHub shows but CommonMark does not know (details, alerts, task boxes, suggestion
blocks) is read here. Quotes of earlier comments, images, comments, tags and link targets
are dropped.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from crscore.boilerplate import is_hidden_section

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

MAX_MARKDOWN_CHARS: Final = 131_072
"""Longer bodies are read line by line; GitHub's own limit is 65,536 characters."""
MAX_BRACKETS: Final = 2_000
"""A block with more `[` is taken as it stands: matching them takes quadratic time."""
MAX_NESTING: Final = 40
"""Deepest nesting of blocks and emphasis that is read, in markdown-it's levels."""

CODE_OPEN: Final = "\x02"
"""Stands before a code span in a unit; removed from the input, so it can only be ours."""
CODE_CLOSE: Final = "\x03"
"""Stands after a code span in a unit."""

# Controls but tab and newline, soft hyphen, zero-width and bidi characters, tags, and halves
# of surrogate pairs (which JSON can carry and no encoder takes).
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e01ef]"
)
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# "<pre>", "<script defer>", "<style" at a line end; not "<prefix>".
_RAW_OPEN = re.compile(r"<(?:(!--)|(pre|script|style|textarea)(?=[\s>]|$))", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_TAG_NAME = re.compile(r"</?([a-z][a-z0-9-]*)", re.IGNORECASE)
_ALERT = re.compile(r"\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*", re.IGNORECASE)
_TASK_BOX = re.compile(r"\[[ xX]\]\s+")
_STARTS_REMARK = re.compile(r"(?:[^\w\s]|_|\s)*(?:nits?\b|([^\W_]))")

_INLINE_TAGS: Final = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "big", "cite", "del", "dfn", "em", "font", "i", "img", "ins"}
    | {"kbd", "mark", "picture", "q", "s", "samp", "small", "source", "span", "strike", "strong"}
    | {"sub", "sup", "tt", "u", "var", "wbr"}
)
_WRAP_COLUMNS: Final = 72
_LONGEST_WRAP: Final = 100


@dataclass(slots=True)
class Prose:
    """What was read of one body; filled by `read`."""

    units: list[str] = field(default_factory=list)
    """Units of running text, in order, never blank; code spans between the two marks."""
    suggestions: list[str] = field(default_factory=list)
    """Contents of suggestion blocks, without the last newline."""
    code_blocks: list[str] = field(default_factory=list)
    """Contents of other code blocks that are not blank, without the last newline."""


@dataclass(frozen=True, slots=True)
class _Section:
    """An open `<details>`: how much had been read before it."""

    units: int
    code_blocks: int
    hidden: bool = False


def clean(text: str) -> str:
    r"""Remove what cannot be seen and make every line end a newline.

    Example:
        >>> clean("a\u200bb\r\nc")
        'ab\nc'
    """
    return _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))


def read(body: str) -> Prose:
    """Read the Markdown of one comment.

    Never raises. Takes time linear in the length: bodies over `MAX_MARKDOWN_CHARS` are
    read line by line, without Markdown but for the fences.

    Args:
        body: Markdown or plain text, any characters.

    Returns:
        The units of running text, the suggestions and the other code blocks.
    """
    reader = _Reader()
    text = clean(body)
    if len(text) > MAX_MARKDOWN_CHARS:
        reader.read_lines(text)
    else:
        reader.read_blocks(_markdown().parse(text))
    return reader.prose


def _markdown() -> MarkdownIt:
    """CommonMark with tables, where tags are read inline so that Markdown between them counts."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable("html_block")
    parser.core.ruler.disable("inline")  # `_Reader.add_inline` decides block by block
    parser.block.ruler.before(
        "heading", "raw_html", _raw_html, {"alt": ["paragraph", "reference", "blockquote"]}
    )
    return parser


def _raw_html(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: comments and preformatted or hidden elements, blank lines included."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    found = _RAW_OPEN.match(first)
    if found is None or state.is_code_block(start):
        return False
    if silent:
        return True
    stop = "-->" if found[1] else f"</{found[2].lower()}>"
    line = start
    while line < end and stop not in state.src[state.bMarks[line] : state.eMarks[line]].lower():
        line += 1
    state.line = min(line + 1, end)
    token = state.push("raw_html", "", 0)
    token.content = state.getLines(start, state.line, state.blkIndent, keepLastLF=True)
    token.info = found[2].lower() if found[2] else ""
    return True


class _Reader:
    """Walks the tokens once and collects a `Prose`."""

    def __init__(self) -> None:
        self.prose = Prose()
        self._pieces: list[str] = []
        self._in_code = False
        self._sections: list[_Section] = []
        self._summary_at: int | None = None
        self._parser = _markdown()

    def read_lines(self, text: str) -> None:
        """Read without Markdown: every line is a unit, fenced lines are code."""
        fence: list[str] | None = None
        for line in text.split("\n"):
            if line.lstrip().startswith(("```", "~~~")):
                self.add_code(fence)
                fence = [] if fence is None else None
            elif fence is not None:
                fence.append(line)
            else:
                self._pieces.append(line)
                self.end_unit()
        self.add_code(fence)

    def add_code(self, lines: list[str] | None) -> None:
        """Keep the lines of a fenced block, if one is open."""
        if lines is not None:
            self._keep_code("\n".join(lines))

    def read_blocks(self, tokens: list[Token]) -> None:
        """Read block tokens in order, leaving out quotes of earlier comments."""
        quote_level: int | None = None
        follows = ""
        for position, token in enumerate(tokens):
            if quote_level is not None:
                if token.type == "blockquote_close" and token.level == quote_level:
                    quote_level = None
            elif token.type == "blockquote_open" and not _is_alert(tokens, position):
                quote_level = token.level
            else:
                self._read_block(token, follows)
            if token.type != "paragraph_open":
                follows = token.type
        self.end_unit()

    def _read_block(self, token: Token, follows: str) -> None:
        if token.type == "inline":
            self.add_inline(_without_marker(token.content, follows))
            self.end_unit()
        elif token.type in {"fence", "code_block"}:
            self.end_unit()
            content = token.content.removesuffix("\n")
            if token.info.strip().lower().startswith("suggestion"):
                self.prose.suggestions.append(content)
            else:
                self._keep_code(content)
        elif token.type == "raw_html":
            self._read_raw(token)

    def _read_raw(self, token: Token) -> None:
        if token.info == "pre":
            self._keep_code(html.unescape(_TAG.sub("", token.content)).strip("\n"))
        elif not token.info:
            self.add_inline(_COMMENT.sub("", token.content).strip())
            self.end_unit()

    def _keep_code(self, content: str) -> None:
        if content.strip():
            self.prose.code_blocks.append(content)

    def add_inline(self, content: str) -> None:
        """Add the text of one paragraph, heading or cell to the open unit."""
        if content.count("[") > MAX_BRACKETS:
            self._pieces.append(content)
            return
        children: list[Token] = []
        self._parser.inline.parse(content, self._parser, {}, children)
        breaks = _lines_are_remarks(content)
        for child in children:
            if child.type == "html_inline":
                self._read_tag(child.content)
            elif child.type == "code_inline":
                self._pieces.append(f"{CODE_OPEN}`{child.content.strip()}`{CODE_CLOSE}")
            elif child.type == "hardbreak" or (child.type == "softbreak" and breaks):
                self.end_unit()
            elif child.type == "softbreak":
                self._pieces.append(" ")
            elif child.type != "image":
                self._pieces.append(clean(child.content))

    def end_unit(self) -> None:
        """Close the open unit; a blank one is dropped."""
        if self._in_code:
            self._close_code()
        text = " ".join("".join(self._pieces).split())
        self._pieces.clear()
        if text:
            self.prose.units.append(text)

    def _read_tag(self, tag: str) -> None:
        found = _TAG_NAME.match(tag)
        name = found[1].lower() if found else ""
        act = _TAG_ACTIONS.get((name, tag.startswith("</")))
        if act is not None:
            act(self)
        elif name and name not in _INLINE_TAGS:
            self.end_unit()

    def _open_code(self) -> None:
        if not self._in_code:
            self._in_code = True
            self._pieces.append(f"{CODE_OPEN}`")

    def _close_code(self) -> None:
        if self._in_code:
            self._in_code = False
            self._pieces.append(f"`{CODE_CLOSE}")

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


def _is_alert(tokens: list[Token], position: int) -> bool:
    """Whether a quote is one of GitHub's coloured boxes, which the author wrote himself."""
    first = tokens[position + 2] if position + 2 < len(tokens) else None
    return first is not None and first.type == "inline" and bool(_ALERT.match(first.content))


def _without_marker(content: str, follows: str) -> str:
    """Drop the marker of a task or of an alert from the first text of its item or box."""
    if follows == "list_item_open":
        return _TASK_BOX.sub("", content, count=1) if _TASK_BOX.match(content) else content
    if follows == "blockquote_open":
        return _ALERT.sub("", content, count=1)
    return content


def _lines_are_remarks(content: str) -> bool:
    """Whether the line breaks of a paragraph are meant: one remark a line, not wrapped prose.

    They are when every further line starts like a remark (capital, digit, code, "nit") and
    every break came early (the next word still fitted into 72 columns) or far too late to
    be a wrap (after column 100). Otherwise a line break is a space.
    """
    lines = [line.strip() for line in content.split("\n")]
    return len(lines) > 1 and all(
        _starts_remark(after) and _breaks_on_purpose(before, after)
        for before, after in pairwise(lines)
    )


def _starts_remark(line: str) -> bool:
    if line.startswith("`"):
        return True
    found = _STARTS_REMARK.match(line)
    return found is not None and (found[1] is None or not found[1].islower())


def _breaks_on_purpose(before: str, after: str) -> bool:
    if before.endswith((",", "(", "-", "/", "&")):
        return False
    fits = len(before) + 1 + len(after.split(" ", 1)[0]) <= _WRAP_COLUMNS
    return fits or len(before) > _LONGEST_WRAP
