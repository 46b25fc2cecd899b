"""Report as one self-contained web page.

The page runs no script. Jumping from a pseudo-reference to its lines and marking them
is done by links and the `:target` of the style sheet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crscore.records import PseudoReference, Result
from crscore.reports import diff_table, frame, score_blocks, view
from crscore.reports.base import Report
from crscore.reports.blocks import Block, Line, Run


class Page(NamedTuple):
    """One result."""

    prefix: str
    """Prefix of every id, so that one page can hold several results."""
    heading: str
    """Title of this result."""
    result: Result
    """Untrusted result; the template's environment cleans and escapes every text."""
    remarks: tuple[Block, ...]
    unaddressed: tuple[Block, ...]
    diff: diff_table.DiffTable
    """The change."""


def make_page(result: Result, *, prefix: str, heading: str) -> Page:
    """Prepare one result for the template.

    Args:
        result: The result to show.
        prefix: Prefix of every id; letters, digits and dashes.
        heading: Title of this result.
    """
    diff = diff_table.make_diff_table(result)

    def place(index: int, item: PseudoReference) -> Line:
        link = f"#{prefix}at-r{index}" if f"r{index}" in diff.anchored else ""
        places = Run(view.places(item, max_places=3, finder=True), "place", link)
        return places, Run(" "), Run(f"R{index + 1}", "chip r", f"#{prefix}r{index}")

    def chip(index: int) -> tuple[Run, ...]:
        return Run(f"C{index + 1}", "chip c", f"#{prefix}c{index}"), Run(" ")

    def link_place(index: int) -> str:
        return f"#{prefix}at-c{index}" if f"c{index}" in diff.anchored else ""

    def link_proof(number: int) -> str:
        return f"#{prefix}at-v{number}" if f"v{number}" in diff.anchored else ""

    return Page(
        prefix,
        heading,
        result,
        remarks=tuple(
            score_blocks.make_remarks(
                result, link=chip, link_place=link_place, link_proof=link_proof
            )
        ),
        unaddressed=tuple(score_blocks.make_unaddressed(result, place=place)),
        diff=diff,
    )


@dataclass(frozen=True, slots=True)
class Html:
    """Report for a browser."""

    def render(self, results: Sequence[Result]) -> str:
        """Render all results as one page, one section each."""
        pages = [
            make_page(
                result,
                prefix=f"x{index + 1}-" if len(results) > 1 else "",
                heading=view.number_heading(index, len(results)),
            )
            for index, result in enumerate(results)
        ]
        return frame.page(
            "reports/templates/report.html.j2",
            title="Review score",
            style=style(pages),
            pages=pages,
        )


def style(pages: Sequence[Page]) -> str:
    """Return the style sheet with one rule for each link target.

    It contains only ids made from positions, never input text.
    """
    rules = [frame.read_resource("reports/templates/report.css")]
    for page in pages:
        for name in sorted(page.diff.anchored):
            anchor = page.prefix + name
            rules.append(f":root:has(#{page.prefix}at-{name}:target) .on-{anchor}>td{{")
            rules.append("background:var(--lit)}\n")
    return "".join(rules)


def create() -> Report:
    """Create the report; it takes no options: the page always shows everything."""
    return Html()
