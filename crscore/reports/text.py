"""Report for a terminal.

The report contains the headline, the scores, the most valuable remarks, and the most important
points that are not addressed; the page and the JSON document contain everything. Notes are left
out, because the command line prints them on stderr.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Final

from msgspec import Meta

from crscore.records import Result
from crscore.reports import console, score_blocks, view
from crscore.reports.blocks import Block, Heading, Paragraph, Signature

MAX_REMARKS: Final = 20
"""Maximum number of remarks shown."""
MAX_UNADDRESSED: Final = 8
"""Maximum number of unaddressed topics and pseudo-references shown."""
# About six lines of a terminal of 100 columns.
MAX_CHARS: Final = 600
"""Maximum characters of a remark or claim."""


def create(
    *, signature: bool = False, color: bool = False, width: Annotated[int, Meta(ge=1)] = 80
) -> Callable[[Sequence[Result]], str]:
    """Create the report, which shows results below one another.

    Args:
        signature: True to show the full signature instead of its short form.
        color: True to write color sequences.
        width: Width of the terminal in columns; the report is 40 to 160 columns wide.
    """

    def render(results: Sequence[Result]) -> str:
        return "\n".join(
            console.render_blocks(
                _blocks(result, view.number_heading(index, len(results)), signature),
                color=color,
                width=width,
                max_chars=MAX_CHARS,
            )
            for index, result in enumerate(results)
        )

    return render


def _blocks(result: Result, heading: str, has_signature: bool) -> Iterator[Block]:
    if heading:
        yield Heading(heading, 1)
    yield from score_blocks.make_headline(result)
    yield score_blocks.make_measures(result)
    for fact in score_blocks.list_facts(result):
        yield Paragraph(fact, "dim")
    yield from map(Paragraph, view.describe_flags(result))
    for table in score_blocks.make_reviewers(result):
        yield from (Heading(table.caption), table)
    yield from score_blocks.make_remarks(result, max_open=MAX_REMARKS)
    yield from score_blocks.make_unaddressed(result, max_open=MAX_UNADDRESSED)
    yield Signature(result.signature, is_full=has_signature)
