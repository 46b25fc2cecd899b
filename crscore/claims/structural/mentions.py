"""Sentences in two forms: as shown to people, and as read by the encoder.

The form for people has the code unchanged and names the place in every claim, since a claim may be
read alone. The form for the encoder has expressions in words, and names a place only in the
heaviest claim that has it: repeated places make sentences too similar.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.claims.structural.statements import Statement

OPEN, CLOSE = "\u2045", "\u2046"
"""Marks around a place in an unfinished sentence; they do not occur in code."""
SHOWN, SAID, END = "\u2983", "\u2982", "\u2984"
"""Marks before, between and after the two forms of a piece of code; they do not occur in code."""

_INSIDE = re.compile(rf" (?:in|to|from) {OPEN}([^{CLOSE}]*){CLOSE}")
_SUBJECT = re.compile(rf"^{OPEN}([^{CLOSE}]*){CLOSE}(?= (?:now|no longer|takes)\b)")
_ANY = re.compile(rf"{OPEN}([^{CLOSE}]*){CLOSE}")
_DUAL = re.compile(rf"{SHOWN}([^{SAID}]*){SAID}([^{END}]*){END}")
_MARKS = re.compile(f"[{SHOWN}{SAID}{END}]")


def marked(place: str) -> str:
    """Mark a place that `read_once` may omit; an unknown one stays empty."""
    plain = place.replace(OPEN, "").replace(CLOSE, "")
    return f"{OPEN}{plain}{CLOSE}" if plain else ""


def unmarked(text: str) -> str:
    """Return a sentence with all its places named."""
    return _ANY.sub(r"\1", text)


def dual(shown: str, spoken: str) -> str:
    """Return a piece of code in both forms."""
    if shown == spoken:
        return shown
    return f"{SHOWN}{_MARKS.sub('', shown)}{SAID}{_MARKS.sub('', spoken)}{END}"


def shown(text: str) -> str:
    """Return the sentence for people: every place, and the code unchanged."""
    return _DUAL.sub(r"\1", unmarked(text))


def mention_text(text: str) -> str:
    """Return the sentence for the encoder, with the places that remain in it."""
    return _DUAL.sub(r"\2", unmarked(text))


def read_once(statements: Iterable[Statement]) -> list[Statement]:
    """Return the statements, heaviest first, in both forms.

    In the encoder's form each place is named only in the first claim that has it; the others use
    "the code".
    """
    seen: set[str] = set()
    found: list[Statement] = []
    for statement in sorted(statements, key=lambda item: -item.weight):
        text = statement.text
        places = set(_ANY.findall(text))
        left = _left_out(_SUBJECT, _left_out(_INSIDE, text, "", seen), "the code", seen)
        seen |= places
        found.append(replace(statement, text=shown(text), reading=mention_text(left)))
    return found


def _left_out(pattern: re.Pattern[str], text: str, instead: str, seen: set[str]) -> str:
    return pattern.sub(lambda match: instead if match[1] in seen else match[0], text)
