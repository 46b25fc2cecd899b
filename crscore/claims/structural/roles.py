"""What a file or a unit is for."""

import re
import tomllib
from pathlib import Path
from typing import Final

from crscore.claims.structural.change import Change
from crscore.syntax.outline import Kind

LOCK, SNAPSHOT, GENERATED, MINIFIED = MACHINE_MADE = (
    "lock file", "snapshot", "generated or vendored file", "minified or data file"
)  # fmt: skip
"""Nouns of files that nobody writes by hand."""
_TABLES: Final = {
    table: {name: re.compile(pattern) for name, pattern in rows.items()}
    for table, rows in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def made_by_machine_name(path: str) -> str:
    """Return what a file is that nobody writes by hand, by its path; "" for any other."""
    if _TABLES["machine"]["lock"].search(path):
        return LOCK
    if _TABLES["machine"]["generated"].search(path):
        return SNAPSHOT if "snap" in path else GENERATED
    return ""


def role_of(path: str) -> str:
    """Return what a file is for, by its path: a role of `roles.toml`, `machine` or `code`."""
    if made_by_machine_name(path):
        return "machine"
    return next((role for role, form in _TABLES["roles"].items() if form.search(path)), "code")


def role_of_change(change: Change) -> str:
    """Return what the file of a change is for, also by its content."""
    return "machine" if change.noun in MACHINE_MADE else role_of(change.file.path)


def is_shipped(change: Change) -> bool:
    """Return whether a unit is code that others use, rather than a test or an example."""
    role = role_of(change.file.path or change.file.old_path or "")
    return change.kind is not Kind.TEST and role in {"code", "config"}
