"""The scene `large`: many files, many lines, many comments, all made by counting."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from tests.helpers.github.anchors import rows
from tests.helpers.github.people import ACTIONS, JONAS, MIRA, NADIA, RABBIT
from tests.helpers.github.state import Repository, World
from tests.helpers.github.writer import Spot, Writer, opened

if TYPE_CHECKING:
    from collections.abc import Iterator

REVIEWERS = (MIRA, RABBIT, JONAS, ACTIONS)
A_REVIEW = 10
"""Line comments of one review."""
_VERBS = ("load", "check", "merge", "sort", "print", "count", "trim", "send")
_NOUNS = ("order", "price", "label", "batch", "user", "stock", "route", "token")
_TEXTS = (
    "`{name}` returns the old value when the list is empty; please check for that first.",
    "This compares with `==` although both sides may be missing. Is that wanted?",
    "Please add a test for a negative {noun}.",
    "The {noun} is read twice here. Keep it in a variable, the file may change in between.",
    "Nice.",
    "Why is the limit {number}? A name would help the next reader.",
    "This swallows the error of `{verb}`; let it pass or log it.",
    "I would write this without the loop: `sum` does the same.",
)


def large(files: int = 120, changed_lines: int = 3_000, comments: int = 300) -> World:
    """A pull request of a given size; the same numbers make the same one.

    Args:
        files: Changed files.
        changed_lines: Added and removed lines together, at least two a file.
        comments: Line comments (two thirds), conversation and texts of reviews together.
    """
    world = World(repositories=[Repository(owner="acme", name="monolith")])
    base, head = {}, {}
    for number in range(files):
        path = _path(number)
        # What is left over is spread over the first files.
        changed = changed_lines // files + (number < changed_lines % files)
        base[path], head[path] = _versions(number, changed)
    writer = opened(
        world, base, head, number=12, title="Move to the new stock interface", author=NADIA
    )
    _comment(writer, comments)
    return world


def _path(number: int) -> str:
    folder = _NOUNS[number % len(_NOUNS)]
    suffix = ("py", "py", "js", "java")[number % 4]
    return f"{folder}/{_VERBS[number // 8 % 8]}_{number:03}.{suffix}"


def _versions(number: int, changed: int) -> tuple[str, str]:
    """The file before and after: every second changed line replaces one, the rest are new."""
    before = [_line(number, at) for at in range(max(changed * 3, 40))]
    after = list(before)
    replaced, added = divmod(changed, 2)
    step = max(len(before) // (replaced or 1), 1)
    for at in range(replaced):
        after[at * step] = _line(number, at * step).replace("limit", "bound")
    after += [f"# {number} more" for _ in range(added)]
    return "\n".join([*before, ""]), "\n".join([*after, ""])


def _line(number: int, at: int) -> str:
    verb, noun = _VERBS[(number + at) % 8], _NOUNS[(number * 3 + at) % 8]
    return f"{verb}_{noun}_{at} = {verb}({noun}, limit={number + at})"


def _comment(writer: Writer, comments: int) -> None:
    lines, texts = comments * 2 // 3, comments // 6
    notes = comments - lines - texts
    answers = lines // 5
    places = list(islice(_places(writer), lines - answers))
    roots = []
    for at in range(0, len(places), A_REVIEW):
        number = at // A_REVIEW
        text = _text(number) if number < texts else ""
        spots = places[at : at + A_REVIEW]
        roots += writer.review(REVIEWERS[number % 4], body=text, spots=spots)
    for number in range(-(-len(places) // A_REVIEW), texts):
        writer.review(REVIEWERS[number % 4], body=_text(number), state="APPROVED")
    for number in range(answers):
        reply = writer.reply(roots[number * 3 % len(roots)], NADIA, _text(number + 3))
        if number % 2:
            writer.pull.resolved[reply.reply_to or 0] = NADIA
    for number in range(notes):
        writer.say((MIRA, JONAS, RABBIT)[number % 3], _text(number + 5))


def _places(writer: Writer) -> Iterator[Spot]:
    """New lines of the diff, one file after the other, round and round."""
    history, pull = writer.repository.history, writer.pull
    changes = history.changes(pull.base, pull.head)
    found = {
        change.path: [row.new for row in rows(change.patch or "") if row.old is None]
        for change in changes
    }
    number = 0
    while True:
        for path, lines in found.items():
            yield Spot(path=path, line=lines[number // len(found) % len(lines)], body=_text(number))
            number += 1


def _text(number: int) -> str:
    return _TEXTS[number % len(_TEXTS)].format(
        name=f"{_VERBS[number % 8]}_{_NOUNS[number // 8 % 8]}",
        noun=_NOUNS[number // 3 % 8],
        verb=_VERBS[number // 5 % 8],
        number=number,
    )
