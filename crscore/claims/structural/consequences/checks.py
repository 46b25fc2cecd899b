"""Consequences for tests: what they expect, no longer check, or skip."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.quoting import split_arguments
from crscore.claims.structural.versions import Block, squeeze
from crscore.syntax.outline import Kind

_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_PATTERNS: Final = {name: re.compile(pattern) for name, pattern in _TABLES["patterns"].items()}


def find_expected(unit: Evidence) -> Iterator[Statement]:
    """Find an assertion that expects another value than before."""
    for block in _blocks(unit):
        if len(block.removed) != len(block.added):
            continue
        for (number, before), (line, after) in zip(block.removed, block.added, strict=True):
            code = _joined(unit.new.lines, line)
            former = _former(_joined(unit.old.lines, number), code)
            if former and unit.is_gone(before) and unit.is_new(after):
                question = "is the new result intended, or does it hide a regression?"
                text = f"{quote(code)} in {unit.subject} expected {former} before: {question}"
                yield Statement(text, ((True, line),))


def find_unchecked(unit: Evidence) -> Iterator[Statement]:
    """Find an assertion that is gone."""
    for block in _blocks(unit):
        is_replaced = any(_has("check", text) for _, text in block.added)
        is_other = is_replaced or any(_has("test", text) for _, text in block.removed)
        for line, text in () if is_other else block.removed:
            is_whole = fits(text) and split_arguments(text) is not None
            if is_whole and _has("assertion", text) and squeeze(text) not in unit.new.all_squeezed:
                question = "is this still guaranteed, and tested elsewhere?"
                predicate = f"no longer checks {quote(text)}: {question}"
                yield Statement(f"{unit.subject} {predicate}", ((False, line),))


def find_untested(unit: Evidence) -> Iterator[Statement]:
    """Find the first test that is gone from a file."""
    change = unit.change
    is_test = change.kind is Kind.TEST and change.noun == "test" and change.state == "removed"
    is_alone = is_test and not any(unit.old.blocks[line].added for line in change.removed)
    if is_alone and unit.new.all_squeezed:
        before = (line for line in unit.old.changed if line < change.removed[0])
        if not any(_has("assertion", unit.old.lines[line].strip()) for line in before):
            question = "is what it checked gone as well, or does another test check it?"
            yield Statement(f"{unit.subject} is removed: {question}")


def find_skipped(unit: Evidence) -> Iterator[Statement]:
    """Find a test that no longer runs."""
    for block in _blocks(unit):
        was_skipped = any(_has("skip", text) for _, text in block.removed)
        for line, text in () if was_skipped else block.added:
            if _has("skip", text) and not _has("branch", unit.new.lines.get(line - 1, "")):
                question = "what has to happen before it runs again?"
                yield Statement(f"{unit.subject} is now skipped: {question}", ((True, line),))


def _blocks(unit: Evidence) -> list[Block]:
    """Return the blocks of changed lines of a test."""
    if unit.change.kind is not Kind.TEST or unit.change.state != "changed":
        return []
    removed = [unit.old.blocks[line] for line in unit.change.removed]
    # The old version's copy of a block with added lines is left out.
    blocks = [unit.new.blocks[line] for line in unit.change.added]
    return list(dict.fromkeys([*blocks, *(block for block in removed if not block.added)]))


def _has(name: str, text: str) -> bool:
    return _PATTERNS[name].search(text) is not None


def _joined(lines: dict[int, str], number: int) -> str:
    """Return a line, with the line before it where that is the beginning of its call."""
    text, before = lines[number].strip().rstrip(",;"), lines.get(number - 1, "").strip()
    is_argument = before.endswith("(") and before.count("(") - before.count(")") == 1
    return f"{before}{text})" if is_argument else text


def _former(before: str, after: str) -> str:
    """Return the literal that an assertion expected before; "" if more than that differs."""
    literal = _PATTERNS["literal"]
    skeletons = [literal.sub("0", text) for text in (before, after) if _has("check", text)]
    if len(skeletons) != 2 or skeletons[0] != skeletons[1] or not fits(before, after):
        return ""
    literals = zip(literal.finditer(before), literal.finditer(after), strict=True)
    different = [(old[0], new) for old, new in literals if squeeze(old[0]) != squeeze(new[0])]
    for former, new in different if len(different) == 1 else ():
        if _has("matcher", after[: new.start()]) and not _has("more", after[new.end() :]):
            return quote(former)
    return ""


_FINDERS: Final = (find_expected, find_unchecked, find_untested, find_skipped)
RULES: Final = tuple(Rule(find.__name__.removeprefix("find_"), find) for find in _FINDERS)
