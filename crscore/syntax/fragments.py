"""Parses fragments of a file, such as hunks, which rarely start or end where a statement does.

Missing openers, such as `{`, are added before the fragment, and missing closers, such as `}`, after
it. Several completions are tried, and the one with the fewest errors is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from crscore.syntax.grammars import Language, parse
from crscore.syntax.outline import Outline
from crscore.syntax.outliner import errors_in, parse_text, read_outline

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_TRIES = 6
"""Maximum number of completions that are tried for a fragment."""
# Grammars recover slowly from errors in a long line.
LONG_LINE = 10_000
"""Number of characters of a line above which only one completion of a fragment is tried."""
MAX_OPEN = 12
"""Maximum number of openers or closers that are added; if a fragment lacks more, none is added."""

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
# An escaped character is one match, so that the `\"` in "a\"b" does not end the string.
_SCAN = re.compile(r"""\\.|"|'|`|//|\#|/\*|\*/|[()\[\]{}]""")
# Ruby lines that open a block: "def f", "private def f", "a = if b", "a ||= begin",
# "items.each do |x|". In "return if a", the `if` is a modifier and does not open a block.
_OPENS = re.compile(
    r"^\s*(?:[\w.@]+\s*(?:\|\|)?=\s*|private\s+|protected\s+)?"
    r"(?:def|class|module|if|unless|while|until|case|begin|for)\b"
    r"|\bdo(?:\s*\|[^|]*\|)?\s*(?:#.*)?$"
)
# Ruby: matches "if a then b end" and the endless method "def f(a) = a + 1".
_ON_ONE_LINE = re.compile(r"\bend\s*$|^\s*def\s+[\w.?!]+(?:\(.*\))?\s+=\s")
_TRIPLE = '"""'
# Each line is a guess of what the missing open braces belong to, from the outermost brace inward;
# the last item repeats for further braces. For a single brace, the first guess is skipped, so that
# a class is tried only after a function and a block.
_SCOPES = (
    ("class", "function", "block"),
    ("function", "block"),
    ("block",),
    ("class", "function", "block"),
    ("object", "object"),
    ("class", "class", "function"),
)


class Completed(NamedTuple):
    """Fragment with the text that completes it."""

    outline: Outline
    """Outline of the completed text, with the line numbers of the file."""
    text: str
    """The dedented fragment, with the text added before and after it."""
    before: int
    """Number of lines added before the fragment."""


def complete(language: Language, lines: Sequence[str], first: int) -> Completed:
    """Add the missing openers and closers to consecutive lines of a file.

    Args:
        language: Language of the lines.
        lines: The lines without line ends.
        first: Line number of the first line, 1-based.

    Returns:
        The best of at most `MAX_TRIES` completions; its outline counts the remaining errors.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    _, before, text, after, root = enclose(language, lines)
    whole, added = before + text + after, before.count("\n")
    lines_read = [(first, first + max(len(lines), 1) - 1)]
    outline = read_outline(language, whole, lines=lines_read, first=first, skip=added, root=root)
    return Completed(outline, whole, added)


def enclose(language: Language, lines: Sequence[str]) -> tuple[int, str, str, str, Node]:
    """Dedent lines, and find the text before and after them with which they parse best.

    Args:
        language: Language of the lines.
        lines: The lines without line ends.

    Returns:
        Five items about the best of at most `MAX_TRIES` completions: the number of bytes of the
        completed text that the grammar still cannot read, the text to put before the lines, the
        dedented lines, the text to put after the lines, and the syntax tree of the completed text.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(widths, default=0)
    text = "\n".join(line[margin:] for line in lines)
    # The simplest completions come first.
    surroundings = _wrap_indented(text) if language.indented else _wrap_braces(language, text)
    if language.closing_word:
        surroundings = chain(_wrap_words(language.closing_word, lines), surroundings)
    prolog = "" if text.lstrip().startswith(language.prolog.strip()) else language.prolog
    tries = 1 if max(map(len, lines), default=0) > LONG_LINE else MAX_TRIES
    tried: set[tuple[str, str]] = set()
    best: tuple[int, str, str, str, Node] | None = None
    for opening, after in surroundings:
        before = prolog + opening
        if (before, after) in tried:
            continue
        tried.add((before, after))
        root = parse_text(language, before + text + after)
        errors = errors_in(root)
        if best is None or errors < best[0]:
            best = errors, before, text, after, root
        if errors == 0 or len(tried) == tries:
            break
    assert best is not None  # noqa: S101 - the first surrounding is always tried
    return best


def parse_lines(
    language: Language, lines: Sequence[str], *, is_whole: bool
) -> tuple[str, Node, int]:
    """Parse lines; if they are not a whole file, they are completed first.

    Returns:
        The parsed text, the root of its tree, and the number of lines added before the given lines.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    before, text, after = ("", "\n".join(lines), "") if is_whole else enclose(language, lines)[1:4]
    source = before + text + after
    return source, parse(language, source.encode("utf-8", "replace")), before.count("\n")


def _wrap_indented(text: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of text to put before and after, for languages whose blocks are indented."""
    indented = [
        (len(line) - len(line.lstrip()), line.strip()) for line in text.split("\n") if line.strip()
    ]
    lowest, last = indented[0][0] if indented else 0, indented[-1] if indented else (0, "")
    # Headers of the blocks that end in the fragment but start before it.
    headers: list[str] = []
    for width, line in indented:
        if width < lowest:
            lowest = width
            # `else:` and `elif` need an `if`; `except` and `finally` need a `try`.
            word = "try:" if line.startswith(("except", "finally")) else "if _:"
            headers.append(" " * width + word + "\n")
    opened = "".join(reversed(headers)) if len(headers) <= MAX_OPEN else ""
    # If the fragment ends with a block header or a decorator, it needs a body.
    closing = ""
    if last[1].endswith(":"):
        closing = "\n" + " " * last[0] + " pass"
    elif last[1].startswith("@"):
        closing = "\n" + " " * last[0] + "def _(): pass"
    yield opened, closing
    if _TRIPLE in text:
        is_odd = text.count(_TRIPLE) % 2
        yield _TRIPLE + "\n", closing if is_odd else "\n" + _TRIPLE
        yield opened, "\n" + _TRIPLE
    unopened, unclosed = _find_gaps(text, hash_comments=True)
    if unopened or unclosed:
        before = "".join(f"f{_opener(char)}\n" for char in reversed(unopened))
        yield before, "\n" + "".join(_CLOSERS[char] for char in reversed(unclosed))
    if closing == "" and opened == "":
        yield "class _:\n", ""


def _wrap_words(closing: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of text to put before and after, for blocks that end with the word `closing`."""
    unopened = unclosed = 0
    for line in lines:
        if line.split(".")[0].split() == [closing]:
            unopened, unclosed = unopened + (unclosed == 0), max(unclosed - 1, 0)
        elif _OPENS.search(line) and not _ON_ONE_LINE.search(line):
            unclosed += 1
    if 0 < unopened + unclosed <= MAX_OPEN:
        # `rescue` needs a `begin`, `elsif` an `if`, and `when` a `case`.
        for opener in ("begin\n", "if _\n", "case _\n") if unopened else ("",):
            yield opener * unopened, f"\n{closing}" * unclosed


def _wrap_braces(language: Language, text: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of text to put before and after, for languages whose blocks are in braces."""
    start, end = _complete_comment(text)
    unopened, unclosed = _find_gaps(start + text + end, hash_comments=language.hash_comments)
    if len(unopened) > MAX_OPEN or len(unclosed) > MAX_OPEN:
        yield start, end
        return
    tail = end + "\n" + "".join(_CLOSERS[char] for char in reversed(unclosed))
    if not unopened:
        yield start, tail if unclosed else end
    scopes = _SCOPES[1:] if unopened.count("}") == 1 else _SCOPES
    for kinds in scopes if "}" in unopened else ():
        yield _openers_of(language, unopened, kinds) + start, tail
    for before, after in language.fragments:
        yield before + _openers_of(language, unopened, ("function", "block")) + start, tail + after
    yield start, end


def _openers_of(language: Language, unopened: str, kinds: tuple[str, ...]) -> str:
    """Return the openers of the closers in `unopened`; `kinds` is a line of `_SCOPES`."""
    pieces: list[str] = []
    depth = 0
    in_parentheses = False
    for char in reversed(unopened):
        if char == "}":
            kind = kinds[min(depth, len(kinds) - 1)]
            pieces.append(language.openers.get("callback" if in_parentheses else kind, "{"))
            depth += 1
            in_parentheses = False
        else:
            pieces.append("f" + _opener(char))
            in_parentheses = char == ")"
    return "".join(piece + "\n" for piece in pieces)


def _opener(closer: str) -> str:
    return next(char for char, closing in _CLOSERS.items() if closing == closer)


def _complete_comment(text: str) -> tuple[str, str]:
    """Return text to put before and after a fragment that begins or ends inside a block comment."""
    first_open, first_close = text.find("/*"), text.find("*/")
    before = "/**\n" if first_close >= 0 and (first_open < 0 or first_close < first_open) else ""
    after = "\n*/" if text.rfind("/*") > text.rfind("*/") else ""
    starred = [line.lstrip().startswith("*") for line in text.split("\n") if line.strip()]
    if starred and all(starred) and first_open < 0 and first_close < 0:
        # This is the middle of a comment: each line begins with a star, and there is no end.
        return "/**\n", "\n*/"
    return before, after


def _find_gaps(text: str, *, hash_comments: bool) -> tuple[str, str]:
    """Return closers without an opener, innermost first, and openers without a closer."""
    unopened: list[str] = []
    unclosed: list[str] = []
    end = ""  # what ends the comment or string that was opened last; empty outside of both
    for line in text.split("\n"):
        # A string ends with its line, so that an apostrophe in prose does not hide brackets.
        end = end if end == "*/" else ""
        for match in _SCAN.finditer(line):
            mark = match.group()
            if end:
                end = "" if mark == end else end
            elif mark in "\"'`":
                end = mark
            elif mark == "/*":
                end = "*/"
            elif mark == "//" or (mark == "#" and hash_comments):
                break
            elif mark in _CLOSERS:
                unclosed.append(mark)
            elif unclosed and mark == _CLOSERS[unclosed[-1]]:
                unclosed.pop()
            elif not unclosed and mark in ")]}":
                unopened.append(mark)
    return "".join(unopened), "".join(unclosed)
