"""Sentences for units that were added or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.claims.structural.actions import (
    action,
    all_caught,
    caught_text,
    condition_text,
    describe_actions,
    inner_actions,
    loop_object,
)
from crscore.claims.structural.code_to_words import value_text
from crscore.claims.structural.english import listed, names_in, quote
from crscore.claims.structural.matching import EditKind
from crscore.claims.structural.places import inside, named, noun, place
from crscore.claims.structural.statements import Statement
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.claims.structural.matching import Edit
    from crscore.claims.structural.regions import Area
    from crscore.syntax.model import Tree, Unit

_WEIGHT = {
    Role.CLASS: 0.95,
    Role.FUNCTION: 0.93,
    Role.ALIAS: 0.8,
    Role.FIELD: 0.82,
    Role.ASSIGN: 0.8,
    Role.MEMBER: 0.75,
    Role.ENTRY: 0.72,
    Role.DECORATOR: 0.8,
    Role.IF: 0.9,
    Role.ELSE: 0.8,
    Role.SWITCH: 0.85,
    Role.CASE: 0.8,
    Role.LOOP: 0.85,
    Role.TRY: 0.88,
    Role.CATCH: 0.87,
    Role.FINALLY: 0.7,
    Role.WITH: 0.8,
    Role.LAMBDA: 0.6,
    Role.MARKUP: 0.7,
}


def describe_added_removed(area: Area, edit: Edit) -> Iterator[Statement]:
    """Yield the sentences for one added or removed declaration or block."""
    added = edit.kind is EditKind.ADDED
    tree, unit = (area.new, edit.new) if added else (area.old, edit.old)
    if unit is None:
        return
    where = place(area, tree, unit)
    writer = _WRITERS.get(unit.role, _block)
    for text, factor in writer(tree, unit, where, added):
        yield Statement(
            text=text,
            weight=_WEIGHT.get(unit.role, 0.6) * factor,
            edits=(edit,),
            identifiers=tuple(
                dict.fromkeys(
                    [unit.name, *names_in(unit.part(Part.CONDITION)), *names_in(text_code(text))]
                )
            ),
        )


_HOLDERS = frozenset({Role.FIELD, Role.MEMBER, Role.ASSIGN, Role.ALIAS})


def text_code(text: str) -> str:
    """Return the text between backticks in a sentence."""
    return " ".join(text.split("`")[1::2])


def _function(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    what = f"{noun(tree, unit)} {quote(unit.name)}" if unit.name else noun(tree, unit)
    if not added:
        yield f"the {what} has been removed{_of(where)}", 1.0
        return
    takes = [quote(item.name) for item in unit.parameters]
    detail = ""
    if takes:
        detail += f", which takes {listed(takes)}"
    if unit.part(Part.RETURNS) not in {"", "void", "None"}:
        detail += (
            " and" if takes else ", which"
        ) + f" returns {quote(unit.part(Part.RETURNS), 40)}"
    yield f"a new {what} has been added{_to(where)}{detail}", 1.0
    inner = inner_actions(tree, unit)
    if inner:
        yield f"the new {what} {describe_actions(inner, limit=4)}", 0.9


def _to(where: str) -> str:
    return f" to {where}" if where else ""


def _of(where: str) -> str:
    return f" from {where}" if where else ""


def bases_text(bases: str) -> str:
    """Return the base types of a class without the keyword or marks before them."""
    return bases.strip("():< ").removeprefix("extends ").removeprefix("implements ").strip()


def _class(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    what = f"{noun(tree, unit)} {quote(unit.name)}" if unit.name else noun(tree, unit)
    if not added:
        yield f"the {what} has been removed{_of(where)}", 1.0
        return
    bases = unit.part(Part.BASES)
    base = f", based on {quote(bases_text(bases))}" if bases else ""
    yield f"a new {what} has been added{_to(where)}{base}", 1.0
    members = [
        f"{quote(child.name or child.part(Part.TARGET))}"
        for child in tree.children(unit)
        if child.role in {Role.FUNCTION, Role.FIELD, Role.ASSIGN, Role.MEMBER, Role.CLASS}
        and (child.name or child.part(Part.TARGET))
    ]
    if members:
        yield f"the new {what} has {listed(members, 6)}", 0.9
    for child in tree.children(unit):
        if child.role is Role.FUNCTION:
            inner = inner_actions(tree, child)
            if inner:
                yield (
                    f"the new method {quote(child.name)} of {quote(unit.name)} "
                    f"{describe_actions(inner, limit=4)}",
                    0.8,
                )


def _value(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    name = unit.name or unit.part(Part.TARGET)
    what = f"{noun(tree, unit)} {quote(name)}"
    if not added:
        yield f"the {what} has been removed{_of(where)}", 1.0
        return
    kind = f" of type {quote(unit.part(Part.TYPE), 40)}" if unit.part(Part.TYPE) else ""
    value = unit.part(Part.VALUE)
    verb = "defined as" if unit.role is Role.ALIAS else "set to"
    tail = f", {verb} {value_text(value)}" if value else ""
    yield f"a new {what}{kind} has been added{_to(where)}{tail}", 1.0


def _decorator(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    head = quote(unit.part(Part.HEAD))
    holder = tree.units[unit.parent]
    if holder.role in _HOLDERS:
        where = named(tree, holder) + inside(where)
    verb = "has been added to" if added else "has been removed from"
    yield f"the {noun(tree, unit)} {head} {verb} {where or 'a declaration'}", 1.0


def _condition(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    inner = inner_actions(tree, unit)
    condition = condition_text(unit)
    weight = 0.6 if all(item.verb == "import" for item in inner) and inner else 1.0
    then = f"; when it holds, the code {describe_actions(inner)}" if inner else ""
    if added:
        yield f"a new condition{inside(where)} checks {condition}{then}", weight
    else:
        lost = f", which would {describe_actions(inner, 'base')}," if inner else ""
        yield f"the check for {condition}{lost} has been removed{_of(where)}", 1.0
    for child in tree.children(unit):
        if child.role is Role.ELSE:
            otherwise = inner_actions(tree, child)
            if otherwise and added:
                done = describe_actions(otherwise)
                yield f"otherwise, when {condition} does not hold, the code {done}", 0.85


def _loop(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    if not added:
        yield f"the loop {loop_object(unit)} has been removed{_of(where)}", 1.0
        return
    nested = [child for child in tree.subtree(unit) if child.role is Role.TRY]
    inner = [] if nested else inner_actions(tree, unit)
    tail = f" that {describe_actions(inner)}" if inner else ""
    yield f"a new loop {loop_object(unit)}{tail} has been added{_to(where)}", 1.0
    for child in nested:
        yield from _try(tree, child, where, added)


def _try(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    handlers = [child for child in tree.children(unit) if child.role is Role.CATCH]
    caught = all_caught(tree, unit)
    what = f"error handling for {caught}" if caught else "error handling"
    what = what if handlers else "a try block"
    if not added:
        yield f"the {what.removeprefix('a ')} has been removed{_of(where)}", 1.0
        return
    inner = inner_actions(tree, unit)
    around = f" around code that {describe_actions(inner)}" if inner else ""
    yield f"{what} has been added{_to(where)}{around}", 1.0
    for child in handlers:
        then = inner_actions(tree, child)
        if then:
            error = caught_text(child).replace("every", "an")
            yield f"when {error} is caught, the code{inside(where)} {describe_actions(then)}", 0.9


def _catch(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    then = inner_actions(tree, unit)
    tail = f" and {describe_actions(then)}" if then else ""
    if added:
        yield f"{where or 'the code'} now catches {caught_text(unit)}{tail}", 1.0
    else:
        yield f"{where or 'the code'} no longer catches {caught_text(unit)}", 1.0


def _block(tree: Tree, unit: Unit, where: str, added: bool) -> Iterator[tuple[str, float]]:
    done = action(tree, unit)
    subject = where or "the code"
    if unit.role in {Role.ELSE, Role.FINALLY}:
        inner = describe_actions(inner_actions(tree, unit))
        kind = "an else branch" if unit.role is Role.ELSE else "a finally block"
        if added:
            yield (
                f"{kind} that {inner} has been added{_to(where)}"
                if inner
                else f"{kind} has been added{_to(where)}",
                1.0,
            )
        else:
            yield f"the {kind.split(' ', 1)[1]} has been removed{_of(where)}", 1.0
    elif done is not None:
        yield (
            (f"{subject} now {done.third()}" if added else f"{subject} no longer {done.third()}"),
            1.0,
        )


_WRITERS = {
    Role.FUNCTION: _function,
    Role.CLASS: _class,
    Role.FIELD: _value,
    Role.MEMBER: _value,
    Role.ENTRY: _value,
    Role.ALIAS: _value,
    Role.ASSIGN: _value,
    Role.DECORATOR: _decorator,
    Role.IF: _condition,
    Role.LOOP: _loop,
    Role.TRY: _try,
    Role.CATCH: _catch,
}
