"""Report for a pull request comment or a job summary, in GitHub's Markdown.

The scores, the most valuable remarks and the most important unaddressed pseudo-references are
visible; the rest is folded.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from crscore.records import Result
from crscore.reports import blocks, score_blocks, view
from crscore.reports.blocks import Run
from crscore.reports.markdown_blocks import render_markdown

# GitHub refuses a longer comment with 422, "body is too long (maximum is 65536 characters)":
# https://github.com/danger/danger/issues/424
MAX_CHARS: Final = 65_000
"""Maximum characters of a document. GitHub allows 65,536 in a comment; the rest is for markers."""
SHOWN_REMARKS: Final = 5
"""Maximum number of remarks that are not folded."""
SHOWN_UNADDRESSED: Final = 3
"""Maximum number of unaddressed topics and pseudo-references that are not folded."""


def render(results: Sequence[Result]) -> str:
    """Render the results below one another, within `MAX_CHARS` characters."""
    documents = [
        _blocks(result, view.number_heading(index, len(results)) or "Review score")
        for index, result in enumerate(results)
    ]
    return render_markdown(documents, limit=MAX_CHARS, noun="change")


def _blocks(result: Result, heading: str) -> Iterator[blocks.Block]:
    """Yield the blocks of one result, the most useful first."""
    yield blocks.Heading(heading, 1)
    yield from score_blocks.make_headline(result)
    yield score_blocks.make_measures(result)
    if result.usefulness is not None:
        yield blocks.Paragraph(f"Published scores: {view.format_published(result.scores)}.", "dim")
    yield from map(blocks.Paragraph, view.describe_flags(result))
    yield from score_blocks.make_remarks(result, max_open=SHOWN_REMARKS)
    yield from score_blocks.make_reviewers(result)
    yield from score_blocks.make_unaddressed(result, max_open=SHOWN_UNADDRESSED)
    notes = (
        *map(blocks.Item, view.notes(result)),
        blocks.Item(f"Baselines, never in the scores: {view.baselines(result)}."),
        blocks.Item((Run("Signature: "), Run(result.signature, "code"))),
    )
    yield blocks.Folded("Notes", (blocks.Items(notes),))
    yield blocks.Signature(result.signature)


def create() -> Callable[[Sequence[Result]], str]:
    """Create the report, which takes no options because long parts are folded."""
    return render
