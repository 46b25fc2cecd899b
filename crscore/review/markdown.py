"""Markdown -> the tokens that count, in order, with their text and tags read.

CommonMark is read by markdown-it-py, with tags read inline so that Markdown between them
counts. Quotes of earlier comments are left out. What a block cannot be read as (too long, too
many brackets) is cut at its tags only.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from crscore.review.line_breaks import lines_are_remarks
from crscore.review.visibility import without_formulas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.rules_block import StateBlock

MAX_BRACKETS: Final = 2_000
"""A block with more `[` is taken as it stands: matching them takes quadratic time."""
MAX_NESTING: Final = 40
"""Deepest nesting of blocks and emphasis that is read, in markdown-it's levels."""

# "<pre>", "<script defer>", "<style" at a line end; not "<prefix>".
_RAW_OPEN = re.compile(r"<(?:(!--)|(pre|script|style|textarea)(?=[\s>]|$))", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_TAG_OR_COMMENT = re.compile(r"<!--|</?[a-zA-Z][^<>]*>")
_ALERT = re.compile(r"\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*", re.IGNORECASE)
_TASK_BOX = re.compile(r"\[[ xX]\]\s+")
_DEFINITION = re.compile(r"\[((?:[^\[\]\\]|\\.){1,999})\]:")
_BRACKETED = re.compile(r"\[([^\[\]]{1,999})\]")

_SHORTEST_NOTE_WORDS: Final = 3


def blocks(text: str) -> list[Token]:
    """Read the blocks of a text.

    Args:
        text: Markdown whose line ends are newlines.

    Returns:
        In order: `inline` tokens with their children (`text`, `code_inline`, `html_inline`,
        `image`, `link_open`, `softbreak`, `hardbreak`, `formula` and others), `fence` and
        `code_block`, `pre` (the text of `<pre>`, with the tag in `info`), `unseen` (plain text
        of comments, scripts and unused link definitions) and the opening and closing tokens
        of blocks.
    """
    return _Blocks(text).tokens


def lines(text: str) -> list[Token]:
    """Read a very long text by its lines: no Markdown but fences, every line a block.

    Args:
        text: Any text whose line ends are newlines.

    Returns:
        `inline`, `fence` and `unseen` tokens, as of `blocks`.
    """
    found: list[Token] = []
    block: list[str] = []
    fenced = False
    for line in [*text.split("\n"), None]:
        if line is None or line.lstrip().startswith(("```", "~~~")):
            content = "\n".join(block)
            found.append(_fence(content) if fenced else _inline(scan(content, "hardbreak")))
            block.clear()
            fenced = not fenced
        else:
            block.append(line)
    return found


def scan(content: str, line_break: str = "softbreak") -> list[Token]:
    """Cut a text at its tags and comments, in linear time, and read no Markdown.

    Args:
        content: Any text.
        line_break: Type of the tokens that stand for newlines.

    Returns:
        Tokens of the types `text`, `html_inline` and `line_break`.
    """
    found: list[Token] = []
    begin = 0
    closable = True
    while (tag := _TAG_OR_COMMENT.search(content, begin)) is not None:
        end = tag.end()
        if tag[0] == "<!--":
            stop = content.find("-->", end - 2) if closable else -1
            closable = stop >= 0
            if not closable:
                found.extend(_texts(content[begin:end], line_break))
                begin = end
                continue
            end = stop + 3
        found.extend(_texts(content[begin : tag.start()], line_break))
        found.append(_token("html_inline", content[tag.start() : end]))
        begin = end
    found.extend(_texts(content[begin:], line_break))
    return found


def comment_text(comment: str) -> str:
    """Plain text of an HTML comment, its lines kept.

    Example:
        >>> comment_text("<!-- a <b>b</b> -->")
        'a b'
    """
    return _TAG.sub("", comment.removeprefix("<!--").removesuffix("-->")).strip()


class _Blocks:
    """Walks markdown-it's block tokens once and keeps those that count."""

    def __init__(self, text: str) -> None:
        self.tokens: list[Token] = []
        self._parser = _markdown()
        self._html = _html_lines(text)
        self._in_comment = False
        self._quotes: list[tuple[int, int]] = []
        self._unmarked: list[bool] = []
        env: dict[str, Any] = {}
        self._read(self._parser.parse(text, env))
        self._read_definitions(text, env)

    def _read(self, tokens: list[Token]) -> None:
        quote_level: int | None = None
        follows = ""
        for position, token in enumerate(tokens):
            if quote_level is not None:
                if token.type == "blockquote_close" and token.level == quote_level:
                    quote_level = None
            elif token.type == "blockquote_open" and not _is_alert(tokens, position):
                quote_level = token.level
                self._quotes.append((token.map[0], token.map[1]) if token.map else (0, 0))
            else:
                self._read_block(token, follows)
            if token.type != "paragraph_open":
                follows = token.type

    def _read_block(self, token: Token, follows: str) -> None:
        if token.type == "inline":
            self._read_inline(_without_marker(token.content, follows), token)
        elif token.type == "raw_html":
            self._read_raw(token)
        elif self._in_comment and token.content:
            self._unseen(token.content.strip())
        else:
            if token.nesting > 0:
                # In lines of HTML what looks like a list or a paragraph is no element.
                inherits = token.map is None and any(self._unmarked[-1:])
                in_html = token.map is not None and self._is_html(token.map[0], token.tag)
                token.hidden = token.hidden or inherits or in_html
                self._unmarked.append(token.hidden)
            elif token.nesting < 0 and self._unmarked:
                token.hidden = self._unmarked.pop()
            self.tokens.append(token)

    def _is_html(self, line: int, name: str) -> bool:
        # A list or a box may start on the line on which the HTML in it starts.
        first = name in {"ul", "ol", "li", "blockquote"}
        return line in self._html and (not first or line - 1 in self._html)

    def _read_inline(self, content: str, token: Token) -> None:
        """Read one block, whose last lines may be HTML for CommonMark."""
        found = content.split("\n")
        first = token.map[0] if token.map else 0
        cut = next((at for at in range(len(found)) if first + at in self._html), len(found))
        if cut:
            self._read_text("\n".join(found[:cut]))
        if cut < len(found):
            if cut and self._unmarked and not self._unmarked[-1]:
                # The paragraph ends here, before its HTML.
                self.tokens.append(Token("paragraph_close", "p", -1))
                self._unmarked[-1] = True
            self._read_html("\n".join(found[cut:]))

    def _read_text(self, content: str) -> None:
        token = self._children(content)
        children = token.children or []
        if self._in_comment:
            # "-->" is escaped in a text, so only that of another comment ends this one.
            ends = (at for at, child in enumerate(children) if child.content.endswith("-->"))
            end = next((at for at in ends if children[at].type == "html_inline"), None)
            if end is None:
                self._unseen(content)
                return
            self._unseen("".join(child.content or " " for child in children[: end + 1]))
            self._in_comment = False
            token.children = children[end + 1 :]
        self.tokens.append(token)

    def _read_html(self, content: str) -> None:
        """Read lines of HTML, whose comments may go on over the next blocks."""
        if self._in_comment:
            inside, end, content = content.partition("-->")
            self._unseen(comment_text(inside))
            self._in_comment = not end
        if (start := _open_comment(content)) is not None:
            self._unseen(comment_text(content[start:]))
            self._in_comment = True
        # Markdown around the comments counts, so they are taken out before it is read.
        rest = []
        for child in scan(content[:start]):
            if child.content.startswith("<!--"):
                self._unseen(comment_text(child.content))
            else:
                rest.append(child.content or "\n")
        self.tokens.append(self._children("".join(rest).strip()))

    def _children(self, content: str) -> Token:
        content, formulas = without_formulas(content)
        children = [_token("formula", formula) for formula in formulas]
        if content.count("[") > MAX_BRACKETS:
            return _inline([*children, *scan(content)])
        self._parser.inline.parse(content, self._parser, {}, children)
        if lines_are_remarks(content):
            for child in children:
                child.type = "hardbreak" if child.type == "softbreak" else child.type
        return _inline(children)

    def _read_raw(self, token: Token) -> None:
        if not token.info or self._in_comment:
            self._read_html(token.content)
            # A mark that CommonMark takes for text closes nothing.
            last = token.map[1] - 1 if token.map else 0
            self._in_comment = self._in_comment or last not in self._html
            return
        found = re.search(rf"</{token.info}[^>]*+>?", token.content, re.IGNORECASE)
        inside = token.content[: found.start() if found else None]
        rest_of_line = token.content[found.end() :].strip() if found else ""
        opening = _TAG.match(inside)
        text = html.unescape(_TAG.sub("", inside)).strip("\n")
        if token.info == "pre":
            self.tokens.append(_token("pre", text, info=opening[0] if opening else ""))
        else:
            self._unseen(text.strip())
        if rest_of_line:
            self.tokens.append(self._children(rest_of_line))

    def _unseen(self, text: str) -> None:
        if text:
            self.tokens.append(_token("unseen", text))

    def _read_definitions(self, text: str, env: dict[str, Any]) -> None:
        """Keep what link definitions say to nobody: titles, prose as an address or a label."""
        found = [*env.get("references", {}).values(), *env.get("duplicate_refs", ())]
        if not found:
            return
        source = text.split("\n")
        used = Counter(match.casefold() for match in _BRACKETED.findall(text))
        starts = [start for start, _ in self._quotes]
        for definition in sorted(found, key=lambda one: one["map"][0]):
            line = definition["map"][0]
            quote = bisect_right(starts, line) - 1
            if quote >= 0 and line < self._quotes[quote][1]:
                continue
            label = _DEFINITION.search("\n".join(source[line : definition["map"][1]]))
            words = label[1].split() if label else []
            # Its own definition is one use.
            if label and len(words) >= _SHORTEST_NOTE_WORDS and used[label[1].casefold()] <= 1:
                self._unseen(" ".join(words))
            address = unquote(definition["href"])
            if len(address.split()) > 1:
                self._unseen(address)
            self._unseen(definition["title"].strip())


def _markdown() -> MarkdownIt:
    """CommonMark with tables, where tags are read inline so that Markdown between them counts."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable("html_block")
    parser.core.ruler.disable("inline")  # `_Blocks` decides block by block
    parser.block.ruler.before(
        "table", "raw_html", _raw_html, {"alt": ["paragraph", "reference", "blockquote"]}
    )
    return parser


def _html_lines(text: str) -> frozenset[int]:
    """Numbers of the lines that CommonMark passes on as HTML, of which we read the Markdown."""
    if "<" not in text:
        return frozenset()
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.core.ruler.disable("inline")
    found = (token.map for token in parser.parse(text) if token.type == "html_block")
    return frozenset(line for span in found if span for line in range(span[0], span[1]))


def _raw_html(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: comments and preformatted or hidden elements, blank lines included."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    found = _RAW_OPEN.match(first)
    if found is None or state.is_code_block(start):
        return False
    if silent:
        return True
    inside = False
    stop = f"</{found[2].lower()}" if found[2] else ""
    line = start
    while line < end:
        content = state.src[state.bMarks[line] : state.eMarks[line]]
        if stop and stop in content.lower():
            break
        # A comment may end on a line and the next begin.
        inside = not stop and _ends_in_comment(content, inside=inside)
        if not stop and not inside:
            break
        line += 1
    state.line = min(line + 1, end)
    token = state.push("raw_html", "", 0)
    token.map = [start, state.line]
    token.content = state.getLines(start, state.line, state.blkIndent, keepLastLF=True)
    token.info = found[2].lower() if found[2] else ""
    return True


def _ends_in_comment(line: str, *, inside: bool) -> bool:
    # The last mark decides: "-->" outside and "<!--" inside a comment mean nothing.
    opened, closed = line.rfind("<!--"), line.rfind("-->")
    if opened > closed:
        return True
    return inside and closed < 0


def _open_comment(content: str, begin: int = 0) -> int | None:
    """Where the comment starts that is not closed in a content, or None."""
    while (start := content.find("<!--", begin)) >= 0:
        begin = content.find("-->", start + 2) + 3  # "<!-->" is a whole comment
        if begin < 3:
            return start
    return None


def _token(kind: str, content: str, *, info: str = "") -> Token:
    return Token(kind, "", 0, content=content, info=info)


def _fence(content: str) -> Token:
    return _token("fence", f"{content}\n")


def _inline(children: Sequence[Token]) -> Token:
    return Token("inline", "", 0, children=list(children))


def _texts(content: str, line_break: str) -> Iterator[Token]:
    for number, line in enumerate(content.split("\n")):
        if number:
            yield _token(line_break, "")
        if line:
            yield _token("text", line)


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
