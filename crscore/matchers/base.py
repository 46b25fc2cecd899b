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
    """Cells of one change before matching."""

    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """Rows: R pseudo-references."""
    sentences: tuple[Sentence, ...]
    """Columns: S sentences, the visible text of the comments first, then hidden text."""
    reference_vectors: Floats
    """Unit vectors of the references' encoded texts, shape (R, D)."""
    sentence_vectors: Floats
    """Unit vectors of the sentences, shape (S, D)."""
    similarity: Floats
    """Cosines of rows and columns, shape (R, S), each in [-1, 1], read-only."""
    about: Floats
    """Probability that each column is about the change, by its lines and names as well as by its
    claims, shape (S,); 0.5 without weights for the encoder."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgement:
    """Judgement of one change's cells."""

    degrees: Floats
    """Degree to which each sentence addresses each pseudo-reference, shape (R, S), in [0, 1]."""
    flags: tuple[Flag | None, ...]
    """For each of the S sentences, the reason why it counts less or not at all; usually None."""
    in_review: tuple[bool, ...]
    """For each of the S sentences, False for hidden text that is left out of the review."""


class Matcher(Protocol):
    """Matcher, which judges how far each sentence addresses each pseudo-reference.

    A plugin module `crscore/matchers/<name>.py` has `create(options) -> Matcher`. Its options
    may have the fields `encoder` (the identity of the run's encoder), `weights` (a file) and
    `threshold` (a cosine), which a run fills.
    """

    @property
    def identity(self) -> str:
        """Name and settings for the signature."""
        ...

    @property
    def decision(self) -> float:
        """Minimum degree of a cell that counts as addressed, in (0, 1)."""
        ...

    def match(self, cells: Cells) -> Judgement:
        """Judge every cell.

        Args:
            cells: One change's rows, columns and cosines. R and S may be 0.

        Returns:
            The degrees; the published matcher gives 0 or 1.
        """
        ...
