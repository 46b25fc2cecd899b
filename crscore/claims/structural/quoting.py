"""Code and comments, prepared for quotation in a sentence."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from crscore.claims.structural.english import fits, quote
from crscore.syntax.outline import Fact

MAX_SENTENCE = 180
"""Characters of a sentence that is quoted from a comment or a document."""
MAX_ENTRIES = 200
"""Bindings up to which the entries of a collection replace it."""
LONG = 120
"""Characters of two pieces of code from which only the part that differs is quoted."""

_SPACES = re.compile(r"\s+")
# "/** a */", "// a", "//! a", "# a", " * a", """"a"""", "-- a", "<!-- a -->"
_COMMENT = re.compile(
    r"^\s*(?:/\*+<?|//+[/!]?|#+|\*+/?|\"\"\"|'''|--|<!--)\s*|(?:\*/|\"\"\"|'''|-->)\s*$"
)
# The prefix of `r"..."`, and what joined lines leave inside: " * ", "<p>", " // "
_MARKS = re.compile(r"^[\"'rbfu]+(?=[\"'])|\s\*(?=\s)|</?\w+/?>|\s///?\s")
_QUOTABLE = re.compile(r"[\w$.\"' -]{2,60}")
_CODE = re.compile(r"…|\);")  # what is cut, and code
# Three words in a row: "Return the value", "Note, this is"; not "a = b" or "x: int = 3"
_PROSE = re.compile(r"[A-Za-z][a-z][,;:]?(?: [\w'`\"(.-]++){2}")


def prose_of(comment: str) -> list[str]:
    """Return the sentences of a comment that are prose, without markers; long ones are left out."""
    text = " ".join(_COMMENT.sub("", line) for line in comment.split("\n"))
    text = _SPACES.sub(" ", _MARKS.sub(" ", text)).strip(" \"'*/#-!")
    # The fields of Javadoc ("@return") and Sphinx (":param") end the prose.
    parts = re.split(r"(?<=[.!?])\s+(?:- )?(?=[A-Z])|\s@\w+\b|\s:param", text)
    sentences = (part.strip(" .\"'*/") for part in parts if not _CODE.search(part))
    return [s for s in sentences if len(s) <= MAX_SENTENCE and _PROSE.search(s)]


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
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        edits = [edit for edit in matcher.get_opcodes() if edit[0] != "equal"]
        if len(edits) == 1:
            _, low, high, start, stop = edits[0]
            removed = "".join(left[low:high]).strip(" ,")
            added = "".join(right[start:stop]).strip(" ,")
            if _QUOTABLE.fullmatch(removed) and _QUOTABLE.fullmatch(added):
                return f"{quote(added)} instead of {quote(removed)}"
    return f"{quote(after)} instead of {quote(before)}" if fits(before, after) else ""


def innermost(facts: Sequence[Fact]) -> list[Fact]:
    """Leave out bindings of a collection of which an entry changed, too."""

    def holds_another(fact: Fact) -> bool:
        if len(fact.text) <= 2 * len(fact.name) or len(facts) >= MAX_ENTRIES:
            return False
        return any(
            entry is not fact and entry.text and entry.name in fact.text and entry.text in fact.text
            for entry in facts
        )

    return [fact for fact in facts if not holds_another(fact)]


def agreement(before: Fact, after: Fact) -> float:
    """Return the share of the words of two facts' texts that are common, in [0, 1]."""
    left, right = _words(before.text), _words(after.text)
    return 2 * (left & right).total() / max(1, left.total() + right.total())


def _words(text: str) -> Counter[str]:
    """Return the words of names and texts; marks alone where there are none."""
    words = [word for word in re.findall(r"[^\W_]+", text) if word not in {"self", "this", "not"}]
    return Counter(words or re.findall(r"\S", text))


def exchanged_items(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the arguments added and those removed; none if a list cannot be split."""
    left, right = split_arguments(before), split_arguments(after)
    if left is None or right is None:
        return [], []
    return list(Counter(right) - Counter(left)), list(Counter(left) - Counter(right))


def split_arguments(text: str) -> list[str] | None:
    """Split arguments at the commas outside of brackets and quotes; None for half a piece."""
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
