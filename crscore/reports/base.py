"""Interface of reports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crscore.records import Result


@dataclass(frozen=True, slots=True)
class Report:
    """Renderer of results; never computes a score.

    A plugin module `crscore/reports/<name>.py` defines `create`, which returns one.
    """

    render: Callable[[Sequence[Result]], str]
    """Renders at least one result as one document that ends in a newline. All text from the diff or
    the review is escaped for the format."""
