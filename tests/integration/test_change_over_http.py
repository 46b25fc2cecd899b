"""The two ways to a change, GitHub's list over real HTTP and a checkout, and what faults do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from crscore.diff import checkout
from crscore.diff.parse import DiffLimits
from crscore.errors import HostError
from crscore.github import blobs, changed_files
from crscore.github.client import Client
from crscore.hosts.http import WaitBudget
from crscore.records import FileStatus
from tests.helpers.github import faults, scenes, serve

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.records import ChangedFile, Diff
    from tests.helpers.github import Server
    from tests.helpers.github.state import World

LIMITS = DiffLimits()


class Clock:
    def __init__(self) -> None:
        self.time = 1_000_000.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


class Asked:
    """The change of a scene's only pull request, by GitHub's interface."""

    def __init__(self, server: Server, world: World) -> None:
        self.repository = world.repositories[0]
        self.pull = next(iter(self.repository.pulls.values()))
        clock = Clock()
        self.host = Client(
            token="loopback-token",
            api_url=server.url,
            budget=WaitBudget(sleep=clock.sleep, now=clock.now),
            timeout_s=5,
        )

    def read(self, totals: changed_files.Totals) -> tuple[Diff, tuple[str, ...]]:
        name, number = self.repository.full_name, self.pull.number
        found, names = changed_files.read_change(
            self.host, name, number, totals, self.pull.head, LIMITS
        )
        whole = blobs.read_full_files(
            self.host, name, found.diff, names, LIMITS, base=self.pull.base
        )
        return whole.diff, (*found.missing, *whole.missing)


def totals_of(world: World) -> changed_files.Totals:
    repository = world.repositories[0]
    pull = next(iter(repository.pulls.values()))
    start = repository.history.merge_base(pull.base, pull.head)
    changes = repository.history.changes(start, pull.head)
    return changed_files.Totals(
        files=len(changes),
        additions=sum(one.additions for one in changes),
        deletions=sum(one.deletions for one in changes),
    )


def without_modes(files: tuple[ChangedFile, ...]) -> list[ChangedFile]:
    return [structs.replace(file, old_mode=None, new_mode=None) for file in files]


def local(world: World, folder: Path) -> Diff:
    repository = world.repositories[0]
    pull = next(iter(repository.pulls.values()))
    repository.history.clone(folder, pull.head)
    found, reason = checkout.find_checkout(folder, pull.base, pull.head)
    assert found is not None, reason
    return found.change(LIMITS)[0]


@pytest.mark.parametrize("scene", ["shop", "fork", "hostile", "large"])
def test_both_ways_give_the_same_files(scene: str, tmp_path: Path) -> None:
    world = scenes.SCENES[scene]()
    with serve(world) as server:
        diff, missing = Asked(server, world).read(totals_of(world))
    assert missing == ()
    assert without_modes(diff.files) == without_modes(local(world, tmp_path / "clone").files)


def test_what_the_list_hides_is_missing_and_the_rest_is_true(tmp_path: Path) -> None:
    world = scenes.unseen_patches()
    with serve(world) as server:
        diff, missing = Asked(server, world).read(totals_of(world))
    assert missing
    true = {file.path: file for file in local(world, tmp_path / "clone").files}
    for file in diff.files:
        known = true[file.path]
        assert file.is_missing or without_modes((file,)) == without_modes((known,))
        assert file.is_missing or not (known.hunks and not file.hunks)
    assert all(
        one.is_missing for one in diff.files if one.path.startswith("z/") and true[one.path].hunks
    )


def test_mode_is_distinguished_from_content(tmp_path: Path) -> None:
    world = scenes.unseen_patches()
    world.rules = type(world.rules)()
    with serve(world) as server:
        diff, missing = Asked(server, world).read(totals_of(world))
    files = {file.path: file for file in diff.files}
    assert missing == ()
    assert (files["z/run.sh"].status, files["z/run.sh"].is_binary) == (
        FileStatus.MODE_CHANGED,
        False,
    )
    assert files["z/logo.png"].is_binary


def test_requests_are_the_fewest_there_can_be() -> None:
    world = scenes.large()
    with serve(world) as server:
        Asked(server, world).read(totals_of(world))
        assert [entry.method for entry in server.log] == ["GET"] * 2 + ["POST"] * 3


@pytest.fixture(scope="module")
def worlds() -> dict[str, World]:
    large = scenes.large(files=130, changed_lines=700, comments=0)
    return {"large": large, "shop": scenes.shop()}


@pytest.mark.parametrize("scene", ["large", "shop"])
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.hosts) for seed in range(4, 15))]
)
def test_faults_change_nothing_or_are_errors(worlds, scene: str, seed: int) -> None:
    world = worlds[scene]
    totals = totals_of(world)
    with serve(world) as server:
        true, _ = Asked(server, world).read(totals)
        server.faults = faults.Schedule(seed, rate=0.7, for_good=0.3)
        try:
            diff, missing = Asked(server, world).read(totals)
        except HostError:
            return
    if not missing:
        assert diff == true
        return
    known = {file.path: bare(file) for file in true.files}
    assert all(file.is_missing or bare(file) == known[file.path] for file in diff.files)


def bare(file: ChangedFile) -> ChangedFile:
    return structs.replace(file, old_source=None, new_source=None)


def test_stale_list_shows_nothing_of_the_old_head(worlds) -> None:
    world = worlds["shop"]
    assert len(next(iter(world.repositories[0].pulls.values())).heads) > 1
    totals = totals_of(world)
    stale = faults.At(pattern="/files", fault=faults.Fault(kind=faults.Kind.STALE), times=1)
    with serve(world) as server:
        true = Asked(server, world).read(totals)
        server.faults = faults.Places([stale])
        assert Asked(server, world).read(totals) == true
        server.faults = faults.Places([replace(stale, times=faults.FOREVER)])
        diff, missing = Asked(server, world).read(totals)
    assert "another commit than the head" in "".join(missing)
    assert not any(file.hunks for file in diff.files)
