"""Consequences of lines that are gone, or in another order: guards, locks, ends, checks, calls."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from crscore.claims.structural.consequences.base import Rule, is_function
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.quoting import split_arguments
from crscore.claims.structural.versions import squeeze

TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PATTERNS: Final = {name: re.compile(pattern) for name, pattern in TABLES["patterns"].items()}
_REMOVALS: Final = [(re.compile(row["pattern"]), row) for row in TABLES["gone"]]


def matches(name: str, text: str) -> bool:
    """Return whether a line has the form with a name."""
    return PATTERNS[name].fullmatch(text) is not None


def dropped(unit: Evidence) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines of code that left a function, where all others around them stayed."""
    for removed, added in unit.blocks() if is_function(unit) else ():
        texts = {text for _, text in added}
        lines = [row for row in removed if row[1] not in texts and not matches("aside", row[1])]
        if lines and texts <= {"", *(text for _, text in removed)}:
            yield lines


def _names(text: str) -> set[str]:
    return {name for name in PATTERNS["name"].findall(PATTERNS["string"].sub("", text)) if name}


def is_moved(unit: Evidence, text: str) -> bool:
    """Return whether an added line contains a piece of code, or may do the same."""
    names, moved = _names(text), {unit.old.lines[line].strip() for line in unit.old.changed}
    for line, added in [(line, unit.new.lines[line]) for line in unit.new.changed]:
        shared = names & _names(added) if added.strip() not in moved else set()
        is_near = line in unit.change.added or 2 * len(shared) >= len(names)
        if (shared and is_near) or squeeze(text) in squeeze(added):
            return True
    return False


def is_gone(unit: Evidence, text: str) -> bool:
    """Return whether a piece of code has left a unit and is not in another added line."""
    return unit.is_gone(text) and not is_moved(unit, text)


def find_guard(unit: Evidence) -> Iterator[Statement]:
    """Find a guard with an early exit that is gone."""
    for lines in dropped(unit):
        code = " ".join(text for _, text in lines[:2]).rstrip("} ;")
        match = PATTERNS["guard"].fullmatch(code) or PATTERNS["suffix"].fullmatch(code)
        test = match["test"].strip() if match and len(lines) <= 2 else ""
        is_enclosed = test[:1] == "(" and test[-1:] == ")" and test.find(")") > test.rfind("(")
        test = test[1:-1] if is_enclosed else test
        # A condition that follows on the same names may imply this one.
        names, below = (
            _names(test),
            [unit.old.lines.get(lines[-1][0] + step, "").strip() for step in range(1, 7)],
        )
        is_implied = any(re.match("if|unless", row) and names <= _names(row) for row in below)
        is_alone = not any(text for _, text in unit.old.blocks[lines[0][0]].added)
        is_whole = is_alone and fits(test) and split_arguments(test) is not None
        is_proven = match and is_whole and not is_implied and names & unit.new_words
        if match and is_proven and is_gone(unit, test):
            word = match["word"].replace("if", "when")
            event = f"{unit.subject} no longer {TABLES['verbs'][match['exit']].format(word)}"
            text = f"{event} {quote(test)}: can that no longer be the case?"
            yield Statement(text, ((False, lines[0][0]),))


def find_gone(unit: Evidence) -> Iterator[Statement]:
    """Find a lock, an end or a check that is gone."""
    for (line, text), *rest in dropped(unit):
        for pattern, row in _REMOVALS if not rest else ():
            is_used = not row["used"] or _names(text) & unit.new_words
            if pattern.fullmatch(text) and is_used and is_gone(unit, text):
                event = f"{quote(text.rstrip(' :{'))} is gone from {unit.subject}"
                yield Statement(f"{event}: {row['question']}", ((False, line),))
                break


RULES: Final = (Rule("guard-gone", find_guard), Rule("gone", find_gone))
