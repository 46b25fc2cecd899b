"""Template values of the page beside a result: the matrix cells and the diff lines."""

from __future__ import annotations

from typing import NamedTuple

from crscore.records import PseudoReference, Result
from crscore.reports import diff_table, score_blocks, view
from crscore.reports.blocks import Block, Line, Measures, Paragraph, Run

MAX_SIDE = 150
"""Maximum rows, and columns, of the matrix that the page shows."""
LEVELS = 10
"""Shades of the heat map above the lowest."""


class Cell(NamedTuple):
    """One cell of the matrix."""

    number: str
    """The degree, 0 to 100, or the similarity where a threshold decides; two decimals."""
    exact: str
    """Both with four decimals, or the similarity alone."""
    level: int
    """Shade, 0 to `LEVELS`."""
    matched: bool
    """True for the best pair of a matched sentence or pseudo-reference."""


class Page(NamedTuple):
    """One result."""

    prefix: str
    """Prefix of every id, so that one page can hold several results."""
    heading: str
    """Title of this result."""
    result: Result
    """Untrusted result; the template's environment cleans and escapes every text."""
    headline: Paragraph
    measures: Measures
    notices: tuple[Block, ...]
    reviewers: tuple[Block, ...]
    unaddressed: tuple[Block, ...]
    comments: tuple[Block, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """The matrix: pseudo-references by sentences, at most `MAX_SIDE` of each."""
    diff: diff_table.DiffTable
    """The change."""
    max_side: int = MAX_SIDE
    """Maximum number of columns."""


def page(result: Result, *, prefix: str, heading: str) -> Page:
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

    return Page(
        prefix,
        heading,
        result,
        headline=score_blocks.make_headline(result),
        measures=score_blocks.make_measures(result, standing=True),
        notices=tuple(score_blocks.make_notices(result)),
        reviewers=tuple(score_blocks.make_reviewers(result)),
        unaddressed=tuple(score_blocks.make_unaddressed(result, place=place)),
        comments=tuple(score_blocks.make_comments(result, chip)),
        rows=_rows(result),
        diff=diff,
    )


def _rows(result: Result) -> tuple[tuple[Cell, ...], ...]:
    pairs: set[tuple[int | None, int | None]] = {
        (m.index, s) for s, m in enumerate(result.sentence_matches) if m.matched
    }
    pairs |= {(r, m.index) for r, m in enumerate(result.reference_matches) if m.matched}
    graded = view.graded(result)
    cosines = result.similarity[:MAX_SIDE, :MAX_SIDE].tolist()
    degrees = result.degrees[:MAX_SIDE, :MAX_SIDE].tolist()
    return tuple(
        tuple(
            cell(cosine, degrees[r][s] if graded else None, matched=(r, s) in pairs)
            for s, cosine in enumerate(row)
        )
        for r, row in enumerate(cosines)
    )


def cell(cosine: float, degree: float | None, *, matched: bool) -> Cell:
    """Format a cell.

    Args:
        cosine: Similarity, in [-1, 1].
        degree: In [0, 1]; None where a threshold decides.
        matched: True for the best pair of a matched sentence or pseudo-reference.
    """
    value = cosine if degree is None else degree
    level = min(max(int(value * LEVELS), 0), LEVELS)
    exact = f"cosine {cosine:.4f}".replace("-", "\N{MINUS SIGN}")
    if degree is not None:
        exact = f"degree {degree:.4f}, {exact}"
    number = view.number(cosine) if degree is None else view.hundred(degree)
    return Cell(number, exact, level, matched)
