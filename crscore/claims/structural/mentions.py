"""A sentence in two forms: as people read it, and as the encoder does.

People get the code as it stands and the place in every claim, for a claim may be read
alone. The encoder gets expressions in words, and a place only in the heaviest claim that
has it: sentences that each repeat where they stand look alike to it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.claims.structural.statements import Statement

OPEN, CLOSE = "\u2045", "\u2046"
"""Around a place in a sentence that is still being written; no code in use has them."""
SHOWN, SAID, END = "\u2983", "\u2982", "\u2984"
"""Before, between and after the two forms of a piece of code; no code in use has them."""

_INSIDE = re.compile(rf" (?:in|to|from) {OPEN}([^{CLOSE}]*){CLOSE}")
_SUBJECT = re.compile(rf"^{OPEN}([^{CLOSE}]*){CLOSE}(?= (?:now|no longer|takes)\b)")
_ANY = re.compile(rf"{OPEN}([^{CLOSE}]*){CLOSE}")
_DUAL = re.compile(rf"{SHOWN}([^{SAID}]*){SAID}([^{END}]*){END}")
_MARKS = re.compile(f"[{SHOWN}{SAID}{END}]")


def marked(place: str) -> str:
    """A place that `named_once` may leave out; an unknown one stays empty."""
    plain = place.replace(OPEN, "").replace(CLOSE, "")
    return f"{OPEN}{plain}{CLOSE}" if plain else ""


def unmarked(text: str) -> str:
    """A sentence with all its places named."""
    return _ANY.sub(r"\1", text)


def dual(shown: str, spoken: str) -> str:
    """A piece of code in its two forms."""
    if shown == spoken:
        return shown
    return f"{SHOWN}{_MARKS.sub('', shown)}{SAID}{_MARKS.sub('', spoken)}{END}"


def shown(text: str) -> str:
    """The sentence for people: every place, code as it stands."""
    return _DUAL.sub(r"\1", unmarked(text))


def mention_text(text: str) -> str:
    """The sentence for the encoder, places as they are left in it."""
    return _DUAL.sub(r"\2", unmarked(text))


def read_once(statements: Iterable[Statement]) -> list[Statement]:
    """The statements, heaviest first, in both forms.

    In the reading each place is named only in the first claim that has it; the others say
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
