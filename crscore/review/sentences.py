"""Splits the text of a review into the sentences that are compared with the pseudo-references.

The parts of this module are, in this order: the splitters; the running text of a comment, without
code and hidden text; the labels that a writer puts around a remark; the boilerplate of bots. A unit
is a paragraph, a heading, a list item, a table cell, or a line that the writer ended on purpose. No
sentence crosses the boundary of a unit.
"""

import html
import importlib.resources
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

import msgspec
import sentencex
from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from crscore.errors import ConfigError
from crscore.records import ParsedComment, Position
from crscore.review.markdown import (
    BLOCK_TAG,
    STRUCK,
    UNSHOWN_ELEMENTS,
    parse_markdown,
    read_hidden_formula,
)
from crscore.text import INVISIBLE, clean
from crscore.version import version_of

CODE_OPEN: Final = "\x02"
"""Character before a code span in a unit. As such characters are removed from the input, it is
unambiguous."""
CODE_CLOSE: Final = "\x03"
"""Character after a code span in a unit."""
LABEL_END: Final = "\x04"
"""Character after a label in bold or italics. A sentence may follow without a separator."""
BADGE: Final = "\x05{}\x06"
"""Format of the text that replaces, in a unit, an image that shows a label."""
SPLITTERS: Final = ("markdown", "paper")
"""Valid splitter names for `split_comment`."""
_MARKDOWN_VERSION: Final = 11
"""Version of the `markdown` splitter, which is part of the signature. It is increased with every
change of the splitter's output."""
_LIBRARIES: Final = ("markdown-it-py", "selectolax", "sentencex")
# The segmenter takes quadratic time on unclosed quotes.
_WINDOW_CHARS: Final = 2_000
"""Maximum number of characters that the segmenter gets at once."""

_URL: Final = r"(?:https?://|www\.)[^\s<>]*[^\s<>.,:;!?'\")\]]"
# Texts in which a full stop does not end a sentence, so the segmenter gets other characters. In
# order: a code span; a URL; a full stop inside a word ("React.Component", ".env", "a?.b", but not
# "e.g."); "1. 2"; "2. " at the start of a sentence; abbreviations that the segmenter does not
# recognize, inside a sentence.
_MASKED: Final = re.compile(
    rf"{CODE_OPEN}[^{CODE_OPEN}{CODE_CLOSE}]*{CODE_CLOSE}"
    rf"|\b{_URL}"
    r"|(?<![.?!])[.?!]++(?=[\w/\\(\[{$@=-](?!\.))"
    r"|(?<!\S)\d{1,3}\.(?=\s\d)"
    r"|(?:\A|(?<=[.!?]\s))\d{1,3}\.(?=\s)"
    r"|\b(?:[Aa]pprox|[Ii]ncl|[Ee]xcl|[Rr]esp|[Ee]sp|[Mm]ax|[Mm]in|[Aa]vg|[Ss]ec)\.(?=\s[a-z\d])"
)
# Most units of lists and tables have none of these characters, so no sentence ends inside them.
_MAY_END: Final = re.compile(r"[^\w\s,:;()\-`'/#*+<>|=\x02\x03]")
# A one-letter variable or unit that ends a sentence ("set it to x. Then", "0.5 s. That"),
# which the segmenter mistakes for an initial.
_LAST_LETTER: Final = re.compile(r"(?<=\s)[a-z](?=[.?!]\s[A-Z\x02])")
# "(See above.) It fails.": the segmenter does not split after a closed bracket or quote.
_AFTER_CLOSING: Final = re.compile(r"(?<=[.?!…][)\]\"'”’])\s+(?=[A-Z\x02])")
# "1. ", "(2) ", "- ", "• "; not "1.5 ", "-a"
_ENUMERATOR: Final = re.compile(r"\A(?:\(?\d{1,3}[.)]|[•·‣▪*+–—-])\s+")
# A path alone ("src/app.py:12", "app.py (2)") is the location of a remark, not a remark. The
# repetitions are bounded, so that a run of slashes is not scanned to its end from every character.
_NAME: Final = r"[\w@-][\w.@-]{0,80}\.\w{1,5}"
_PATH: Final = (
    rf"(?:(?:[\w.@-]{{1,80}}/){{1,20}}{_NAME}(?::\d{{1,7}})?|{_NAME}(?= \(\d{{1,3}}\)))\b"
    r"(?: \(\d{1,3}\))?"
)
# The quantifier is possessive, because "https://a.https://a. x" can be divided into URLs and other
# characters in exponentially many ways.
_WITHOUT_WORDS: Final = re.compile(rf"(?>{_URL}|:[a-z0-9_+-]+:|{_PATH}|[\W_])++", re.IGNORECASE)


def split_comment(body: str, *, splitter: str = "markdown") -> ParsedComment:
    """Split one comment into sentences and other parts.

    `markdown` reads the text as Markdown. Paragraphs, headings, list items and table cells are
    split into sentences. Code blocks and suggestions are kept separate. Quotes of earlier comments,
    images, HTML, link targets, labels, bots' boilerplate, struck out text and units without a
    letter or digit are dropped. Invisible text (HTML comments, hidden elements, attributes, titles
    of link definitions, unused footnotes, invisible characters) is stored in `hidden`. Invisible
    characters inside a word are removed. A line break inside a paragraph is a space, unless the
    paragraph looks like one remark per line. Code spans keep their backticks. A sentence of more
    than 2,000 characters is cut.

    `paper` only splits at line ends, then at ". " and "? ".

    Args:
        body: Markdown or plain text, any characters.
        splitter: One of `SPLITTERS`.

    Returns:
        The parts. The sentences are in order and none of them is blank. For an empty review, the
        reference code returns one empty sentence; here there is none, and the pipeline handles this
        case.

    Raises:
        ConfigError: `splitter` is unknown. Any `body` is accepted.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801v2, for `paper`: the reference code
        atharva-naik/CRScore. `markdown` is specific to crscore.

    Example:
        >>> split_comment("Why? Because `a.b()` fails, e.g. on Windows. Fix it.").sentences
        ('Why?', 'Because `a.b()` fails, e.g. on Windows.', 'Fix it.')
        >>> split_comment("Why? Because it fails. Fix it.", splitter="paper").sentences
        ('Why', 'Because it fails', 'Fix it.')
    """
    _check_splitter(splitter)
    return _parse_paper(body) if splitter == "paper" else _parse_markdown(body)


def _check_splitter(splitter: str) -> None:
    if splitter not in SPLITTERS:
        names = ", ".join(SPLITTERS)
        raise ConfigError("splitter", "settings", f"{splitter!r} is not one of {names}")


def identity(splitter: str) -> str:
    """Return the name of a splitter with the versions of the libraries that affect its sentences.

    Args:
        splitter: One of `SPLITTERS`.

    Returns:
        The identity for the signature. With the same identity, a text has the same sentences.

    Raises:
        ConfigError: `splitter` is unknown.

    Example:
        >>> identity("paper")
        'paper'
    """
    _check_splitter(splitter)
    if splitter == "paper":
        return splitter
    libraries = ",".join(f"{name}-{version_of(name)}" for name in _LIBRARIES)
    return f"{splitter}-{_MARKDOWN_VERSION}({libraries})"


def _parse_markdown(body: str) -> ParsedComment:
    prose = read_prose(body)
    pieces: list[tuple[str, Position]] = []
    labels: list[tuple[str, bool]] = []
    severity = None
    for block, unit in enumerate(prose.units):
        severity_above, is_below_text = severity, bool(pieces)
        for text, label in _split_unit(unit.text):
            is_kept = _has_words(text) and not text.isdecimal() and not is_boilerplate(text)
            if label:
                severity = label
                labels.append((label, is_kept))
            if is_kept:
                pieces.append((text, Position(block, unit.is_heading, severity)))
        # In a later paragraph, a label before a remark ("nit: rename it") applies only there.
        if is_below_text and labels and labels[-1][1] and not unit.is_heading:
            severity = severity_above
    if len(labels) == 1 and not labels[0][1]:  # if alone, the label may also be below the remark
        pieces = [(text, replace(at, severity=labels[0][0])) for text, at in pieces]
    # In hidden text, boilerplate is kept, because no hidden text is written for people.
    hidden = (map(_clean_sentence, _segment(unit)) for unit in prose.hidden)
    return ParsedComment(
        sentences=tuple(text for text, _ in pieces),
        positions=tuple(position for _, position in pieces),
        hidden=tuple(filter(_has_words, chain.from_iterable(hidden))),
        suggestions=tuple(prose.suggestions),
        suggestion_offsets=tuple(prose.suggestion_offsets),
        code_blocks=tuple(prose.code_blocks),
        diffs=tuple(prose.diffs),
        follows=prose.follows,
    )


def _parse_paper(body: str) -> ParsedComment:
    lines = (line for line in body.split("\n") if line.strip())
    pieces = (piece for line in lines for piece in re.split(r"[.?] ", line))
    # A delimiter at the end of a line leaves a blank piece. The reference code keeps it, but here a
    # blank sentence has no vector.
    return ParsedComment(sentences=tuple(piece for piece in pieces if piece.strip()))


def _split_unit(unit: str) -> Iterator[tuple[str, str | None]]:
    """Yield each sentence of a unit without its labels, and the severity that the labels name."""
    pieces = tuple(_segment(unit))
    # Some boilerplate is longer than a sentence, so the whole unit is checked too.
    if len(pieces) == 1 or not is_boilerplate(clean(unit)):
        for piece in pieces:
            if is_boilerplate(clean(piece)):
                continue
            text, severity = strip_labels(_ENUMERATOR.sub("", piece.strip(), count=1))
            yield _clean_sentence(text), severity


def _segment(unit: str) -> Iterator[str]:
    """Split one unit into sentences; together, they have all characters of the unit."""
    if len(unit) <= _WINDOW_CHARS and _MAY_END.search(unit) is None:
        yield unit
        return
    masked = _MASKED.sub(lambda match: "X" + "x" * (len(match[0]) - 1), unit)
    masked = _LAST_LETTER.sub("0", masked)
    start = 0
    while start < len(masked):
        window = masked[start : start + _WINDOW_CHARS]
        boundaries = sentencex.get_sentence_boundaries("en", window)
        after_closing = {match.end() for match in _AFTER_CLOSING.finditer(window)}
        ends = sorted({item["end_index"] for item in boundaries} | after_closing)
        if start + len(window) < len(masked):
            # The last sentence may continue in the next window, so it is left to that window. If it
            # is the only sentence, it is cut at a space.
            ends = ends[:-1] or [window.rfind(" ") + 1 or len(window)]
        begin = 0
        for end in ends:
            yield unit[start + begin : start + end]
            begin = end
        start += begin


def _clean_sentence(piece: str) -> str:
    return _ENUMERATOR.sub("", " ".join(clean(piece).split()), count=1)


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text)) and _WITHOUT_WORDS.fullmatch(text) is None


# GitHub's limit for a comment: https://github.com/danger/danger/issues/424
MAX_PART_CHARS: Final = 65_536
"""Maximum number of characters that are read at once; a longer body is read in parts."""
_TITLES: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "summary", "th"})
_BOLD: Final = frozenset({"b", "strong"})
_LABEL_TAGS: Final = _BOLD | {"em", "i", "kbd", "sub", "sup", "mark", "span", "td"}
_MAX_LABEL_PARTS: Final = 8
"""Maximum number of texts in an element that can be a label."""
_EMPTY_CODE: Final = f"{CODE_OPEN}``{CODE_CLOSE}"

# "language-suggestion"; on GitLab also "language-suggestion:-0+1", ":-1" and ":+2":
# https://docs.gitlab.com/user/project/merge_requests/reviews/suggestions/
_SUGGESTION: Final = re.compile(
    r"language-suggestion(:(?:-?(\d{1,3}))?(?:\+(\d{1,3}))?$)?", re.IGNORECASE
)
_FENCE: Final = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
# A bot's whole review in one code block, after "Here is my review:" or after nothing, as in
# https://github.com/dotCMS/core/pull/36303. The first fence inside the review, if any, must open a
# block, not close one.
_WRAPPED: Final = re.compile(
    r"\s*+(?:[^\n`]{0,200}\breview\b[^\n`]{0,200}\n\s*)?(`{3,9}|~{3,9})(?:markdown|md)[ \t]*\n"
    r"(?!(?:(?!\1).*\n)*+\1[ \t]*\n)",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<[^<>]*>")
# "<br>", "</p>", "<li class=a>"; not "<b>"
_BLOCK_TAG: Final = re.compile(r"</?(?:p|li|h[1-6]|t[dhr]|pre|br)\b[^<>]*>", re.IGNORECASE)
# An empty line, or a line that starts like a list item: HTML comments are often written like
# Markdown.
_UNSEEN_BREAK: Final = re.compile(r"\n[ \t]*(?:\n|(?=(?:[-*+•]|\d{1,3}[.)])[ \t]))")
# State that a bot stores in a comment, as base64 or the like.
_STATE: Final = re.compile(r"(?<![A-Za-z0-9+/=-])[A-Za-z0-9+/=-]{200,}")


class Unit(NamedTuple):
    """Unit of running text."""

    text: str
    """The text, never blank; `CODE_OPEN` and `CODE_CLOSE` enclose its code spans."""
    is_heading: bool = False
    """Whether the unit is a heading, a header cell, the title of a folded section or all bold."""


class _Section(msgspec.Struct):
    """Open `<details>`, with the numbers of units and blocks that were read before it."""

    units: int
    code_blocks: int
    diffs: int
    hidden: bool = False


class Prose:
    """Text of one comment by kind, collected in a single walk over its DOM."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        """Units of running text, in order."""
        self.suggestions: list[str] = []
        """Contents of suggestion blocks, without the last newline."""
        self.suggestion_offsets: list[tuple[int, int] | None] = []
        """Offsets of each suggestion block: see `ParsedComment`."""
        self.code_blocks: list[str] = []
        """Contents of other non-blank code blocks, without the last newline."""
        self.diffs: list[str] = []
        """Contents of non-blank diff blocks, without the last newline."""
        self.follows: dict[str, int] = {}
        """Content of a block -> index of the unit that it follows; -1 at the start."""
        self.hidden: list[str] = []
        """Invisible texts, in order, never blank, without Markdown."""
        # Parts of the unit that is being read, and of the hidden text that is being read.
        self._seen: list[str] = []
        self._unseen: list[str] = []
        # Numbers of open elements of each kind, and other facts about the current position.
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
        """Read a node with its content, and all nodes after it, in order."""
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
        """Add invisible texts to `hidden`, without the encoded data that bots store in them."""
        for text in texts:
            for part in _UNSEEN_BREAK.split(text):
                cleaned = " ".join(_STATE.sub(" ", clean(part)).split())
                if cleaned:
                    self.hidden.append(cleaned)

    @property
    def _buffer(self) -> list[str]:
        if self._struck:
            return []  # struck out text is dropped
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
        """Read the start of an element; return True if the element hides its content."""
        if BLOCK_TAG.fullmatch(name):
            self._end_unit()
        attributes = {key: clean(value or "") for key, value in node.attributes.items()}
        address = attributes.get("src", "")
        badge = read_badge(attributes.get("alt", ""), address) if name == "img" else None
        if badge:
            self._buffer.append(BADGE.format(badge))
        elif badge is None:
            self.hide(attribute_texts(attributes))
        self._struck += name in STRUCK
        # An open dialog is shown.
        is_unshown = name in UNSHOWN_ELEMENTS and not (name == "dialog" and "open" in attributes)
        hiding = is_unshown or "hidden" in attributes
        self._hiding += hiding
        self._titles += name in _TITLES
        self._bold += name in _BOLD
        if name == "code":
            # Of nested `<code>` elements, only the outermost is a code span.
            if self._code is None:
                self._code = self._buffer
                self._code.append(f"{CODE_OPEN}`")
            self._code_depth += 1
        elif name == "pre":
            self._read_code(node)
        elif name == "details":
            section = _Section(len(self.units), len(self.code_blocks), len(self.diffs))
            self._sections.append(section)
        elif name == "summary":
            self._summary_at = len(self.units)
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
        elif BLOCK_TAG.fullmatch(name):
            self._end_unit()
        self._hiding -= hiding
        self._struck -= name in STRUCK
        self._titles -= name in _TITLES
        self._bold -= name in _BOLD
        if hiding and not self._hiding:
            self.hidden += self._take(self._unseen)
        if name == "details":
            self._close_section()
        elif name == "summary" and self._sections:
            summary = " ".join(unit.text for unit in self.units[self._summary_at :])
            self._sections[-1].hidden |= is_hidden_section(summary)

    def _close_section(self) -> None:
        # The suggestions of a hidden section are kept, because CodeRabbit puts its committable
        # suggestions into a section with such a title.
        section = self._sections.pop()
        if section.hidden:
            del self.units[section.units :]
            del self.code_blocks[section.code_blocks :]
            del self.diffs[section.diffs :]
            # The suggestions of the section now follow the unit before the section.
            for content in reversed(self.follows):
                if self.follows[content] < section.units:
                    break
                self.follows[content] = section.units - 1

    def _end_unit(self) -> None:
        """End the unit that is being read, visible or hidden; a blank unit is dropped."""
        self.hidden += self._take(self._unseen)
        if not self._hiding:
            is_heading = bool(self._titles) or not self._has_plain_text
            self.units += (Unit(text, is_heading) for text in self._take(self._seen))
            self._has_plain_text = False

    def _take(self, buffer: list[str]) -> Iterator[str]:
        """Empty a buffer and yield its text, unless it is blank."""
        if not buffer:
            return
        is_code = buffer is self._code
        # If a unit ends within a code span, the span is closed here and opened again in the next.
        written = "".join([*buffer, f"`{CODE_CLOSE}"] if is_code else buffer)
        buffer[:] = [f"{CODE_OPEN}`"] if is_code else []
        text = " ".join(written.replace(_EMPTY_CODE, "").split())
        if text:
            yield text

    def _read_code(self, node: LexborNode) -> None:
        content = clean(node.text(deep=True)).removesuffix("\n")
        fence = node.first_child
        info = (fence.attributes.get("class") or "") if fence and fence.tag == "x-code" else ""
        words = read_hidden_formula(content) if info.lower() == "language-math" else None
        if self._hiding or words is not None:
            self.hide([content if words is None else words])
            return
        if self._struck:
            return
        self.follows.setdefault(content, len(self.units) - 1)
        if block := _SUGGESTION.match(info):
            self.suggestions.append(content)
            offsets = (int(block[2] or 0), int(block[3] or 0)) if block[1] else None
            self.suggestion_offsets.append(offsets)
        elif content.strip():
            is_diff = info.lower() == "language-diff"
            (self.diffs if is_diff else self.code_blocks).append(content)


def read_prose(body: str) -> Prose:
    """Extract the text of one comment.

    This raises no errors and takes linear time, because a body of more than `MAX_PART_CHARS` is cut
    at line ends and read in parts. Each part is read like a separate comment, except that a code
    block continues in the next part.

    Args:
        body: Markdown or plain text, any characters.
    """
    prose = Prose()
    prose.hide(decode_smuggled(body))
    text = clean(body)
    # If a fence encloses the whole comment, hosts show the source, but the writer meant Markdown.
    if wrapped := _WRAPPED.match(end := text.rstrip()):
        text = end[wrapped.end() :].removesuffix(wrapped[1])
    for part in _split_parts(text):
        rendered, node = parse_markdown(part)
        # Entities ("&#xE0041;") can bring back characters that were removed from the body.
        prose.hide(decode_smuggled(rendered))
        prose.read(node)
    return prose


def _split_parts(text: str) -> Iterator[str]:
    begin, fence = 0, ""
    while len(text) - begin > MAX_PART_CHARS:
        end = text.rfind("\n", begin, begin + MAX_PART_CHARS) + 1 or begin + MAX_PART_CHARS
        # If the cut divides a code block, the block's fence is repeated in the next part.
        yield fence + text[begin:end]
        for marker in _FENCE.findall(text, begin, end):
            fence = "" if fence.strip() == marker else fence or f"{marker}\n"
        begin = end
    yield fence + text[begin:]


_SHORTEST_RUN: Final = 4
"""Minimum number of characters that can encode a word."""
_TAGS: Final = 0xE0000
_TAG_CHARACTERS: Final = re.compile("[\U000e0020-\U000e007e]+")
# A flag such as the flag of Wales: a black flag, at most seven tags, the tag that ends it
# (emoji tag sequences of https://www.unicode.org/reports/tr51/).
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,7}\U000e007f")
_TEXT_ATTRIBUTES: Final = frozenset(
    {"alt", "title", "aria-label", "aria-description", "aria-placeholder", "aria-valuetext"}
    | {"aria-roledescription", "content", "label", "placeholder", "srcdoc", "summary", "value"}
)


def decode_smuggled(text: str) -> tuple[str, ...]:
    r"""Decode the text that invisible characters encode.

    Tag characters (U+E0020 to U+E007E) stand for ASCII characters. They are read line by line;
    letters that are scattered over a line are read as one word. Flags, which also have tag
    characters, are ignored.

    Args:
        text: Text as received, before `clean`.

    Returns:
        The text of each line; texts of fewer than four characters are ignored.

    Example:
        >>> decode_smuggled("fine" + "".join(chr(0xE0000 + ord(letter)) for letter in "rate 5"))
        ('rate 5',)
    """
    if INVISIBLE.search(text) is None:
        return ()
    decoded: list[str] = []
    for line in _FLAG.sub("", text).splitlines():
        runs = ["".join(chr(ord(c) - _TAGS) for c in run) for run in _TAG_CHARACTERS.findall(line)]
        # Scattered letters form one word, but longer runs of letters are separate words.
        joiner = " " if any(len(run) >= _SHORTEST_RUN for run in runs) else ""
        decoded.append(joiner.join(runs))
    collapsed = (" ".join(text.split()) for text in decoded)
    return tuple(text for text in collapsed if len(text) >= _SHORTEST_RUN)


def attribute_texts(attributes: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts in attributes: alternative texts of images, tooltips, data.

    The values of `data-` attributes, and of `aria-` attributes that are not meant for text, are
    yielded only if they have two or more words; the rest are numbers, names and switches.

    Args:
        attributes: Values by name, in lower case.

    Yields:
        The values that have a letter, in order, with collapsed white space.

    Example:
        >>> list(attribute_texts({"alt": "a shot", "data-id": "a1", "width": "5"}))
        ['a shot']
    """
    for name, value in attributes.items():
        words = value.split()
        is_relevant = name in _TEXT_ATTRIBUTES or (
            name.startswith(("data-", "aria-")) and len(words) > 1
        )
        if is_relevant and any(map(str.isalpha, value)):
            yield " ".join(words)


# Labels of a remark say how its writer rates it, which is not part of what the remark says: "P1:",
# "**issue (blocking):**", "[High]", "🔴", "Severity: high", "Confidence 4/5", a badge. A label is a
# few known words (`labels.toml`) in brackets, or at the start of a sentence with a separator after
# them, or a whole unit. Other words are text: "Note that ...", "High load blocks".
SEVERITIES: Final = ("critical", "high", "medium", "low")
"""Severities that labels name, the worst first."""
_MAX_TAIL: Final = 100
"""Maximum number of characters at the end of a text that are searched for a label."""
_BADGE: Final = re.compile(BADGE.format("([^\x05\x06]*)"))


@cache
def _read_grammar() -> dict[str, str]:
    """Return a mapping from names in `labels.toml` to expressions, with each `{name}` replaced."""
    parts: dict[str, str] = {}
    file = importlib.resources.files("crscore.review") / "labels.toml"
    for name, pattern in tomllib.loads(file.read_text(encoding="utf-8")).items():
        parts[name] = re.sub(r"\{([a-z_]+)\}", lambda match: f"(?:{parts[match[1]]})", pattern)
    # The mildest comes first, because "non-blocking" is not "blocking".
    words = [rf"(?P<{name}>\b(?:{parts[name]})\b)" for name in reversed(SEVERITIES)]
    return parts | {"severity": "|".join(words)}


# `leading` and `trailing` take 0.17 s to compile, a tenth of a whole run. Most sentences have no
# label, so the small `may_lead` and `may_trail`, which match wherever the large patterns do, are
# tried first.
@cache
def _compile(name: str) -> re.Pattern[str]:
    return re.compile(_read_grammar()[name], re.IGNORECASE)


def strip_labels(text: str) -> tuple[str, str | None]:
    """Remove the labels at both ends of a sentence.

    Args:
        text: The sentence, which may contain `LABEL_END`, badges, and the characters around code
            spans.

    Returns:
        The text without the labels, and the most serious of the `SEVERITIES` that the labels name;
        None if they name none.

    Example:
        >>> strip_labels("P1: `x` is null.")
        ('`x` is null.', 'high')
        >>> strip_labels("Note that `x` is null.")
        ('Note that `x` is null.', None)
    """
    # Labels are shown but not scored, because a single label moved a standing by up to 74 points
    # (docs/design/004-sentences.md).
    levels = {name for badge in _BADGE.findall(text) for name in _find_severities(badge)}
    remaining, after_emoji = _BADGE.sub(" ", text).strip(), False
    while label := (
        (after_emoji and _compile("after_emoji").match(remaining))
        or (_compile("may_lead").match(remaining) and _compile("leading").match(remaining))
        or (
            _compile("may_trail").search(remaining, tail := max(0, len(remaining) - _MAX_TAIL))
            and _compile("trailing").search(remaining, tail)
        )
    ):
        severities = _find_severities(label[0])
        if len(severities) > 1:  # text that only looks like a label: "[low, high] is the range"
            break
        levels |= severities
        after_emoji = not any(map(str.isalnum, label[0]))
        before, after = remaining[: label.start()], remaining[label.end() :]
        remaining = before + (after if before else _compile("separators").sub("", after))
    return remaining, min(levels, key=SEVERITIES.index, default=None)


def strip_source_labels(text: str) -> str:
    """Remove the labels at both ends of a short text in Markdown; a text of only labels is kept.

    Example:
        >>> strip_source_labels("**Bug:** `f` is *never* closed [P1]")
        '`f` is *never* closed'
    """
    marked = text.replace("**", LABEL_END).strip(f" {LABEL_END}")
    return strip_labels(marked)[0].replace(LABEL_END, "**") or text


def is_label(text: str) -> bool:
    """Return whether a text is nothing but labels."""
    return bool(text.strip()) and not strip_labels(f"{text}{LABEL_END}")[0]


def read_badge(alternative: str, address: str) -> str | None:
    """Return the label that an image shows; "" for a button or a similar image; None for a picture.

    Example:
        >>> read_badge("P1 Badge", "p1.svg"), read_badge("Screenshot", "a.png")
        ('P1 Badge', None)
    """
    if is_label(alternative):
        return alternative
    if _compile("badge_address").search(address):
        return address.rpartition("/")[2]
    return "" if is_boilerplate(alternative) else None


def _find_severities(label: str) -> set[str]:
    """Return the severities that a label names; "high confidence" names none."""
    rated = _compile("without_severity").sub("", label.replace("_", " "))
    return {match.lastgroup or "" for match in _compile("severity").finditer(rated)}


_PATTERNS: Final = tomllib.loads(
    (importlib.resources.files("crscore.review") / "boilerplate.toml").read_text(encoding="utf-8")
)
# Losing a remark is worse than keeping a footer. So a pattern must match a whole text, except the
# emoji, punctuation and counts ("(3)") around it (docs/design/004-sentences.md).
_EDGES: Final = re.compile(r"^[\W_]+|(?:[\W_]|\(\d+\))+$")
_HIDDEN_SECTION: Final = re.compile(
    rf"[\Wℹ]*(?:{'|'.join(_PATTERNS['hidden_sections'])})\W*(?:\(\w+\))?\W*"
)
_BOILERPLATE: Final = re.compile("|".join(_PATTERNS["boilerplate"]))
_MIN_CHARS: Final = 3
_MAX_CHARS: Final = 300


def is_hidden_section(title: str) -> bool:
    """Return whether a folded section with this title holds logs, prompts or a bot's manual.

    Example:
        >>> is_hidden_section("🤖 Prompt for AI Agents"), is_hidden_section("Why this is slow")
        (True, False)
    """
    return len(title) <= _MAX_CHARS and _HIDDEN_SECTION.fullmatch(title.lower()) is not None


def is_boilerplate(text: str) -> bool:
    """Return whether a unit or sentence is text that a bot adds around its remarks.

    Example:
        >>> is_boilerplate("Thanks for using CodeRabbit!"), is_boilerplate("This leaks memory.")
        (True, False)
    """
    if not _MIN_CHARS <= len(text) <= _MAX_CHARS:
        return False
    return _BOILERPLATE.fullmatch(_EDGES.sub("", text.replace("’", "'").lower())) is not None
