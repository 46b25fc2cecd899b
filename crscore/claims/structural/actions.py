"""Statements as a verb and its object."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims.structural.code_to_words import aloud, callee_text, value_text
from crscore.claims.structural.english import Action, code_of, listed, quote
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crscore.syntax.model import Tree, Unit

MAX_INNER = 3
"""Actions described inside a block."""

_LOG = re.compile(
    r"(?i)^(?:.*\.)?(?:log(?:ger|ging)?|console|_?log)\b|^(?:print|println|printf|puts|echo|fmt\.print\w*|system\.(?:out|err)\.\w+)$|\.(?:debug|info|warn|warning|error|trace|fatal)$"
)
_PRINT = re.compile(r"(?i)(?:^|\.)(?:f?print\w*|puts|echo)$")
_TEST_CALL = re.compile(r"(it|test|specify|describe|context|suite)(?:\.\w+)?")
_SUITES = frozenset({"describe", "context", "suite"})
_QUOTES = frozenset("\"'`")
_CHECK = re.compile(r"(?i)^(?:.*\.)?(?:assert\w*|expect|verify|require|should)\b")
_STRING = re.compile(r"""[rbfuL@$]*(["'`])(.*?)\1""", re.DOTALL)
_SILENT = frozenset({Role.COMMENT, Role.DOC, Role.DECORATOR})


def is_log(unit: Unit) -> bool:
    """Return True for a call that writes a log line or prints."""
    return unit.role is Role.CALL and bool(unit.calls) and bool(_LOG.search(unit.calls[0]))


def is_check(unit: Unit) -> bool:
    """Return True for a call that is a test's assertion or an argument check."""
    return unit.role is Role.CALL and any(_CHECK.match(call) for call in unit.calls)


def message_of(text: str) -> str:
    """Return the first string literal in a piece of code, without its quotes; empty without one."""
    match = _STRING.search(text)
    if match is None:
        return ""
    joined = match[2] and text[match.end() :].lstrip().startswith(("+", ". ", "<<"))
    return match[2].rstrip() + (" …" if joined else "")


def arguments_of(unit: Unit) -> str:
    """Return a call's arguments without their parentheses."""
    text = unit.part(Part.ARGUMENTS)
    return text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text.strip("()")


def action(tree: Tree, unit: Unit, depth: int = 0) -> Action | None:
    """Describe a unit as an action; None for comments and the like.

    Args:
        tree: The unit's tree.
        unit: A statement or declaration.
        depth: Number of blocks already around it in the sentence; below 2 its inside is included.
    """
    if unit.role in _SILENT:
        return None
    made = _SIMPLE.get(unit.role)
    if made is not None:
        return made(unit)
    return _compound(tree, unit, depth)


def inner_actions(tree: Tree, unit: Unit, depth: int = 0) -> list[Action]:
    """Describe the statements directly inside a unit."""
    found: list[Action] = []
    for child in tree.children(unit):
        if child.role in {Role.ELSE, Role.CATCH, Role.FINALLY, Role.CASE}:
            continue
        done = action(tree, child, depth + 1)
        if done is not None:
            found.append(done)
    return found


def describe_actions(actions: Sequence[Action], form: str = "third", limit: int = MAX_INNER) -> str:
    """Return several actions as one phrase; equal verbs appear once."""
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
            "print" if _PRINT.search(callee) else "log",
            f"the message '{message[:80]}'" if message else aloud(arguments or head),
        )
    if is_check(unit):
        return Action("check", aloud(head, 90))
    test = _TEST_CALL.fullmatch(callee)
    if test and arguments[:1] in _QUOTES:
        kind = "test suite" if test[1] in _SUITES else "test"
        return Action("contain", f"the {kind} '{message_of(arguments)[:80]}'")
    if callee in {"super", "super().__init__", "this", "base"}:
        return Action("call", f"the {callee.partition('(')[0]} constructor" + _with(arguments))
    if callee in {"panic", "raise", "fail"}:
        return Action("fail", "with " + aloud(arguments))
    return Action("call", callee_text(callee) + _with(arguments))


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
    return Action("set", f"{quote(target)} to {value_text(value)}")


def _entry(unit: Unit) -> Action:
    return Action(
        "set", f"{quote(unit.part(Part.TARGET) or unit.name)} to {aloud(unit.part(Part.VALUE))}"
    )


def _return(unit: Unit) -> Action:
    value = _behind_keyword(unit)
    return Action("return", aloud(value)) if value else Action("return", "early")


def _behind_keyword(unit: Unit) -> str:
    """Return a statement's text without its leading keyword and a final semicolon."""
    return unit.part(Part.HEAD).partition(" ")[2].strip().rstrip(";").strip()


def raised(unit: Unit) -> str:
    """Return the error that a raise or throw creates; its text when it creates none."""
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
    actions = {
        "break": Action("leave", "the loop"),
        "continue": Action("skip", "to the next iteration"),
        "next": Action("skip", "to the next iteration"),
    }
    return actions.get(word) or Action("jump", f"with {quote(unit.part(Part.HEAD))}")


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
    Role.IMPORT: lambda unit: Action("import", quote(imported(unit))),
    Role.ALIAS: lambda unit: Action("define", f"the type {quote(unit.name)}"),
    Role.MARKUP: lambda unit: Action("render", quote(code_of(unit.tokens) or unit.part(Part.HEAD))),
    Role.OTHER: lambda unit: Action("run", quote(code_of(unit.tokens) or unit.part(Part.HEAD))),
    Role.FUNCTION: lambda unit: Action(
        "define", f"the {unit.word or 'function'} {quote(unit.name)}"
    ),
    Role.CLASS: lambda unit: Action("define", f"the {unit.word or 'class'} {quote(unit.name)}"),
}


def _compound(tree: Tree, unit: Unit, depth: int) -> Action | None:
    inner = inner_actions(tree, unit, depth) if depth < 2 else []
    then = f" and {describe_actions(inner)}" if inner else ""
    condition = unit.part(Part.CONDITION) or unit.part(Part.HEAD)
    if unit.role is Role.IF and len(inner) == 1 and depth:
        return Action(inner[0].verb, f"{inner[0].rest} when {condition_text(unit)}")
    if unit.role is Role.IF:
        return Action(
            "check", f"that {condition_text(unit)}" + then.replace(" and ", " and then ", 1)
        )
    if unit.role is Role.TRY:
        caught = all_caught(tree, unit)
        when = f" when it {describe_actions(inner)}" if inner else ""
        return Action("handle", (caught or "errors") + when)
    made = {
        Role.LOOP: lambda: Action("loop", loop_object(unit) + then),
        Role.CATCH: lambda: Action("catch", caught_text(unit) + then),
        Role.WITH: lambda: Action("use", aloud(_behind_keyword(unit).rstrip(":")) + then),
        Role.SWITCH: lambda: Action("switch", f"on {aloud(condition)}"),
        Role.CASE: lambda: Action("handle", f"the case {quote(case_text(unit))}" + then),
        Role.LAMBDA: lambda: Action(
            "pass", "a callback" + _to_call(unit) + then.replace(" and ", " that ", 1)
        ),
    }.get(unit.role)
    return made() if made else (inner[0] if inner else None)


def _to_call(unit: Unit) -> str:
    return f" to {callee_text(unit.name.split(' ')[0])}" if unit.name else ""


def case_text(unit: Unit) -> str:
    """Return the value a case handles, without its keyword."""
    text = code_of(unit.tokens).split("->")[0].split("=>")[0]
    return text.removeprefix("case ").removeprefix("when ").strip(" :")


def condition_text(unit: Unit) -> str:
    """Return the condition of a unit, negated for an `unless`."""
    text = aloud(unit.part(Part.CONDITION) or unit.part(Part.HEAD))
    return f"{text} is false" if is_unless(unit) else text


def is_unless(unit: Unit) -> bool:
    """Return True for a condition that runs its block when it is false."""
    return any(token.text == "unless" for token in unit.tokens)


def imported(unit: Unit) -> str:
    """Return the name an import brings in, without its keyword."""
    head = unit.part(Part.HEAD).rstrip(";")
    return re.sub(
        r"^(?:import|using|use|#include|require(?:_relative)?)\s+(?:static\s+)?", "", head
    )


def loop_object(unit: Unit) -> str:
    """Phrase the range of a loop: "over `xs`", "while `x`"."""
    value = unit.part(Part.VALUE)
    if value:
        return f"over {aloud(value)}"
    condition = unit.part(Part.CONDITION)
    return f"while {aloud(condition)}" if condition else f"with {quote(unit.part(Part.HEAD))}"


def caught_types(unit: Unit) -> str:
    """Return the exceptions a handler names, without the variable; empty when it names none."""
    text = re.sub(r"^(?:except|catch|rescue)\b\*?\s*", "", unit.part(Part.HEAD)).strip(" :{")
    text, _, guard = text.partition(" when ")
    text = re.sub(r"\s*(?:\bas|=>)\s+\w+$", "", text).strip()
    text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    # Java, C#, C++ and PHP put the type before the variable; JavaScript has the variable alone.
    text = re.sub(r"(?<=[\w>&*])\s*\s[&*$]*\w+$", "", text) if "," not in text else text
    return f"{text} when {guard.strip('() ')}" if guard else text


def caught_text(unit: Unit) -> str:
    """Return the errors a handler catches, as the object of a sentence."""
    text = caught_types(unit)
    return quote(text) if names_type(text) else "every error"


def names_type(caught: str) -> bool:
    """Return True unless the text is empty or only the variable that holds the error."""
    return bool(caught) and not (caught.islower() and caught.isidentifier())


def all_caught(tree: Tree, unit: Unit) -> str:
    """Return the errors a try block's handlers catch; empty when none names a type."""
    handlers = [child for child in tree.children(unit) if child.role is Role.CATCH]
    return listed([quote(text) for item in handlers if names_type(text := caught_types(item))])
