"""Names of the places of a change, for use in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims.structural.english import quote
from crscore.claims.structural.mentions import marked
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from crscore.claims.structural.regions import Area
    from crscore.syntax.model import Tree, Unit

_TESTS = re.compile(
    r"^(?:\w+\.)?(it|test|specify|describe|context|suite|fit|xit)\b[^'\"`]*['\"`](.+)['\"`]$"
)
_TEST_SECTION = re.compile(
    r"^(it|test|specify|describe|context|suite)\b[.\w]*\s*\(?\s*(['\"`])(.+?)\2"
)
_SUITES = frozenset({"describe", "context", "suite"})
_SECTION = (
    # `def name(`, `class Name:`, `function name(`, `func (s *S) Name(`, `module Name`
    re.compile(
        r"\b(class|interface|struct|enum|trait|module|namespace|def|function|func)\s+"
        r"(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*(?:(?:::|\.)[\w$]+)*)"
    ),
    # `const name = (a) => {`, `name: function (`, `a.name = function`
    re.compile(r"()([A-Za-z_$][\w$.]*)\s*[:=]\s*(?:async\s+)?(?:function\b|\([^)]*\)\s*=>)"),
    # `public int name(String a) {`, `int Type::name(`
    re.compile(r"()^(?:[\w<>\[\],*&]+\s+)+\**([A-Za-z_$~][\w$:]*)\s*\("),
    # `const NAME = {`, `name = [`
    re.compile(r"^(?:const|let|var|static|final|\s)*()([A-Za-z_$][\w$.]*)\s*=\s*[\[{(]"),
)
MAX_SECTION = 300
"""Characters of a hunk's heading that are read."""
_TYPES = frozenset({"class", "interface", "struct", "enum", "trait", "module", "namespace"})
_KEYWORDS = frozenset({"if", "for", "while", "switch", "catch", "return", "function", "with"})


def noun(tree: Tree, unit: Unit) -> str:
    """Return the English noun for a declaration: `method`, `class`, `constant`."""
    if unit.word:
        return unit.word
    around = tree.units[unit.parent] if unit.parent > 0 else None
    in_class = around is not None and around.role is Role.CLASS
    if unit.role is Role.FUNCTION:
        return _function_noun(unit.name, in_class=in_class)
    if unit.role is Role.ASSIGN:
        name = unit.part(Part.TARGET)
        if name.isupper() and len(name) > 1:
            return "constant"
        return "attribute" if in_class or "." in name else "variable"
    return _NOUNS.get(unit.role, unit.role.value)


def _function_noun(name: str, *, in_class: bool) -> str:
    if _TEST_NAME.match(name):
        return "test"
    if name in {"__init__", "constructor", "initialize", "__construct"}:
        return "constructor"
    return "method" if in_class else "function"


_TEST_NAME = re.compile(r"test(?:_|[A-Z]|$)")
_NOUNS = {
    Role.CLASS: "class",
    Role.FIELD: "field",
    Role.MEMBER: "enum value",
    Role.ENTRY: "entry",
    Role.DECORATOR: "decorator",
    Role.ALIAS: "type",
    Role.DOC: "docstring",
}


def named(tree: Tree, unit: Unit) -> str:
    """Return a declaration with its noun and name: "the method `apply`"."""
    name = unit.name or unit.part(Part.TARGET)
    return f"the {noun(tree, unit)} {quote(name)}" if name else f"the {noun(tree, unit)}"


def scope_of(tree: Tree, unit: Unit) -> Unit | None:
    """Return the innermost named function, callback or class around a unit."""
    for above in tree.ancestors(unit):
        if above.role in {Role.FUNCTION, Role.CLASS, Role.LAMBDA} and above.name:
            return above
    return None


def place(area: Area, tree: Tree, unit: Unit) -> str:
    """Return where a unit is: "the method `apply`", "the test 'adds'"; empty when unknown."""
    scope = scope_of(tree, unit)
    return marked(called(tree, scope) if scope is not None else around(area, tree, unit.start))


def around(area: Area, tree: Tree, line: int) -> str:
    """Return the place from the hunk's heading, unless its scope ends before the line."""
    flush = area.new_flush if tree is area.new else area.old_flush
    return "" if flush is not None and line >= flush else from_section(area.section)


def called(tree: Tree, scope: Unit) -> str:
    """Return a function, class or callback as the subject of a sentence."""
    if scope.role is not Role.LAMBDA:
        owner = scope_of(tree, scope)
        of = f" of {quote(owner.name)}" if owner is not None and owner.role is Role.CLASS else ""
        return named(tree, scope) + (of if scope.role is Role.FUNCTION else "")
    test = _TESTS.match(scope.name)
    if test:
        kind = "test" if test[1] not in _SUITES else "test suite"
        return f"the {kind} '{test[2]}'"
    return f"the callback of {quote(scope.name, 40)}"


def from_section(section: str) -> str:
    """Return the place from git's hunk header; empty when there is none."""
    text = section.strip()[:MAX_SECTION]
    test = _TEST_SECTION.match(text)
    if test:
        kind = "test" if test[1] not in _SUITES else "test suite"
        return f"the {kind} '{test[3]}'"
    for pattern in _SECTION:
        match = pattern.search(text)
        if match and match[2] not in _KEYWORDS:
            kind = match[1]
            what = kind if kind in _TYPES else ("value" if pattern is _SECTION[-1] else "function")
            return f"the {what} {quote(match[2])}"
    return ""


def inside(place_name: str) -> str:
    """Return the word "in" and the place; empty for an unknown place."""
    return f" in {place_name}" if place_name else ""
