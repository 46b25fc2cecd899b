"""What all rules share."""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from crscore.claims.structural.english import Statement
from crscore.claims.structural.evidence import Evidence
from crscore.syntax.outline import Kind

Finder: TypeAlias = Callable[[Evidence], Iterator[Statement]]

_ASIDE: Final = re.compile(
    r"(?i)(?:^|[/._-])(?:tests?|specs?|e2e|mocks?|__\w{1,20}__|fixtures?|testdata|docs?|examples?|"
    r"demos?|samples|bench\w{0,10}|playgrounds?|\.github)(?:[/._-]|\.\w{1,5}$)"
    r"|(?:Tests?|Specs?)\.\w{1,5}$|\.Tests/"
)
"""Paths of files that are not shipped: tests, examples, documents."""


def is_shipped(unit: Evidence) -> bool:
    """Return whether a unit is code that others use, rather than a test or an example."""
    path = unit.change.file.path or unit.change.file.old_path or ""
    return unit.change.kind is not Kind.TEST and not _ASIDE.search(path)


def is_shipped_function(unit: Evidence, *states: str) -> bool:
    """Return whether a unit is a shipped function that changed, or is in one of more states."""
    change = unit.change
    is_function = change.kind is Kind.FUNCTION and change.short_name and change.noun != "macro"
    return (
        bool(is_function) and change.state in {"changed", "renamed", *states} and is_shipped(unit)
    )


class Rule(NamedTuple):
    """One kind of consequence."""

    name: str
    """Key of its weight in `ranking.toml`."""
    find: Finder
    """Function that yields the consequences of one unit's change, the most important first."""
