"""Interface of matchers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from crscore.records import Diff, Flag, PseudoReference, Sentence

    Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """One change's cells before they are judged."""

    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """The R rows."""
    sentences: tuple[Sentence, ...]
    """The S columns: what a reader sees of the comments, then what is hidden in them."""
    reference_vectors: Floats
    """Vectors of the rows' readings: unit rows, shape (R, D)."""
    sentence_vectors: Floats
    """Vectors of the columns: unit rows, shape (S, D)."""
    similarity: Floats
    """Their cosines, shape (R, S), each in [-1, 1], read-only."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgement:
    """Judgement of one change's cells."""

    degrees: Floats
    """Degree to which each sentence addresses each pseudo-reference, shape (R, S), in [0, 1]."""
    flags: tuple[Flag | None, ...]
    """Why a sentence counts for less or nothing; None for most. One for each of the S sentences."""
    kept: tuple[bool, ...]
    """For each of the S sentences, False for hidden text that is left out of the review."""


class Matcher(Protocol):
    """Judges how far each sentence addresses each pseudo-reference.

    A plugin module `crscore/matchers/<name>.py` has `create(options) -> Matcher`. Its `Options`
    may have `encoder` (the identity of the run's encoder), `weights` (a file) and `threshold` (a
    cosine); a run gives what there is a field for.
    """

    @property
    def identity(self) -> str:
        """Name and settings for the signature."""
        ...

    @property
    def decision(self) -> float:
        """The degree from which a cell counts as addressed, in (0, 1)."""
        ...

    def match(self, cells: Cells) -> Judgement:
        """Judge every cell.

        Args:
            cells: One change's rows, columns and cosines. R and S may be 0.

        Returns:
            The degrees; the published matcher gives 0 or 1.
        """
        ...
