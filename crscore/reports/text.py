"""The report for a terminal, laid out by rich (tried with 13.7 and 15.0).

The short form has the scores, one line for each sentence and the heaviest
pseudo-references that nobody addressed; `explain` shows everything. Every mark
reads without colour.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from crscore.reports import _options, _terminal, escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.records import Result
    from crscore.reports.base import Report

DEFAULT_COLUMNS = 80
NARROWEST_COLUMNS = 60
WIDEST_COLUMNS = 160
"""Wider lines are hard to read."""


@dataclass(frozen=True, slots=True)
class Text:
    """Renders for a terminal."""

    explain: bool
    """Show everything instead of the short form."""
    color: bool
    """Write colour sequences."""
    width: int
    """Columns of the terminal."""

    def render(self, results: Sequence[Result]) -> str:
        """Render each result below the one before."""
        out = io.StringIO()
        # An empty environment: only the options decide on width and colour.
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
                    # rich joins texts into a new one and forgets that it must stay whole.
                    console.print(block, no_wrap=True, overflow="ignore", crop=False)
                else:
                    console.print(block)
        lines = (line.rstrip() for line in out.getvalue().split("\n"))
        return escape.no_commands("\n".join(lines).rstrip("\n") + "\n")


def create(options: Mapping[str, str]) -> Report:
    """Make the report.

    Args:
        options: `explain` and `color` (`true` or `false`, off by default) and `width`
            (columns, 80 by default, kept between 60 and 160).

    Raises:
        ConfigError: An option has a wrong value.
    """
    return Text(
        explain=_options.flag(options, "explain"),
        color=_options.flag(options, "color"),
        width=_options.columns(options, DEFAULT_COLUMNS, NARROWEST_COLUMNS, WIDEST_COLUMNS),
    )
