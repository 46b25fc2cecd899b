"""Measures the evidence that a text is about a change.

Claims about the change are evidence, but they do not cover every valid topic of a review. So
windows of the changed lines, and words that are rare in other change_words, are evidence, too.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.records import Diff, LineKind, PseudoReference, ReferenceKind
from crscore.text import find_code, stems_and_names, words

Floats = npt.NDArray[np.float32]

# Limited, because each snippet is searched for in the text of the whole change.
MAX_SNIPPETS: Final = 50
"""Maximum number of code snippets of a text that are looked up in the change."""
MAX_LINES: Final = 20_000
"""Maximum number of lines of a change whose words are read."""
FEATURES: Final = (
    "cosine_lines", "cosine_claims", "changed_share", "changed_sum", "changed_rarest",
    "context_share", "context_rarest", "place_share", "place_rarest", "foreign_sum",
    "foreign_rarest", "names_shared", "names_foreign", "stems", "change_stems", "windows",
    "code_changed", "code_around", "code_foreign", "longest_code",
)  # fmt: skip
"""Names of the features that compare a text with a change."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rarity:
    """Rarity of stems in change_words."""

    frequency: Mapping[str, int]
    """Stem -> number of change_words with it. Stems that are too rare are missing."""
    documents: int
    """Number of change_words."""

    @cached_property
    def by_stem(self) -> dict[str, float]:
        """Stem -> inverse document frequency, at least 0."""
        # One is added to both numbers, so that no stem has an infinite value, and a stem in all
        # change_words has 0.
        total = self.documents + 1
        return {stem: math.log(total / (count + 1)) for stem, count in self.frequency.items()}

    def of(self, stem: str) -> float:
        """Return the inverse document frequency of a stem, even of one that is missing."""
        return self.by_stem.get(stem, math.log(self.documents + 1))


class ChangeWords(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Words of a change, by where they occur."""

    changed: frozenset[str]
    """Stems of added and removed lines."""
    context: frozenset[str]
    """Stems that occur only in context lines."""
    location: frozenset[str]
    """Stems that occur only in paths and section headings."""
    names: frozenset[str]
    """Multi-word names of all lines, lower-case."""
    changed_code: str
    """Added and removed lines joined to one line, lower-case, without white space."""
    all_code: str
    """All lines and paths in the same form."""


class ChangeEvidence(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Words and vectors of a change, as evidence for the topic of a text."""

    words: ChangeWords
    """Words of the change."""
    lines: Floats
    """Unit vectors of the change's `diff.windows`, shape (W, D)."""
    claims: Floats
    """Unit vectors of the change's claims, shape (C, D)."""


def collect_evidence(
    diff: Diff, refs: Sequence[PseudoReference], vectors: Floats, lines: Floats
) -> ChangeEvidence:
    """Collect the evidence of a change.

    Args:
        diff: The change.
        refs: The R pseudo-references of the change.
        vectors: Unit vectors of the pseudo-references, shape (R, D).
        lines: Unit vectors of the change's `diff.windows`, shape (W, D).
    """
    # Issues are left out, because a tool's message does not say what the change is about.
    claims = [index for index, ref in enumerate(refs) if ref.kind is not ReferenceKind.ISSUE]
    return ChangeEvidence(words=read_change_words(diff), lines=lines, claims=vectors[claims])


def read_change_words(diff: Diff) -> ChangeWords:
    """Read the words of at most `MAX_LINES` lines of a change."""
    changed, context = set[str](), set[str]()
    location, names = set[str](), set[str]()
    changed_code, all_code = list[str](), list[str]()
    # If the change is longer, the same number of lines is read of each file, so that a long file
    # does not crowd out the others.
    is_long = len(diff.lines()) > MAX_LINES
    for file in diff.files:
        lines_left = max(1, MAX_LINES // len(diff.files)) if is_long else MAX_LINES
        all_code.append(file.path)
        location |= stems_and_names(file.path)[0]
        for hunk in file.hunks:
            location |= stems_and_names(hunk.section)[0]
            for line in hunk.lines[: max(0, lines_left)]:
                stems, names_of_line = stems_and_names(line.text)
                (context if line.kind is LineKind.CONTEXT else changed).update(stems)
                names |= names_of_line
                all_code.append(line.text)
                if line.kind is not LineKind.CONTEXT:
                    changed_code.append(line.text)
            lines_left -= len(hunk.lines)
    return ChangeWords(
        changed=frozenset(changed),
        # Each stem is only in the set where it is the strongest evidence: changed, else context.
        context=frozenset(context - changed),
        location=frozenset(location - changed - context),
        names=frozenset(names),
        changed_code=_squeeze("\n".join(changed_code)),
        all_code=_squeeze("\n".join(all_code)),
    )


def measure_evidence(
    text: str, vector: Floats, change: ChangeEvidence, rarity: Rarity
) -> list[float]:
    """Measure the evidence that a text is about a change.

    Args:
        text: A sentence or a remark.
        vector: Unit vector of the text, shape (D,).
        change: The change.
        rarity: Rarity of stems in change_words.

    Returns:
        One value for each of `FEATURES`.
    """
    stems, names = words(text).stems, words(text).names
    change_words = change.words
    rarities = {stem: rarity.of(stem) for stem in stems}
    # The sum is a divisor below, and would be 0 for a text of only stop words, which has no stems.
    total = math.fsum(rarities.values()) + 1e-6

    def measure(shared: Iterable[str]) -> tuple[float, float, float]:
        """Return the sum of the stems' rarities, its share of the total, and the highest rarity."""
        values = [rarities[stem] for stem in shared]
        return math.fsum(values), math.fsum(values) / total, max(values, default=0.0)

    # A snippet of one character is left out, because it is in nearly every change.
    snippets = [code for raw in find_code(text)[:MAX_SNIPPETS] if len(code := _squeeze(raw)) > 1]
    changed_snippets = [code for code in snippets if code in change_words.changed_code]
    foreign_snippets = [code for code in snippets if code not in change_words.all_code]
    changed = measure(stems & change_words.changed)
    foreign = measure(stems - change_words.changed - change_words.context - change_words.location)
    return [
        highest_cosine(change.lines, vector),
        highest_cosine(change.claims, vector),
        changed[1],
        math.log1p(changed[0]),
        changed[2],
        *measure(stems & change_words.context)[1:],
        *measure(stems & change_words.location)[1:],
        math.log1p(foreign[0]),
        foreign[2],
        math.log1p(len(names & change_words.names)),
        math.log1p(len(names - change_words.names)),
        math.log1p(len(stems)),
        math.log1p(len(change_words.changed)),
        math.log1p(len(change.lines)),
        math.log1p(len(changed_snippets)),
        math.log1p(len(snippets) - len(changed_snippets) - len(foreign_snippets)),
        math.log1p(len(foreign_snippets)),
        math.sqrt(max(map(len, changed_snippets), default=0)),
    ]


def highest_cosine(rows: Floats, vector: Floats) -> float:
    """Return the highest cosine of a unit vector with any of some unit vectors; 0 for none."""
    return float((rows @ vector).max()) if len(rows) else 0.0


def _squeeze(code: str) -> str:
    return "".join(code.lower().split())
