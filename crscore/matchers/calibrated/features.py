"""From one change's cells to the numbers that the trees read."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from crscore.matchers.calibrated.words import Words, names_of, stems_of, words
from crscore.records import LineKind, ReferenceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from crscore.matchers.base import Cells
    from crscore.records import Diff, PseudoReference

    Floats = npt.NDArray[np.float32]

DECIMALS: Final = 4
"""Features are rounded, so that the last bit of a cosine, which differs between machines,
does not send a cell down another branch."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Background:
    """What is usual, learned from the training changes."""

    frequency: Mapping[str, int]
    """Stem -> training texts with it; a stem that is not here is rare."""
    documents: int
    """Training texts."""
    claim: Floats
    """Unit vector of the mean claim, shape (D,)."""
    remark: Floats
    """Unit vector of the mean review sentence, shape (D,)."""
    axes: Floats
    """Main directions of review sentences, shape (K, D)."""
    centre: Floats
    """What is subtracted before projecting on `axes`, shape (D,)."""

    def rarity(self, stems: Iterable[str]) -> float:
        """Add up the inverse document frequencies of some stems, each at least 0."""
        most, frequency = self.documents + 1, self.frequency
        # `fsum`: sets have no order, and the last bit of a plain sum depends on it.
        return math.fsum([math.log(most / (frequency.get(stem, 0) + 1)) for stem in stems])


SENTENCE: Final = (
    "length", "plain", "added", "removed", "changed", "context", "context_only", "changed_sum",
    "added_only", "removed_only", "foreign_sum", "names_shared", "names_foreign", "code_spans",
    "asks", "suggests", "praises", "personal", "denies", "explains", "like_claim", "like_remark",
    "overlap_before", "position", "sentences", "rarity",
)  # fmt: skip
REFERENCE: Final = (
    "length", "changed", "changed_sum", "explains", "denies", "is_implication",
    "like_claim", "central", "references", "position", "rarity",
)  # fmt: skip
CELL: Final = (
    "cosine", "cosine_reference", "cosine_sentence", "cosine_both", "shared_reference",
    "shared_sentence", "shared_sum", "shared_unique", "names", "names_share", "topics_reference",
    "topics_sentence", "contrary", "denial", "below_row", "below_column", "above_mean",
)  # fmt: skip
COMMENT: Final = ("best_cosine", "best_shared", "best_shared_sum", "mean_cosine", "words")


def feature_names(axes: int) -> tuple[str, ...]:
    """Name the features in their order.

    Args:
        axes: K, the number of main directions.

    Returns:
        One name a column.
    """
    return (
        *(f"cell.{name}" for name in CELL),
        *(f"sentence.{name}" for name in SENTENCE),
        *(f"sentence.axis{index}" for index in range(axes)),
        *(f"reference.{name}" for name in REFERENCE),
        *(f"comment.{name}" for name in COMMENT),
    )


def features(cells: Cells, background: Background) -> Floats:
    """Describe every cell.

    Args:
        cells: One change's cells.
        background: What is usual.

    Returns:
        Shape (R, S, F), rounded; a cell's row depends on its comment, not on the others.
    """
    made = np.zeros((len(cells.references), len(cells.sentences), 0), dtype=np.float32)
    if 0 in cells.similarity.shape:
        return made
    change = _Change.of(cells.diff, background)
    references = [words(ref.reading or ref.text) for ref in cells.references]
    rows = _references(cells, references, change)
    # What is hidden must not change what is shown.
    by_comment: dict[tuple[int, bool], list[int]] = {}
    for index, sentence in enumerate(cells.sentences):
        by_comment.setdefault((sentence.comment, sentence.hidden), []).append(index)
    width = len(feature_names(len(background.axes)))
    made = np.empty((len(cells.references), len(cells.sentences), width), dtype=np.float32)
    for columns in by_comment.values():
        made[:, columns] = _comment(cells, columns, references, rows, change)
    return np.round(made, DECIMALS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Change:
    added: frozenset[str]
    removed: frozenset[str]
    context: frozenset[str]
    names: frozenset[str]
    background: Background

    @classmethod
    def of(cls, diff: Diff, background: Background) -> _Change:
        lines: dict[LineKind, list[str]] = {kind: [] for kind in LineKind}
        for file in diff.files:
            for hunk in file.hunks:
                for line in hunk.lines:
                    lines[line.kind].append(line.text)
        everything = [text for kind in lines.values() for text in kind]
        return cls(
            added=stems_of(lines[LineKind.ADDED]),
            removed=stems_of(lines[LineKind.REMOVED]),
            context=stems_of(lines[LineKind.CONTEXT]),
            names=names_of(everything),
            background=background,
        )

    @property
    def changed(self) -> frozenset[str]:
        return self.added | self.removed


def _references(cells: Cells, read: Sequence[Words], change: _Change) -> Floats:
    vectors = cells.reference_vectors
    total = len(read)
    near = (vectors @ vectors.T).sum(axis=1) - 1
    central = near / (total - 1) if total > 1 else np.full(total, 0.5)
    like_claim = vectors @ change.background.claim
    made = []
    for index, (ref, said) in enumerate(zip(cells.references, read, strict=True)):
        made.append(
            [
                *_reference(ref, said, change),
                like_claim[index],
                central[index],
                math.log(total),
                math.log1p(index),
                change.background.rarity(said.stems) / max(1, len(said.stems)),
            ]
        )
    return np.array(made, dtype=np.float32)


def _reference(ref: PseudoReference, said: Words, change: _Change) -> list[float]:
    shared = change.background.rarity(said.stems & change.changed)
    return [
        math.log1p(said.length),
        shared / (change.background.rarity(said.stems) + 1e-6),
        math.log1p(shared),
        said.speech[4],
        said.speech[3],
        ref.kind is ReferenceKind.IMPLICATION,
    ]


def _comment(
    cells: Cells,
    columns: Sequence[int],
    references: Sequence[Words],
    rows: Floats,
    change: _Change,
) -> Floats:
    said = [words(cells.sentences[column].text) for column in columns]
    sentences = _sentences(said, cells.sentence_vectors[list(columns)], change)
    inner = _cells(
        cells.similarity[:, list(columns)],
        references,
        said,
        # How like a claim each side is: a cosine between two texts that are like everything
        # says little.
        likeness=(
            rows[:, REFERENCE.index("like_claim")],
            sentences[:, SENTENCE.index("like_claim")],
        ),
        background=change.background,
    )
    at = [CELL.index(name) for name in ("cosine", "shared_reference", "shared_sum")]
    whole = [
        *inner[..., at].max(axis=(0, 1)),
        inner[..., 0].mean(),
        math.log1p(sum(one.length for one in said)),
    ]
    shape = (len(references), len(columns))
    return np.concatenate(
        [
            inner,
            np.broadcast_to(sentences[None], (*shape, sentences.shape[1])),
            np.broadcast_to(rows[:, None], (*shape, rows.shape[1])),
            np.broadcast_to(np.array(whole, dtype=np.float32), (*shape, len(whole))),
        ],
        axis=2,
        dtype=np.float32,
    )


def _sentences(said: Sequence[Words], vectors: Floats, change: _Change) -> Floats:
    background = change.background
    like_claim, like_remark = vectors @ background.claim, vectors @ background.remark
    projected = (vectors - background.centre) @ background.axes.T
    made = []
    for index, one in enumerate(said):
        made.append(
            [
                *_sentence(one, change),
                like_claim[index],
                like_remark[index],
                max((_jaccard(one, earlier) for earlier in said[:index]), default=0.0),
                math.log1p(index),
                math.log(len(said)),
                background.rarity(one.stems) / max(1, len(one.stems)),
            ]
        )
    return np.concatenate([np.array(made), projected], axis=1, dtype=np.float32)


def _sentence(one: Words, change: _Change) -> list[float]:
    rarity = change.background.rarity
    total = rarity(one.stems) + 1e-6
    changed = rarity(one.stems & change.changed)
    context_only = rarity(one.stems & (change.context - change.changed))
    return [
        math.log1p(one.length),
        one.plain / max(1, one.length),
        rarity(one.stems & change.added) / total,
        rarity(one.stems & change.removed) / total,
        changed / total,
        rarity(one.stems & change.context) / total,
        context_only / total,
        math.log1p(changed),
        math.log1p(rarity(one.stems & (change.added - change.removed))),
        math.log1p(rarity(one.stems & (change.removed - change.added))),
        math.log1p(max(0.0, total - changed - context_only)),
        math.log1p(len(one.names & change.names)),
        math.log1p(len(one.names - change.names)),
        math.log1p(one.code_spans),
        one.asks,
        *one.speech,
    ]


def _jaccard(first: Words, second: Words) -> float:
    return len(first.stems & second.stems) / max(1, len(first.stems | second.stems))


def _cells(
    cosine: Floats,
    references: Sequence[Words],
    said: Sequence[Words],
    *,
    likeness: tuple[Floats, Floats],
    background: Background,
) -> Floats:
    usual_row, usual_column = likeness[0][:, None], likeness[1][None]
    holders = Counter(stem for ref in references for stem in ref.stems)
    sides = [_Weighed.of(ref, background, holders) for ref in references]
    others = [_Weighed.of(one, background, holders) for one in said]
    lexical = np.array([[_lexical(side, other) for other in others] for side in sides])
    geometric = np.stack(
        [cosine, cosine - usual_row, cosine - usual_column, 2 * cosine - usual_row - usual_column],
        axis=2,
    )
    relative = np.stack(
        [
            cosine - cosine.max(axis=1, keepdims=True),
            cosine - cosine.max(axis=0, keepdims=True),
            cosine - cosine.mean(axis=0, keepdims=True),
        ],
        axis=2,
    )
    return np.concatenate([geometric, lexical, relative], axis=2, dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weighed:
    """One side of a cell: what is asked of it in every cell is worked out once."""

    said: Words
    total: float
    """Rarity of all its stems."""
    each: Mapping[str, tuple[float, float]]
    """Stem -> its rarity, and its share of that where several references have the stem."""

    @classmethod
    def of(cls, said: Words, background: Background, holders: Mapping[str, int]) -> _Weighed:
        each = {}
        for stem in said.stems:
            weight = background.rarity((stem,))
            each[stem] = (weight, weight / max(1, holders.get(stem, 0)))
        total = math.fsum(weight for weight, _ in each.values())
        return cls(said=said, total=total, each=each)


def _lexical(side: _Weighed, other: _Weighed) -> list[float]:
    ref, one = side.said, other.said
    shared = [side.each[stem] for stem in ref.stems & one.stems]
    weight = math.fsum([whole for whole, _ in shared])
    unique = math.fsum([share for _, share in shared])
    common = len(ref.names & one.names)
    topics = len(ref.topics & one.topics)
    added, removed = 0, 1
    return [
        weight / (side.total + 1e-6),
        weight / (other.total + 1e-6),
        math.log1p(weight),
        math.log1p(unique),
        common > 0,
        common / max(1, len(ref.names)),
        topics / max(1, len(ref.topics)),
        topics / max(1, len(one.topics)),
        (added in ref.topics and removed in one.topics)
        + (removed in ref.topics and added in one.topics),
        ref.speech[3] != one.speech[3],
    ]
