"""Interface of claim generators."""

from collections.abc import Sequence
from typing import Protocol

from crscore.records import Claims, Diff


class ClaimGenerator(Protocol):
    """Generator of claims and implications for diffs.

    A plugin module `crscore/claims/<name>.py` defines `create(options) -> ClaimGenerator`.
    """

    @property
    def identity(self) -> str:
        """Name and version for the signature; the same identity and diff give the same claims."""
        ...

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims of each diff.

        All diffs of a run are passed in one call, so that a model can batch them.

        Args:
            diffs: Any number of parsed changes.

        Returns:
            One value for each diff, in the same order; its most informative reference comes first.

        Raises:
            GenerationError: Claims cannot be generated for a reason unrelated to the diff.
        """
        ...
