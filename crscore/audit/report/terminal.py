"""Overview, or a comparison, as text for a terminal; every mark is readable without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from crscore.audit.overview import Overview, Verdict
from crscore.audit.report import words
from crscore.reports import console, escape, view

SHOWN_VERDICTS: Final = 15
_TITLE, _DIM, _WARN = "bold", "dim", "yellow"
_STYLES: Final = {"better": "green", "worse": "green", "equivalent": "", "unknown": "dim"}


def render_text(found: Overview, *, color: bool = False, width: int = 80) -> str:
    """Write the overview.

    Args:
        found: The overview.
        color: Write colour sequences.
        width: Columns of the terminal; kept between 60 and 160.

    Returns:
        Text that ends in a newline, without trailing blanks.
    """
    return console.print_blocks(_blocks(found), color=color, width=width)


def render_verdicts(verdicts: Sequence[Verdict], *, color: bool = False, width: int = 80) -> str:
    """Write verdicts, one below the other; the arguments are those of `render_text`."""
    return console.print_blocks(map(_verdict, verdicts), color=color, width=width)


def _blocks(found: Overview) -> Iterator[RenderableType]:
    yield Text(words.heading(found), style=_TITLE)
    yield _line(words.facts(found), _DIM)
    yield ""
    yield _line(words.opening(found))
    yield from (_line(f"Note: {note}", _WARN) for note in found.notes)
    if found.reviewers:
        yield ""
        yield _table(found)
        yield Text("Brackets: 95 % intervals. Acted on: commented lines that changed / base rate.")
    ordered = words.decided_first(found)
    if ordered:
        yield ""
        yield Text("Pairs of bots", style=_TITLE)
        yield from map(_verdict, ordered[:SHOWN_VERDICTS])
    if len(ordered) > SHOWN_VERDICTS:
        more = view.count_noun(len(ordered) - SHOWN_VERDICTS, "more pair")
        yield Text(f"… and {more}, in the report", style=_DIM)
    if found.signature:
        yield ""
        yield _line(found.signature, _DIM)


def _table(found: Overview) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style=_DIM)
    table.add_column("Reviewer", no_wrap=True, overflow="ellipsis", min_width=10)
    for heading in ("Useful", "Comments", "Noise", "Acted on", "Covered"):
        table.add_column(heading, no_wrap=True, justify="right")
    for row in found.reviewers:
        lines = words.acted(row, words.SIGNAL_OF_CHART)
        acted = view.percent(lines.rate.share if lines else None)
        if lines and lines.base:
            acted += f" / {view.percent(lines.base.share)}"
        table.add_row(
            escape.one_line(words.name(row), 40),
            Text(words.interval(row.usefulness), style=_TITLE),
            words.number(row.comments_per_pull.value if row.comments_per_pull else None),
            view.percent(row.noise.share.share),
            acted,
            view.percent(row.coverage.last_head.share),
        )
    return table


def _verdict(one: Verdict) -> Text:
    return _line(f"- {one.text}", _STYLES[one.verdict])


def _line(text: str, style: str = "") -> Text:
    return Text(escape.one_line(text), style=style, overflow="fold")
