"""Joins words to English sentences, and prepares code and comments for quotation in them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from crscore.records import LineSpan
from crscore.syntax.outline import Fact
from crscore.text import MAX_QUOTE_CHARS, quote

Line: TypeAlias = tuple[bool, int]
"""Line of a changed file: True for the new version or False for the old one, and the number."""
MAX_SENTENCE = 180
"""Maximum characters of a sentence that is quoted from a comment or a document."""
# Each binding is compared with all others, so the time grows with the square of this number.
MAX_ENTRIES = 200
"""Number of bindings from which on collections with changed entries are no longer looked for."""
LONG = 120
"""Maximum total characters of two pieces of code that are quoted in full; of longer code, only the
difference is quoted."""
MAX_PART = 60
"""Maximum characters of each of the two differing parts that are quoted."""
_SPACES = re.compile(r"\s+")
# "/** a */", "// a", "//! a", "# a", " * a", """"a"""", "-- a", "<!-- a -->"
_COMMENT = re.compile(
    r"^\s*(?:/\*+<?|//+[/!]?|#+|\*+/?|\"\"\"|'''|--|<!--)\s*|(?:\*/|\"\"\"|'''|-->)\s*$"
)
# Marks in the joined lines of a comment that are not prose: the prefix of `r"..."`, " * ", "<p>",
# " // "
_MARKS = re.compile(r"^[\"'rbfu]+(?=[\"'])|\s\*(?=\s)|</?\w+/?>|\s///?\s")
# White space and the word or the punctuation mark after it
_TOKEN = re.compile(r"\s*(?:[\w$.]+|[^\w\s])")
# A word of at least two characters with a letter: "ab", "x2"; not "a", "12"
_WORD = re.compile(r"[^\W\d_]\w|\w[^\W\d_]")
_CODE = re.compile(r"…|\);")  # shortened text, or code
# Three words in a row: "Return the value", "Note, this is"; not "a = b" or "x: int = 3"
_PROSE = re.compile(r"[A-Za-z][a-z][,;:]?(?: [\w'`\"(.-]++){2}")


def can_quote(*codes: str) -> bool:
    """Return whether each piece of code can be quoted in full."""
    return all(0 < len(code.strip()) <= MAX_QUOTE_CHARS and "…" not in code for code in codes)


def join_items(items: Sequence[str], limit: int = 4) -> str:
    """Return "a", "a and b" or "a, b and c"; too many items are counted, as in "a and 9 more"."""
    parts = list(items[:limit])
    if len(items) > limit:
        parts = [*items[: limit - 1], f"{len(items) - limit + 1} more"]
    if len(parts) <= 1:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def join_quoted(names: Sequence[str], limit: int = 4) -> str:
    """Return different names in backticks as a list, such as "`a` and `b`"."""
    return join_items([quote(name) for name in dict.fromkeys(names)], limit)


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun: "1 line", "3 lines"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def finish_sentence(text: str) -> str:
    """Make a text start with a capital letter and end with a full stop."""
    text = " ".join(text.split())
    if text and text[-1] not in ".?!":
        text += "."
    return text[:1].upper() + text[1:]


class Statement(NamedTuple):
    """Sentence about a change, without the initial capital and the full stop."""

    text: str
    lines: tuple[Line, ...] = ()
    """Lines that the sentence is about; empty if it is about all lines of the unit."""
    implies: bool = False
    """Whether the sentence states a consequence of the change rather than the change itself."""
    kind: str = ""
    """Name of the rule or function that wrote the sentence; "" for a summary."""
    similar: tuple[LineSpan, ...] = ()
    """Lines of similarly changed units that the sentence is also about."""


def about(facts: Iterable[Fact], text: str, *, new: bool = True) -> Statement:
    """Return a statement about the lines of facts in the new version (if not `new`, the old)."""
    return Statement(text, tuple((new, fact.line) for fact in facts))


def prose_of(comment: str) -> list[str]:
    """Return the sentences of prose in a comment, without those that are too long to quote."""
    text = " ".join(_COMMENT.sub("", line) for line in comment.split("\n"))
    text = _SPACES.sub(" ", _MARKS.sub(" ", text)).strip(" \"'*/#-!")
    # The first field of Javadoc ("@return") or Sphinx (":param") ends the prose.
    parts = re.split(r"(?<=[.!?])\s+(?:- )?(?=[A-Z])|\s@\w+\b|\s:param", text)
    sentences = (part.strip(" .\"'*/") for part in parts if not _CODE.search(part))
    return [s for s in sentences if len(s) <= MAX_SENTENCE and _PROSE.search(s)]


def message_of(text: str) -> str:
    """Return the first string of several words in code; "" if there is none."""
    match = re.search(r"([\"'`])((?:(?!\1).){8,90})\1", text)
    return match[2].replace("“", "").strip() if match and re.search(r"\w \w", match[2]) else ""


def write_exchange(before: str, after: str) -> str:
    """Return "B instead of A" with, for long code, only the differing parts; "" if unquotable."""
    if "…" in before + after:  # the difference may be in the text that is cut off
        return ""
    if len(before) + len(after) > LONG:
        removed, added = (part.strip(" \n,") for part in _find_difference(before, after))
        if added and len(removed) <= MAX_PART and len(added) <= MAX_PART:
            return quote(added) + (f" instead of {quote(removed)}" if removed else "")
    return f"{quote(after)} instead of {quote(before)}" if can_quote(before, after) else ""


def _find_difference(before: str, after: str) -> tuple[str, str]:
    """Return the differing parts of two pieces of code, with matching brackets.

    A part without a word, such as `7`, is extended to the enclosing call, `range(1, 7)`. Both parts
    are empty if the difference begins or ends inside a string.
    """
    tokens = [_TOKEN.findall(text) for text in (before, after)]
    left, right = ([token.strip() for token in text] for text in tokens)
    if len(left) == len(right):
        exchanged = {pair for pair in zip(left, right, strict=True) if pair[0] != pair[1]}
        if len(exchanged) == 1 and all(map(_WORD.search, *exchanged)):
            return next(iter(exchanged))  # one name was replaced everywhere
    start = _count_common_prefix(left, right)
    tail = _count_common_prefix(left[start:][::-1], right[start:][::-1])
    # If "a, b, " was added to "a, c", the difference may also be read as "b, a, ". Take the reading
    # that begins first.
    if start + tail == len(left) < len(right):
        while start and right[start - 1] == right[-tail - 1]:
            start, tail = start - 1, tail + 1
    is_widened = False
    while True:
        removed, added = ("".join(text[start : len(text) - tail]) for text in tokens)
        opened, closed = map(max, _count_unmatched(removed), _count_unmatched(added))
        if closed and start:
            start -= 1
        elif opened and tail:
            tail -= 1
        elif is_widened or (_WORD.search(added) and (not removed or _WORD.search(removed))):
            break
        else:
            start, is_widened = _find_enclosing(left, start), True
    is_inside = any(
        "".join(left[:start]).count(mark) % 2 for mark in "\"'" if mark in removed + added
    )
    return ("", "") if is_inside else (removed, added)


def _count_common_prefix(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the common prefix of two sequences."""
    pairs = zip(left, right, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _count_unmatched(code: str) -> tuple[int, int]:
    """Return the number of brackets that are not closed, and of those that are not opened."""
    opened = closed = 0
    for char in code:
        if char in "([{":
            opened += 1
        elif char in ")]}":
            opened, closed = max(0, opened - 1), closed + (not opened)
    return opened, closed


def _find_enclosing(tokens: Sequence[str], start: int) -> int:
    """Return the index of the innermost bracket around a token, or of the name before it."""
    depth = 0
    for index in range(start - 1, -1, -1):
        depth += (tokens[index] in ")]}") - (tokens[index] in "([{")
        if depth < 0:
            return index - bool(index and re.search(r"\w", tokens[index - 1]))
    return start


def innermost(facts: Sequence[Fact]) -> list[Fact]:
    """Leave out each binding of a collection if one of the collection's entries is also a fact."""

    def holds_another(fact: Fact) -> bool:
        if len(fact.text) <= 2 * len(fact.name) or len(facts) >= MAX_ENTRIES:
            return False
        return any(
            entry is not fact and entry.text and entry.name in fact.text and entry.text in fact.text
            for entry in facts
        )

    return [fact for fact in facts if not holds_another(fact)]


def agreement(before: Fact, after: Fact) -> float:
    """Return the share, from 0 to 1, of the words of two facts' texts that both texts have."""
    left, right = _count_words(before.text), _count_words(after.text)
    return 2 * (left & right).total() / max(1, left.total() + right.total())


def _count_words(text: str) -> Counter[str]:
    """Count the words of a text or, if it has no words, its characters."""
    words = [word for word in re.findall(r"[^\W_]+", text) if word not in {"self", "this", "not"}]
    return Counter(words or re.findall(r"\S", text))


def compare_arguments(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the added and the removed arguments of a call; none if one version is incomplete."""
    left, right = split_arguments(before), split_arguments(after)
    if left is None or right is None:
        return [], []
    return list(Counter(right) - Counter(left)), list(Counter(left) - Counter(right))


def split_arguments(text: str) -> list[str] | None:
    """Split code at the commas outside of brackets and strings; return None for incomplete code."""
    if "…" in text:
        return None
    arguments, depth, mark = [""], 0, ""
    for char in text:
        if mark:
            mark = "" if char == mark else mark
        elif char in "\"'`":
            mark = char
        else:
            depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0 and not mark:
            arguments.append("")
        else:
            arguments[-1] += char
    return None if depth or mark else [item for item in map(str.strip, arguments) if item]
