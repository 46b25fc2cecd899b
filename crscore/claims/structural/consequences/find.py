"""All rules, applied to one unit."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences import (
    checks,
    concurrency,
    edges,
    errors,
    guards,
    interface,
    operators,
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
    *edges.RULES,
    *operators.RULES,
    *guards.RULES,
    *values.RULES,
    *errors.RULES,
    *interface.RULES,
    *concurrency.RULES,
)
RULES: Final = (*_OF_SHIPPED, *checks.RULES)
_NAME: Final = re.compile(r"[\w$]+")


def find_consequences(unit: Evidence) -> Iterator[Statement]:
    """Yield the consequences of the change of one unit, at most one for a rule.

    One that quotes nothing new says again what another rule has said.
    """
    quoted: set[str] = set()
    for rule in RULES if is_shipped(unit.change) else checks.RULES:
        for statement in rule.find(unit):
            spans = " ".join(find_code_spans(statement.text))
            names = set(_NAME.findall(spans)) - {unit.change.short_name}
            if not quoted or not names <= quoted:
                yield statement._replace(implies=True, kind=rule.name)
            quoted |= names
            break
