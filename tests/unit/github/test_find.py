"""Which pull requests there are, asked over HTTP."""

import dataclasses
from datetime import UTC, datetime

from crscore.github import find
from crscore.github.host import Host
from tests.helpers.github import scenes
from tests.helpers.github.server import serve

NAME = "acme/shop"


def host(url: str) -> Host:
    return Host(token="loopback-token", api_url=url)


def test_head_of_a_branch_is_found_by_owner_branch_and_commit() -> None:
    world = scenes.shop()
    head = world.repositories[0].pulls[7].head
    with serve(world) as server:
        found = find.of_head(host(server.url), NAME, owner="acme", branch="discounts", sha=head)
    assert found == (7,)


def test_branch_may_have_several() -> None:
    world = scenes.shop()
    pulls = world.repositories[0].pulls
    pulls[8] = dataclasses.replace(pulls[7], number=8, base_ref="stable")
    pulls[9] = dataclasses.replace(pulls[7], number=9, state="closed")
    with serve(world) as server:
        found = find.of_head(
            host(server.url), NAME, owner="acme", branch="discounts", sha=pulls[7].head
        )
    assert sorted(found) == [7, 8]


def test_branch_that_moved_on_is_not_found() -> None:
    with serve(scenes.shop()) as server:
        found = find.of_head(host(server.url), NAME, owner="acme", branch="discounts", sha="0" * 40)
    assert found == ()


def test_branch_of_somebody_else_is_not_found() -> None:
    world = scenes.shop()
    head = world.repositories[0].pulls[7].head
    with serve(world) as server:
        found = find.of_head(host(server.url), NAME, owner="mallory", branch="discounts", sha=head)
    assert found == ()


def test_recent_ones_are_those_that_changed_within_the_days() -> None:
    world = scenes.shop()
    later = datetime.fromtimestamp(world.now, UTC)
    with serve(world) as server:
        asked = host(server.url)
        assert find.recent(asked, NAME, days=1, most=20, now=later) == (7,)
        much_later = later.replace(year=later.year + 1)
        assert find.recent(asked, NAME, days=1, most=20, now=much_later) == ()
