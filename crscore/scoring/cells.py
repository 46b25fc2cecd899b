"""Cells of a review: every pseudo-reference of its change paired with each of its sentences."""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.records import Diff, Flag, PseudoReference, Sentence
from crscore.scoring.similarity import cosine

Floats = npt.NDArray[np.float32]


class Cells(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Cells of one change before matching: each pairs a pseudo-reference with a sentence."""

    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """Rows: R pseudo-references."""
    sentences: tuple[Sentence, ...]
    """Columns: S sentences, first the visible text of the comments, then hidden text."""
    reference_vectors: Floats
    """Unit vectors of the references' encoded texts, shape (R, D)."""
    sentence_vectors: Floats
    """Unit vectors of the sentences, shape (S, D)."""
    similarity: Floats
    """Cosines of rows and columns, shape (R, S), each in [-1, 1], read-only."""
    about: Floats
    """Probability that each sentence is about the change, by its lines and names as well as by its
    claims, shape (S,); 0.5 without weights for the encoder."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Matcher's judgement of the cells of one change."""

    degrees: Floats
    """Degree to which each sentence addresses each pseudo-reference, shape (R, S), in [0, 1]."""
    flags: tuple[Flag | None, ...]
    """For each of the S sentences, the reason that it counts less or not at all; usually None."""
    in_review: tuple[bool, ...]
    """For each of the S sentences, False for hidden text that is left out of the review."""


def compare(
    diff: Diff,
    references: Sequence[PseudoReference],
    sentences: Sequence[Sentence],
    rows: Floats,
    columns: Floats,
) -> Cells:
    """Compare the sentences of a review with the pseudo-references of its change.

    Args:
        diff: The change.
        references: Its R pseudo-references.
        sentences: The S sentences of the review.
        rows: Unit vectors of the references' encoded texts, shape (R, D).
        columns: Unit vectors of the sentences, shape (S, D).

    Returns:
        The cells, without evidence whether a sentence is about the change.
    """
    return Cells(
        diff=diff,
        references=tuple(references),
        sentences=tuple(sentences),
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=cosine(rows, columns),
        about=np.full(len(sentences), 0.5, dtype=np.float32),
    )
