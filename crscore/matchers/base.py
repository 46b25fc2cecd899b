"""What a matcher promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from crscore.records import PseudoReference


class Matcher(Protocol):
    """Says how far each sentence addresses each pseudo-reference.

    A plugin module `crscore/matchers/<name>.py` has `create(options) -> Matcher`.
    """

    @property
    def identity(self) -> str:
        """Name and settings for the signature."""
        ...

    def match(
        self,
        similarity: npt.NDArray[np.float32],
        references: Sequence[PseudoReference],
        sentences: Sequence[str],
    ) -> npt.NDArray[np.float32]:
        """Judge every cell.

        Args:
            similarity: Cosine similarities, shape (R, S), each in [-1, 1].
            references: The R pseudo-references.
            sentences: The S sentences.

        Returns:
            Degrees, shape (R, S), each in [0, 1]; the published matcher gives 0 or 1.
        """
        ...
