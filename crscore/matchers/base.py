"""Interface of matchers."""

from typing import Protocol

from crscore.scoring.cells import Cells, Judgement

__all__ = ["Cells", "Judgement", "Matcher"]


class Matcher(Protocol):
    """Judges how well each sentence addresses each pseudo-reference.

    A plugin module `crscore/matchers/<name>.py` has a function `create`, which returns a matcher.
    The parameters of `create` may be `encoder` (the identity of the run's encoder), `weights` (a
    file) and `threshold` (a cosine).
    """

    @property
    def identity(self) -> str:
        """Name and settings for the signature."""
        ...

    def match(self, cells: Cells) -> Judgement:
        """Judge every cell.

        Args:
            cells: The R pseudo-references and S sentences of one change, with their cosines. R and
                S may be 0.

        Returns:
            The degree of each cell (only 0 or 1 with the published matcher), the minimum degree of
            a match, and what is known about each sentence.
        """
        ...
