"""Consequences for code that uses a unit: its name, its parameters, their defaults."""

from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, fits, quote, quoted
from crscore.claims.structural.evidence import Evidence
from crscore.syntax.outline import DECLARED, Unit

_LOOSE = frozenset({"javascript", "ruby", "php", "c", "cpp"})
"""Languages where a caller may leave out any argument, or where a default is elsewhere."""


def _is_used_elsewhere(unit: Evidence) -> bool:
    declared = unit.change.unit
    return (
        unit.change.kind in DECLARED
        and declared is not None
        and declared.public
        and declared.noun != "macro"
    )


def find_gone(unit: Evidence) -> Iterator[Statement]:
    """Find a public unit that is gone or has another name."""
    change = unit.change
    if not _is_used_elsewhere(unit):
        return
    name = quote(change.short_name)
    # A name that the file still mentions may be there in another form, such as an import.
    if change.state == "removed" and change.short_name not in unit.new.words:
        yield Statement(f"code that uses {name} has to do without it")
    elif change.state == "renamed":
        yield Statement(f"code that uses {quote(change.before)} has to use {name}")


def find_required(unit: Evidence) -> Iterator[Statement]:
    """Find parameters that all callers must pass now."""
    declared = _exchanged_heads(unit)
    if declared is None or unit.change.language in _LOOSE:
        return
    old, new = declared
    before = {item.name for item in old.parameters}
    required = [
        item.name for item in new.parameters if item.name not in before and not item.optional
    ]
    # A parameter that was only renamed does not change what callers pass by position.
    if required and len(new.parameters) > len(before) and new.head in unit.change.added:
        text = f"callers of {quote(unit.change.short_name)} must pass {quoted(required)}"
        yield Statement(text, ((True, new.head),))


def find_default(unit: Evidence) -> Iterator[Statement]:
    """Find parameters with another default value."""
    declared = _exchanged_heads(unit)
    if declared is None:
        return
    old, new = declared
    before = {item.name: item.default for item in old.parameters}
    for item in new.parameters:
        default = before.get(item.name)
        if default and item.default != default and fits(item.default):
            omitted, value = quote(item.name), quote(item.default)
            callers = f"callers of {quote(unit.change.short_name)}"
            text = f"{callers} that leave out {omitted} now get {value}"
            yield Statement(text, ((True, new.head),))


def _exchanged_heads(unit: Evidence) -> tuple[Unit, Unit] | None:
    """Return the two declarations of a public unit that both versions have once."""
    change = unit.change
    is_single = len(change.old.units) == len(change.new.units) == 1
    if change.state in {"changed", "renamed"} and is_single and _is_used_elsewhere(unit):
        return change.old.units[0], change.new.units[0]
    return None


RULES: Final = (
    Rule("gone", find_gone),
    Rule("required", find_required),
    Rule("default", find_default),
)
