"""Training examples: reviews, their pseudo-references, and their target scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.encoders.base import Encoder
from crscore.matchers.base import Cells
from crscore.records import Diff, PseudoReference, Sentence
from crscore.review import sentences
from crscore.scoring import references, similarity
from crscore.usefulness import reading
from crscore.usefulness.reader import Reader

Floats = npt.NDArray[np.float32]

MAX_CLAIMS: Final = 12
"""Maximum number of claims, as in a score by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Target scores of a review."""

    conciseness: float
    """In [0, 1]: (Likert - 1) / 4."""
    comprehensiveness: float
    """In [0, 1]."""
    relevance: float
    """In [0, 1]."""
    addressed: frozenset[int] | None = None
    """Pseudo-references that the review addresses; None when not annotated."""
    weight: float = 1.0
    """Weight in the loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Review of one change with one set of pseudo-references."""

    change: str
    """Id of the change, the unit of every split."""
    system: str
    """Author of the review."""
    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """Pseudo-references that the review is compared with."""
    text: str
    """Text of the review."""
    target: Target
    """Human scores."""


class Vectors:
    """Cache of text vectors."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._rows: dict[str, Floats] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Encode the texts that are not yet in the cache."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            self._rows.update(zip(new, self._encoder.encode(new), strict=True))

    def __getitem__(self, text: str) -> Floats:
        """Return the vector of one cached text, shape (D,)."""
        return self._rows[text]

    def of(self, texts: Sequence[str]) -> Floats:
        """Stack the vectors of cached texts, shape (len(texts), D).

        Raises:
            KeyError: A text is not in the cache.
        """
        width = len(next(iter(self._rows.values())))
        rows = [self._rows[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


def select_counted(refs: Sequence[PseudoReference]) -> tuple[PseudoReference, ...]:
    """Select the pseudo-references that a default score counts."""
    return tuple(ref for ref in references.select(refs, limit=MAX_CLAIMS) if ref.counted)


def encoded_text(reference: PseudoReference) -> str:
    """Return the text of a pseudo-reference as passed to the encoder."""
    return reference.reading or reference.text


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a review as a default score does."""
    return sentences.split_comment(text, splitter="markdown").sentences


def make_cells(
    example: Example,
    parts: Mapping[str, tuple[str, ...]],
    vectors: Vectors,
    reader: Reader | None,
) -> Cells:
    """Make the cells of one example.

    Args:
        example: The review and its pseudo-references.
        parts: Review -> its sentences.
        vectors: Vectors of all texts.
        reader: Reader that tells whether a sentence is about the change; None without weights.

    Returns:
        The cells, as in the pipeline.
    """
    units = tuple(Sentence(text=one, comment=0) for one in parts[example.text])
    return make_cells_of(example.diff, example.references, units, vectors, reader)


def make_cells_of(
    diff: Diff,
    refs: tuple[PseudoReference, ...],
    units: tuple[Sentence, ...],
    vectors: Vectors,
    reader: Reader | None,
) -> Cells:
    """Make the cells of any sentences of a change; arguments and result as `make_cells`."""
    rows = vectors.of([encoded_text(ref) for ref in refs])
    columns = vectors.of([unit.text for unit in units])
    about = np.full(len(units), 0.5, dtype=np.float32)
    if reader:
        change = reading.collect_evidence(diff, refs, rows, vectors)
        about = reader.about(units, columns, change)
    return Cells(
        diff=diff,
        references=refs,
        sentences=units,
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=similarity.cosine(rows, columns),
        about=about,
    )
