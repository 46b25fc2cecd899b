"""Overview as Markdown for the summary of a job: the verdicts, and a table of the bots.

It has no picture: a job's summary shows neither inline SVG nor images in the text, and a diagram
could not show intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crscore.audit.overview import Overview, Reviewer
from crscore.audit.report import words
from crscore.reports import escape, view

MAX_VERDICTS: Final = 10
MAX_ROWS: Final = 30
_HEADER: Final = (
    *("Reviewer", "Usefulness", "Rank", "Comments a pull", "Noise"),
    *("Lines changed", "Base rate", "Last commit reviewed"),
)


def render_summary(found: Overview, *, link: str = "") -> str:
    """Write the summary.

    Args:
        found: The overview.
        link: Address of the pages; "" when they are nowhere.

    Returns:
        Markdown that ends in a newline.
    """
    return escape.no_commands("\n".join(_lines(found, link)) + "\n")


def _lines(found: Overview, link: str) -> Iterator[str]:
    yield f"## {escape.markdown(words.heading(found))}"
    yield f"\n{escape.markdown(words.opening(found))}\n"
    yield from (f"> {escape.markdown(note)}\n" for note in found.notes)
    if found.reviewers:
        yield f"| {' | '.join(_HEADER)} |"
        yield f"|:--|{'--:|' * (len(_HEADER) - 1)}"
        yield from (f"| {' | '.join(_cells(row))} |" for row in found.reviewers[:MAX_ROWS])
        yield "\nBrackets are 95 % intervals.\n"
    ordered = words.decided_first(found)
    yield from (f"- {escape.markdown(one.text)}" for one in ordered[:MAX_VERDICTS])
    if len(ordered) > MAX_VERDICTS:
        yield f"- and {view.count_noun(len(ordered) - MAX_VERDICTS, 'more pair')}, in the report"
    yield f"\n{escape.markdown(words.facts(found))}"
    if link:
        yield f"\n[The whole report](<{link}>)"


def _cells(row: Reviewer) -> tuple[str, ...]:
    lines = words.acted(row, words.SIGNAL_OF_CHART)
    return (
        escape.markdown(words.name(row), 80),
        *(words.interval(row.usefulness), words.ranks(row)),
        *(words.interval(row.comments_per_pull), words.share(row.noise.share)),
        *(words.share(lines.rate if lines else None), words.share(lines.base if lines else None)),
        words.share(row.coverage.last_head),
    )
