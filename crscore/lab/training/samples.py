"""Training examples: reviews, their pseudo-references, and their target scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore import pipeline
from crscore.encoders.base import Encoder
from crscore.matchers.base import Cells
from crscore.records import Diff, PseudoReference, Sentence
from crscore.review import sentences
from crscore.scoring import references
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


class Vectors(dict[str, Floats]):
    """Vectors of texts, each shape (D,); a text is encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self._encoder = encoder

    def learn(self, texts: Iterable[str]) -> None:
        """Encode the texts that have no vector yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self]
        if new:
            self.update(zip(new, self._encoder.encode(new), strict=True))

    def of(self, texts: Sequence[str]) -> Floats:
        """Stack the vectors of cached texts, shape (len(texts), D).

        Raises:
            KeyError: A text is not in the cache.
        """
        width = len(next(iter(self.values())))
        rows = [self[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


def select_counted(refs: Sequence[PseudoReference]) -> tuple[PseudoReference, ...]:
    """Select the pseudo-references that a default score counts."""
    return tuple(ref for ref in references.select(refs, limit=MAX_CLAIMS) if ref.counted)


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
    units = tuple(Sentence(text=text, comment=0) for text in parts[example.text])
    return pipeline.compare(example.diff, example.references, units, vectors, reader).cells
