"""What all rules share."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from crscore.claims.structural.english import Statement
from crscore.claims.structural.evidence import Evidence
from crscore.syntax.outline import Kind

Finder: TypeAlias = Callable[[Evidence], Iterator[Statement]]


def is_function(unit: Evidence, *states: str) -> bool:
    """Return whether a unit is a function that changed, or is in one of more states."""
    change = unit.change
    is_named = change.kind is Kind.FUNCTION and change.short_name and change.noun != "macro"
    return bool(is_named) and change.state in {"changed", "renamed", *states}


class Rule(NamedTuple):
    """One kind of consequence."""

    name: str
    """Key of its weight in `ranking.toml`."""
    find: Finder
    """Function that yields the consequences of one unit's change, the most important first."""
