"""Naming a place once: the heaviest claim names it, the others say "the code".

Sentences that each repeat where they stand read badly, and they look alike to an
encoder. The spans of a claim say where it stands in any case.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.claims._structural.statements import Statement

OPEN, CLOSE = "\u2045", "\u2046"
"""Around a place in a sentence that is still being written; no code in use has them."""

_INSIDE = re.compile(rf" (?:in|to|from) {OPEN}([^{CLOSE}]*){CLOSE}")
_SUBJECT = re.compile(rf"^{OPEN}([^{CLOSE}]*){CLOSE}(?= (?:now|no longer|takes)\b)")
_ANY = re.compile(rf"{OPEN}([^{CLOSE}]*){CLOSE}")


def marked(place: str) -> str:
    """A place that `named_once` may leave out; an unknown one stays empty."""
    plain = place.replace(OPEN, "").replace(CLOSE, "")
    return f"{OPEN}{plain}{CLOSE}" if plain else ""


def unmarked(text: str) -> str:
    """A sentence with all its places named."""
    return _ANY.sub(r"\1", text)


def named_once(statements: Iterable[Statement]) -> list[Statement]:
    """The statements, heaviest first, each place named in the first claim that has it."""
    seen: set[str] = set()
    found: list[Statement] = []
    for statement in sorted(statements, key=lambda item: -item.weight):
        text = statement.text
        places = set(_ANY.findall(text))
        text = _left_out(_SUBJECT, _left_out(_INSIDE, text, "", seen), "the code", seen)
        seen |= places
        found.append(replace(statement, text=unmarked(text)))
    return found


def _left_out(pattern: re.Pattern[str], text: str, instead: str, seen: set[str]) -> str:
    return pattern.sub(lambda match: instead if match[1] in seen else match[0], text)
