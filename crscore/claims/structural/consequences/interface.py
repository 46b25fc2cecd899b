"""Consequences for what uses a unit: names that others know, positions, defaults, results."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule, is_function
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.versions import squeeze
from crscore.syntax.outline import Unit

_DYNAMIC = frozenset({"python", "javascript", "php", "ruby"})
"""Languages where no compiler compares the types of arguments with those of the parameters."""
_NAMES: Final = {
    "a read of the environment variable {} is gone: does anything still set or document it?": (
        r"(?:[gG]etenv|environ(?:\.get)?|LookupEnv|process\.env)\W{1,3}([A-Z][A-Z0-9_]{3,40})\b"
    ),
    "the option {} is no longer declared here: does any script or document still pass it?": (
        r"(?:add_argument|[oO]ption|[fF]lag)\(\s?[\"'](--[a-z][\w-]{2,40})[\"' ]"
    ),
    "the route {} is no longer declared here: does any client still call it?": (
        r"(?i)(?:route|\.get|\.post|\.put|\.delete|\.patch|mapping)\((?:(?:value|path) = )?"
        r"[\"'](/[^\"'\s]{2,60})[\"']"
    ),
    "no field is named {} here any more: do clients or stored data still use that name?": (
        r"`[^`]{0,80}\b(?:json|yaml|form):\"([\w-]{2,40})[\",]"
    ),
}
"""Names that are used outside of the code, by the question for each."""
_RESULTS: Final = {
    "java": re.compile(r"([\w.]{1,40}(?:<[\w.<>,? ]{1,60}>)?(?:\[\])?\??)\s\w{1,80}\s?\("),
    "go": re.compile(r"\)\s([\w.*\[\]]{1,60}|\([^(){}]{1,80}\))\s\{$"),
    "": re.compile(r"\)\s?(?:->|:)\s?([^:{;=]{1,80}?)\s?(?:[:{;]|=>)?$"),
}


def find_name(unit: Evidence) -> Iterator[Statement]:
    """Find a name that is gone and is used outside of the code."""
    for line in unit.change.removed if unit.new.all_squeezed else ():
        for question, pattern in _NAMES.items():
            match = re.search(pattern, unit.old.lines[line])
            if match and match[1] not in unit.new.all_squeezed:
                yield Statement(question.format(quote(match[1])), ((False, line),))


def _heads(unit: Evidence) -> list[tuple[Unit, Unit]]:
    """Return the two declarations of a function; none if it is new or has overloads."""
    old, new = unit.change.old.units, unit.change.new.units
    pairs = list(zip(old, new, strict=True)) if len(old) == len(new) == 1 else []
    return [pair for pair in pairs if pair[0].head and pair[1].head and is_function(unit)]


def find_position(unit: Evidence) -> Iterator[Statement]:
    """Find a parameter that takes the position of another."""
    for old, new in _heads(unit):
        names = {item.name for item in new.parameters} - {"kwargs", "args"}
        pairs = zip(old.parameters, new.parameters, strict=False)
        for before, after in [pair for pair in pairs if pair[0].name != pair[1].name][:1]:
            is_alike = before.type == after.type or unit.change.language in _DYNAMIC
            if before.name in names and is_alike:
                taken = f"now takes {quote(after.name)} where it took {quote(before.name)}"
                text = f"{quote(unit.change.short_name)} {taken}"
                yield Statement(f"{text}: does a caller pass it by position?", ((True, new.head),))


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


RULES: Final = (
    Rule("name", find_name),
    Rule("position", find_position),
    Rule("default", find_default),
    Rule("result", find_result),
)
