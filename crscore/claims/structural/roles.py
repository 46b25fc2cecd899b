"""Roles of changed units."""

from crscore.claims.structural.change import Change
from crscore.diff.roles import MACHINE_MADE, role_of
from crscore.syntax.outline import Kind


def role_of_change(change: Change) -> str:
    """Return what the file of a change is for, also by its content."""
    return "machine" if change.noun in MACHINE_MADE else role_of(change.file.path)


def is_shipped(change: Change) -> bool:
    """Return whether a unit is code that others use, rather than a test or an example."""
    role = role_of(change.file.path or change.file.old_path or "")
    return change.kind is not Kind.TEST and role in {"code", "config"}
