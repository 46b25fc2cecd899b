"""Splitting of review text into the units compared with the pseudo-references."""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

import sentencex
from msgspec.structs import replace

from crscore.errors import ConfigError
from crscore.records import ParsedComment, Position
from crscore.review.boilerplate import is_boilerplate
from crscore.review.labels import strip_labels
from crscore.review.prose import CODE_CLOSE, CODE_OPEN, read_prose
from crscore.review.visibility import clean
from crscore.version import version_of

_MARKDOWN_VERSION: Final = 10
"""Version of the `markdown` splitter, part of the signature; increased with every change of its
output.
"""
_LIBRARIES: Final = ("markdown-it-py", "selectolax", "sentencex")
_WINDOW_CHARS: Final = 2_000
"""Maximum characters passed to the segmenter, which takes quadratic time on unclosed quotes."""

_URL: Final = r"(?:https?://|www\.)[^\s<>]*[^\s<>.,:;!?'\")\]]"
# Texts with a full stop that does not end a sentence; their characters are hidden from the
# segmenter. In order: a code span; a URL; a full stop inside a word ("React.Component", ".env",
# "a?.b", but not "e.g."); "1. 2"; "2. " at the start of a sentence; abbreviations that the
# segmenter does not recognize, inside a sentence.
_HIDDEN: Final = re.compile(
    rf"{CODE_OPEN}[^{CODE_OPEN}{CODE_CLOSE}]*{CODE_CLOSE}"
    rf"|\b{_URL}"
    r"|(?<![.?!])[.?!]++(?=[\w/\\(\[{$@=-](?!\.))"
    r"|(?<!\S)\d{1,3}\.(?=\s\d)"
    r"|(?:\A|(?<=[.!?]\s))\d{1,3}\.(?=\s)"
    r"|\b(?:[Aa]pprox|[Ii]ncl|[Ee]xcl|[Rr]esp|[Ee]sp|[Mm]ax|[Mm]in|[Aa]vg|[Ss]ec)\.(?=\s[a-z\d])",
)
# Without any of these no sentence ends inside a unit, as in most units of a list or table.
_MAY_END: Final = re.compile(r"[^\w\s,:;()\-`'/#*+<>|=\x02\x03]")
# A one-letter variable or unit that ends a sentence ("set it to x. Then", "0.5 s. That"),
# which the segmenter mistakes for an initial.
_LAST_LETTER: Final = re.compile(r"(?<=\s)[a-z](?=[.?!]\s[A-Z\x02])")
# "(See above.) It fails.": the segmenter does not split after a closed bracket or quote.
_AFTER_CLOSING: Final = re.compile(r"(?<=[.?!…][)\]\"'”’])\s+(?=[A-Z\x02])")
# "1. ", "(2) ", "- ", "• "; not "1.5 ", "-a"
_ENUMERATOR: Final = re.compile(r"\A(?:\(?\d{1,3}[.)]|[•·‣▪*+–—-])\s+")
# A path alone ("src/app.py:12", "app.py (2)") is the location of a remark, not a remark. Bounded,
# so that a run of slashes is not scanned to its end from every character.
_NAME: Final = r"[\w@-][\w.@-]{0,80}\.\w{1,5}"
_PATH: Final = (
    rf"(?:(?:[\w.@-]{{1,80}}/){{1,20}}{_NAME}(?::\d{{1,7}})?|{_NAME}(?= \(\d{{1,3}}\)))\b"
    r"(?: \(\d{1,3}\))?"
)
# Possessive: "https://a.https://a. x" has exponentially many matches.
_WITHOUT_WORDS: Final = re.compile(rf"(?>{_URL}|:[a-z0-9_+-]+:|{_PATH}|[\W_])++", re.IGNORECASE)


def split_comment(body: str, *, splitter: str = "markdown") -> ParsedComment:
    """Split one comment into units.

    `markdown` reads the text as Markdown. Paragraphs, headings, list items and table cells are
    split into sentences; code blocks and suggestions are kept separate; quotes of earlier comments,
    images, HTML, link targets, labels, bots' boilerplate, struck out text and units without a
    letter or digit are dropped. Invisible text (comments, hidden elements, attributes, titles of
    link definitions, unused footnotes, invisible characters) is stored in `hidden`. Invisible
    characters inside a word are removed. A line break inside a paragraph is a space, unless the
    paragraph looks like one remark per line.
    Code spans keep their backticks. A sentence of more than 2,000 characters is cut.

    `paper` only splits at line ends, then at ". " and "? ".

    Args:
        body: Markdown or plain text, any characters.
        splitter: One of `SPLITTERS`.

    Returns:
        The units in order, none of them blank; empty for an empty text. The reference code returns
        one empty sentence for an empty review; both splitters here return no sentence, and the
        pipeline handles the empty review.

    Raises:
        ConfigError: `splitter` is unknown. No `body` raises an error.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801v2, for `paper`: the reference code
        atharva-naik/CRScore. `markdown` is specific to crscore.

    Example:
        >>> split_comment("Why? Because `a.b()` fails, e.g. on Windows. Fix it.").sentences
        ('Why?', 'Because `a.b()` fails, e.g. on Windows.', 'Fix it.')
        >>> split_comment("Why? Because it fails. Fix it.", splitter="paper").sentences
        ('Why', 'Because it fails', 'Fix it.')
    """
    return _find_splitter(splitter)(body)


def _find_splitter(splitter: str) -> Callable[[str], ParsedComment]:
    split = _SPLITTERS.get(splitter)
    if split is None:
        names = ", ".join(SPLITTERS)
        raise ConfigError("splitter", "settings", f"{splitter!r} is not one of {names}")
    return split


def identity(splitter: str) -> str:
    """Return the name of a splitter with the versions of the libraries that affect its sentences.

    Args:
        splitter: One of `SPLITTERS`.

    Returns:
        Identity for the signature: same identity and text, same sentences.

    Raises:
        ConfigError: `splitter` is unknown.

    Example:
        >>> identity("paper")
        'paper'
    """
    if _find_splitter(splitter) is not _parse_markdown:
        return splitter
    libraries = ",".join(f"{name}-{version_of(name)}" for name in _LIBRARIES)
    return f"{splitter}-{_MARKDOWN_VERSION}({libraries})"


def _parse_markdown(body: str) -> ParsedComment:
    prose = read_prose(body)
    pieces: list[tuple[str, Position]] = []
    severities: list[str] = []
    for block, unit in enumerate(prose.units):
        for text, severity in _sentences(unit.text):
            severities += filter(None, [severity])
            if _has_words(text) and not text.isdecimal() and not is_boilerplate(text):
                position = Position(block, unit.is_heading, severities[-1] if severities else None)
                pieces.append((text, position))
    if len(severities) == 1:  # the only label may also stand below the remark
        pieces = [(text, replace(at, severity=severities[0])) for text, at in pieces]
    # Boilerplate counts in hidden text, none of which was written for a reader.
    hidden = (map(_finish, _segment(unit)) for unit in prose.hidden)
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
    # A delimiter at the end of a line leaves a blank piece, which the reference keeps; a blank
    # sentence has no vector here.
    return ParsedComment(sentences=tuple(piece for piece in pieces if piece.strip()))


def _sentences(unit: str) -> Iterator[tuple[str, str | None]]:
    pieces = tuple(_segment(unit))
    # Some boilerplate is longer than a sentence.
    if len(pieces) == 1 or not is_boilerplate(clean(unit)):
        for piece in pieces:
            if is_boilerplate(clean(piece)):
                continue
            text, severity = strip_labels(_ENUMERATOR.sub("", piece.strip(), count=1))
            yield _finish(text), severity


def _segment(unit: str) -> Iterator[str]:
    """Split one unit into sentences that keep all of its characters."""
    if len(unit) <= _WINDOW_CHARS and _MAY_END.search(unit) is None:
        yield unit
        return
    masked = _HIDDEN.sub(lambda match: "X" + "x" * (len(match[0]) - 1), unit)
    masked = _LAST_LETTER.sub("0", masked)
    start = 0
    while start < len(masked):
        window = masked[start : start + _WINDOW_CHARS]
        boundaries = sentencex.get_sentence_boundaries("en", window)
        after_closing = {match.end() for match in _AFTER_CLOSING.finditer(window)}
        ends = sorted({item["end_index"] for item in boundaries} | after_closing)
        if start + len(window) < len(masked):
            # The last sentence may continue in the next window; if it is the only one, it is cut
            # at a space.
            ends = ends[:-1] or [window.rfind(" ") + 1 or len(window)]
        begin = 0
        for end in ends:
            yield unit[start + begin : start + end]
            begin = end
        start += begin


def _finish(piece: str) -> str:
    return _ENUMERATOR.sub("", " ".join(clean(piece).split()), count=1)


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text)) and _WITHOUT_WORDS.fullmatch(text) is None


_SPLITTERS: Final[dict[str, Callable[[str], ParsedComment]]] = {
    "markdown": _parse_markdown,
    "paper": _parse_paper,
}
SPLITTERS: Final[tuple[str, ...]] = tuple(_SPLITTERS)
"""Valid splitter names for `split_comment`."""
