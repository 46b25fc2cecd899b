"""Report as one self-contained web page, which runs no script."""

from collections.abc import Sequence
from typing import NamedTuple

from crscore.records import DiffLine, PseudoReference, Result
from crscore.reports import code_lines, frame, score_blocks, view
from crscore.reports.base import Report
from crscore.reports.blocks import Block, Line, Run

STYLE = frame.read_resource("reports/templates/report.css")
"""Style sheet of the page."""


class Page(NamedTuple):
    """Result prepared for the template."""

    prefix: str
    """Prefix of every id, so that one page can hold several results."""
    heading: str
    """Title of this result."""
    result: Result
    """Untrusted result; the template's environment cleans and escapes every text."""
    remarks: tuple[Block, ...]
    unaddressed: tuple[Block, ...]
    code: tuple[tuple[DiffLine, ...], ...]
    """Lines of code next to each comment."""


def make_page(result: Result, *, prefix: str, heading: str) -> Page:
    """Prepare one result for the template.

    Args:
        result: The result to show.
        prefix: Prefix of every id; letters, digits and dashes.
        heading: Title of this result.
    """

    def place(index: int, item: PseudoReference) -> Line:
        places = Run(view.places(item, max_places=3, finder=True), "place")
        return places, Run(" "), Run(f"R{index + 1}", "chip r", f"#{prefix}r{index}")

    def chip(index: int) -> tuple[Run, ...]:
        return Run(f"C{index + 1}", "chip c", f"#{prefix}c{index}"), Run(" ")

    return Page(
        prefix,
        heading,
        result,
        remarks=tuple(score_blocks.make_remarks(result, link=chip)),
        unaddressed=tuple(score_blocks.make_unaddressed(result, place=place)),
        code=tuple(
            code_lines.lines_of_comment(result.diff, item.comment) for item in result.comments
        ),
    )


def render(results: Sequence[Result]) -> str:
    """Render all results as one page, one section each."""
    pages = [
        make_page(
            result,
            prefix=f"x{index + 1}-" if len(results) > 1 else "",
            heading=view.number_heading(index, len(results)),
        )
        for index, result in enumerate(results)
    ]
    template = "reports/templates/report.html.j2"
    return frame.page(template, title="Review score", style=STYLE, pages=pages)


def create() -> Report:
    """Create the report; it takes no options: the page always shows everything."""
    return Report(render)
