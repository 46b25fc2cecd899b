"""Smallest differing pieces of code, and phrases about them."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from crscore.claims.structural.code_to_words import aloud
from crscore.claims.structural.english import code_of, listed
from crscore.syntax.model import Token

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_COMPARED = 600
"""Tokens compared one by one; of a longer unit only the differing middle is described."""
MAX_PIECES = 3
"""Maximum number of pieces described for one unit."""
NEAR = 2
"""Number of equal tokens between two pieces up to which they are merged."""

MAX_SLIDE = 6
"""Tokens by which a piece may be shifted to balance its brackets."""

_QUOTED = re.compile(r"""(["'`])(?:\\.|(?!\1).)*\1""")
_PIECE = re.compile(r"""[rbfuL@$]*(["'`])(?:\\.|(?!\1).)*\1|[\w$]+|[^\w\s]""")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_ITEM = re.compile(r"""[rbfu]*(["'`]).*?\1|[\w.$]+""")


def replaced(old: Sequence[Token], new: Sequence[Token]) -> list[tuple[str, str]]:
    """Return the replaced pieces of code as (old, new) pairs; one may be empty."""
    left, right = [token.text for token in old], [token.text for token in new]
    if max(len(left), len(right)) > MAX_COMPARED:
        spans = [middle(left, right)]
    else:
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        spans = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
    pieces: list[tuple[str, str]] = []
    for span in _merged(spans):
        a, b, c, d = _widened(_slid(span, left, right), left, right)
        before, after = code_of(old[a:b]), code_of(new[c:d])
        pieces.append(_inner(before, after) if _is_text(before, after) else (before, after))
    return [(before, after) for before, after in pieces if before != after]


def middle(left: list[str], right: list[str]) -> tuple[int, int, int, int]:
    """Return the span (old start, old end, new start, new end) between equal ends."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return start, len(left) - end, start, len(right) - end


def _merged(spans: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    found: list[tuple[int, int, int, int]] = []
    for span in spans:
        if found and span[0] - found[-1][1] <= NEAR and span[2] - found[-1][3] <= NEAR:
            found[-1] = (found[-1][0], span[1], found[-1][2], span[3])
        else:
            found.append(span)
    return found


def _widened(
    span: tuple[int, int, int, int], left: list[str], right: list[str]
) -> tuple[int, int, int, int]:
    """Extend a piece without words by a neighbor on each side."""
    a, b, c, d = span
    text = "".join(left[a:b] + right[c:d])
    if text.startswith((".", "->", "::", "?.")) and a > 0 and c > 0:
        return a - 1, b, c - 1, d
    if re.search(r"\w", text) or a == 0 or c == 0:
        return span
    return a - 1, min(b + 1, len(left)), c - 1, min(d + 1, len(right))


def _slid(
    span: tuple[int, int, int, int], left: list[str], right: list[str]
) -> tuple[int, int, int, int]:
    """Shift an added or removed piece along equal tokens until its brackets match."""
    a, b, c, d = span
    if (a < b) == (c < d):
        return span
    texts, start, end = (right, c, d) if c < d else (left, a, b)
    for by in range(MAX_SLIDE):
        if balanced(" ".join(texts[start - by : end - by])):
            return a - by, b - by, c - by, d - by
        if min(a, c) <= by or texts[start - by - 1] != texts[end - by - 1]:
            break
    return span


def balanced(code: str) -> bool:
    """Return True when every bracket outside a string is closed, in order."""
    waiting: list[str] = []
    for char in _QUOTED.sub("", code):
        if char in _PAIRS:
            waiting.append(_PAIRS[char])
        elif char in ")]}" and (not waiting or waiting.pop() != char):
            return False
    return not waiting


def tokens_of(code: str) -> tuple[Token, ...]:
    """Split a piece of code that is not a whole unit into words, strings and marks."""
    found: list[Token] = []
    end = 0
    for match in _PIECE.finditer(code):
        found.append(Token(match.group(), 0, named=True, gap=match.start() > end))
        end = match.end()
    return tuple(found)


def _is_text(before: str, after: str) -> bool:
    return len(before) > 30 and len(after) > 30 and before.count(" ") > 2


def _inner(before: str, after: str) -> tuple[str, str]:
    """Return the differing middle of two texts, cut at words."""
    left, right = before.split(), after.split()
    a, b, c, d = middle(left, right)
    inner = " ".join(left[a:b]), " ".join(right[c:d])
    return inner if any(inner) else (before, after)


def items(piece: str) -> list[str]:
    """Return the elements of a piece that is a list of simple ones, else the piece alone."""
    text = piece.strip(" ,;\n")
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 1 and all(_ITEM.fullmatch(part) for part in parts):
        return parts
    return [text] if text else []


def describe_pieces(subject: str, pieces: Sequence[tuple[str, str]]) -> str:
    """Describe what something gained, lost or exchanged, as a clause.

    Empty without pieces, and for pieces with unbalanced brackets, which are unreadable.
    """
    if not all(balanced(piece) for pair in pieces for piece in pair):
        return ""
    came = [aloud(item) for before, after in pieces if not before for item in items(after)]
    gone = [aloud(item) for before, after in pieces if not after for item in items(before)]
    swapped = [
        f"{aloud(after)} instead of {aloud(before)}" for before, after in pieces if before and after
    ]
    phrases = []
    if swapped:
        phrases.append(f"now has {listed(swapped[:MAX_PIECES])}")
    if came:
        phrases.append(f"now also has {listed(came)}")
    if gone:
        phrases.append(f"no longer has {listed(gone)}")
    return f"{subject} {listed(phrases)}" if phrases else ""
