"""Consequences of single new lines: what they depend on, may never end, or hide."""

import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.versions import squeeze

LINES_AROUND: Final = 4
"""Lines around a line that may rule a question out."""
_STATES: Final = frozenset({"changed", "comments", "new", "overload", "replaced"})
_ROWS: Final = {
    row["rule"]: (
        re.compile(row["code"]),
        re.compile(row.get("unless", "(?!)")),
        row["question"],
    )
    for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["hazards"]
}


def _find(rule: str, unit: Evidence) -> Iterator[Statement]:
    pattern, unless, question = _ROWS[rule]
    if unit.change.state not in _STATES or not unit.change.language:
        return
    removed = [unit.old.lines[line] for line in unit.change.removed]
    for line in unit.change.added:
        match = pattern.search(unit.new.lines[line].strip().rstrip(";,"))
        if match is None:
            continue
        code = match[1].rstrip(" {:").removeprefix("return ")
        around = [unit.new.lines.get(line + n, "") for n in range(-LINES_AROUND, LINES_AROUND + 1)]
        is_old = any(map(pattern.search, removed)) or squeeze(code) in unit.old.all_squeezed
        if not is_old and fits(code) and not any(map(unless.search, around)):
            yield Statement(f"{quote(code)} in {unit.subject} {question}", ((True, line),))


RULES: Final = tuple(Rule(name, partial(_find, name)) for name in _ROWS)
