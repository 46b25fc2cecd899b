"""Report as one self-contained web page, which runs no script."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from crscore.records import Comment, Diff, DiffLine, PseudoReference, Result
from crscore.reports import frame, score_blocks, view
from crscore.reports.blocks import Block, Line, Run

STYLE = frame.read_resource("reports/templates/report.css")
"""Style sheet of the page."""
# `git diff` also shows this many lines of context.
CONTEXT_LINES = 3
"""Number of code lines shown above the lines that a comment is about."""
MAX_LINES = 20
"""Maximum number of lines shown that a comment is about; if there are more, the last ones are
shown. `CONTEXT_LINES` are shown in addition."""


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
    """Code lines to show with each comment of the result."""


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
        code=tuple(find_comment_lines(result.diff, item.comment) for item in result.comments),
    )


def find_comment_lines(diff: Diff, comment: Comment) -> tuple[DiffLine, ...]:
    """Return the lines that a comment is about, with some lines above them.

    Args:
        diff: The change.
        comment: A comment on it.

    Returns:
        Consecutive lines of one hunk; the last one is the comment's last line. Empty for a comment
        that is not on a line of the diff, or is on a line of an older version of the change.
    """
    if comment.path is None or comment.line is None or comment.outdated:
        return ()
    last, first = comment.line, min(comment.start_line or comment.line, comment.line)
    for file in diff.files:
        for hunk in file.hunks if comment.path == file.path_on(comment.side) else ():
            numbers = [line.number_on(comment.side) for line in hunk.lines]
            if last in numbers:
                end = numbers.index(last) + 1
                # Lines that only the other side has are numbered None on this side.
                start = next(at for at, number in enumerate(numbers) if (number or 0) >= first)
                return hunk.lines[max(0, max(start, end - MAX_LINES) - CONTEXT_LINES) : end]
    return ()


def render(results: Sequence[Result]) -> str:
    """Render all results as one page, with a section for each result."""
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


def create() -> Callable[[Sequence[Result]], str]:
    """Create the report, which takes no options because the page always shows everything."""
    return render
