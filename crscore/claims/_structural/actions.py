"""What a statement does, as a verb and its object."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims._structural.english import Action, code_of, listed, quote
from crscore.claims._structural.gloss import aloud, callee_said, value_said
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crscore.syntax.model import Tree, Unit

MAX_INNER = 3
"""Actions told of what stands inside a block."""

_LOG = re.compile(
    r"(?i)^(?:.*\.)?(?:log(?:ger|ging)?|console|_?log)\b|^(?:print|println|printf|puts|echo|fmt\.print\w*|system\.(?:out|err)\.\w+)$|\.(?:debug|info|warn|warning|error|trace|fatal)$"
)
_CHECK = re.compile(r"(?i)^(?:.*\.)?(?:assert\w*|expect|verify|require|should)\b")
_STRING = re.compile(r"""[rbfuL@$]*(["'`])(.*?)\1""", re.DOTALL)
_SILENT = frozenset({Role.COMMENT, Role.DOC, Role.DECORATOR})


def is_log(unit: Unit) -> bool:
    """True for a call that writes a log line or prints."""
    return unit.role is Role.CALL and bool(unit.calls) and bool(_LOG.search(unit.calls[0]))


def is_check(unit: Unit) -> bool:
    """True for a call that is a test's assertion or an argument check."""
    return unit.role is Role.CALL and any(_CHECK.match(call) for call in unit.calls)


def message_of(text: str) -> str:
    """The first string literal in a piece of code, without its quotes; empty without one."""
    match = _STRING.search(text)
    return match[2] if match else ""


def arguments_of(unit: Unit) -> str:
    """A call's arguments without their parentheses."""
    text = unit.part(Part.ARGUMENTS)
    return text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text.strip("()")


def action(tree: Tree, unit: Unit, depth: int = 0) -> Action | None:
    """What a unit does; None for comments and the like.

    Args:
        tree: The unit's tree.
        unit: A statement or declaration.
        depth: How many blocks are already around it in the sentence; below 2 its inside is told.
    """
    if unit.role in _SILENT:
        return None
    made = _SIMPLE.get(unit.role)
    if made is not None:
        return made(unit)
    return _compound(tree, unit, depth)


def inner_actions(tree: Tree, unit: Unit, depth: int = 0) -> list[Action]:
    """What the statements directly inside a unit do."""
    found: list[Action] = []
    for child in tree.children(unit):
        if child.role in {Role.ELSE, Role.CATCH, Role.FINALLY, Role.CASE}:
            continue
        done = action(tree, child, depth + 1)
        if done is not None:
            found.append(done)
    return found


def told(actions: Sequence[Action], form: str = "third", limit: int = MAX_INNER) -> str:
    """Several actions as one phrase; equal verbs are said once."""
    merged: list[Action] = []
    for item in actions:
        if merged and merged[-1].verb == item.verb and " " not in item.rest.strip("`"):
            merged[-1] = Action(item.verb, merged[-1].rest + " and " + item.rest)
        else:
            merged.append(item)
    shown = [getattr(item, form)() for item in merged[:limit]]
    return listed(shown, limit)


def _call(unit: Unit) -> Action:
    head = code_of(unit.tokens).rstrip(";") if unit.tokens else unit.part(Part.HEAD)
    callee = unit.calls[0] if unit.calls else head
    arguments = arguments_of(unit)
    if is_log(unit):
        message = message_of(arguments)
        return Action(
            "log", f"the message '{message[:80]}'" if message else aloud(arguments or head)
        )
    if is_check(unit):
        return Action("check", aloud(head, 90))
    if callee in {"super", "super().__init__", "this", "base"}:
        return Action("call", f"the {callee.partition('(')[0]} constructor" + _with(arguments))
    if callee in {"panic", "raise", "fail"}:
        return Action("fail", "with " + aloud(arguments))
    return Action("call", callee_said(callee) + _with(arguments))


def _with(arguments: str) -> str:
    return f" with {aloud(arguments, 60)}" if arguments else ""


def _assign(unit: Unit) -> Action:
    target, value = unit.part(Part.TARGET), unit.part(Part.VALUE)
    operator = unit.part(Part.OPERATOR)
    code = code_of(unit.tokens).rstrip(";")
    if code.endswith(("++", "--")) or code.startswith(("++", "--")):
        verb = "increment" if "++" in code else "decrement"
        return Action(verb, quote(code.strip("+-")))
    if not target:
        return Action("run", quote(code_of(unit.tokens)))
    if not value:
        return Action(
            "declare",
            quote(target)
            + (f" of type {quote(unit.part(Part.TYPE))}" if unit.part(Part.TYPE) else ""),
        )
    if operator not in {"", "=", ":="}:
        return Action("update", f"{quote(target)} with {aloud(operator + ' ' + value)}")
    return Action("set", f"{quote(target)} to {value_said(value)}")


def _entry(unit: Unit) -> Action:
    return Action(
        "set", f"{quote(unit.part(Part.TARGET) or unit.name)} to {aloud(unit.part(Part.VALUE))}"
    )


def _return(unit: Unit) -> Action:
    value = _behind_keyword(unit)
    return Action("return", aloud(value)) if value else Action("return", "early")


def _behind_keyword(unit: Unit) -> str:
    """A statement's text without the keyword it starts with and a final semicolon."""
    return unit.part(Part.HEAD).partition(" ")[2].strip().rstrip(";").strip()


def raised(unit: Unit) -> str:
    """The error that a raise or throw makes; its text when it makes none."""
    value = _behind_keyword(unit)
    calls = [call for call in unit.calls if call != "raise"]
    return calls[0] if calls else re.split(r"[,(]", value.removeprefix("new "))[0].strip()


def _raise(unit: Unit) -> Action:
    verb = "throw" if unit.part(Part.HEAD).startswith("throw") else "raise"
    value = _behind_keyword(unit)
    if not value:
        return Action(verb, "the error again")
    name = raised(unit)
    message = message_of(value)
    about = f" with the message '{message[:80]}'" if message else ""
    return Action(verb, quote(name, 60) + about)


def _jump(unit: Unit) -> Action | None:
    word = unit.part(Part.HEAD).split(" ")[0].rstrip(";")
    if word == "pass":
        return None
    said = {
        "break": Action("leave", "the loop"),
        "continue": Action("skip", "to the next iteration"),
        "next": Action("skip", "to the next iteration"),
    }
    return said.get(word) or Action("jump", f"with {quote(unit.part(Part.HEAD))}")


_SIMPLE: dict[Role, Callable[[Unit], Action | None]] = {
    Role.CALL: _call,
    Role.ASSIGN: _assign,
    Role.FIELD: _assign,
    Role.MEMBER: lambda unit: Action("define", quote(unit.name or unit.part(Part.TARGET))),
    Role.ENTRY: _entry,
    Role.RETURN: _return,
    Role.RAISE: _raise,
    Role.JUMP: _jump,
    Role.ASSERT: lambda unit: Action("assert", "that " + aloud(_behind_keyword(unit))),
    Role.DELETE: lambda unit: Action("delete", aloud(_behind_keyword(unit))),
    Role.YIELD: lambda unit: Action("yield", aloud(_behind_keyword(unit))),
    Role.IMPORT: lambda unit: Action("import", aloud(_behind_keyword(unit))),
    Role.ALIAS: lambda unit: Action("define", f"the type {quote(unit.name)}"),
    Role.MARKUP: lambda unit: Action("render", quote(code_of(unit.tokens) or unit.part(Part.HEAD))),
    Role.OTHER: lambda unit: Action("contain", quote(code_of(unit.tokens) or unit.part(Part.HEAD))),
    Role.FUNCTION: lambda unit: Action(
        "define", f"the {unit.word or 'function'} {quote(unit.name)}"
    ),
    Role.CLASS: lambda unit: Action("define", f"the {unit.word or 'class'} {quote(unit.name)}"),
}


def _compound(tree: Tree, unit: Unit, depth: int) -> Action | None:
    inner = inner_actions(tree, unit, depth) if depth < 2 else []
    then = f" and {told(inner)}" if inner else ""
    condition = unit.part(Part.CONDITION) or unit.part(Part.HEAD)
    if unit.role is Role.IF:
        word = "unless" if unit.part(Part.HEAD).startswith("unless") else "that"
        return Action(
            "check", f"{word} {aloud(condition)}" + then.replace(" and ", " and then ", 1)
        )
    if unit.role is Role.TRY:
        handlers = [child for child in tree.children(unit) if child.role is Role.CATCH]
        caught = listed([quote(caught_text(child)) for child in handlers])
        when = f" when it {told(inner)}" if inner else ""
        return Action("handle", (f"the error {caught}" if caught else "errors") + when)
    made = {
        Role.LOOP: lambda: Action("loop", loop_object(unit) + then),
        Role.CATCH: lambda: Action("catch", quote(caught_text(unit)) + then),
        Role.WITH: lambda: Action("use", aloud(_behind_keyword(unit).rstrip(":")) + then),
        Role.SWITCH: lambda: Action("switch", f"on {aloud(condition)}"),
        Role.CASE: lambda: Action("handle", f"the case {quote(_case(unit))}" + then),
        Role.LAMBDA: lambda: Action("run", "a callback" + then.replace(" and ", " that ", 1)),
    }.get(unit.role)
    return made() if made else (inner[0] if inner else None)


def _case(unit: Unit) -> str:
    return unit.part(Part.HEAD).removeprefix("case").removeprefix("when").strip(" :")


def loop_object(unit: Unit) -> str:
    """What a loop runs over: "over `xs`", "while `x`"."""
    value = unit.part(Part.VALUE)
    if value:
        return f"over {aloud(value)}"
    condition = unit.part(Part.CONDITION)
    return f"while {aloud(condition)}" if condition else f"with {quote(unit.part(Part.HEAD))}"


def caught_text(unit: Unit) -> str:
    """The exceptions a handler names, or its head when it names none."""
    head = unit.part(Part.HEAD)
    text = re.sub(r"^(?:except|catch|rescue)\b\*?\s*", "", head).strip(" :{")
    text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    return text or head
