"""The Markdown blocks that the comment and the job summary are put together from.

The words of the input are escaped here; a block can lose any of its items and stays well-formed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.pull_request.documents import _words
from crscore.reports import view
from crscore.reports.blocks import Block
from crscore.reports.escape import markdown, markdown_code, markdown_prose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.pull_request.overview import Overview, Point, Reviewer

PROSE_CHARS = 600
"""Longest sentence shown; the host folds nothing by itself."""
PLACE_CHARS = 300
OPEN_MISSING = 3
"""Reasons for a partial result that stand openly; the others are folded."""


def opening(found: Overview) -> Block:
    """Summarise the result in one sentence."""
    return Block(f"{markdown(_words.opening(found))}\n\n", foot="")


def partial(found: Overview) -> Iterator[Block]:
    """Say plainly what could not be read; nothing when the result is whole."""
    if not found.partial:
        return
    shown = found.missing[:OPEN_MISSING]
    more = len(found.missing) - len(shown)
    items = [f"> - {markdown_prose(text, PROSE_CHARS)}\n" for text in shown]
    items += [f"> - and {more:,} more, in the notes below\n"] * bool(more)
    yield Block(
        "> **This is a partial result.** What could not be read is in none of the numbers:\n>\n",
        tuple(items),
    )


def table(found: Overview, *, longer: bool) -> Iterator[Block]:
    """One row a reviewer, below one for all of them together.

    Args:
        found: What to show.
        longer: With the columns that the job summary has room for.
    """
    if not found.reviewers:
        return
    names = ["Reviewer", "Relevance", "Conciseness", "Comprehensiveness", "Comments", "Resolved"]
    names += ["Words"] * longer
    head = f"| {' | '.join(names)} |\n|:--|{'--:|' * (len(names) - 1)}\n"
    if _words.reviewers(found) > 1:
        head += _row(["**Together**", *_together(found, longer=longer)])
    items = [_row([_name(one), *_cells(one, longer=longer)]) for one in found.reviewers]
    more = f"\n*{view.many(found.other_reviewers, 'more reviewer')} not listed.*\n"
    yield Block(head, tuple(items), more * bool(found.other_reviewers) + "\n")


def _together(found: Overview, *, longer: bool) -> list[str]:
    whole = found.together
    scores = [f"**{value}**" for value in _words.three(whole)]
    return [*scores, *_words.total(found), *[f"{whole.words:,}"] * longer]


def _cells(row: Reviewer, *, longer: bool) -> list[str]:
    counts = [_words.comments(row), _words.resolved(row), *[f"{row.words:,}"] * longer]
    return [*_words.three(row), *counts]


def _name(row: Reviewer) -> str:
    """A reviewer's name; below it, why there is no score."""
    name = markdown(row.name, 60) + " (bot)" * row.is_bot
    if row.reason is None:
        return name
    return f"{name}<br><sub>no score: {markdown(row.reason.rstrip('.'), 200)}</sub>"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def points(found: Overview, shown: int) -> Iterator[Block]:
    """List the points nobody addressed: the most important openly, the rest folded.

    Args:
        found: What to show.
        shown: Points that stand openly.
    """
    entries = tuple(_entry(found, point) for point in found.open)
    if not entries:
        return
    title = _words.title(found).lower()
    yield Block(f"**Worth a look: {title} yet**\n\n", entries[:shown])
    rest = len(found.open) - shown + _words.over_limit(found)
    if rest > 0:
        yield folded(f"{rest:,} more {title}", entries[shown:], _left_out(found))


def _left_out(found: Overview) -> str:
    over = _words.over_limit(found)
    return f"\n*The last {over:,} of them are not listed.*\n" if over else ""


def _entry(found: Overview, point: Point) -> str:
    where = markdown_code(_words.place(point), PLACE_CHARS) if point.path else "(whole change)"
    target = _words.address(found, point)
    if target is not None:
        where = f"[{where}]({target})"
    who = _words.finder(point)
    found_by = f" ({markdown(who, 100)})" if who else ""
    return f"- {markdown_prose(point.text, PROSE_CHARS)} {where}{found_by}\n"


def notes(found: Overview) -> Block:
    """Return notes, the meaning of the numbers and the rest of what is missing; folded."""
    remarks = [*found.missing[OPEN_MISSING:], *found.notes]
    items = [f"- {markdown_prose(text, PROSE_CHARS)}\n" for text in remarks]
    return folded("Notes, and what the numbers mean", (f"{_words.meaning(found)}\n\n", *items))


def folded(title: str, items: tuple[str, ...], after: str = "") -> Block:
    """A part behind a fold; `title` is our own text. Blank lines let Markdown begin again."""
    head = f"<details><summary>{title}</summary>\n\n"
    return Block(head, items, f"{after}\n</details>\n\n")


def signature(found: Overview) -> str:
    """The commit that was measured and what decides the scores, in small print."""
    commit = f"[`{found.head[:7]}`]({found.url}/commits/{found.head})"
    return f"<sub>Measured at {commit}. {markdown_code(found.signature, PROSE_CHARS)}</sub>\n"
