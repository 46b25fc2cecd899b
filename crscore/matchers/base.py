"""Interface of matchers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from crscore.records import Diff, Flag, PseudoReference, Sentence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgement:
    """Matcher's judgement of the cells of one change."""

    degrees: Floats
    """Degree to which each sentence addresses each pseudo-reference, shape (R, S), in [0, 1]."""
    flags: tuple[Flag | None, ...]
    """For each of the S sentences, the reason that it counts less or not at all; usually None."""
    in_review: tuple[bool, ...]
    """For each of the S sentences, False for hidden text that is left out of the review."""


class Matcher(Protocol):
    """Judge of the degree to which each sentence addresses each pseudo-reference.

    A plugin module `crscore/matchers/<name>.py` has `create(options) -> Matcher`. Its options
    may have the fields `encoder` (the identity of the run's encoder), `weights` (a file) and
    `threshold` (a cosine), which are set for each run.
    """

    @property
    def identity(self) -> str:
        """Name and settings for the signature."""
        ...

    @property
    def decision(self) -> float:
        """Minimum degree at which a sentence addresses a pseudo-reference, in (0, 1)."""
        ...

    def match(self, cells: Cells) -> Judgement:
        """Judge every cell.

        Args:
            cells: One change's rows, columns and cosines. R and S may be 0.

        Returns:
            The degrees; the published matcher gives 0 or 1.
        """
        ...
