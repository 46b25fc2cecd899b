"""Report for a terminal, laid out by rich (tried with 13.7 and 15.0).

The short form has the verdict, the scores, each sentence with what it is about, and the heaviest
points that nobody addressed; `explain` shows everything. Notes are no part of it: the command line
tells them on stderr. Every mark is readable without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta
from rich.console import RenderableType

from crscore.records import Result
from crscore.reports import _terminal, console
from crscore.reports.base import Report


@dataclass(frozen=True, slots=True)
class Text:
    """Report for a terminal."""

    explain: bool
    """True to show everything instead of the short form."""
    signature: bool
    """True to show the whole signature."""
    color: bool
    """True to write colour sequences."""
    width: int
    """Columns of the terminal."""

    def render(self, results: Sequence[Result]) -> str:
        """Render each result below the one before."""
        return console.print_blocks(self._blocks(results), color=self.color, width=self.width)

    def _blocks(self, results: Sequence[Result]) -> Iterator[RenderableType]:
        for index, result in enumerate(results):
            heading = f"Change {index + 1} of {len(results)}" if len(results) > 1 else None
            yield from _terminal.blocks(result, heading, explain=self.explain, width=self.width)
            yield ""
            yield console.signature(result.signature, whole=self.signature)
            yield from [""] * (index + 1 < len(results))


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the report."""

    explain: bool = False
    """True to show everything instead of the short form."""
    signature: bool = False
    """True to show the whole signature instead of its short form."""
    color: bool = False
    """True to write color sequences."""
    width: Annotated[int, Meta(ge=1)] = 80
    """Columns of the terminal; the report is from 60 to 160 columns wide."""


def create(options: Options) -> Report:
    """Create the report."""
    width = console.fit_width(options.width)
    return Text(
        explain=options.explain, signature=options.signature, color=options.color, width=width
    )
