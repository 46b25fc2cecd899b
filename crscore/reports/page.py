"""Values of the page's template for one result: cleaned texts, links and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from crscore.reports import _lines, escape, view

if TYPE_CHECKING:
    from crscore.records import Match, Result, ReviewResult, Scores

MAX_SIDE = 150
"""Rows, and columns, of the matrix that the page shows."""
LEVELS = 10
"""Shades of the heat map above the lowest."""


class Cell(NamedTuple):
    """One cell of the matrix."""

    number: str
    """The degree, or the similarity where a threshold decides; two decimals."""
    exact: str
    """Both with four decimals, or the similarity alone."""
    level: int
    """Shade, 0 to `LEVELS`."""
    matched: bool
    """True for the best pair of a matched sentence or pseudo-reference."""


class Link(NamedTuple):
    """A label with where it leads inside the page."""

    label: str
    """As `R1`, `S1` or `C1`."""
    href: str
    """A fragment."""
    text: Markup
    """The item's text."""
    plain: str
    """The item's text for a tooltip."""
    remark: str | None = None
    """Flag of a sentence."""


class SentenceRow(NamedTuple):
    """A pseudo-reference's row of the matrix."""

    head: Link
    """Leads to the diff lines, or to the list when it has none."""
    counted: bool
    """False when it is over the claim limit."""
    cells: tuple[Cell, ...]
    """One for each shown sentence."""


class Reference(NamedTuple):
    """A pseudo-reference in the list."""

    position: int
    """0-based."""
    text: Markup
    """The sentence."""
    facts: tuple[str, ...]
    """Kind, weight, source."""
    place: str
    """File and lines."""
    in_diff: bool
    """True when its lines are shown."""
    match: Match
    """Its best sentence."""
    counted: bool
    """False when it is over the claim limit."""
    identifiers: tuple[str, ...]
    """Names of the code."""


class Sentence(NamedTuple):
    """A sentence in the list."""

    position: int
    """0-based."""
    text: Markup
    """The sentence."""
    match: Match
    """Its best pseudo-reference."""
    partner: Markup
    """That pseudo-reference's text; empty without one."""
    remark: str | None
    """Its flag."""


class Comment(NamedTuple):
    """A comment with its sentences."""

    position: int
    """0-based."""
    author: str
    """Who wrote it."""
    place: str
    """File and lines."""
    scope: str
    """The part of the change it was scored against."""
    scores: Scores
    """Against its scope."""
    ratio: str
    """Its sentences, or how many of them are on topic."""
    attached: bool
    """True when it stands on a file."""
    in_diff: bool
    """True when its line is shown."""
    sentences: tuple[Sentence, ...]
    """In order."""
    suggestions: tuple[str, ...]
    """Suggested code, cleaned."""


class Page(NamedTuple):
    """Everything about one result."""

    prefix: str
    """Begins every id, so that several results stand on one page."""
    heading: str
    """Title of this result."""
    result: Result
    """For numbers only; its texts are not clean."""
    reason: str | None
    """Why there is no score."""
    columns: tuple[Link, ...]
    """Heads of the matrix' columns."""
    rows: tuple[SentenceRow, ...]
    """Rows of the matrix."""
    references: tuple[Reference, ...]
    """All pseudo-references."""
    missing: tuple[Reference, ...]
    """Those counted that nobody addressed, the heaviest first."""
    comments: tuple[Comment, ...]
    """All comments."""
    reviewers: tuple[tuple[str, ReviewResult], ...]
    """Each reviewer's cleaned name, with the rest for its numbers only."""
    diff: _lines.View
    """The change."""
    notes: tuple[Markup, ...]
    """Parts left out or repaired."""
    signature: str
    """Same signature, same score."""


def prose(text: str) -> Markup:
    """Escape prose for HTML and set its code spans as code."""
    parts = (
        # `format` of a Markup escapes what it puts in.
        Markup("<code>{}</code>").format(piece.text) if piece.is_code else Markup.escape(piece.text)
        for piece in escape.pieces(text)
    )
    return Markup("").join(parts)


def page(result: Result, *, prefix: str, heading: str) -> Page:
    """Prepare one result.

    Args:
        result: What to show.
        prefix: Begins every id; letters, digits and dashes.
        heading: Title.
    """
    diff = _lines.view(result)
    references = tuple(_reference(result, i, diff) for i in range(len(result.references)))
    reason = result.scores.reason
    return Page(
        prefix=prefix,
        heading=heading,
        result=result,
        reason=None if reason is None else escape.one_line(reason).rstrip("."),
        columns=_columns(result, diff, prefix),
        rows=_rows(result, diff, prefix),
        references=references,
        missing=tuple(references[index] for index in view.unaddressed(result)),
        comments=tuple(_comment(result, i, diff) for i in range(len(result.comments))),
        reviewers=tuple(
            (escape.one_line(view.author(item.author), 80), item) for item in result.reviews
        ),
        diff=diff,
        notes=tuple(prose(note) for note in view.notes(result)),
        signature=escape.one_line(result.signature),
    )


def _reference(result: Result, index: int, diff: _lines.View) -> Reference:
    item = result.references[index]
    facts = (item.kind.value, f"weight {view.number(item.weight)}", f"by {item.source}")
    return Reference(
        position=index,
        text=prose(item.text),
        facts=tuple(escape.one_line(fact, 80) for fact in facts),
        place=escape.one_line(view.places(item, most=3, finder=True), 300),
        in_diff=f"r{index}" in diff.anchored,
        match=result.reference_matches[index],
        counted=item.counted,
        identifiers=tuple(escape.one_line(name, 80) for name in item.identifiers[:12]),
    )


def _comment(result: Result, index: int, diff: _lines.View) -> Comment:
    item = result.comments[index]
    return Comment(
        position=index,
        author=escape.one_line(view.author(item.comment.author), 80),
        place=escape.one_line(view.comment_place(item.comment), 300),
        scope=view.scope(item.scope),
        scores=item.scores,
        ratio=view.ratio_of_comment(result, item),
        attached=item.comment.path is not None,
        in_diff=f"c{index}" in diff.anchored,
        sentences=tuple(_sentence(result, at) for at in item.sentences),
        suggestions=tuple(
            "\n".join(escape.code_line(line) for line in code.rstrip("\n").split("\n")[:200])
            for code in item.suggestions
        ),
    )


def _sentence(result: Result, index: int) -> Sentence:
    match = result.sentence_matches[index]
    partner = "" if match.index is None else result.references[match.index].text
    text = prose(result.sentences[index].text)
    return Sentence(index, text, match, prose(partner), view.remark(result, index))


def _columns(result: Result, diff: _lines.View, prefix: str) -> tuple[Link, ...]:
    links = []
    for index, sentence in enumerate(result.sentences[:MAX_SIDE]):
        comment = f"c{sentence.comment}"
        place = f"at-{comment}" if comment in diff.anchored else f"s{index}"
        plain = escape.one_line(sentence.text, 300)
        remark = view.remark(result, index)
        link = Link(f"S{index + 1}", f"#{prefix}{place}", prose(sentence.text), plain, remark)
        links.append(link)
    return tuple(links)


def _rows(result: Result, diff: _lines.View, prefix: str) -> tuple[SentenceRow, ...]:
    pairs: set[tuple[int | None, int | None]] = {
        (m.index, s) for s, m in enumerate(result.sentence_matches) if m.matched
    }
    pairs |= {(r, m.index) for r, m in enumerate(result.reference_matches) if m.matched}
    graded = view.graded(result)
    rows = []
    for index, item in enumerate(result.references[:MAX_SIDE]):
        name = f"r{index}"
        place = f"at-{name}" if name in diff.anchored else name
        head = Link(
            f"R{index + 1}",
            f"#{prefix}{place}",
            prose(item.text),
            escape.one_line(item.text, 300),
        )
        cosines = result.similarity[index, :MAX_SIDE].tolist()
        degrees = result.degrees[index, :MAX_SIDE].tolist() if graded else [None] * len(cosines)
        cells = tuple(
            _cell(cosine, degree, matched=(index, s) in pairs)
            for s, (cosine, degree) in enumerate(zip(cosines, degrees, strict=True))
        )
        rows.append(SentenceRow(head, item.counted, cells))
    return tuple(rows)


def _cell(cosine: float, degree: float | None, *, matched: bool) -> Cell:
    value = cosine if degree is None else degree
    level = min(max(int(value * LEVELS), 0), LEVELS)
    exact = f"cosine {cosine:.4f}".replace("-", "\N{MINUS SIGN}")
    if degree is not None:
        exact = f"degree {degree:.4f}, {exact}"
    return Cell(view.number(value), exact, level, matched)
