"""Consequences for callers of a function that take its defaults and its result."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule, is_function
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.versions import squeeze
from crscore.syntax.outline import Unit

_RESULTS: Final = {
    "java": re.compile(r"([\w.]{1,40}(?:<[\w.<>,? ]{1,60}>)?(?:\[\])?\??)\s\w{1,80}\s?\("),
    "go": re.compile(r"\)\s([\w.*\[\]]{1,60}|\([^(){}]{1,80}\))\s\{$"),
    "": re.compile(r"\)\s?(?:->|:)\s?([^:{;=]{1,80}?)\s?(?:[:{;]|=>)?$"),
}


def _heads(unit: Evidence) -> list[tuple[Unit, Unit]]:
    """Return the two declarations of a function; none if it is new or has overloads."""
    old, new = unit.change.old.units, unit.change.new.units
    pairs = list(zip(old, new, strict=True)) if len(old) == len(new) == 1 else []
    return [pair for pair in pairs if pair[0].head and pair[1].head and is_function(unit)]


def find_default(unit: Evidence) -> Iterator[Statement]:
    """Find a parameter with another default value."""
    for old, new in _heads(unit):
        before = {item.name: item.default for item in old.parameters}
        for item in new.parameters if new.public else ():
            value = before.get(item.name, "")
            if squeeze(item.default) != squeeze(value) and fits(value, item.default):
                omit = f"calls of {quote(unit.change.short_name)} that omit {quote(item.name)}"
                text = f"{omit} now get {quote(item.default)} instead of {quote(value)}"
                yield Statement(f"{text}: is that right for all of them?", ((True, new.head),))


def find_result(unit: Evidence) -> Iterator[Statement]:
    """Find a result that is wrapped in another type, or that may now be missing."""
    pattern = _RESULTS.get(unit.change.language.replace("csharp", "java"), _RESULTS[""])
    for old, new in _heads(unit):
        heads = (unit.old.lines.get(old.head, ""), unit.new.lines.get(new.head, ""))
        types = [match[1] for text in heads if (match := pattern.search(text.rstrip()))]
        # A result to wait for is of another family.
        tokens = [re.findall(r"\b(?!any\b|Promise|Task)\w+|[\[\]*?]", text) for text in types]
        # Another class of the same shape is mostly a new name.
        shorter, longer = sorted(tokens, key=len) if len(tokens) == 2 else ([], [])
        if len(shorter) < len(longer) and set(shorter) <= set(longer):
            text = f"{quote(unit.change.short_name)} now returns {quote(types[1])} instead of"
            question = "do all its callers handle that?"
            yield Statement(f"{text} {quote(types[0])}: {question}", ((True, new.head),))


RULES: Final = (Rule("default", find_default), Rule("result", find_result))
