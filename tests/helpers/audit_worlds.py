"""Small GitHubs for nights of synchronisation: copies of the shop's pull request."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.helpers.github import scenes
from tests.helpers.github.writer import Writer

if TYPE_CHECKING:
    from tests.helpers.github.state import Pull, Repository, World

SECONDS_APART = 100
"""Between the same comments of two copies."""


def copies(pulls: int = 12) -> World:
    """One repository with so many pull requests, each with all kinds of comments."""
    world = scenes.shop()
    repository = world.repositories[0]
    first = repository.pulls.pop(7)
    for number in range(1, pulls + 1):
        repository.pulls[number] = _copy(world, first, number)
    world.now += (pulls + 1) * SECONDS_APART
    return world


def two_repositories() -> World:
    """Two repositories, of which the second is called acme/store."""
    world = copies(3)
    other: Repository = copy.deepcopy(world.repositories[0])
    other.name, other.id = "store", other.id + 1
    first = other.pulls[1]
    other.pulls = {number: _copy(world, first, number) for number in (11, 12)}
    world.now += 13 * SECONDS_APART
    world.repositories.append(other)
    return world


def writer(world: World, number: int) -> Writer:
    """Return what writes on a pull request of the first repository."""
    repository = world.repositories[0]
    return Writer(world=world, repository=repository, pull=repository.pulls[number])


def after(world: World, days: float = 1) -> datetime:
    """Return a time so many days after the last thing that was written."""
    return datetime.fromtimestamp(world.now, UTC) + timedelta(days=days)


def _copy(world: World, pull: Pull, number: int) -> Pull:
    copied = copy.deepcopy(pull)
    copied.number = number
    copied.at += number * SECONDS_APART
    ids = {one.id: world.new_id() for one in (*copied.reviews, *copied.lines, *copied.notes)}
    for one in (*copied.reviews, *copied.lines, *copied.notes):
        one.id, one.at = ids[one.id], one.at + number * SECONDS_APART
    for line in copied.lines:
        line.review = ids[line.review]
        line.reply_to = ids[line.reply_to] if line.reply_to else None
    for written in (*copied.lines, *copied.notes):
        written.edited += number * SECONDS_APART
    copied.resolved = {ids[one]: who for one, who in copied.resolved.items()}
    return copied
