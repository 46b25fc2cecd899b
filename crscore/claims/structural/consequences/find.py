"""All rules, applied to one unit."""

from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences import checks, errors, guards, interface, order, security, values
from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement
from crscore.claims.structural.evidence import Evidence

_FAMILIES: Final = (interface, errors, order, values, checks, security, guards)
RULES: Final[tuple[Rule, ...]] = tuple(rule for family in _FAMILIES for rule in family.RULES)


def find_consequences(unit: Evidence) -> Iterator[Statement]:
    """Yield the consequences of the change of one unit, at most one for a rule."""
    for rule in RULES:
        for statement in rule.find(unit):
            yield statement._replace(implies=True, kind=rule.name)
            break
