"""Roles of files by their paths: code, test, configuration, or made by a machine."""

import re
import tomllib
from pathlib import Path
from typing import Final

LOCK, SNAPSHOT, GENERATED, MINIFIED = MACHINE_MADE = (
    "lock file", "snapshot", "generated or vendored file", "minified or data file"
)  # fmt: skip
"""Kinds of files that are not written by hand."""
_TABLES: Final = {
    table: {name: re.compile(pattern) for name, pattern in rows.items()}
    for table, rows in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def made_by_machine_name(path: str) -> str:
    """Return the kind of a file that is not written by hand, by its path; empty for others."""
    if _TABLES["machine"]["lock"].search(path):
        return LOCK
    if _TABLES["machine"]["generated"].search(path):
        return SNAPSHOT if "snap" in path else GENERATED
    return ""


def role_of(path: str) -> str:
    """Return the role of a file, by its path: a role in `roles.toml`, `machine` or `code`."""
    if made_by_machine_name(path):
        return "machine"
    return next((role for role, form in _TABLES["roles"].items() if form.search(path)), "code")
