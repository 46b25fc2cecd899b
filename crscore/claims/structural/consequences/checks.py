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
    is_test = change.noun == "test" and change.state == "removed" and bool(change.removed)
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


RULES: Final = (
    Rule("unchecked", find_unchecked),
    Rule("untested", find_untested),
    Rule("skipped", find_skipped),
)
