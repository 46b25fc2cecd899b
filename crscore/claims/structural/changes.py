"""Sentences for units that changed or moved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims.structural.actions import (
    arguments_of,
    case_text,
    caught_text,
    condition_text,
    is_check,
    is_log,
    is_unless,
    loop_object,
    message_of,
    raised,
)
from crscore.claims.structural.added_removed import text_code
from crscore.claims.structural.change import Change
from crscore.claims.structural.code_to_words import aloud, callee_text, value_text
from crscore.claims.structural.conditions import extra_of
from crscore.claims.structural.english import code_of, listed, names_in, quote
from crscore.claims.structural.focus import balanced, describe_pieces, items, replaced, tokens_of
from crscore.claims.structural.mentions import unmarked
from crscore.claims.structural.places import called, inside, named, noun, place
from crscore.claims.structural.signatures import (
    describe_class,
    describe_function,
    describe_modifiers,
)
from crscore.claims.structural.statements import Statement
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.claims.structural.matching import Edit
    from crscore.claims.structural.regions import Area


def describe_change(area: Area, edit: Edit) -> Iterator[Statement]:
    """Yield the sentences for one unit that changed."""
    if edit.old is None or edit.new is None:
        return
    where = place(area, area.new, edit.new) or place(area, area.old, edit.old)
    change = Change(area, edit.old, edit.new, where)
    writer = _WRITERS.get(edit.new.role, _generic)
    described = list(writer(change)) or list(_generic(change))
    for text, weight in described:
        yield Statement(
            text=text,
            weight=weight,
            edits=(edit,),
            identifiers=tuple(dict.fromkeys([edit.new.name, *names_in(text_code(text))])),
        )


def describe_move(area: Area, edit: Edit) -> Iterator[Statement]:
    """Yield the sentence for a unit that moved."""
    if edit.old is None or edit.new is None:
        return
    new = edit.new
    source = unmarked(place(area, area.old, edit.old))
    target = unmarked(place(area, area.new, new))
    what = (
        named(area.new, new)
        if new.role in {Role.FUNCTION, Role.CLASS, Role.FIELD}
        else f"the code {quote(new.part(Part.HEAD))}"
    )
    if source and target and source != target:
        text = f"{what} has been moved from {source} to {target}"
    else:
        text = f"{what} has been moved to another place{inside(target)}"
    yield Statement(
        text=text, weight=0.6, edits=(edit,), identifiers=(new.name, *names_in(new.part(Part.HEAD)))
    )


def _generic(change: Change) -> Iterator[tuple[str, float]]:
    old, new = change.old, change.new
    pieces = [pair for pair in replaced(old.tokens, new.tokens) if re.search(r"\w", "".join(pair))]
    before, after = code_of(old.tokens), code_of(new.tokens)
    if new.role in _NAMED and (new.name or new.part(Part.TARGET)):
        subject = named(change.area.new, new)
    elif new.role is Role.LAMBDA and new.name:
        subject = unmarked(called(change.area.new, new))
    else:
        subject = f"the code {quote(new.part(Part.HEAD) or after, 40)}{inside(change.where)}"
    if not pieces:
        return
    described = list(describe_modifiers(old, new, subject)) if new.role is Role.LAMBDA else []
    text = describe_pieces(subject, pieces)
    if described:
        yield from described
    elif text:
        yield text, 0.7
    else:
        subject = change.where or "the code"
        yield f"{subject} now has {aloud(after)} instead of {aloud(before)}", 0.7


_NAMED = frozenset({Role.FUNCTION, Role.CLASS, Role.FIELD, Role.MEMBER, Role.ALIAS})


LONG = 60
"""Characters from which a value is too long to be shown whole on both sides."""


def _exchange(change: Change, subject: str, before: str, after: str, verb: str) -> str:
    """Show both values when they are short, else only their difference."""
    if max(len(before), len(after)) <= LONG:
        return f"{subject} {verb} {value_text(after)} instead of {value_text(before)}"
    pieces = replaced(change.old.tokens, change.new.tokens)
    size = sum(len(old) + len(new) for old, new in pieces)
    if size > 0.8 * (len(before) + len(after)):
        return f"{subject} {verb} {aloud(after)} instead of {aloud(before)}"
    return (
        describe_pieces(subject, pieces)
        or f"{subject} {verb} {aloud(after)} instead of {aloud(before)}"
    )


def _condition(change: Change) -> Iterator[tuple[str, float]]:
    before, after = change.part(Part.CONDITION)
    if before == after:
        yield from _generic(change)
        return
    where = inside(change.where)
    word, extra = extra_of(before, after)
    if is_unless(change.old) != is_unless(change.new) or _bare_of_not(after) == _bare_of_not(
        before
    ):
        before, after = condition_text(change.old), condition_text(change.new)
        yield (
            f"the condition{where} has been inverted: it now checks {after} instead of {before}",
            0.92,
        )
    elif word:
        also = "now also requires" if word == "and" else "is now also met by"
        yield f"the condition {aloud(before)}{where} {also} {aloud(extra)}", 0.92
    else:
        yield f"the condition{where} now checks {aloud(after)} instead of {aloud(before)}", 0.9


def _bare_of_not(text: str) -> str:
    return re.sub(r"^(?:!|not )\s*|[()\s]", "", text)


def _loop(change: Change) -> Iterator[tuple[str, float]]:
    before, after = (
        change.old.part(Part.VALUE) or change.old.part(Part.CONDITION),
        change.new.part(Part.VALUE) or change.new.part(Part.CONDITION),
    )
    where = inside(change.where)
    if before != after and before and after:
        now, then = loop_object(change.new), loop_object(change.old)
        both = now.startswith("over ") and then.startswith("over ")
        then = then.removeprefix("over ") if both else f"running {then}"
        yield f"the loop{where} now runs {now} instead of {then}", 0.85
        return
    yield (
        f"the loop{where} has changed from {quote(change.old.part(Part.HEAD))} to "
        f"{quote(change.new.part(Part.HEAD))}",
        0.8,
    )


def _assign(change: Change) -> Iterator[tuple[str, float]]:
    area, old, new = change.area, change.old, change.new
    where = inside(change.where)
    if change.differs(Part.TARGET) and not change.differs(Part.VALUE):
        before, after = change.part(Part.TARGET)
        yield (
            f"the {noun(area.new, new)} {aloud(before)}{where} has been renamed to {aloud(after)}",
            0.85,
        )
    elif new.role is Role.ALIAS and change.differs(Part.VALUE):
        before, after = change.part(Part.VALUE)
        yield f"the type {quote(new.name)} is now {aloud(after)} instead of {aloud(before)}", 0.85
    elif new.part(Part.OPERATOR) not in _PLAIN_SET or old.part(Part.OPERATOR) not in _PLAIN_SET:
        before, after = code_of(old.tokens), code_of(new.tokens)
        subject = change.where or "the code"
        yield f"{subject} now runs {aloud(after)} instead of {aloud(before)}", 0.8
    elif change.differs(Part.VALUE):
        before, after = change.part(Part.VALUE)
        name = quote(new.part(Part.TARGET) or new.name)
        if not before:
            yield f"the {noun(area.new, new)} {name}{where} is now set to {aloud(after)}", 0.8
        elif not after:
            yield (
                f"the {noun(area.new, new)} {name}{where} is no longer set to {aloud(before)}",
                0.8,
            )
        else:
            old_name = (
                f", which was called {quote(old.part(Part.TARGET))},"
                if change.differs(Part.TARGET)
                else ""
            )
            subject = f"the value of the {noun(area.new, new)} {name}{old_name}{where}"
            yield _exchange(change, subject, before, after, "is now"), 0.82
    yield from _type(change)
    yield from describe_modifiers(old, new, named(area.new, new))


def _type(change: Change) -> Iterator[tuple[str, float]]:
    if not change.differs(Part.TYPE):
        return
    new = change.new
    before, after = change.part(Part.TYPE)
    what = f"the {noun(change.area.new, new)} {quote(new.part(Part.TARGET) or new.name)}"
    what += inside(change.where)
    if before and after:
        text = f"the type of {what} has changed from {quote(before, 40)} to {quote(after, 40)}"
        yield text, 0.8
    elif after:
        yield f"{what} now has the type {quote(after, 40)}", 0.65


_PLAIN_SET = frozenset({"", "=", ":="})


def _return(change: Change) -> Iterator[tuple[str, float]]:
    before, after = (
        unit.part(Part.HEAD).partition(" ")[2].rstrip(";") for unit in (change.old, change.new)
    )
    subject = change.where or "the code"
    if max(len(before), len(after)) <= LONG:
        yield f"{subject} now returns {value_text(after)} instead of {value_text(before)}", 0.88
    else:
        yield _exchange(change, f"what {subject} returns", before, after, "is now"), 0.88


def _raise(change: Change) -> Iterator[tuple[str, float]]:
    before, after = change.part(Part.HEAD)
    old_name, new_name = raised(change.old), raised(change.new)
    verb = "throws" if after.startswith("throw") else "raises"
    subject = change.where or "the code"
    if old_name != new_name and old_name and new_name:
        yield f"{subject} now {verb} {quote(new_name)} instead of {quote(old_name)}", 0.88
    if message_of(before) != message_of(after):
        now, then = message_of(after)[:90], message_of(before)[:90]
        what = f"the error {quote(new_name)} that {subject} {verb}"
        if now and then:
            yield f"the message of {what} is now '{now}' instead of '{then}'", 0.75
        else:
            yield f"{what} {f'now says {now!r}' if now else 'has no message now'}", 0.75
    elif old_name == new_name:
        yield f"{subject} now {verb} {aloud(after)} instead of {aloud(before)}", 0.8


def _call(change: Change) -> Iterator[tuple[str, float]]:
    old, new = change.old, change.new
    subject = change.where or "the code"
    before, after = (unit.calls[0] if unit.calls else "" for unit in (old, new))
    old_text, new_text = (message_of(arguments_of(unit)) for unit in (old, new))
    if is_log(new) and old_text != new_text and old_text and new_text:
        yield (
            f"the message logged by {subject} is now '{new_text[:90]}' instead of "
            f"'{old_text[:90]}'",
            0.75,
        )
    elif is_check(new):
        yield from _check(change, subject)
    elif before != after and before and after:
        same = arguments_of(old) == arguments_of(new)
        tail = " with the same arguments" if same and arguments_of(new) else ""
        yield (
            f"{subject} now calls {callee_text(after)} instead of {callee_text(before)}{tail}",
            0.84,
        )
        if not same:
            text = _arguments(change, after)
            yield from [(text, 0.6)] if text else []
    else:
        text = _arguments(change, after)
        yield from [(text, 0.82)] if text else []


def _check(change: Change, subject: str) -> Iterator[tuple[str, float]]:
    old, new = change.old, change.new
    before, after = code_of(old.tokens), code_of(new.tokens)
    pieces = replaced(old.tokens, new.tokens)
    text = describe_pieces(f"the assertion {aloud(after)} in {subject}", pieces)
    if text:
        yield text, 0.8
    else:
        yield f"{subject} now checks {aloud(after, 90)} instead of {aloud(before, 90)}", 0.8


def _arguments(change: Change, callee: str) -> str:
    old, new = arguments_of(change.old), arguments_of(change.new)
    pieces = replaced(tokens_of(old), tokens_of(new))
    came = [aloud(item) for before, after in pieces if not before for item in items(after)]
    gone = [aloud(item) for before, after in pieces if not after for item in items(before)]
    if not all(balanced(piece) for pair in pieces for piece in pair):
        call = f"the call to {callee_text(callee)}{inside(change.where)}"
        return f"{call} now passes {aloud(new)} instead of {aloud(old)}"
    swapped = [
        f"{aloud(after)} instead of {aloud(before)}" for before, after in pieces if before and after
    ]
    call = f"the call to {callee_text(callee)}{inside(change.where)}"
    if came and not gone and not swapped:
        return f"{call} now also passes {listed(came)}"
    if gone and not came and not swapped:
        return f"{call} no longer passes {listed(gone)}"
    if swapped:
        return f"{call} now uses {listed(swapped[:3])}"
    return describe_pieces(call, pieces)


def _catch(change: Change) -> Iterator[tuple[str, float]]:
    subject = change.where or "the code"
    before, after = caught_text(change.old), caught_text(change.new)
    if before != after:
        yield f"{subject} now catches {after} instead of {before}", 0.9


def _with(change: Change) -> Iterator[tuple[str, float]]:
    before, after = (text.rstrip(":") for text in change.part(Part.HEAD))
    subject = change.where or "the code"
    if before != after:
        yield f"{subject} now uses {aloud(after)} instead of {aloud(before)}", 0.82


def _case(change: Change) -> Iterator[tuple[str, float]]:
    before, after = case_text(change.old), case_text(change.new)
    if before != after:
        yield f"the case {quote(before)}{inside(change.where)} is now {quote(after)}", 0.8


def _try(change: Change) -> Iterator[tuple[str, float]]:
    before, after = change.part(Part.HEAD)
    if before == "try" and after != before:
        subject = change.where or "the code"
        yield f"{subject} now opens {aloud(after.removeprefix('try').strip())} as a resource", 0.8


def _decorator(change: Change) -> Iterator[tuple[str, float]]:
    before, after = change.part(Part.HEAD)
    on = f" of {change.where}" if change.where else ""
    yield (
        f"the {noun(change.area.new, change.new)}{on} has changed from {aloud(before)} to "
        f"{aloud(after)}",
        0.85,
    )


_WRITERS = {
    Role.FUNCTION: describe_function,
    Role.CLASS: describe_class,
    Role.IF: _condition,
    Role.SWITCH: _condition,
    Role.LOOP: _loop,
    Role.ASSIGN: _assign,
    Role.FIELD: _assign,
    Role.MEMBER: _assign,
    Role.ENTRY: _assign,
    Role.ALIAS: _assign,
    Role.RETURN: _return,
    Role.RAISE: _raise,
    Role.CALL: _call,
    Role.CATCH: _catch,
    Role.TRY: _try,
    Role.WITH: _with,
    Role.CASE: _case,
    Role.DECORATOR: _decorator,
    Role.LAMBDA: _generic,
}
