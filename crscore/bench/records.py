"""Values of a benchmark: golden sets and findings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

SEVERITIES: Final = ("critical", "high", "medium", "low")
"""Severities of a problem, worst first."""
SEVERITY_WEIGHTS: Final = {"critical": 4.0, "high": 3.0, "medium": 2.0, "low": 1.0, "": 1.0}
"""Weight of a problem in the recall by severity; "" for a problem without one."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Known problem of a change."""

    text: str
    """Description of the problem."""
    severity: str = ""
    """One of `SEVERITIES`, or "" when unknown."""
    category: str = ""
    """Any category; "" when unknown."""
    path: str | None = None
    """File, where known."""
    start_line: int | None = None
    """First line in the new file, from 1; None for `line`."""
    line: int | None = None
    """Last line in the new file, from 1."""
    also_right: bool = False
    """Whether naming the problem is right but not required: recall ignores it."""
    excluded: bool = False
    """Whether findings about the problem count neither for nor against a bot."""

    @property
    def is_required(self) -> bool:
        """Whether a bot should name it."""
        return not (self.also_right or self.excluded)


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Change with its known problems."""

    id: str
    """Name of the change; `owner/repository#number` for a pull request."""
    problems: tuple[Problem, ...]
    """May be empty: a change without a problem tests for needless findings."""
    language: str = ""
    """Programming language; "" when unknown."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finding of a bot for a change."""

    change: str
    """Name of the change, as in the golden set."""
    bot: str
    text: str
    path: str | None = None
    line: int | None = None
    """Last line in the new file, from 1."""
    raw: bool = False
    """Whether it is a comment as posted, which may make several points or none; for a point of such
    a comment, whether it asks for nothing."""
    seconds: float | None = None
    """Time of the bot's run on the change, where known."""
    cost: float | None = None
    """Price of the run, in any currency, where known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """Set of changes with known problems, in the order of their names."""

    name: str
    version: str
    """Version that the set states; "" without one."""
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    """Repairs, one clause each."""

    @property
    def sha256(self) -> str:
        """Hash of the content, whatever the order and the layout of the file."""
        return hashlib.sha256(msgspec.json.encode(self.changes)).hexdigest()


def make_set(
    name: str, version: str, changes: Iterable[Change], notes: tuple[str, ...] = ()
) -> GoldenSet:
    """Put changes and their problems into an order that does not depend on the file's."""
    ordered = [
        msgspec.structs.replace(
            change, problems=tuple(sorted(change.problems, key=msgspec.json.encode))
        )
        for change in changes
    ]
    changes = tuple(sorted(ordered, key=lambda row: row.id))
    return GoldenSet(name=name, version=version, changes=changes, notes=notes)
