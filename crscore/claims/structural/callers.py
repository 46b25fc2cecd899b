"""Consequences of a changed declaration for the code that uses it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims.structural.english import listed, quote
from crscore.claims.structural.places import named, noun
from crscore.claims.structural.signatures import renamed_parameters
from crscore.records import LineKind
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.claims.structural.matching import Edit
    from crscore.claims.structural.regions import Area
    from crscore.records import ChangedFile
    from crscore.syntax.model import Tree, Unit


NEEDS_TEST = "needs a test that covers its behavior"
SHOULD_BE_TESTED = "should be covered by tests"

# `tests/a.py`, `src/test/java/A.java`, `test_a.py`, `a_test.go`, `a.spec.ts`, `ATest.java`
_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_[^/]*$|[._](?:test|spec)\.\w+$|Tests?\.\w+$"
)


def wants_test(text: str) -> bool:
    """Return True for a claim that asks for a test."""
    return text.endswith((f"{NEEDS_TEST}.", f"{SHOULD_BE_TESTED}."))


def is_test_file(path: str) -> bool:
    """Return True for a file of tests, by its path."""
    return bool(_TEST_FILE.search(path))


def adds_tests(file: ChangedFile) -> bool:
    """Return True for a file of tests, by its path, that the change adds lines to."""
    return is_test_file(file.path) and bool(file.lines(LineKind.ADDED))


def is_public(unit: Unit) -> bool:
    """Return True unless the name or a modifier marks the unit as internal."""
    hidden = {token.text for token in unit.tokens} & {"private", "protected", "internal"}
    return not unit.name.startswith(("_", "#")) and not hidden


def is_test(tree: Tree, unit: Unit) -> bool:
    """Return True for a function whose name or annotation marks it as a test."""
    marks = [child.part(Part.HEAD) for child in tree.children(unit)[:4]]
    return bool(re.match(r"(?i)test|.*test$|it |describe ", unit.name)) or any(
        re.match(r"@?(?:Test|ParameterizedTest|Fact|Theory|TestMethod)\b", mark) for mark in marks
    )


def new_function(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    """Yield the tests and documentation that a new function or class needs."""
    unit = edit.new
    assert unit is not None  # noqa: S101 - the rule is for added units
    what = f"{noun(area.new, unit)} {quote(unit.name)}"
    if not is_test(area.new, unit) and not is_test_file(area.file.path):
        yield f"the new {what} {NEEDS_TEST}", 0.5
        if is_public(unit) and not _documented(area.new, unit):
            missing = ["purpose"]
            missing += ["parameters"] if unit.parameters else []
            returns = unit.part(Part.RETURNS) not in {"", "void", "None"}
            missing += ["return value"] if returns else []
            names = listed(missing)
            yield f"the new {what} has no documentation that explains its {names}", 0.52
    del where


def _documented(tree: Tree, unit: Unit) -> bool:
    if any(child.role is Role.DOC for child in tree.children(unit)[:2]):
        return True
    before = [
        item
        for item in tree.units
        if item.parent == unit.parent and item.end in {unit.start - 1, unit.start}
    ]
    return any(item.role is Role.COMMENT for item in before)


def gone(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    """Yield the uses that a removed declaration breaks."""
    unit = edit.old
    assert unit is not None  # noqa: S101 - the rule is for removed units
    name = unit.name or unit.part(Part.TARGET)
    if name and not is_test(area.old, unit) and not _is_local(area, unit, where):
        yield (
            f"code that still uses the {noun(area.old, unit)} {quote(name)} will no longer work",
            0.6,
        )


def _is_local(area: Area, unit: Unit, where: str) -> bool:
    """Return True for a declaration visible only in the enclosing function."""
    if unit.role is Role.ASSIGN and (not unit.parent or "." in unit.part(Part.TARGET)) and where:
        return True
    return any(above.role in {Role.FUNCTION, Role.LAMBDA} for above in area.old.ancestors(unit))


def changed_function(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    """Yield the consequences of a changed name, parameter, type or modifier for callers."""
    old, new = edit.old, edit.new
    assert old is not None and new is not None  # noqa: S101, PT018 - the rule is for changed units
    what = named(area.new, new)
    if old.name != new.name and old.name and not is_test(area.new, new):
        verb = "calls" if new.role is Role.FUNCTION else "uses"
        yield (
            f"code that still {verb} {quote(old.name)} breaks, because it is now called "
            f"{quote(new.name)}",
            0.84,
        )
    renamed = renamed_parameters(old, new)
    before = {renamed.get(item.name, item.name) for item in old.parameters}
    after = {item.name for item in new.parameters}
    for item in new.parameters:
        if item.name in before:
            continue
        if item.optional and item.default:
            yield (
                f"callers of {what} that do not pass {quote(item.name)} get the default "
                f"{quote(item.default, 40)}",
                0.55,
            )
        elif not item.optional and len(after) >= len(before):
            yield f"existing callers of {what} have to be updated to pass {quote(item.name)}", 0.9
    gone = [
        quote(item.name)
        for item in old.parameters
        if renamed.get(item.name, item.name) not in after
    ]
    if gone and len(after) < len(before):
        yield f"callers of {what} that still pass {listed(gone)} break", 0.86
    for item in old.parameters:
        now = next((other for other in new.parameters if other.name == item.name), None)
        if now is not None and item.default and now.default and item.default != now.default:
            yield (
                f"callers of {what} that rely on the default of {quote(item.name)} get a "
                f"different behavior",
                0.6,
            )
    yield from _words(old, new, what)
    yield from _result(old, new, what)
    del where


def _result(old: Unit, new: Unit, what: str) -> Iterator[tuple[str, float]]:
    before, after = old.part(Part.RETURNS), new.part(Part.RETURNS)
    if before and after and before != after:
        yield f"code that uses the result of {what} has to work with {quote(after, 40)}", 0.6


def _words(old: Unit, new: Unit, what: str) -> Iterator[tuple[str, float]]:
    before, after = ({token.text for token in unit.tokens} for unit in (old, new))
    if "async" in after - before:
        yield f"callers of {what} now have to await its result", 0.65
    if "async" in before - after:
        yield f"callers that await {what} now get a plain value", 0.65
    if "public" in after - before:
        yield f"{what} becomes part of the public interface and can be used from everywhere", 0.55
    if {"private", "protected", "internal"} & (after - before):
        yield f"{what} can no longer be used from outside", 0.55
    if "final" in after - before:
        yield f"{what} can no longer be overridden or reassigned", 0.5
