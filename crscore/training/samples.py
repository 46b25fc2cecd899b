"""Training examples: reviews, their pseudo-references, and the scores they should have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from crscore.matchers.base import Cells
from crscore.records import Sentence
from crscore.review import sentences
from crscore.scoring import references, similarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from crscore.encoders.base import Encoder
    from crscore.records import Diff, PseudoReference

    Floats = npt.NDArray[np.float32]

MAX_CLAIMS: Final = 12
"""As a score counts them by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Scores that a review should have."""

    conciseness: float
    """In [0, 1]: (Likert - 1) / 4."""
    comprehensiveness: float
    """In [0, 1]."""
    relevance: float
    """In [0, 1]."""
    addressed: frozenset[int] | None = None
    """Which pseudo-references the review addresses; None when nobody said."""
    weight: float = 1.0
    """Weight in the loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One review of one change against one set of pseudo-references."""

    change: str
    """The change's id, the unit of every split."""
    system: str
    """Who wrote the review."""
    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """Pseudo-references that the review is compared with."""
    text: str
    """The review."""
    target: Target
    """Scores that people gave it."""


class Vectors:
    """Vectors of texts, each encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._rows: dict[str, Floats] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Encode the texts that are not known yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            self._rows.update(zip(new, self._encoder.encode(new), strict=True))

    def of(self, texts: Sequence[str]) -> Floats:
        """Stack the vectors of known texts, shape (len(texts), D).

        Raises:
            KeyError: A text was not learned.
        """
        width = len(next(iter(self._rows.values())))
        rows = [self._rows[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


def select_counted(refs: Sequence[PseudoReference]) -> tuple[PseudoReference, ...]:
    """Select the pseudo-references that a default score counts."""
    return tuple(ref for ref in references.select(refs, limit=MAX_CLAIMS) if ref.counted)


def encoded_text(reference: PseudoReference) -> str:
    """Return the text of a pseudo-reference that the encoder reads."""
    return reference.reading or reference.text


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a review as a default score does."""
    return sentences.split_comment(text, splitter="markdown").sentences


def make_cells(example: Example, parts: Mapping[str, tuple[str, ...]], vectors: Vectors) -> Cells:
    """Make the cells of one example.

    Args:
        example: The review and its pseudo-references.
        parts: Review -> its sentences.
        vectors: Knows all texts.

    Returns:
        The cells, as the pipeline would make them.
    """
    sentence_texts = parts[example.text]
    rows = vectors.of([encoded_text(ref) for ref in example.references])
    columns = vectors.of(sentence_texts)
    return Cells(
        diff=example.diff,
        references=example.references,
        sentences=tuple(Sentence(text=one, comment=0) for one in sentence_texts),
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=similarity.cosine(rows, columns),
    )
