"""Pieces of code and of comments, made ready to be quoted in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from crscore.claims.structural.english import fits, quote
from crscore.syntax.outline import Fact

SAID = 180
"""Characters of a sentence that is quoted from a comment or a document."""
MOST_ENTRIES = 200
"""Bindings up to which a collection is told by its entries."""
LONG = 120
"""Characters of two pieces of code from which only the part that differs is quoted."""

_SPACES = re.compile(r"\s+")
_COMMENT = re.compile(
    r"^\s*(?:/\*+|//+[/!]?|#+|\*+/?|\"\"\"|'''|--|<!--)\s*|(?:\*/|\"\"\"|'''|-->)\s*$"
)
_MARKS = re.compile(r"^[\"'rbfu]+(?=[\"'])|\s\*\s|</?\w+/?>|\s///?\s")
_PLAIN = re.compile(r"[\w$.\"' -]{2,60}")
_PROSE = re.compile(r"[A-Za-z][a-z][,;:]?(?: [\w'`\"(.-]++){2}")


def prose_of(comment: str) -> list[str]:
    """Return the sentences of a comment that are prose, without markers; long ones are left out."""
    text = " ".join(_COMMENT.sub("", line) for line in comment.split("\n"))
    text = _SPACES.sub(" ", _MARKS.sub(" ", text)).strip(" \"'*/#-!")
    pieces = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\s@\w+\b|\s:param", text)
    found = [piece.strip(" .\"'*/") for piece in pieces]
    return [one for one in found if len(one) <= SAID and "…" not in one and _PROSE.search(one)]


def message_of(text: str) -> str:
    """Return the first text of several words between quotation marks; "" for none."""
    match = re.search(r"([\"'`])((?:(?!\1).){8,90})\1", text)
    return match[2].replace("“", "").strip() if match and re.search(r"\w \w", match[2]) else ""


def exchange(before: str, after: str) -> str:
    """Return "B instead of A", of long code only what differs; "" if it cannot be quoted."""
    if "…" in before + after:  # cut: what differs may be behind the cut
        return ""
    if len(before) + len(after) > LONG:
        left, right = (re.findall(r"[\w$.]+|\s+|[^\w\s]", text) for text in (before, after))
        edits = [
            edit
            for edit in SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
            if edit[0] != "equal"
        ]
        if len(edits) == 1:
            _, low, high, start, stop = edits[0]
            gone = "".join(left[low:high]).strip(" ,")
            came = "".join(right[start:stop]).strip(" ,")
            if all(_PLAIN.fullmatch(piece) for piece in (gone, came)):
                return f"{quote(came)} instead of {quote(gone)}"
    return f"{quote(after)} instead of {quote(before)}" if fits(before, after) else ""


def _tokens(text: str) -> Counter[str]:
    return Counter(re.findall(r"[\w$]+|[^\w\s]", text))


def innermost(facts: Sequence[Fact]) -> list[Fact]:
    """Leave out bindings of a collection of which an entry changed, too."""
    kept: list[Fact] = []
    for fact in facts:
        entries = facts if len(fact.text) > 2 * len(fact.name) and len(facts) < MOST_ENTRIES else ()
        if not any(
            one is not fact and one.text and one.name in fact.text and one.text in fact.text
            for one in entries
        ):
            kept.append(fact)
    return kept


def pairs(
    gone: Sequence[Fact], came: Sequence[Fact], *, least: float = 0.6
) -> list[tuple[Fact, Fact]]:
    """Pair what went with what came, where they have enough tokens in common."""
    found: list[tuple[Fact, Fact]] = []
    left = list(gone[:20])
    for two in came[:20]:
        counts = _tokens(two.text)

        def alike(one: Fact, counts: Counter[str] = counts) -> float:
            other = _tokens(one.text)
            return 2 * (counts & other).total() / max(1, counts.total() + other.total())

        best = max(left, key=alike, default=None)
        if best is not None and alike(best) >= least:
            left.remove(best)
            found.append((best, two))
    return found


def exchanged_items(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the arguments that came and those that went; none if a list cannot be split."""
    left, right = split_arguments(before), split_arguments(after)
    if left is None or right is None:
        return [], []
    more, less = Counter(right) - Counter(left), Counter(left) - Counter(right)
    came = [item for item in dict.fromkeys(right) if item in more]
    return came, [item for item in dict.fromkeys(left) if item in less]


def split_arguments(text: str) -> list[str] | None:
    """Split arguments at the commas outside of brackets and quotes; None for half a piece."""
    if "…" in text:
        return None
    found, depth, mark, current = [], 0, "", ""
    for char in text:
        if mark:
            mark = "" if char == mark else mark
        elif char in "\"'`":
            mark = char
        else:
            depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0 and not mark:
            found.append(current.strip())
            current = ""
        else:
            current += char
    return None if depth or mark else [item for item in (*found, current.strip()) if item]
