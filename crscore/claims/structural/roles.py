"""Roles of changed units."""

from crscore.claims.structural.change import UnitChange
from crscore.diff.roles import MACHINE_MADE, role_of
from crscore.syntax.outline import Kind


def role_of_change(change: UnitChange) -> str:
    """Return the role of a change's file, by its path and content."""
    return "machine" if change.noun in MACHINE_MADE else role_of(change.file.path)


def is_shipped(change: UnitChange) -> bool:
    """Return whether users run the code of a unit, which is then not a test or an example."""
    role = role_of(change.file.path or change.file.old_path or "")
    return change.kind is not Kind.TEST and role in {"code", "config"}
