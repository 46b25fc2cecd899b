"""Material of attacks: one change, its pseudo-references, the honest review, and phrases."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from crscore.claims.base import ClaimGenerator
from crscore.records import Diff, LineKind
from crscore.review import sentences
from crscore.scoring.cells import select_references
from crscore.text import ENGLISH
from crscore_lab.study.data.study import StudyChange

if TYPE_CHECKING:
    import numpy as np

MAX_CLAIMS: Final = 10
"""Maximum number of structural claims that an echo attack repeats; by default, a score counts
12."""

# Matches `a`, `$scope`, `object.field.method`.
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")


class Wording(StrEnum):
    """Half of the phrases: one for attacks to train on, the other for attacks to test with."""

    TRAINING = "training"
    TEST = "test"


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of `phrases.toml`, which explains each field."""

    unseen: frozenset[str]
    keywords: frozenset[str]
    verdicts: tuple[str, ...]
    lead_ins: tuple[str, ...]
    covers: dict[str, str]
    banks: dict[str, dict[Wording, tuple[str, ...]]]


PHRASES: Final = msgspec.toml.decode(
    importlib.resources.files(__package__).joinpath("phrases.toml").read_bytes(), type=Phrases
)
"""Words and templates for attacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Inputs for the attacks on one change."""

    patch: str
    """Text of the patch."""
    diff: Diff
    """Parsed patch."""
    names: tuple[str, ...]
    """Identifiers of the changed lines, without keywords and stop words, in the order of the
    lines."""
    claims: Mapping[str, tuple[str, ...]]
    """Texts of pseudo-references by source: `recorded` in the study, and `structural`. Each may be
    empty."""
    wording: Wording
    """Half of the phrases to use."""
    honest_review: str = ""
    """Honest review that the attack competes with; "" if the kind of attack needs none."""
    foreign_reviews: tuple[str, ...] = ()
    """Honest reviews of other changes."""

    def bank(self, name: str) -> tuple[str, ...]:
        """Return the phrases of a list of `phrases.toml`, in the wording to use."""
        return PHRASES.banks[name][self.wording]


def make_material(
    change: StudyChange, generator: ClaimGenerator, *, wording: Wording = Wording.TEST
) -> Material:
    """Gather the material of attacks on a change.

    Args:
        change: The change.
        generator: Generator of the structural claims.
        wording: Half of the phrases to use.

    Returns:
        The material; `honest_review` and `foreign_reviews` are empty, for the caller to set.
    """
    diff = change.read_diff()
    claims = select_references(generator.generate([diff])[0].references, limit=MAX_CLAIMS)
    counted = [item for item in claims if item.counted]
    return Material(
        patch=change.patch,
        diff=diff,
        names=_names(diff),
        claims={
            "recorded": _clean(item.text for item in change.recorded),
            "structural": _clean(item.text for item in counted),
        },
        wording=wording,
    )


def changed_lines(diff: Diff, kind: LineKind) -> tuple[str, ...]:
    """Return the lines of a kind (added or removed) that are not blank, without indentation."""
    return tuple(text for line in diff.lines(kind) if (text := line.text.strip()))


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a review into sentences, as the score does."""
    return sentences.split_comment(text).sentences


def shuffle(items: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Return the items in random order."""
    return [items[index] for index in rng.permutation(len(items))]


def sample(items: Sequence[str], low: int, high: int, rng: np.random.Generator) -> list[str]:
    """Return `low` to `high` items at random, in random order; all items if there are fewer."""
    return shuffle(items, rng)[: int(rng.integers(low, high + 1))]


def pick(items: Sequence[str], rng: np.random.Generator) -> str:
    """Return one item at random."""
    return items[int(rng.integers(len(items)))]


def end_sentence(text: str) -> str:
    """Add a full stop, unless the text ends with one of `.?!:`."""
    text = text.rstrip()
    return text if text[-1:] in ".?!:" else text + "."


def lower_first(text: str) -> str:
    """Convert the first letter to lower case, unless the first word is code, an acronym or "I"."""
    first = text.split(" ", 1)[0].rstrip(",")
    is_plain_word = first.isalpha() and (len(first) == 1 or first[1:].islower())
    return text[:1].lower() + text[1:] if is_plain_word and first != "I" else text


def _names(diff: Diff) -> tuple[str, ...]:
    lines = (*changed_lines(diff, LineKind.REMOVED), *changed_lines(diff, LineKind.ADDED))
    names = dict.fromkeys(name for line in lines for name in _NAME.findall(line))
    excluded = PHRASES.keywords | ENGLISH
    return tuple(name for name in names if len(name) > 1 and not {name, name.lower()} & excluded)


def _clean(texts: Iterable[str]) -> tuple[str, ...]:
    """Remove duplicates, and texts with fewer than three letters, such as a list number."""
    stripped = (text.strip() for text in texts)
    return tuple(dict.fromkeys(text for text in stripped if sum(map(str.isalpha, text)) >= 3))
