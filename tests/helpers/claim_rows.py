"""Training rows of our own: small changes of a setting, and what they do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("retries", "timeout", "workers")
"""Few: a tiny model with frozen random weights must be able to learn them."""


def rows(count: int) -> list[dict[str, Any]]:
    """Make rows, no two about the same change."""
    return [_row(NAMES[at % len(NAMES)], at + 2, at + 5) for at in range(count)]


def write(path: Path, contents: list[dict[str, Any]]) -> Path:
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in contents), encoding="utf-8")
    return path


def _row(name: str, old: int, new: int) -> dict[str, Any]:
    patch = f"@@ -1,2 +1,2 @@\n # how many\n-{name} = {old}\n+{name} = {new}\n"
    return {
        "patch": patch,
        "claims": [f"`{name}` is raised."],
        "implications": [f"Code finds more `{name}`."],
    }
