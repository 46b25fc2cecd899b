"""Protocol of reports."""

from collections.abc import Sequence
from typing import Protocol

from crscore.records import Result


class Report(Protocol):
    """Renderer of results; never computes a score.

    A plugin module `crscore/reports/<name>.py` defines `create`, which returns one, and `Options`
    if it takes any.
    """

    def render(self, results: Sequence[Result]) -> str:
        """Render results as one document.

        Args:
            results: At least one result.

        Returns:
            The document, ending in a newline. All text from the diff or the review is escaped for
            the format.
        """
        ...
