"""Sentences about the interface of a declaration: name, parameters, types, bases, modifiers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims.structural.added_removed import bases_text
from crscore.claims.structural.code_to_words import aloud
from crscore.claims.structural.english import listed, quote
from crscore.claims.structural.places import named, noun
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.claims.structural.change import Change
    from crscore.syntax.model import Parameter, Unit


def _renamed(change: Change) -> Iterator[tuple[str, float]]:
    old, new = change.old, change.new
    if old.name and new.name and old.name != new.name:
        what = noun(change.area.new, new)
        yield f"the {what} {quote(old.name)} has been renamed to {quote(new.name)}", 0.95


def describe_function(change: Change) -> Iterator[tuple[str, float]]:
    """Describe a new name, parameters, return type or modifiers of a function."""
    area, old, new = change.area, change.old, change.new
    what = named(area.new, new)
    yield from _renamed(change)
    yield from _parameters(old, new, what)
    if change.differs(Part.RETURNS):
        before, after = change.part(Part.RETURNS)
        if before and after:
            yield (
                f"the return type of {what} has changed from {aloud(before)} to {aloud(after)}",
                0.88,
            )
        elif after:
            yield f"{what} now declares the return type {aloud(after)}", 0.7
        else:
            yield f"{what} no longer declares its return type {aloud(before)}", 0.7
    before, after = (_thrown(unit) for unit in (old, new))
    if before != after:
        gained = f"now declares that it throws {quote(after)}"
        lost = f"no longer declares that it throws {quote(before)}"
        yield f"{what} {gained if after else lost}", 0.85
    yield from describe_modifiers(old, new, what)


def _thrown(unit: Unit) -> str:
    match = re.search(r"\)\s*throws\s+([\w., ]+)$", unit.part(Part.HEAD))
    return match[1].strip() if match else ""


_MODIFIERS = (
    "public", "private", "protected", "internal", "static", "final", "abstract", "async", "const",
    "virtual", "override", "readonly", "export", "default", "synchronized", "sealed",
    "volatile", "inline", "explicit", "noexcept",
)  # fmt: skip


def _modifiers(unit: Unit) -> list[str]:
    """Return the modifiers of a declaration itself, not those of its parameters or result."""
    found: list[str] = []
    depth = 0
    behind = False
    for token in unit.tokens:
        depth += (token.text == "(") - (token.text == ")")
        behind = behind or token.text == ")"
        if depth or token.text not in _MODIFIERS or (behind and token.text == "default"):
            continue
        if token.text != "const" or behind or unit.role is not Role.FUNCTION:
            found.append(token.text)
    return found


def describe_modifiers(old: Unit, new: Unit, what: str) -> Iterator[tuple[str, float]]:
    """Describe modifiers like `static` that a declaration gained or lost."""
    before, after = _modifiers(old), _modifiers(new)
    gained = [quote(word) for word in after if word not in before]
    lost = [quote(word) for word in before if word not in after]
    if gained and lost:
        yield f"{what} is now {listed(gained)} instead of {listed(lost)}", 0.8
    elif gained:
        yield f"{what} is now {listed(gained)}", 0.8
    elif lost:
        yield f"{what} is no longer {listed(lost)}", 0.8


def renamed_parameters(old: Unit, new: Unit) -> dict[str, str]:
    """Map the old to the new name of each parameter that changed in name only.

    Such a parameter has the same position and type; without types, it is a single new name in the
    position of a single old one.
    """
    before = {item.name for item in old.parameters}
    after = {item.name for item in new.parameters}
    pairs = [
        (left, right)
        for left, right in zip(old.parameters, new.parameters, strict=False)
        if left.name not in after and right.name not in before
    ]
    lone = len(after - before) == len(before - after) == 1
    return {
        left.name: right.name
        for left, right in pairs
        if (lone or (left.type and left.type == right.type)) and left.optional == right.optional
    }


def _parameters(old: Unit, new: Unit, what: str) -> Iterator[tuple[str, float]]:
    before = {item.name: item for item in old.parameters}
    after = {item.name: item for item in new.parameters}
    renamed = renamed_parameters(old, new)
    gone = [item for item in old.parameters if item.name not in {*after, *renamed}]
    came = [item for item in new.parameters if item.name not in {*before, *renamed.values()}]
    for name, now in renamed.items():
        yield f"the parameter {quote(name)} of {what} has been renamed to {quote(now)}", 0.88
        yield from _parameter(before[name], after[now], what)
    for item in came:
        kind = f" of type {quote(item.type, 40)}" if item.type else ""
        default = f" with the default value {quote(item.default, 40)}" if item.default else ""
        yield f"a new parameter {quote(item.name)}{kind}{default} has been added to {what}", 0.94
    if gone:
        word = "parameter" if len(gone) == 1 else "parameters"
        verb = "has" if len(gone) == 1 else "have"
        yield (
            f"the {word} {listed([quote(item.name) for item in gone])} {verb} been "
            f"removed from {what}",
            0.92,
        )
    for name, item in after.items():
        if name in before:
            yield from _parameter(before[name], item, what)
    if [name for name in before if name in after] != [name for name in after if name in before]:
        yield f"the order of the parameters of {what} has changed", 0.85


def _parameter(old: Parameter, new: Parameter, what: str) -> Iterator[tuple[str, float]]:
    if old.default != new.default:
        if old.default and new.default:
            yield (
                (
                    f"the default value of the parameter {quote(new.name)} of {what} has "
                    f"changed from "
                    f"{quote(old.default, 40)} to {quote(new.default, 40)}"
                ),
                0.9,
            )
        elif new.default:
            yield (
                f"the parameter {quote(new.name)} of {what} now has the default value "
                f"{quote(new.default, 40)}",
                0.88,
            )
        else:
            yield f"the parameter {quote(new.name)} of {what} no longer has a default value", 0.9
    if old.type != new.type:
        if old.type and new.type:
            yield (
                (
                    f"the type of the parameter {quote(new.name)} of {what} has changed from "
                    f"{quote(old.type, 40)} to {quote(new.type, 40)}"
                ),
                0.86,
            )
        elif new.type:
            yield (
                f"the parameter {quote(new.name)} of {what} now has the type {quote(new.type, 40)}",
                0.7,
            )
        else:
            yield f"the parameter {quote(new.name)} of {what} no longer has a type", 0.7


def describe_class(change: Change) -> Iterator[tuple[str, float]]:
    """Describe a new name, base or modifiers of a class."""
    area, old, new = change.area, change.old, change.new
    what = named(area.new, new)
    yield from _renamed(change)
    if change.differs(Part.BASES):
        before, after = (bases_text(text) for text in change.part(Part.BASES))
        if before and after:
            yield f"{what} is now based on {aloud(after)} instead of {aloud(before)}", 0.88
        elif after:
            yield f"{what} is now based on {aloud(after)}", 0.88
        else:
            yield f"{what} is no longer based on {aloud(before)}", 0.88
    yield from describe_modifiers(old, new, what)
