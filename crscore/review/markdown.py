"""Converts a comment's Markdown to the DOM of a browser, in which hidden text is marked.

Markdown-it renders the comment much as GitHub does (tables, strikethrough, task boxes, alerts),
and Lexbor parses the HTML. Four things differ from GitHub: Markdown between the tags of an HTML
block is parsed; quotes of earlier comments are omitted; a line without `>` ends a quote; and source
text that is never rendered (titles of link definitions, unused footnotes, formulas in white) is
rendered as a hidden element.

GitHub removes most hidden text before it shows a comment; other hosts, mail programs and scorers
that read the source do not. Styles are not read: GitHub and GitLab remove the attribute `style`, so
text that it would hide is visible.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser, LexborNode

# https://html.spec.whatwg.org/multipage/parsing.html#generic-raw-text-element-parsing-algorithm
RAW_ELEMENTS: Final = frozenset(
    {"script", "style", "title", "textarea", "noscript", "noframes", "noembed", "iframe"}
)
"""Elements that are not shown, and that end at the first closing tag of the same name."""
UNSHOWN_ELEMENTS: Final = RAW_ELEMENTS | frozenset(
    {"template", "datalist", "audio", "video", "canvas", "object", "head", "rp", "desc"}
    | {"metadata", "defs", "dialog"}
)
"""All elements whose content is not shown."""
MAX_NESTING: Final = 40
"""Maximum nesting of blocks and emphasis that is read, in markdown-it's levels."""
# Markdown-it takes quadratic time to match brackets.
MAX_BRACKETS: Final = 2_000
"""Maximum number of `[` in a block; with more of them, its links are not read."""

# A tag that HTML does not define ends no unit of text (`sentences.py`), because GitHub shows
# "Func<Task> waits" as "Func waits".
BLOCK_TAG: Final = re.compile(
    "address|article|aside|blockquote|br|caption|center|d[dlt]|details|div|fieldset|figcaption|form"
    "|figure|footer|h[1-6r]|header|legend|li|main|nav|[ou]l|optgroup|option|p|pre|section|summary"
    "|t[dhr]|table|tbody|tfoot|thead"
)
"""Matches elements that end the unit that contains them."""
# If one of these elements is left open, a browser opens it again in the next paragraph:
# https://html.spec.whatwg.org/multipage/parsing.html#formatting
_FORMATTING: Final = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt"}
    | {"u"}
)
STRUCK: Final = frozenset({"s", "del", "strike"})
"""Elements whose text is struck out, so it is no longer part of the comment."""
# Elements with special parsing rules, which `parse_markdown` renames.
_RENAMED: Final = _FORMATTING | {"template", "select", "plaintext", "xmp"}

# Alerts and footnotes:
# https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax
# Tasks, and strikethrough with one or two tildes: https://github.github.com/gfm/
_ALERT: Final = re.compile(r"\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*", re.IGNORECASE)
# "[ ] open", "[x] done"; not "[y] a"
_TASK_BOX: Final = re.compile(r"\A\[[ xX]\]\s+")
# GitHub's delimiters, so that "$5 and $6" is not a formula:
# https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/writing-mathematical-expressions
_FORMULA: Final = re.compile(
    r"(?<![\w$])(?:\$\$(?:[^$\\]|\\.)+\$\$|\$(?=\S)(?:[^$\\]|\\.)+(?<=\S)\$(?!\w))", re.DOTALL
)
_FOOTNOTE: Final = re.compile(r"\[\^([^\]\s]{1,200})\]:[ \t]*")
# "[label]: https://host", also in a quote or a list item's indent
_DEFINITION: Final = re.compile(r"^[ \t>]*\[[^\[\]]*\]:", re.MULTILINE)
# A label has at most 999 characters: https://spec.commonmark.org/0.31.2/#link-label
_BRACKETED: Final = re.compile(r"\[([^\[\]]{1,999})\]")
_REFERENCE: Final = re.compile(r"\[\^([^\]\s]{1,200})\]")
_FOOTNOTE_INDENT: Final = 4
# "<!-->" and "<!--->" are whole comments: https://spec.commonmark.org/0.31.2/#html-comment
_COMMENT: Final = r"<!--(?:-?>|.*?(?:-->|\Z))"
# Text up to a comment or an element without Markdown, followed by that comment or element.
_HTML_PART: Final = re.compile(
    rf"(.*?)({_COMMENT}|<(pre|script|style|textarea)\b.*?(?:</\3\s*>|\Z)|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_TAG: Final = re.compile(
    rf"""{_COMMENT}|<(?P<end>/?)(?P<name>[a-z][a-z0-9-]*+)"""
    r"""(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*+)>""",
    re.IGNORECASE | re.DOTALL,
)
_IN_WORD: Final = re.compile(r"(?<=\w)")

# "Rename it", "- nit: x", "1. Why", "_Fix_": the group is the first letter or digit
_STARTS_REMARK: Final = re.compile(r"(?:[^\w\s]|_|\s)*(?:nits?\b|([^\W_]))")
# "src/a.py:3: error: ...", "C:\\src\\a.cs(3,5): warning ...", as linters and compilers print
_LOCATION: Final = re.compile(r"(?:[A-Z]:)?[\w.@/\\-]{1,200}(?::\d{1,7}:|\(\d{1,7},\d{1,7}\):)")
# Git's convention for messages:
# https://git-scm.com/book/en/v2/Distributed-Git-Contributing-to-a-Project
_WRAP_COLUMNS: Final = 72
_LONGEST_WRAP: Final = 100

# Commands of TeX after which MathJax shows no text, or text that is tiny, moved or covered. GitHub
# forbids some of these, and then shows an error instead of the formula.
_UNSEEN_COMMAND: Final = re.compile(
    r"""\\(?:[hv]?phantom|(?:math)?[clr]lap|[egx]?def|let|futurelet|(?:re|provide)?newcommand
    |(?:re)?newenvironment|DeclareMathOperator|if[a-z]*|begin\s*\{comment\}|tiny|scriptsize
    |scriptscriptstyle|raisebox|raise|lower|move(?:left|right)|m?kern|[hm]skip|[hm]space\s*\{\s*-
    |mathchoice|label|require|class|cssId|style|data|mmlToken|[bx]?cancel(?:to)?|sout|enclose
    |definecolor|toggle|mathtip|texttip)(?![a-zA-Z])|(?m:^)(?:[^%\\\n]|\\.)*+%.*[a-z]{2}""",
    re.IGNORECASE | re.VERBOSE,
)
_COLOR: Final = re.compile(
    r"\\(?:text)?color\s*+(?:\[\w{1,10}\]\s*+)?\{\s*+([^{}\s][^{}]{0,40}?)\s*+\}", re.IGNORECASE
)
# Colors with a contrast below 1.5 on white: names, "#eee" and "#fdfdfd", "1,1,1", "255,255,255".
_LIGHT_COLOR: Final = re.compile(
    r"\w*white\w*|transparent|snow|ivory|azure|mintcream|honeydew|seashell|aliceblue|linen|oldlace"
    r"|lavender(?:blush)?|cornsilk|lightyellow|lightcyan|beige|gainsboro|(?:rgba|hsla?)\(.*"
    r"|#?(?:[d-f]{3}|(?:[d-f][0-9a-f]){3})"
    r"|(?:rgb\()?(?:,?\s*(?:1(?:\.0+)?|0?\.(?:8[5-9]|9)\d*|2[2-5]\d)){1,3}\)?",
    re.IGNORECASE,
)
_COMMAND: Final = re.compile(r"\\(?:text)?color\s*+(?:\[\w*\])?\{[^{}$]*\}|\\[a-zA-Z]+|[{}$`%]")


def parse_markdown(text: str) -> tuple[str, LexborNode | None]:
    r"""Render Markdown to HTML and parse it as the content of a page.

    Elements with special parsing rules get the prefix `x-`, so that they are parsed like any other
    element: formatting, which takes quadratic memory if it is left open, and elements such as
    `<template>`. If an element that never shows its content is not closed, its tag is removed,
    because the tag's name was meant as a word. A `<details>` that is not closed becomes a
    `<section>`.

    Args:
        text: Markdown whose line ends are newlines.

    Returns:
        The HTML, and its first top-level node; None if there is no node.

    Example:
        >>> parse_markdown("> quoted\n\n- [x] *done*")[0]
        '<ul>\n<li><em>done</em></li>\n</ul>\n'
    """
    html = str(_make_parser().render(text))
    # For the first node, Lexbor returns the text of all nodes, so an `<hr>` is put before them.
    first = LexborHTMLParser(f"<hr>{_repair_tags(html)}", is_fragment=True).root
    return html, first.next if first else None


def lines_are_remarks(content: str) -> bool:
    r"""Return whether each line of a paragraph is a remark, so that its line breaks are intended.

    They are intended if a line after the first starts with a location, as linters print it. They
    are also intended if every line after the first starts like a remark (capital, digit, code,
    "nit"), and no break can come from wrapping: each is too early (the next word would fit into 72
    columns) or too late (after column 100). Otherwise a line break is a space.

    Args:
        content: Source of one paragraph.

    Example:
        >>> lines_are_remarks("Rename this\nDrop that"), lines_are_remarks("Rename\nthis")
        (True, False)
    """
    lines = [line.strip() for line in content.split("\n")]
    if any(map(_LOCATION.match, lines[1:])):
        return True
    for before, after in pairwise(lines):
        start = _STARTS_REMARK.match(after)
        is_start = after.startswith("`") or (start is not None and not (start[1] or "").islower())
        fits = len(before) + 1 + len(after.split(" ", 1)[0]) <= _WRAP_COLUMNS
        is_open = before.endswith((",", "(", "-", "/", "&"))
        if not is_start or is_open or not (fits or len(before) > _LONGEST_WRAP):
            return False
    return len(lines) > 1


@lru_cache(maxsize=1)
def _make_parser() -> MarkdownIt:
    options = {
        "maxNesting": MAX_NESTING,
        "inline_definitions": True,
        "strikethrough_single_tilde": True,
    }
    parser = MarkdownIt("commonmark", options).enable("strikethrough")
    # By default, Markdown-it looks for tables first, so it would find one inside an HTML comment.
    parser.block.ruler.after("html_block", "tables", table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before(
        "reference",
        "footnote",
        _read_footnote,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    parser.block.ruler.before("blockquote", "reply", _end_quote, {"alt": ["blockquote"]})
    parser.core.ruler.before("inline", "quotes", _drop_quotes)
    parser.core.ruler.at("inline", _read_inline)
    parser.inline.ruler.before("escape", "formula", _read_formula)
    parser.inline.ruler.before("link", "footnote_reference", _read_reference)
    return parser


def _end_quote(state: StateBlock, _start: int, _end: int, silent: bool) -> bool:
    """Block rule: end a quote at a line without `>`, because in a mail, the answer begins there."""
    return silent and state.parentType == "blockquote"


def _drop_quotes(state: StateCore) -> None:
    """Core rule: remove quotes, and the markers of tasks and of alerts, which are not quotes."""
    tokens: list[Token] = []
    quote_level: int | None = None
    for index, token in enumerate(state.tokens):
        # If a quote or a list item begins with text, its opening tag is followed by the opening tag
        # of a paragraph and by the text.
        following = state.tokens[index + 2 : index + 3]
        first = following[0] if following and following[0].type == "inline" else None
        if quote_level is not None:
            if token.type == "blockquote_close" and token.level == quote_level:
                quote_level = None
            continue
        if token.type == "blockquote_open":
            if first is None or not _ALERT.match(first.content):
                quote_level = token.level
                continue
            first.content = _ALERT.sub("", first.content, count=1)
        elif token.type == "list_item_open" and first is not None:
            first.content = _TASK_BOX.sub("", first.content)
        tokens.append(token)
    state.tokens = tokens


def _read_inline(state: StateCore) -> None:
    """Core rule: read inline text, also in HTML blocks, link definitions and footnotes."""
    used_labels = {*map(str.casefold, _BRACKETED.findall(_DEFINITION.sub("", state.src)))}
    for token in state.tokens:
        if token.type == "inline":
            token.children = _parse_inline(state, token.content)
        elif token.type == "html_block":
            children = []
            for text, raw, name in _HTML_PART.findall(token.content):
                is_closed = not name or (raw.endswith(">") and "</" in raw)
                children += _parse_inline(state, text.strip())
                children.append(_make_html(raw if is_closed else f"{raw}</{name}>"))
            token.type, token.children = "inline", children
        elif token.type == "definition":
            # If a link uses the definition, people see the title as the tooltip of the link.
            title = token.meta["title"].strip()
            is_seen = token.meta["label"].casefold() in used_labels
            token.type, token.children = "inline", [_hide(title)] if title and not is_seen else []
    # Footnotes come last, because the other text shows which of them are referred to.
    for token in state.tokens:
        if token.type == "footnote":
            is_shown = token.info in state.env.get("referenced", ())
            content = token.content.strip()
            token.children = _parse_inline(state, content) if is_shown else [_hide(content)]
            token.children.append(_make_html("<br>"))  # so that the next footnote is another unit
            token.type = "inline"


def _parse_inline(state: StateCore, content: str) -> list[Token]:
    if content.count("[") > MAX_BRACKETS:
        content = content.replace("[", "&#91;")
    children: list[Token] = []
    state.md.inline.parse(content, state.md, state.env, children)
    line_break = "hardbreak" if lines_are_remarks(content) else "softbreak"
    for child in children:
        if child.type == "softbreak":
            child.type = line_break
        elif child.type == "code_inline":
            child.content = child.content.strip()
    return children


def _read_reference(state: StateInline, silent: bool) -> bool:
    """Inline rule: skip a reference to a footnote, which people see as a number."""
    match = _REFERENCE.match(state.src, state.pos)
    if match is None or match[1].casefold() not in state.env.get("footnotes", ()):
        return False
    if not silent:
        state.env.setdefault("referenced", set()).add(match[1].casefold())
    state.pos = match.end()
    return True


def _read_formula(state: StateInline, silent: bool) -> bool:
    """Inline rule: replace a formula that people cannot read by a hidden element."""
    match = _FORMULA.match(state.src, state.pos) if state.src[state.pos] == "$" else None
    words = read_hidden_formula(match[0]) if match else None
    if match is None or words is None:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = _hide(words).content
    state.pos = match.end()
    return True


def _read_footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: read a footnote with all lines indented below it, as one paragraph.

    `_read_inline` hides the footnote if no text refers to it.
    """
    position = state.bMarks[start] + state.tShift[start]
    match = _FOOTNOTE.match(state.src, position, state.eMarks[start])
    if match is None or state.is_code_block(start):
        return False
    if silent:
        return True
    rules = state.md.block.ruler.getRules("paragraph")
    stop, last = start + 1, start
    while stop < end and (
        state.isEmpty(stop)
        or state.sCount[stop] - state.blkIndent >= _FOOTNOTE_INDENT
        # A line without indent continues the paragraph above it.
        or (last == stop - 1 and not any(rule(state, stop, end, True) for rule in rules))
    ):
        last = last if state.isEmpty(stop) else stop
        stop += 1
    below = state.getLines(start + 1, last + 1, state.blkIndent + _FOOTNOTE_INDENT, False)
    token = state.push("footnote", "", 0)
    token.content = f"{state.src[match.end() : state.eMarks[start]]}\n{below}"
    token.info = match[1].casefold()
    state.env.setdefault("footnotes", set()).add(token.info)
    state.line = last + 1
    return True


def _hide(text: str) -> Token:
    return _make_html(f"<span hidden>{escapeHtml(text)}</span>")


def _make_html(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)


def _repair_tags(html: str) -> str:
    tags = [tag for tag in _TAG.finditer(html) if tag["name"]]
    unclosed = _find_unclosed(tags)

    def repair(tag: re.Match[str]) -> str:
        name = (tag["name"] or "").lower()
        if tag.start() in unclosed:
            return f"<section{tag['attributes']}>" if name == "details" else ""
        if name in _RENAMED:
            return f"<{tag['end']}x-{name}{tag['attributes']}>"
        return tag[0]

    return _TAG.sub(repair, html)


def _find_unclosed(tags: Sequence[re.Match[str]]) -> frozenset[int]:
    """Return the positions of tags that hide, fold or strike out text but are never closed."""
    ends: Counter[str] = Counter()
    starts: set[int] = set()
    for tag in reversed(tags):
        name = tag["name"].lower()
        if tag["end"]:
            ends[name] += 1
        elif name in STRUCK and not ends[name] and _IN_WORD.match(tag.string, tag.start()):
            starts.add(tag.start())  # "List<S>"
        elif name in UNSHOWN_ELEMENTS or name == "details":
            if not ends[name]:
                starts.add(tag.start())
            elif name not in RAW_ELEMENTS:
                ends[name] -= 1
    return frozenset(starts)


def read_hidden_formula(formula: str) -> str | None:
    r"""Return the words of a formula that people cannot read; None for any other formula.

    If a formula has one command or color that hides text, the whole formula counts as hidden.

    Example:
        >>> read_hidden_formula(r"$\color{white}{\textsf{Well done}}$")
        'Well done'
    """
    if _UNSEEN_COMMAND.search(formula) or any(map(_LIGHT_COLOR.fullmatch, _COLOR.findall(formula))):
        return " ".join(_COMMAND.sub(" ", formula).split())
    return None
