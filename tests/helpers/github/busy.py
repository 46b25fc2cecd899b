"""The scene `busy`: a month of many pull requests that share a history of a few commits."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.helpers.github.people import JONAS, MIRA, NADIA, RABBIT
from tests.helpers.github.shapes import latest
from tests.helpers.github.state import START, Pull, Repository, World
from tests.helpers.github.writer import Spot, Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.helpers.github.state import LineComment

DAYS = 30
MERGED = 0.7
"""Share of pull requests that are merged."""
_DAY = 86_400
_LINES = 40
_PEOPLE = (MIRA, JONAS, NADIA)


def busy(pulls: int = 1_000, seed: int = 0) -> World:
    """A repository with pull requests opened over 30 days; the same numbers make the same one.

    Args:
        pulls: Number of pull requests; one in 50 has 60 threads, the others 4 in the median.
        seed: Of the draws.
    """
    drawn = random.Random(seed)
    repository = Repository(owner="acme", name="busy", language="Python")
    world = World(repositories=[repository])
    history = repository.history
    base = history.commit(_files("old"), message="Start")
    heads = [history.commit(_files(f"new{at}"), parents=[base]) for at in range(4)]
    merges = [history.commit(_files(f"new{at}"), parents=[base, heads[at]]) for at in range(4)]
    repository.branches["main"] = merges[-1]
    for number in range(1, pulls + 1):
        world.now = START + DAYS * _DAY * number // pulls
        at = drawn.randrange(4)
        pull = Pull(
            number=number,
            title=f"Change {number}",
            body=None,
            author=drawn.choice(_PEOPLE),
            base=base,
            heads=[heads[at]],
            head_repository=repository.full_name,
            head_ref=f"change-{number}",
            at=world.tick(),
        )
        repository.pulls[number] = pull
        writer = Writer(world=world, repository=repository, pull=pull)
        _discuss(writer, 60 if number % 50 == 0 else drawn.randint(1, 7), drawn)
        if drawn.random() < MERGED:
            _merge(writer, merges[at])
    world.now = max(latest(pull) for pull in repository.pulls.values())
    return world


def _files(word: str) -> dict[str, str]:
    return {f"{name}.py": _text(word) for name in ("cart", "price")}


def _text(word: str) -> str:
    return "".join(f"{word}_{line} = {line}\n" for line in range(_LINES))


def _discuss(writer: Writer, threads: int, drawn: random.Random) -> None:
    """A bot's review with the threads, some answered, and a note."""
    spots = [
        Spot(path="cart.py", line=drawn.randint(1, _LINES), body=f"Check this, case {at}.")
        for at in range(threads)
    ]
    roots = writer.review(RABBIT, body=f"{threads} remarks.", spots=spots)
    _answer(writer, roots, drawn)
    writer.say(drawn.choice(_PEOPLE), "Thanks, I look at it.")


def _answer(writer: Writer, roots: Sequence[LineComment], drawn: random.Random) -> None:
    for root in roots:
        if drawn.random() < 0.3:
            writer.reply(root, writer.pull.author, "Done.")
        if drawn.random() < 0.4:
            writer.resolve(root, drawn.choice(_PEOPLE))
        if drawn.random() < 0.2:
            writer.react(root, up=1)


def _merge(writer: Writer, commit: str) -> None:
    pull, at = writer.pull, writer.world.tick()
    pull.state, pull.closed_at, pull.merged_at, pull.merge_commit = "closed", at, at, commit
