"""New code without a test: the one consequence that needs the whole change."""

from collections.abc import Sequence
from typing import Final

from crscore.claims.structural.change import Change
from crscore.claims.structural.roles import role_of
from crscore.syntax.outline import DECLARED

MIN_LINES_TO_TEST: Final = 5
"""Minimum lines of a new unit that should have a test."""


def largest_untested(changes: Sequence[Change]) -> Change | None:
    """Return the largest new public unit of a change that touches no test; None otherwise."""
    if any(c.added and "test" in (role_of(c.file.path), c.kind) for c in changes):
        return None
    untested = (change for change in changes if _needs_test(change))
    return max(untested, key=lambda change: change.size, default=None)


def _needs_test(change: Change) -> bool:
    unit, path = change.unit, change.file.path
    is_new = change.state == "new" and change.size >= MIN_LINES_TO_TEST
    is_public = unit is not None and unit.public and change.kind in DECLARED
    return is_new and is_public and path != "" and role_of(path) == "code"
