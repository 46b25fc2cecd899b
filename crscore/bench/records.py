"""Records that a benchmark reads: golden sets with their known problems, and findings of bots."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

SEVERITIES: Final = ("critical", "high", "medium", "low")
"""Severities of a problem, worst first."""
SEVERITY_WEIGHTS: Final = {"critical": 4.0, "high": 3.0, "medium": 2.0, "low": 1.0, "": 1.0}
"""Weight of a problem in the weighted recall, by its severity; "" for an unknown severity."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Known problem of a change."""

    text: str
    """Description of the problem."""
    severity: str = ""
    """One of `SEVERITIES`, or "" when unknown."""
    category: str = ""
    """Category, as named by the golden set; "" when unknown."""
    path: str | None = None
    """Path of the file; None when unknown."""
    start_line: int | None = None
    """First line in the new file, from 1; None if the problem is on one line, `line`."""
    line: int | None = None
    """Last line in the new file, from 1; None when unknown."""
    also_right: bool = False
    """Whether a bot is right to name the problem, but need not, so that recall ignores it."""
    excluded: bool = False
    """Whether findings about the problem count neither for nor against a bot."""

    @property
    def is_required(self) -> bool:
        """Whether a bot should name the problem, so that recall counts it."""
        return not (self.also_right or self.excluded)


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Change with its known problems."""

    id: str
    """Name of the change; `owner/repository#number` for a pull request."""
    problems: tuple[Problem, ...]
    """The known problems; a change with none shows whether bots make needless findings."""
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
    """Last line in the new file, from 1; None when unknown."""
    raw: bool = False
    """Whether the text is an undivided comment, which may make several points or none. In the
    result, where comments are divided: whether the text is a sentence that asks the author for
    nothing.
    """
    seconds: float | None = None
    """Time of the bot's run on the change; None when unknown."""
    cost: float | None = None
    """Price of the bot's run on the change, in any currency; None when unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """Set of changes with known problems."""

    name: str
    version: str
    """Version that the file of the set states; "" if it states none."""
    changes: tuple[Change, ...]
    """The changes, sorted by `id` (`make_set`)."""
    notes: tuple[str, ...] = ()
    """Notes on entries that were merged when the set was read."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the changes and problems; it does not depend on the format of their file."""
        return hashlib.sha256(msgspec.json.encode(self.changes)).hexdigest()


def make_set(
    name: str, version: str, changes: Iterable[Change], notes: tuple[str, ...] = ()
) -> GoldenSet:
    """Return a golden set with sorted changes and problems, so that their order has no effect."""
    ordered = [
        msgspec.structs.replace(
            change, problems=tuple(sorted(change.problems, key=msgspec.json.encode))
        )
        for change in changes
    ]
    changes = tuple(sorted(ordered, key=lambda row: row.id))
    return GoldenSet(name=name, version=version, changes=changes, notes=notes)
