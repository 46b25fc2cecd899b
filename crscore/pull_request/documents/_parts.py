"""Markdown blocks shared by the comment and the job summary.

Input text is escaped here; a block stays well-formed without any of its items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crscore.pull_request.documents import _words
from crscore.pull_request.overview import Overview, Point, Reviewer
from crscore.reports import view
from crscore.reports.blocks import Block
from crscore.reports.escape import markdown, markdown_code, markdown_prose
from crscore.scoring.signature import shorten_signature

PROSE_CHARS = 600
"""Maximum characters of a sentence shown; the host folds nothing by itself."""
PLACE_CHARS = 300
OPEN_MISSING = 3
"""Reasons for a partial result that are shown openly; the others are folded."""


def opening(found: Overview) -> Block:
    """Summarise the result in one sentence."""
    return Block(f"{markdown(_words.opening(found))}\n\n", foot="")


def partial(found: Overview) -> Iterator[Block]:
    """Yield the list of missing inputs; nothing when the result is complete."""
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
    """Yield a table with one row per reviewer, below one for all of them together.

    Args:
        found: Overview to show.
        longer: Include the columns that only the job summary has room for.
    """
    if not found.reviewers:
        return
    names = ["Reviewer", *_words.columns(found), "Comments", "Resolved"]
    names += ["Words"] * longer
    head = f"| {' | '.join(names)} |\n|:--|{'--:|' * (len(names) - 1)}\n"
    if _words.reviewers(found) > 1:
        head += _row(["**Together**", *_together(found, longer=longer)])
    items = [_row([_name(one), *_cells(found, one, longer=longer)]) for one in found.reviewers]
    more = f"\n*{view.many(found.other_reviewers, 'more reviewer')} not listed.*\n"
    more *= bool(found.other_reviewers)
    small = _words.published(found)
    more += f"\n<sub>{markdown(small)}</sub>\n" if small else ""
    yield Block(head, tuple(items), f"{more}\n")


def _together(found: Overview, *, longer: bool) -> list[str]:
    whole = found.together
    scores = [f"**{markdown(value)}**" for value in _words.three(found, whole)]
    return [*scores, *_words.total(found), *[f"{whole.words:,}"] * longer]


def _cells(found: Overview, row: Reviewer, *, longer: bool) -> list[str]:
    counts = [_words.comments(row), _words.resolved(row), *[f"{row.words:,}"] * longer]
    return [*map(markdown, _words.three(found, row)), *counts]


def _name(row: Reviewer) -> str:
    """Return a reviewer's name; below it, why there is no score."""
    name = markdown(row.name, 60) + " (bot)" * row.is_bot
    if row.reason is None:
        return name
    return f"{name}<br><sub>no score: {markdown(row.reason.rstrip('.'), 200)}</sub>"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def points(found: Overview, shown: int) -> Iterator[Block]:
    """List the unaddressed points: the most important openly, the rest folded.

    Args:
        found: Overview to show.
        shown: Number of points shown openly.
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
    """Return the folded notes: notes, the meaning of the numbers and further missing inputs."""
    remarks = [*found.missing[OPEN_MISSING:], *found.notes]
    items = [f"- {markdown_prose(text, PROSE_CHARS)}\n" for text in remarks]
    items.append(f"- Signature: {markdown_code(found.signature, PROSE_CHARS)}\n")
    return folded("Notes, and what the numbers mean", (f"{_words.meaning(found)}\n\n", *items))


def folded(title: str, items: tuple[str, ...], after: str = "") -> Block:
    """Return a folded part with a trusted `title`; blank lines make Markdown resume."""
    head = f"<details><summary>{title}</summary>\n\n"
    return Block(head, items, f"{after}\n</details>\n\n")


def signature(found: Overview) -> str:
    """Return the measured commit and the short signature, in small print."""
    commit = f"[`{found.head[:7]}`]({found.url}/commits/{found.head})"
    short = markdown_code(shorten_signature(found.signature), PROSE_CHARS)
    return f"<sub>Measured at {commit}. {short}</sub>\n"
