"""What all rules share."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from crscore.claims.structural.english import Statement
from crscore.claims.structural.evidence import Evidence

Finder: TypeAlias = Callable[[Evidence], Iterator[Statement]]


class Rule(NamedTuple):
    """One kind of consequence."""

    name: str
    """Key of its weight in `ranking.toml`."""
    find: Finder
    """Function that yields the consequences of one unit's change, the most important first."""
