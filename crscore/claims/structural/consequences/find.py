"""All rules, applied to one unit."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences import (
    callers,
    checks,
    concurrency,
    errors,
    guards,
    hazards,
    interface,
    operators,
    paths,
    removals,
    security,
    values,
)
from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.roles import is_shipped
from crscore.text.code_spans import find_code_spans

_OF_SHIPPED: Final[tuple[Rule, ...]] = (
    *security.RULES,
    *callers.RULES,
    *removals.RULES,
    *operators.RULES,
    *guards.RULES,
    *paths.RULES,
    *hazards.RULES,
    *values.RULES,
    *errors.RULES,
    *interface.RULES,
    *concurrency.RULES,
)
RULES: Final = (*_OF_SHIPPED, *checks.RULES)
MAX_LINE_CHARS: Final = 300
"""Maximum characters of a changed line: some patterns take quadratic time."""
MAX_LINES: Final = 1000
"""Maximum changed lines of a file: what is rewritten has no single consequences."""
_NAME: Final = re.compile(r"[\w$]+")


def find_consequences(unit: Evidence) -> Iterator[Statement]:
    """Yield the consequences of the change of one unit, at most one for a rule.

    One that quotes nothing new says again what another rule has said. Nothing is asked of a unit
    with a very long line, or in a file with very many changed ones.
    """
    versions = ((unit.new, unit.change.added), (unit.old, unit.change.removed))
    size = sum(len(version.changed) for version, _ in versions)
    lines = (version.lines[line] for version, numbers in versions for line in numbers)
    if size > MAX_LINES or any(len(text) > MAX_LINE_CHARS for text in lines):
        return
    quoted: set[str] = set()
    for rule in RULES if is_shipped(unit.change) else checks.RULES:
        for statement in rule.find(unit):
            spans = " ".join(find_code_spans(statement.text))
            names = set(_NAME.findall(spans)) - {unit.change.short_name}
            if not quoted or not names <= quoted:
                yield statement._replace(implies=True, kind=rule.name)
            quoted |= names
            break
