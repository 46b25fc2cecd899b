"""Report for a terminal, laid out by rich (tried with 13.7 and 15.0).

The short form has the scores, one line for each sentence and the heaviest unaddressed
pseudo-references; `explain` shows everything. Every mark is readable without colour.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta
from rich.console import Console

from crscore.reports import _terminal, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.records import Result
    from crscore.reports.base import Report

NARROWEST_COLUMNS = 60
WIDEST_COLUMNS = 160
"""Maximum width in columns; wider lines are hard to read."""


@dataclass(frozen=True, slots=True)
class Text:
    """Report for a terminal."""

    explain: bool
    """True to show everything instead of the short form."""
    color: bool
    """True to write colour sequences."""
    width: int
    """Columns of the terminal."""

    def render(self, results: Sequence[Result]) -> str:
        """Render each result below the one before."""
        out = io.StringIO()
        # An empty environment: only the options determine width and colour.
        console = Console(
            file=out,
            width=self.width,
            force_terminal=self.color,
            color_system="256" if self.color else None,
            no_color=not self.color,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
            _environ={},
        )
        for index, result in enumerate(results):
            heading = f"Change {index + 1} of {len(results)}" if len(results) > 1 else None
            for block in _terminal.blocks(result, heading, explain=self.explain, width=self.width):
                if getattr(block, "no_wrap", False):
                    # rich joins texts into a new one and loses the setting that prevents wrapping.
                    console.print(block, no_wrap=True, overflow="ignore", crop=False)
                else:
                    console.print(block)
        lines = (line.rstrip() for line in out.getvalue().split("\n"))
        return escape.no_commands("\n".join(lines).rstrip("\n") + "\n")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the report."""

    explain: bool = False
    """True to show everything instead of the short form."""
    color: bool = False
    """True to write color sequences."""
    width: Annotated[int, Meta(ge=1)] = 80
    """Columns of the terminal; the report is from 60 to 160 columns wide."""


def create(options: Options) -> Report:
    """Create the report."""
    width = min(max(options.width, NARROWEST_COLUMNS), WIDEST_COLUMNS)
    return Text(explain=options.explain, color=options.color, width=width)
