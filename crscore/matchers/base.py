"""Interface of matchers."""

from typing import Protocol

from crscore.scoring.cells import Cells, Judgement

__all__ = ["Cells", "Judgement", "Matcher"]


class Matcher(Protocol):
    """Judge of how far each sentence addresses each pseudo-reference.

    A plugin module `crscore/matchers/<name>.py` has a function `create`, which returns a matcher.
    Its options may be `encoder` (the identity of the run's encoder), `weights` (a file) and
    `threshold` (a cosine), which are set for each run.
    """

    @property
    def identity(self) -> str:
        """Name and settings for the signature."""
        ...

    def match(self, cells: Cells) -> Judgement:
        """Judge every cell.

        Args:
            cells: One change's rows, columns and cosines. R and S may be 0.

        Returns:
            The degrees (only 0 or 1 with the published matcher), and the decision.
        """
        ...
