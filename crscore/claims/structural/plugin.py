"""Claims without a model, from the syntax trees of both sides.

Tools: tree-sitter 0.26 with the single-language grammars listed in pyproject.toml; no process, no
network, no exit code. `_keyed` handles configuration, markup and languages without a grammar.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crscore.claims.structural.callers import adds_tests, is_test_file, wants_test
from crscore.claims.structural.files import describe_file
from crscore.claims.structural.grouping import statements_of
from crscore.claims.structural.mentions import read_once
from crscore.claims.structural.overview import describe_topic
from crscore.claims.structural.ranking import ranked
from crscore.claims.structural.regions import areas_of
from crscore.claims.structural.statements import reference_of
from crscore.records import Claims, LineKind
from crscore.syntax import grammars
from crscore.syntax.grammars import language_of
from crscore.syntax.guess import guess

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.claims.base import ClaimGenerator
    from crscore.claims.structural.regions import Area
    from crscore.records import ChangedFile, Diff, PseudoReference
    from crscore.syntax.model import Language

TESTS = 0.8
"""Weight factor for claims on test files in a change that also has other files."""
VERSION = 1
"""Version, increased whenever a diff may get different claims."""
WRONG_LANGUAGE = 0.3
"""Share of unreadable bytes above which a file's language may differ from its name's."""


@dataclass(frozen=True, slots=True)
class Structural:
    """Claim generator that compares the trees of the old and the new side."""

    @property
    def identity(self) -> str:
        """Name, version and a short hash of the grammars' versions; it determines the claims."""
        return f"structural@{VERSION}+{grammars.fingerprint()}"

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims and implications of each diff.

        Args:
            diffs: Any number of parsed changes, with or without the files' sources.

        Returns:
            One value for each diff: all its claims, most informative first, near-duplicates
            merged. Empty only for a diff that changes nothing but blank lines.

        Raises:
            DependencyError: The grammar of a changed file's language is not installed.
        """
        return tuple(Claims(references=_references(diff)) for diff in diffs)


def create() -> ClaimGenerator:
    """Create the generator; it has no options."""
    return Structural()


def _references(diff: Diff) -> tuple[PseudoReference, ...]:
    tests = [is_test_file(file.path) for file in diff.files]
    mixed = any(tests) and not all(tests)
    found = [
        replace(item, weight=round(item.weight * TESTS, 4)) if mixed and is_test else item
        for file, is_test in zip(diff.files, tests, strict=True)
        for item in _of_file(file)
    ]
    if any(adds_tests(file) for file in diff.files):
        found = [item for item in found if not wants_test(item.text)]
    return ranked(found)


def _of_file(file: ChangedFile) -> Iterator[PseudoReference]:
    if file.is_missing:  # the lines are unknown
        return
    yield from describe_file(file)
    if not file.hunks or file.is_binary or file.is_submodule:
        return
    language = language_of(file.language)
    if language is None and file.language is None:
        language = guess(_sample(file))
    if language is None:
        yield from _keyed(file)
        return
    yield from describe_topic(file)
    for area in _areas(file, language):
        for statement in read_once(statements_of(area)):
            yield reference_of(area, statement)


def _areas(file: ChangedFile, language: Language) -> tuple[Area, ...]:
    """Return the file's areas, parsed in another language when this one fails to read them."""
    areas = tuple(areas_of(file, language))
    size = sum(len(line.text) for line in file.lines())
    if sum(area.old.errors + area.new.errors for area in areas) > WRONG_LANGUAGE * size:
        other = guess(_sample(file))
        if other is not None and other.name != language.name:
            return tuple(areas_of(file, other))
    return areas


def _sample(file: ChangedFile) -> list[str]:
    hunk = file.hunks[0]
    lines = hunk.lines_of(LineKind.CONTEXT, LineKind.ADDED) or hunk.lines
    return [line.text for line in lines]


def _keyed(file: ChangedFile) -> Iterator[PseudoReference]:
    from crscore.claims.config_files import claims_of  # noqa: PLC0415 - only for files without a grammar

    yield from claims_of(file)
