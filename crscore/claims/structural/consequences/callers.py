"""Consequences for callers in the change: of a function that is gone, or needs more arguments."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, quote, quoted
from crscore.claims.structural.evidence import Evidence
from crscore.syntax.outline import Kind

MIN_NAME_CHARS: Final = 4
"""Minimum characters of a name that is looked up: shorter ones mean other things elsewhere."""
_LOOSE: Final = frozenset({"javascript", "typescript", "tsx", "ruby", "php", "c", "cpp"})
"""Languages where a caller may leave out any argument, or where a default is elsewhere."""
# What a call follows in code, and not in prose: "x = f(", "return f(", or nothing.
_BEFORE_CALL: Final = r"(?:^\s*|[=(,\[{!:>|&] ?|\b(?:return|await|yield|if|while|in|and|or|not) )"
# "class A extends B", "class A(B):", "class A : B", "impl A for B"
_HAS_BASE: Final = re.compile(r"\bextends\b|\(\s*\w|\w\s?:\s?\w|\bfor\b|<")
# "def f(", "function f(", "func (s *S) f(", "import f", "# f(": no call
_NO_CALL: Final = re.compile(
    r"^\s*(?:(?:async |static |public |private |protected |export |default )*"
    r"(?:def|function|func|fn|fun|class|import|from|using)\b|#|//|\*|/\*)"
)


def _find_call(unit: Evidence, name: str) -> int | None:
    """Return an unchanged line of the new version that still calls a function or own method."""
    owner, _, _ = unit.change.name.rpartition(".")
    units = [item for piece in unit.new.outlines for item in piece.outline.units]
    types = [item for item in units if owner and item.name == owner.rpartition(".")[2]]
    # Another type may have a method of this name, and so may a base of this one.
    if owner and (len(types) != 1 or _HAS_BASE.search(unit.new.lines.get(types[0].head, ""))):
        return None
    receiver = r"(?:self|this)(?:\.|->)" if owner else ""
    call = re.compile(rf"{_BEFORE_CALL}{receiver}{re.escape(name)}\(.{{0,200}}[),;({{:]$")
    low, high = (types[0].start, types[0].end) if types else (1, max(unit.new.lines))
    skipped = {*unit.new.changed, *(item.head for item in units)}
    for number in range(low, high + 1) if name in unit.new.words else ():
        text = unit.new.lines.get(number, "").rstrip()
        if number not in skipped and call.search(text) and not _NO_CALL.match(text):
            return number
    return None


def _declared(unit: Evidence, *states: str) -> bool:
    change = unit.change
    is_function = change.kind is Kind.FUNCTION and change.noun != "macro"
    return is_function and change.state in states and unit.new.is_whole


def find_gone(unit: Evidence) -> Iterator[Statement]:
    """Find a call of a function that is gone or has another name."""
    change = unit.change
    is_renamed = change.state in {"renamed", "replaced"}
    name = change.before if is_renamed else change.short_name
    if not _declared(unit, "removed", "renamed", "replaced") or len(name) < MIN_NAME_CHARS:
        return
    if line := _find_call(unit, name):
        event = f"is now {quote(change.short_name)}" if is_renamed else "is gone"
        text = f"{quote(name)} {event}, but line {line} still calls {quote(name)}: does it work?"
        head = change.new.units[0].head if change.new.units else 0
        proof = ((True, head),) if head else tuple((False, line) for line in change.removed[:1])
        yield Statement(text, (*proof, (True, line)))


def find_required(unit: Evidence) -> Iterator[Statement]:
    """Find an unchanged call of a function that has a new required parameter."""
    old, new = unit.change.old.units, unit.change.new.units
    is_single = len(old) == len(new) == 1 and bool(old[0].head and new[0].head)
    if not is_single or not _declared(unit, "changed") or unit.change.language in _LOOSE:
        return
    before = {item.name for item in old[0].parameters}
    required = [
        item.name for item in new[0].parameters if item.name not in before and not item.optional
    ]
    is_longer = len(new[0].parameters) > len(before)
    line = _find_call(unit, unit.change.short_name) if required and is_longer else None
    if line:
        name, names = quote(unit.change.short_name), quoted(required)
        text = f"{name} now requires {names}, but line {line} is unchanged: what does it pass?"
        yield Statement(text, ((True, new[0].head), (True, line)))


RULES: Final = (Rule("call", find_gone), Rule("required", find_required))
