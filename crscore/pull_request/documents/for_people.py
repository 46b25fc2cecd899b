"""Writes an overview as a comment, a job summary, text for a terminal, and a page."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from crscore.hosts import sticky
from crscore.hosts.site import site_of_page
from crscore.pull_request.overview import Overview, Place, Reviewer
from crscore.records import ReferenceKind, Result, Side
from crscore.reports import blocks, console, frame, html, view
from crscore.reports.blocks import Heading, Line, Paragraph, Run
from crscore.reports.markdown_blocks import render_markdown
from crscore.reports.score_blocks import WARNING, make_receipt

# GitHub refuses more than 65,536 with 422: https://github.com/danger/danger/issues/424
MAX_COMMENT_CHARS: Final = 65_000
"""Maximum number of characters of a comment."""
# A runner discards a summary of more than 1,024 KiB, and has discarded one of a few bytes less
# without a message: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
MAX_SUMMARY_BYTES: Final = 1_000 * 1_024
"""Maximum number of bytes, in UTF-8, of the file of a step's summary."""
# A comment is short, because it is read among other comments; a job summary is read by itself.
COMMENT_POINTS: Final = 3
"""Maximum number of remarks, and of points, that a comment and a page show unfolded."""
TERMINAL_POINTS: Final = 8
"""Maximum number of remarks, and of points, that a terminal shows."""
SUMMARY_POINTS: Final = 10
"""Maximum number of remarks, and of points, that a job summary shows unfolded."""
MAX_NAME_CHARS: Final = 60
SHOWN_MISSING: Final = 5
"""Number of reasons for a partial result that are shown; the others are folded."""
_PARTIAL: Final = (
    Run("This is a partial result.", "strong"),
    Run(" The numbers leave out what could not be read:"),
)


def render_comment(overview: Overview) -> str:
    """Write the text of the comment on the pull request.

    Returns:
        Markdown. Together with the marker by which later runs find the comment, and which
        `crscore.hosts.sticky` adds, it has at most `MAX_COMMENT_CHARS` characters.
    """
    content = (
        Heading("Review coverage", 1),
        *make_overview(overview, points=COMMENT_POINTS),
        make_notes(overview),
        make_signature(overview),
    )
    limit = MAX_COMMENT_CHARS - sticky.MAX_MARKER_CHARS
    return render_markdown([content], limit=limit, noun="pull request")


def render_summary(overviews: Sequence[Overview], *, limit: int = MAX_SUMMARY_BYTES) -> str:
    """Write a job summary with a section for each pull request.

    Args:
        overviews: Overviews to show, in order.
        limit: Maximum size of the text in UTF-8 bytes, such as the space left in the summary file.

    Returns:
        Markdown; "" if nothing fits.
    """
    documents = [
        (
            Heading((Run("Review of "), Run(overview.name, link=overview.url)), 1),
            Paragraph((Run(overview.title),)),
            *make_overview(overview, points=SUMMARY_POINTS),
            make_notes(overview),
            make_signature(overview),
        )
        for overview in overviews
    ]
    text = render_markdown(
        documents, limit=limit, noun="pull request", heading="##", size=_count_bytes
    )
    return text if _count_bytes(text) <= limit else ""


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def render_terminal(
    overviews: Sequence[Overview], *, color: bool = False, width: int = 80, signature: bool = False
) -> str:
    """Write the overviews below one another for a terminal, without their notes.

    Args:
        overviews: Overviews to show.
        color: Whether to write color sequences.
        width: Width of the terminal in columns; the text is 40 to 160 columns wide.
        signature: Whether to show the full signature instead of its short form.

    Returns:
        Text that ends in a newline, without trailing blanks.
    """
    texts = []
    for overview in overviews:
        content = (
            Heading((Run(overview.name), Run(f" · {overview.title}")), 1),
            Paragraph((Run(overview.url),), "dim"),
            *make_overview(overview, points=TERMINAL_POINTS),
            blocks.Signature(overview.signature, is_full=signature),
        )
        texts.append(console.render_blocks(content, color=color, width=width))
    return "\n".join(texts)


def render_page(overview: Overview, result: Result) -> str:
    """Write a self-contained page without scripts: the overview, then the report of the result.

    Args:
        overview: The overview.
        result: Result that the overview was made from.
    """
    commit = Run(overview.head[:7], "code", overview.commit_url)
    text = ". The report of this measurement follows."
    content = (
        Heading((Run(overview.name, link=overview.url), Run(f" {overview.title}")), 1),
        *make_overview(overview, points=COMMENT_POINTS),
        make_notes(overview),
        Paragraph((Run("Measured at "), commit, Run(text)), "dim"),
    )
    folder = "pull_request/documents/templates"
    return frame.page(
        f"{folder}/pull.html.j2",
        title=f"Review of {overview.name}",
        style=html.STYLE + frame.read_resource(f"{folder}/pull.css"),
        pages=[html.make_page(result, prefix="", heading="")],
        overview=content,
    )


def make_overview(overview: Overview, *, points: int) -> Iterator[blocks.Block]:
    """Yield the headline, missing inputs, the reviewers, their remarks and the unaddressed points.

    Args:
        overview: The overview.
        points: Maximum number of remarks, and of points, that are not folded.
    """
    useful, coverage = overview.together.usefulness, _describe_coverage(overview)
    yield Paragraph(coverage if useful is None else f"{useful.verdict} {coverage}")
    if overview.missing:
        hidden = len(overview.missing) - SHOWN_MISSING
        last_line = (f"and {hidden:,} more, in the notes",) * (hidden > 0)
        lines = (*overview.missing[:SHOWN_MISSING], *last_line)
        yield blocks.Notice("Partial", _PARTIAL, lines)
    yield from _make_table(overview)
    items = []
    for remark in overview.remarks:
        tone = WARNING if view.is_refuted(remark) else ""
        below: list[Line] = [(Run(f"{remark.facts} · {remark.reviewer}", tone),)]
        if proof := remark.receipt:
            places = [(Run(", "), *_link_place(overview, place)) for place in proof.lines]
            below.append(make_receipt(proof, tuple(chain.from_iterable(places))[1:]))
        place = _link_place(overview, remark) if remark.path else ()
        items.append(blocks.Item(remark.text, place=place, below=tuple(below)))
    title = view.remarks_title(overview.remarks)
    yield from blocks.make_list(title, items, noun="remarks", max_open=points)
    items = []
    for point in overview.open:
        place = _link_place(overview, point)
        if point.kind is ReferenceKind.ISSUE:
            finder = ", ".join(filter(None, [point.source, point.severity]))
            more = f" and {len(point.more):,} more" * bool(point.more)
            place = (*place, Run(f"{more} ({finder})", "dim"))
        items.append(blocks.Item(point.text, place=place))
    title = "Not or hardly addressed" if overview.graded else "Not addressed"
    unlisted = overview.together.unaddressed - len(items)
    yield from blocks.make_list(
        title, items, noun=title.lower(), max_open=points, unlisted=unlisted
    )


def _make_table(overview: Overview) -> Iterator[blocks.Block]:
    """Yield a table with a row for each reviewer, then paragraphs that explain the rows.

    With several reviewers, the first row is for all of them together.
    """
    if not overview.reviewers:
        return
    together = overview.together
    rows: list[tuple[Line, ...]] = []
    if is_several := count_reviewers(overview) > 1:
        # The sum is only known if no reviewers are left out of the rows.
        comments = f"{sum(row.comments for row in overview.reviewers):,}"
        comments = view.UNDEFINED if overview.other_reviewers else comments
        cells = (*view.score_cells(together, together), comments, view.UNDEFINED)
        rows.append(("Together", *cells))
    for reviewer in overview.reviewers:
        outdated = f" ({reviewer.outdated:,} outdated)" if reviewer.outdated else ""
        resolved = view.UNDEFINED
        if reviewer.threads and reviewer.resolved is not None:
            resolved = f"{reviewer.resolved:,} of {reviewer.threads:,}"
        comments = f"{reviewer.comments:,}{outdated}"
        cells = (*view.score_cells(together, reviewer), comments, resolved)
        rows.append(((Run(_name(reviewer)),), *cells))
    yield blocks.Table(
        "All reviewers",
        ("Reviewer", *view.columns(together), "Comments", "Resolved"),
        tuple(rows),
        main=frozenset({0} if is_several else ()),
        unlisted=overview.other_reviewers,
    )
    if together.usefulness is not None:
        published = view.format_published(together)
        text = f"Scores are from 0 to 100. Published scores of all reviewers: {published}."
        yield Paragraph(text, "dim")
    reasons = tuple(
        blocks.Item((Run(f"No score for {_name(row)}: {row.reason.rstrip('.')}.", "dim"),))
        for row in overview.reviewers
        if row.reason is not None
    )
    if reasons:
        yield blocks.Items(reasons)


def make_notes(overview: Overview) -> blocks.Folded:
    """Return the folded notes: what the numbers mean, further missing inputs, and other notes."""
    notes = (*overview.missing[SHOWN_MISSING:], *overview.notes)
    items = (
        *map(blocks.Item, notes),
        blocks.Item((Run("Signature: "), Run(overview.signature, "code"))),
    )
    meaning = Paragraph(_explain_scores(overview))
    return blocks.Folded("Notes, and what the numbers mean", (meaning, blocks.Items(items)))


def make_signature(overview: Overview) -> blocks.Signature:
    """Return the scored commit, followed by the signature."""
    commit = Run(overview.head[:7], "code", overview.commit_url)
    return blocks.Signature(overview.signature, before=(Run("Measured at "), commit, Run(". ")))


def _describe_coverage(overview: Overview) -> str:
    together = overview.together
    if together.reason is not None:
        if not overview.reviewers:
            points = view.count_noun(together.points, "point")
            return f"There is no review to score yet; it should address {points}."
        kind = "score" if together.usefulness is None else "published score"
        return f"No {kind} for this review: {together.reason.rstrip('.')}."
    subject = "The review addresses"
    if count_reviewers(overview) > 1:
        subject = f"Together, {count_reviewers(overview):,} reviewers address"
    return (
        f"{subject} {together.addressed:,} of {view.count_noun(together.points, 'point')} that a "
        f"review of this change should touch; sentences about it: {together.on_topic:,} of "
        f"{together.sentences:,}."
    )


def count_reviewers(overview: Overview) -> int:
    """Count the reviewers, including those who are left out of the rows."""
    return len(overview.reviewers) + overview.other_reviewers


def _name(reviewer: Reviewer) -> str:
    return f"{reviewer.name[:MAX_NAME_CHARS]}{' (bot)' * reviewer.is_bot}"


def _link_place(overview: Overview, place: Place) -> tuple[Run, ...]:
    """Describe a place, with a link to its lines in the pull request's diff if there is one."""
    link = ""
    if place.listed is not None:
        # An anchor of GitHub is made of the hash of the path, and of the side and number of a line:
        # `#diff-<sha256>R3-R9`.
        side = "L" if place.side is Side.OLD else "R"
        lines = f"{side}{place.line}" if place.line else ""
        if lines and place.end_line > place.line:
            lines += f"-{side}{place.end_line}"
        link = site_of_page(overview.url).file_address(overview.url, place.listed, lines)
    return (Run(describe_place(place), "place" if place.path else "dim", link),)


def describe_place(place: Place) -> str:
    """Describe a place in words; the text is not escaped."""
    if place.path is None:
        return "(whole change)"
    end = place.line and max(place.line, place.end_line)
    return view.format_place(place.path, place.line, end, place.side)


def _explain_scores(overview: Overview) -> str:
    usefulness = ""
    if overview.together.usefulness is not None:
        usefulness = (
            "The column Useful is the percentage of real reviews by people and bots that are less "
            "useful; in four of five cases, the brackets contain the value that language models "
            "give if they judge the text with its code. About is how likely the text is about this "
            "change and no other. Importance is how harmful it would be to merge without acting on "
            "the most important remark, if that remark is right. "
        )
    return (
        f"{usefulness}Conciseness is how well, from 0 to 100, a review's sentences address the "
        "change. Comprehensiveness is how well it addresses each statement about the change; this "
        "may be below the share of addressed points. Relevance is the harmonic mean of both. The "
        "numbers measure what a review covers; whether it is right counts only where the code "
        "refutes it, and who wrote it never counts."
    )
