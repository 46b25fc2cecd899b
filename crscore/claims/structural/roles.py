"""What a file or a unit is for."""

import re
import tomllib
from pathlib import Path
from typing import Final

from crscore.claims.structural.change import Change
from crscore.claims.structural.plain_files import MACHINE_MADE, made_by_machine_name

MACHINE_NOUNS: Final = frozenset(MACHINE_MADE)
_PATHS: Final = {
    role: re.compile(pattern)
    for role, pattern in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text("utf-8")
    ).items()
}


def role_of(path: str) -> str:
    """Return what a file is for, by its path: a key of `roles.toml`, `machine` or `code`."""
    if made_by_machine_name(path):
        return "machine"
    return next((role for role, pattern in _PATHS.items() if pattern.search(path)), "code")


def role_of_change(change: Change) -> str:
    """Return what the file of a change is for, also by its content."""
    return "machine" if change.noun in MACHINE_NOUNS else role_of(change.file.path)
