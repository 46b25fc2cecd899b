"""Interface of claim generators."""

from collections.abc import Sequence
from typing import Protocol

from crscore.records import Claims, Diff


class ClaimGenerator(Protocol):
    """Writes claims and implications about diffs.

    A plugin is a module `crscore/claims/<name>.py` with a function `create` that returns a
    generator.
    """

    @property
    def identity(self) -> str:
        """Name and version, for the signature; they determine the claims that a diff gets."""
        ...

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims of each diff.

        All diffs of a run are passed in one call, so that a model can process them as one batch.

        Args:
            diffs: Any number of parsed changes.

        Returns:
            The claims of each diff, in the order of the diffs. The most informative claim of a diff
            comes first.

        Raises:
            GenerationError: No claims can be written, for a reason that has nothing to do with the
                diffs, such as a server that does not answer.
        """
        ...
