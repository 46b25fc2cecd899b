"""Sentences about what a declaration offers: name, parameters, types, bases, modifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.claims._structural.english import listed, quote
from crscore.claims._structural.gloss import aloud
from crscore.claims._structural.newcomers import bases_said
from crscore.claims._structural.places import named, noun
from crscore.syntax.model import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.claims._structural.change import Change
    from crscore.syntax.model import Parameter, Unit


def told_function(change: Change) -> Iterator[tuple[str, float]]:
    """A new name, parameters, return type or modifiers of a function."""
    area, old, new = change.area, change.old, change.new
    what = named(area.new, new)
    if old.name and new.name and old.name != new.name:
        yield (
            f"the {noun(area.new, new)} {quote(old.name)} has been renamed to {quote(new.name)}",
            0.95,
        )
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
    yield from told_modifiers(old, new, what)


_MODIFIERS = (
    "public", "private", "protected", "internal", "static", "final", "abstract", "async", "const",
    "virtual", "override", "readonly", "export", "default", "synchronized", "sealed",
    "volatile", "inline",
)  # fmt: skip


def told_modifiers(old: Unit, new: Unit, what: str) -> Iterator[tuple[str, float]]:
    """What modifiers like `static` a declaration gained and lost."""
    before = [token.text for token in old.tokens if token.text in _MODIFIERS]
    after = [token.text for token in new.tokens if token.text in _MODIFIERS]
    gained = [quote(word) for word in after if word not in before]
    lost = [quote(word) for word in before if word not in after]
    if gained and lost:
        yield f"{what} is now {listed(gained)} instead of {listed(lost)}", 0.8
    elif gained:
        yield f"{what} is now {listed(gained)}", 0.8
    elif lost:
        yield f"{what} is no longer {listed(lost)}", 0.8


def _parameters(old: Unit, new: Unit, what: str) -> Iterator[tuple[str, float]]:
    before = {item.name: item for item in old.parameters}
    after = {item.name: item for item in new.parameters}
    gone = [item for item in old.parameters if item.name not in after]
    came = [item for item in new.parameters if item.name not in before]
    if len(gone) == len(came) == 1 and old.parameters.index(gone[0]) == new.parameters.index(
        came[0]
    ):
        yield (
            f"the parameter {quote(gone[0].name)} of {what} has been renamed to "
            f"{quote(came[0].name)}",
            0.88,
        )
        gone, came = [], []
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
    if not gone and not came and [*before] != [*after]:
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


def told_class(change: Change) -> Iterator[tuple[str, float]]:
    """A new name, base or modifiers of a class."""
    area, old, new = change.area, change.old, change.new
    what = named(area.new, new)
    if old.name and new.name and old.name != new.name:
        yield (
            f"the {noun(area.new, new)} {quote(old.name)} has been renamed to {quote(new.name)}",
            0.95,
        )
    if change.differs(Part.BASES):
        before, after = (bases_said(text) for text in change.part(Part.BASES))
        if before and after:
            yield f"{what} is now based on {aloud(after)} instead of {aloud(before)}", 0.88
        elif after:
            yield f"{what} is now based on {aloud(after)}", 0.88
        else:
            yield f"{what} is no longer based on {aloud(before)}", 0.88
    yield from told_modifiers(old, new, what)
