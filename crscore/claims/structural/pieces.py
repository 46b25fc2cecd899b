"""Pieces of code and of comments, made ready to be quoted in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from crscore.claims.structural.english import fits, quote
from crscore.syntax.outline import Fact

MAX_SENTENCE = 180
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
_QUOTABLE = re.compile(r"[\w$.\"' -]{2,60}")
_PROSE = re.compile(r"[A-Za-z][a-z][,;:]?(?: [\w'`\"(.-]++){2}")


def prose_of(comment: str) -> list[str]:
    """Return the sentences of a comment that are prose, without markers; long ones are left out."""
    text = " ".join(_COMMENT.sub("", line) for line in comment.split("\n"))
    text = _SPACES.sub(" ", _MARKS.sub(" ", text)).strip(" \"'*/#-!")
    pieces = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\s@\w+\b|\s:param", text)
    sentences = [piece.strip(" .\"'*/") for piece in pieces]
    return [
        sentence
        for sentence in sentences
        if len(sentence) <= MAX_SENTENCE and "…" not in sentence and _PROSE.search(sentence)
    ]


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
            removed = "".join(left[low:high]).strip(" ,")
            added = "".join(right[start:stop]).strip(" ,")
            if all(_QUOTABLE.fullmatch(piece) for piece in (removed, added)):
                return f"{quote(added)} instead of {quote(removed)}"
    return f"{quote(after)} instead of {quote(before)}" if fits(before, after) else ""


def _tokens(text: str) -> Counter[str]:
    return Counter(re.findall(r"[\w$]+|[^\w\s]", text))


def innermost(facts: Sequence[Fact]) -> list[Fact]:
    """Leave out bindings of a collection of which an entry changed, too."""
    innermost_facts: list[Fact] = []
    for fact in facts:
        entries = facts if len(fact.text) > 2 * len(fact.name) and len(facts) < MOST_ENTRIES else ()
        if not any(
            entry is not fact and entry.text and entry.name in fact.text and entry.text in fact.text
            for entry in entries
        ):
            innermost_facts.append(fact)
    return innermost_facts


def pairs(
    removed: Sequence[Fact], added: Sequence[Fact], *, min_agreement: float = 0.6
) -> list[tuple[Fact, Fact]]:
    """Pair what went with what came, where they have enough tokens in common."""
    paired: list[tuple[Fact, Fact]] = []
    left = list(removed[:20])
    for new in added[:20]:
        counts = _tokens(new.text)

        def agreement(old: Fact, counts: Counter[str] = counts) -> float:
            old_counts = _tokens(old.text)
            return 2 * (counts & old_counts).total() / max(1, counts.total() + old_counts.total())

        best = max(left, key=agreement, default=None)
        if best is not None and agreement(best) >= min_agreement:
            left.remove(best)
            paired.append((best, new))
    return paired


def exchanged_items(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the arguments that came and those that went; none if a list cannot be split."""
    left, right = split_arguments(before), split_arguments(after)
    if left is None or right is None:
        return [], []
    added, removed = Counter(right) - Counter(left), Counter(left) - Counter(right)
    added_items = [item for item in dict.fromkeys(right) if item in added]
    return added_items, [item for item in dict.fromkeys(left) if item in removed]


def split_arguments(text: str) -> list[str] | None:
    """Split arguments at the commas outside of brackets and quotes; None for half a piece."""
    if "…" in text:
        return None
    arguments, depth, mark, current = [], 0, "", ""
    for char in text:
        if mark:
            mark = "" if char == mark else mark
        elif char in "\"'`":
            mark = char
        else:
            depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0 and not mark:
            arguments.append(current.strip())
            current = ""
        else:
            current += char
    return None if depth or mark else [item for item in (*arguments, current.strip()) if item]
