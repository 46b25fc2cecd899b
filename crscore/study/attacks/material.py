"""What attacks are made of: one change, its pseudo-references, and the honest review."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.records import LineKind, ReferenceKind
from crscore.review import sentences
from crscore.scoring import references
from crscore.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    import numpy as np

    from crscore.records import Diff, PseudoReference
    from crscore.study.study import StudyChange

MAX_CLAIMS: Final = 10
"""Claims of the structural generator that an echo repeats: those that a score counts."""

_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
# Of Python, Java and JavaScript; what a stuffer would leave out as it tells no change apart.
_KEYWORDS: Final = frozenset(
    {"abstract", "and", "as", "assert", "async", "await", "bool", "boolean", "break"}
    | {"byte", "case", "catch", "char", "class", "const", "continue", "def", "default"}
    | {"del", "do", "double", "elif", "else", "enum", "except", "export", "extends"}
    | {"false", "False", "final", "finally", "float", "for", "from", "function", "global"}
    | {"if", "implements", "import", "in", "instanceof", "int", "interface", "is", "lambda"}
    | {"let", "long", "new", "None", "nonlocal", "not", "null", "of", "or", "package"}
    | {"pass", "private", "protected", "public", "raise", "return", "self", "short"}
    | {"static", "super", "switch", "synchronized", "this", "throw", "throws", "true"}
    | {"True", "try", "typeof", "undefined", "var", "void", "volatile", "while", "with"}
    | {"yield"}
)
# "implies that", "could break", "suggests", "potentially": a consequence, not what was changed.
_CONSEQUENCE: Final = re.compile(
    r"\b(?:impl(?:y|ies|ied)|implication|suggest\w*|could|might|may|would|should|potential\w*|"
    r"likely|probably|possib\w+|seems?|appears?|indicat\w+|risk\w*|ensur\w+|improv\w+|consider\w*)\b",
    re.IGNORECASE,
)


class Wording(StrEnum):
    """Which half of the templates is used: what a defence learned from is no test of it."""

    TRAINING = "training"
    TEST = "test"


class Bank(NamedTuple):
    """Templates in two halves that share none."""

    training: tuple[str, ...]
    """For the negative examples of a matcher."""
    test: tuple[str, ...]
    """For the attacks that are measured."""

    def of(self, wording: Wording) -> tuple[str, ...]:
        """The half of that name."""
        return self.training if wording is Wording.TRAINING else self.test


class Variant(NamedTuple):
    """One text of a kind of attack."""

    name: str
    """How it was made."""
    text: str
    """The review."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything an attack on one change may use."""

    patch: str
    """The change as given."""
    diff: Diff
    """The same, parsed."""
    names: tuple[str, ...]
    """Identifiers of the changed lines, without keywords and stop words, in order."""
    recorded: tuple[str, ...]
    """The study's own pseudo-references; may be empty."""
    structural: tuple[str, ...]
    """The structural generator's pseudo-references; may be empty."""
    summaries: tuple[str, ...]
    """Recorded claims that say what was changed, judged correct where people judged them."""
    structural_summaries: tuple[str, ...]
    """Structural claims that say what was changed."""
    wording: Wording
    """Which half of the templates to use."""
    honest: str = ""
    """The honest review; "" when the kind of attack needs none."""
    strangers: tuple[str, ...] = ()
    """Honest reviews of other changes."""


def make_material(
    change: StudyChange,
    diff: Diff,
    structural: Sequence[PseudoReference],
    *,
    wording: Wording = Wording.TEST,
) -> Material:
    """Gather what attacks on a change are made of.

    Args:
        change: The change.
        diff: Its patch, parsed.
        structural: What the structural generator made of the diff; empty for none.
        wording: Which half of the templates to use.

    Returns:
        The material, without an honest review.
    """
    judged = [claim.text for claim in change.judged if claim.correctness == "correct"]
    told = judged or [
        item.text
        for item in change.recorded.references
        if item.kind is ReferenceKind.CLAIM and not change.judged
    ]
    counted = [item for item in references.select(structural, limit=MAX_CLAIMS) if item.counted]
    return Material(
        patch=change.patch,
        diff=diff,
        names=_names(diff),
        recorded=_clean(item.text for item in change.recorded.references),
        structural=_clean(item.text for item in counted),
        summaries=tuple(text for text in _clean(told) if not _CONSEQUENCE.search(text)),
        structural_summaries=_clean(
            item.text for item in counted if item.kind is ReferenceKind.CLAIM
        ),
        wording=wording,
    )


def changed_lines(diff: Diff, kind: LineKind) -> tuple[str, ...]:
    """The added or the removed lines that are not blank, without their indentation."""
    return tuple(
        line.text.strip()
        for file in diff.files
        for hunk in file.hunks
        for line in hunk.lines
        if line.kind is kind and line.text.strip()
    )


def units(text: str) -> tuple[str, ...]:
    """A review's sentences, as the score reads them."""
    return sentences.split_comment(text).sentences


def shuffled(items: Sequence[str], rng: np.random.Generator) -> list[str]:
    """The items in another order."""
    return [items[index] for index in rng.permutation(len(items))]


def some(items: Sequence[str], low: int, high: int, rng: np.random.Generator) -> list[str]:
    """From `low` to `high` distinct items, fewer when there are fewer, in random order."""
    return shuffled(items, rng)[: int(rng.integers(low, high + 1))]


def pick(items: Sequence[str], rng: np.random.Generator) -> str:
    """One item."""
    return items[int(rng.integers(len(items)))]


def seen(made: Iterable[Variant], unseen: Container[str], wording: Wording) -> tuple[Variant, ...]:
    """The variants that this half may show: the training half lacks the `unseen` forms."""
    kept = made if wording is Wording.TEST else (one for one in made if one.name not in unseen)
    return tuple(kept)


def is_plain(text: str) -> bool:
    """Whether a review is running text, which may be cut and joined again at its sentences."""
    return "```" not in text and "\n" not in text.strip() and "<" not in text


def stop(text: str) -> str:
    """The text with a full stop when it ends without one."""
    text = text.rstrip()
    return text if text[-1:] in ".?!:" else text + "."


def lowered(text: str) -> str:
    """The text with a small first letter, unless it starts with code or a name."""
    first = text.split(" ", 1)[0].rstrip(",")
    plain = first.isalpha() and (len(first) == 1 or first[1:].islower())
    return text[:1].lower() + text[1:] if plain and first != "I" else text


def raised(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def _names(diff: Diff) -> tuple[str, ...]:
    lines = (
        *changed_lines(diff, LineKind.REMOVED),
        *changed_lines(diff, LineKind.ADDED),
    )
    found = (name for line in lines for name in _NAME.findall(line))
    dull = _KEYWORDS | ENGLISH
    return tuple(
        dict.fromkeys(name for name in found if len(name) > 1 and not {name, name.lower()} & dull)
    )


def _clean(texts: Iterable[str]) -> tuple[str, ...]:
    """Without repeats, blanks and scraps such as a lone list number ("3.")."""
    kept = (text.strip() for text in texts)
    return tuple(dict.fromkeys(text for text in kept if sum(map(str.isalpha, text)) >= 3))
