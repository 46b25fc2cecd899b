"""Consequences for errors: what is caught, raised, and kept silent."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, about, quote
from crscore.claims.structural.evidence import Evidence
from crscore.syntax.outline import Role

_BROAD: Final = re.compile(
    r"(?:\w+[.:\\]+)*(?:Exception|BaseException|Throwable|StandardError|Error)?"
)
"""Errors that include all others; a handler that names none is the broadest."""


def find_widened(unit: Evidence) -> Iterator[Statement]:
    """Find a handler that catches more than before."""
    broad = [fact for fact in unit.added(Role.CATCH) if _BROAD.fullmatch(fact.name)]
    narrow = [fact for fact in unit.removed(Role.CATCH) if not _BROAD.fullmatch(fact.name)]
    if broad and narrow:
        name, former = quote(unit.change.short_name), quote(narrow[0].name)
        yield about(broad, f"errors other than {former} are now caught in {name}, too")


RULES: Final = (Rule("widened", find_widened),)
