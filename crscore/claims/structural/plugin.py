"""Claims without a model: the change is divided into topics, and each is told by what is proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crscore.claims.structural import plain
from crscore.claims.structural.sentences import Told, label, told
from crscore.claims.structural.sides import versions_of
from crscore.claims.structural.topics import changes_of
from crscore.claims.structural.weigh import in_order, without_test
from crscore.records import Claims, LineKind
from crscore.syntax import grammars
from crscore.syntax.grammars import language_of
from crscore.syntax.guess import guess

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.claims.base import ClaimGenerator
    from crscore.claims.structural.topics import Change
    from crscore.records import ChangedFile, Diff, PseudoReference
    from crscore.syntax.grammars import Language

VERSION = 2
"""Version, increased whenever a diff may get different claims."""
WRONG_LANGUAGE = 0.3
"""Share of unreadable bytes above which a file's language may differ from its name's."""


@dataclass(frozen=True, slots=True)
class Structural:
    """Claim generator that compares the outlines of the old and the new version."""

    @property
    def identity(self) -> str:
        """Name, version and a short hash of the grammars' versions; it determines the claims."""
        return f"structural@{VERSION}+{grammars.fingerprint()}"

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims and implications of each diff.

        Args:
            diffs: Any number of parsed changes, with or without the files' sources.

        Returns:
            One value for each diff: all its claims, most informative first. Empty only for a diff
            that changes nothing but blank lines.

        Raises:
            DependencyError: The grammar of a changed file's language is not installed.
        """
        return tuple(Claims(references=_references(diff)) for diff in diffs)


def create() -> ClaimGenerator:
    """Create the generator; it has no options."""
    return Structural()


def _references(diff: Diff) -> tuple[PseudoReference, ...]:
    found = [item for file in diff.files if not file.is_missing for item in _of_file(file)]
    untested = without_test([change for change, _ in found])
    for change, said in found:
        if change is untested:
            said.append(Told(f"the change has no test for {label(change)}", implies=True))
    return in_order(found)


def _of_file(file: ChangedFile) -> Iterator[tuple[Change, list[Told]]]:
    yield from plain.of_file(file)
    if not file.hunks or file.is_binary or file.is_submodule:
        return
    language = language_of(file.language)
    if language is None and file.language is None:
        language = guess([line.text for line in file.hunks[0].lines])
    made = plain.made_by_machine(file)
    old, new = versions_of(file, None if made else language)
    if made:
        yield plain.of_machine_made(file, made, old, new)
    elif language is None:
        yield from plain.of_lines(file, old, new)
    else:
        for change in changes_of(file, language, old, new):
            yield change, told(change, old, new)
