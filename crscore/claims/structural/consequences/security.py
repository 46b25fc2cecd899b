"""Consequences for security: what code trusts, runs, or reveals."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, about, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.versions import squeeze
from crscore.syntax.outline import Fact, Role

_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_PATTERNS: Final = {name: re.compile(pattern) for name, pattern in _TABLES["patterns"].items()}
_UNSAFE: Final = [
    (re.compile(pattern.replace("{built}", _TABLES["patterns"]["built"])), row["question"])
    for row in _TABLES["unsafe"]
    for pattern in row["patterns"]
]
"""Patterns of code, each with what a reviewer asks about it."""


def find_unsafe(unit: Evidence) -> Iterator[Statement]:
    """Find new code that trusts what it gets, or everyone."""
    removed = [_code(fact) for role in Role for fact in unit.removed(role)]
    for fact in _added(unit):
        code = _code(fact)
        for pattern, question in _UNSAFE:
            match = pattern.search(code)
            if not match or _PATTERNS["escaped"].search(code) or any(map(pattern.search, removed)):
                continue
            # Of long code only what matches is quoted.
            quotation = quote(match[0] if match.start() and not fits(code) else code)
            yield about([fact], f"{quotation} in {unit.subject} {question}")


def find_revealed(unit: Evidence) -> Iterator[Statement]:
    """Find a secret that is written to a log."""
    for fact in _added(unit):
        if fact.role is not Role.CALL or not _PATTERNS["log"].search(fact.name):
            continue
        # Of a text only the values in it are read.
        values = _PATTERNS["text"].sub(
            lambda text: "".join(f" {value}" for value in _PATTERNS["inserted"].findall(text[2])),
            fact.text,
        )
        match = _PATTERNS["secret"].search(values)
        if match:
            written = f"{quote(fact.name)} in {unit.subject} writes {quote(match[1])} to the log"
            yield about([fact], f"{written}: should it be masked?")


def _added(unit: Evidence) -> Iterator[Fact]:
    """Yield the facts of code that users run, and that the old version of the file lacks."""
    if unit.change.state in {"moved", "away", "place", "renamed"}:
        return
    for role in (Role.CALL, Role.ASSIGN, Role.DECORATOR, Role.STRING):
        for fact in unit.added(role):
            # In an object a value has ":" in front of it.
            forms = (squeeze(_code(fact)), f"{fact.name}:{squeeze(fact.text)}")
            if not any(form in unit.old.all_squeezed for form in forms):
                yield fact


def _code(fact: Fact) -> str:
    forms = {Role.CALL: f"{fact.name}({fact.text})", Role.ASSIGN: f"{fact.name} = {fact.text}"}
    return forms.get(fact.role, fact.text or fact.name)


RULES: Final = (Rule("unsafe", find_unsafe), Rule("revealed", find_revealed))
