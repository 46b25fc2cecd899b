"""Consequences of a change for other code: the few that a reviewer agrees with."""

import re
from collections.abc import Iterator

from crscore.claims.structural.change import Change
from crscore.claims.structural.english import Statement, about, fits, quote, quoted
from crscore.claims.structural.evidence import difference
from crscore.claims.structural.versions import Version
from crscore.syntax.outline import Kind, Role

DECLARED = frozenset({Kind.FUNCTION, Kind.TYPE})
"""Kinds of units that other code may use."""
_LOOSE = frozenset({"javascript", "ruby", "php", "c", "cpp"})
"""Languages where a caller may leave out any argument, or where a default is elsewhere."""
_BROAD = re.compile(r"(?:\w+[.:\\]+)*(?:Exception|BaseException|Throwable|StandardError|Error)?")
"""Errors that include all others; a handler that names none is the broadest."""


def implied(change: Change, new: Version) -> Iterator[Statement]:
    """Yield the consequences of the change of one unit."""
    unit = change.unit
    if change.kind not in DECLARED or unit is None or not unit.public or unit.noun == "macro":
        return
    name = quote(change.short_name)
    # A name that the file still mentions may be there in another form, such as an import.
    if change.state == "removed" and change.short_name not in new.words:
        yield Statement(f"code that uses {name} has to do without it", implies=True)
    elif change.state == "renamed":
        text = f"code that uses {quote(change.before)} has to use {name}"
        yield Statement(text, implies=True)
    if change.state in {"changed", "renamed"}:
        yield from _signature(change, name)
        yield from _catch(change, name)


def _signature(change: Change, name: str) -> Iterator[Statement]:
    if len(change.old.units) != 1 or len(change.new.units) != 1:
        return
    unit = change.new.units[0]
    before = {item.name: item for item in change.old.units[0].parameters}
    lines = ((True, unit.head),)
    required = [
        item.name for item in unit.parameters if item.name not in before and not item.optional
    ]
    # A parameter that was only renamed does not change what callers pass by position.
    is_longer = len(unit.parameters) > len(before) and unit.head in change.added
    if required and is_longer and change.language not in _LOOSE:
        yield Statement(f"callers of {name} must pass {quoted(required)}", lines, implies=True)
    for item in unit.parameters:
        default = before[item.name].default if item.name in before else ""
        if default and item.default != default and fits(item.default):
            omitted, value = quote(item.name), quote(item.default)
            text = f"callers of {name} that leave out {omitted} now get {value}"
            yield Statement(text, lines, implies=True)


def _catch(change: Change, name: str) -> Iterator[Statement]:
    added = difference(change.new, change.old).get(Role.CATCH, [])
    removed = difference(change.old, change.new).get(Role.CATCH, [])
    broad = [fact for fact in added if _BROAD.fullmatch(fact.name)]
    narrow = [fact for fact in removed if not _BROAD.fullmatch(fact.name)]
    if broad and narrow:
        text = f"errors other than {quote(narrow[0].name)} are now caught in {name}, too"
        yield about(broad, text, implies=True)
