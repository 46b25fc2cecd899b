"""Claims without a model: what changed, read off the syntax trees of both sides.

Tools: tree-sitter 0.26 with the single-language grammars listed in pyproject.toml;
no process, no network, no exit code. Files of a language without a grammar, and
configuration and markup, are left to `_keyed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crscore.claims._structural.areas import areas_of
from crscore.claims._structural.grouping import statements_of
from crscore.claims._structural.statements import reference_of
from crscore.records import Claims
from crscore.syntax.grammars import language_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crscore.claims.base import ClaimGenerator
    from crscore.records import ChangedFile, Diff, PseudoReference


@dataclass(frozen=True, slots=True)
class Structural:
    """Writes claims from the trees of the old and the new side."""

    @property
    def identity(self) -> str:
        """Name and version: same identity and diff, same claims."""
        return "structural@1"

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims and implications of each diff, most informative first."""
        return tuple(_claims(diff) for diff in diffs)


def create(options: Mapping[str, str]) -> ClaimGenerator:
    """Make the generator; it has no options."""
    del options
    return Structural()


def _claims(diff: Diff) -> Claims:
    found = [item for file in diff.files for item in _of_file(file)]
    found.sort(key=lambda item: -item.weight)
    return Claims(references=tuple(found))


def _of_file(file: ChangedFile) -> Iterator[PseudoReference]:
    language = language_of(file.language)
    if language is None:
        return
    for area in areas_of(file, language):
        for statement in statements_of(area):
            yield reference_of(area, statement)
