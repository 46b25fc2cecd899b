"""Nights of synchronisation over real HTTP, with real git."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crscore.audit.store.queries import get_position
from crscore.audit.store.rows import (
    AuditRun,
    Check,
    Comment,
    CommentObservation,
    Pull,
    Repository,
    ThreadObservation,
    comment_key,
)
from crscore.audit.sync.clones import clone_path
from crscore.errors import BadTokenError, InputError
from crscore.github.client import Client
from crscore.hosts.http import WaitBudget
from crscore.hosts.records import MessageKind
from tests.helpers import audit_schedules, audit_worlds
from tests.helpers.audit_nights import CLONES, contents, opened, run_night
from tests.helpers.github import faults
from tests.helpers.github.faults import At, Fault, Kind
from tests.helpers.github.server import serve
from tests.helpers.github.state import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crscore.audit.store.rows import Row
    from tests.helpers.github.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(audit_worlds.copies(3)) as running:
        yield running


@pytest.fixture
def pair() -> Iterator[Server]:
    with serve(audit_worlds.two_repositories()) as running:
        yield running


def rows(folder: Path, kind: type[Any], rest: str = "", *values: Any) -> list[Any]:
    with opened(folder) as store:
        found: list[Row] = store.select(kind, rest, *values)
        return found


def night(server: Server, folder: Path, days: float = 1, **asked: Any) -> Any:
    return run_night(server, folder, audit_worlds.after(server.world, days), **asked)


def pulls_of(server: Server) -> dict[int, Any]:
    return server.world.repositories[0].pulls


def test_first_night_reads_all_pull_requests_and_comments(server: Server, tmp_path: Path) -> None:
    done = night(server, tmp_path)
    assert (done.run.partial, done.run.pulls, done.run.failed, done.pending) == (None, 3, 0, 0)
    viewer = server.world.viewer
    expected = set()
    for pull in pulls_of(server).values():
        hidden = pull.pending(viewer)
        expected |= {comment_key(MessageKind.CONVERSATION, note.id) for note in pull.notes}
        lines = [line.id for line in pull.lines if line.review not in hidden]
        expected |= {comment_key(MessageKind.LINE, line) for line in lines}
        reviews = [review.id for review in pull.reviews if review.id not in hidden]
        expected |= {comment_key(MessageKind.REVIEW, review) for review in reviews}
    assert {one.key for one in rows(tmp_path, Comment)} == expected


def test_long_lists_are_read_to_their_end(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path / "short")
    rules = Rules(page_limit=4, graph_page_limit=3)
    with serve(server.world, rules=rules) as paged:
        assert night(paged, tmp_path / "long").run.partial is None
    assert contents(tmp_path / "long") == contents(tmp_path / "short")


def test_repositories_of_an_organisation_are_found_by_a_pattern(
    pair: Server, tmp_path: Path
) -> None:
    asked = {"repositories": (), "organisations": ("acme/st*",)}
    done = night(pair, tmp_path, **asked)
    assert done.run.partial is None
    assert [one.name for one in rows(tmp_path, Repository)] == ["acme/store"]


def test_second_night_without_news_changes_nothing(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    before, asked = contents(tmp_path), len(server.log)
    done = night(server, tmp_path, 2)
    assert contents(tmp_path) == before
    assert (done.run.partial, done.run.pulls, done.run.rest, done.run.points) == (None, 0, 2, 1)
    assert len(server.log) - asked <= 20


def test_edited_comment_replaces_its_row_and_a_deleted_one_stays(
    server: Server, tmp_path: Path
) -> None:
    night(server, tmp_path)
    count = len(rows(tmp_path, Comment))
    pull = pulls_of(server)[1]
    edited, deleted = pull.notes[0], pull.notes.pop()
    edited.body, edited.edited = "Edited.", server.world.tick()
    assert night(server, tmp_path, 2).run.pulls == 1
    with opened(tmp_path) as store:
        key = comment_key(MessageKind.CONVERSATION, edited.id)
        found = store.select(Comment, "WHERE key = ?", key)[0]
        assert (store.text(found.body), found.updated > found.created) == ("Edited.", True)
        nights = store.find(CommentObservation, "night", comment=key)
        # The former text stays, so that an edit cannot hide what a bot first said.
        assert len({store.text(row.body) for row in nights}) == len(nights) == 2
    assert len(rows(tmp_path, Comment)) == count
    assert comment_key(MessageKind.CONVERSATION, deleted.id) in {
        one.key for one in rows(tmp_path, Comment)
    }


def test_resolved_thread_is_seen_though_its_pull_request_did_not_change(
    server: Server, tmp_path: Path
) -> None:
    night(server, tmp_path)
    pull = pulls_of(server)[2]
    observations = rows(tmp_path, ThreadObservation, "WHERE resolved = 0")
    line = next(
        line
        for line in pull.lines
        if comment_key(MessageKind.LINE, line.id) in {k.thread for k in observations}
    )
    pull.resolved[line.id] = pull.author
    assert night(server, tmp_path, 2).run.pulls == 0
    key = comment_key(MessageKind.LINE, line.id)
    seen = rows(tmp_path, ThreadObservation, "WHERE thread = ? ORDER BY night", key)
    assert [(item.resolved, item.resolved_by) for item in seen] == [
        (0, None),
        (1, pull.author.login),
    ]


def test_hidden_comment_is_observed(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    pull = pulls_of(server)[1]
    pull.notes[0].minimized = "OUTDATED"
    pull.notes[-1].edited = server.world.tick()
    night(server, tmp_path, 2)
    key = comment_key(MessageKind.CONVERSATION, pull.notes[0].id)
    seen = rows(tmp_path, CommentObservation, "WHERE comment = ? ORDER BY night", key)
    assert [item.minimized for item in seen] == [None, "outdated"]


def test_comments_from_before_the_first_night_are_read_by_pull_request(
    server: Server, tmp_path: Path
) -> None:
    night(server, tmp_path / "whole")
    since = audit_worlds.after(server.world, 0)
    pull = pulls_of(server)[3]
    pull.notes[-1].edited = server.world.tick()
    night(server, tmp_path / "late", since=since)
    late = rows(tmp_path / "late", Comment)
    whole = rows(tmp_path / "whole", Comment, "WHERE number = 3")
    assert {one.number for one in late} == {3}
    assert {one.key for one in late} == {one.key for one in whole}


def test_missing_repository_is_reported_and_the_others_are_read(
    pair: Server, tmp_path: Path
) -> None:
    names = ("acme/shop", "acme/store")
    night(pair, tmp_path)
    pair.world.repositories.pop(0)
    pulls_of(pair)[11].notes[-1].edited = pair.world.tick()
    done = night(pair, tmp_path, 20, repositories=names)
    found = rows(tmp_path, Repository, "ORDER BY id")
    assert [pull.state for pull in found] == ["gone", "ok"]
    assert "acme/shop cannot be read any more: it does not exist" in done.run.partial
    assert done.run.pulls >= 1


def test_unknown_repository_is_reported(server: Server, tmp_path: Path) -> None:
    done = night(server, tmp_path, repositories=("acme/nothing", "acme/shop"))
    assert "acme/nothing cannot be read: it does not exist" in done.run.partial
    assert done.run.pulls == 3


def test_renamed_repository_keeps_its_rows(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    repository = server.world.repositories[0]
    repository.formerly, repository.name = ("acme/shop",), "market"
    for days in (2, 3):
        done = night(server, tmp_path, days, repositories=("acme/shop",))
        assert (done.run.partial, done.run.pulls) == (None, 0)
    assert [one.name for one in rows(tmp_path, Repository)] == ["acme/market"]


def test_new_name_is_reported(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    repository = server.world.repositories[0]
    repository.formerly, repository.name = ("acme/shop",), "market"
    done = night(server, tmp_path, 2, repositories=("acme/shop",))
    assert done.notes == ("acme/shop is now called acme/market.",)


def test_clock_that_went_back_keeps_the_last_night(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path, 5)
    pull = pulls_of(server)[1]
    pull.notes[-1].edited = server.world.tick()
    last = rows(tmp_path, AuditRun)[0].night
    done = night(server, tmp_path, 2)
    assert "The clock went back" in done.notes[0]
    assert {one.observed for one in rows(tmp_path, Pull)} == {last} == {done.run.night}


def test_clock_of_the_host_that_is_ahead_hides_nothing(server: Server, tmp_path: Path) -> None:
    note = pulls_of(server)[1].notes[0]
    ahead = int(audit_worlds.after(server.world, 400).timestamp())
    note.edited, right = ahead, note.edited
    night(server, tmp_path)
    note.edited = right
    changed = pulls_of(server)[2].notes[0]
    changed.body, changed.edited = "Edited.", int(audit_worlds.after(server.world, 5).timestamp())
    assert night(server, tmp_path, 20).run.pulls >= 1
    with opened(tmp_path) as store:
        row = store.find_one(Comment, key=comment_key(MessageKind.CONVERSATION, changed.id))
        assert row is not None
        assert store.text(row.body) == "Edited."


@pytest.mark.parametrize("token", ["no-such-token", None])
def test_bad_token_is_one_clear_line(server: Server, tmp_path: Path, token: str | None) -> None:
    client = Client(token=token, api_url=server.url)
    with pytest.raises(BadTokenError, match="the token is missing, wrong or expired"):
        night(server, tmp_path, client=client)
    run = rows(tmp_path, AuditRun)[0]
    assert run.finished is not None
    assert "the token is missing, wrong or expired" in run.partial


@pytest.mark.parametrize("name", ["shop", "acme/shop/x", "acme/..%2f", ""])
def test_bad_name_is_one_clear_line(server: Server, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is not a repository: write OWNER/NAME"):
        night(server, tmp_path, repositories=(name,))


def test_spent_requests_leave_the_rest_to_the_next_night(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path / "peace")
    for _ in range(2):
        done = night(server, tmp_path / "poor", max_requests=2)
        assert "the budget of 2 requests is spent" in done.run.partial
        assert done.run.rest == 2
    night(server, tmp_path / "poor")
    assert contents(tmp_path / "poor") == contents(tmp_path / "peace")


def test_failing_pull_request_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    with serve(audit_worlds.copies(8)) as server:
        night(server, tmp_path / "peace")
        node = rows(tmp_path / "peace", Pull, "WHERE number = 5")[0].node
        server.faults = _Unanswered(node)
        budget = WaitBudget(sleep=lambda _: None)
        client = Client(token=server.token, api_url=server.url, budget=budget)
        done = night(server, tmp_path / "odd", client=client)
        assert (done.run.pulls, done.run.failed, done.pending) == (7, 1, 1)
        assert "1 pull request could not be read: " in done.run.partial
        failed = rows(tmp_path / "odd", Pull, "WHERE pending = 1")
        assert [one.number for one in failed] == [5]
        assert "502" in failed[0].failure
        # One that GitHub never answers for is reported; the night is complete, so the gate applies.
        again = night(server, tmp_path / "odd", client=client)
        assert (again.run.failed, again.run.partial) == (1, None)
        assert "1 pull request could not be read: " in " ".join(again.notes)
        server.faults = faults.Script({})
        night(server, tmp_path / "odd")
        assert contents(tmp_path / "odd") == contents(tmp_path / "peace")


class _Unanswered:
    """GitHub answers 502 to each query with one pull request in it."""

    def __init__(self, node: str) -> None:
        self.node = node

    def meet(self, number: int, request: Any) -> Fault | None:
        asked = isinstance(request.body, dict) and self.node in str(request.body.get("variables"))
        return Fault(kind=Kind.STATUS, status=502) if asked else None

    def arrange(self, path: str, items: list[Any]) -> list[Any]:
        return items


def test_host_that_stops_answering_is_not_asked_for_every_pull_request(tmp_path: Path) -> None:
    with serve(audit_worlds.copies(45)) as server:
        server.faults = faults.Places(
            [At(pattern="graphql", fault=Fault(kind=Kind.STATUS, status=502))]
        )
        budget = WaitBudget(sleep=lambda _: None)
        client = Client(token=server.token, api_url=server.url, budget=budget)
        done = night(server, tmp_path, client=client)
    assert "Stopped early" in done.run.partial
    assert done.pending == 45
    assert len([one for one in server.log if one.path == "/graphql"]) < 50


def test_clone_has_the_heads_of_all_pull_requests(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    clone = clone_path(tmp_path / CLONES, server.world.repositories[0].id)
    text = subprocess.run(
        ["git", "--git-dir", clone, "for-each-ref", "--format=%(refname) %(objectname)"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = dict(line.split() for line in text.splitlines())
    for number, pull in pulls_of(server).items():
        assert found[f"refs/pull/{number}/head"] == pull.head
    for commit in {one.commit_id for one in rows(tmp_path, Comment) if one.commit_id}:
        subprocess.run(["git", "--git-dir", clone, "cat-file", "-e", commit], check=True)


def test_token_is_in_no_file(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    assert server.token is not None
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or server.token.encode() not in file.read_bytes()


def test_failing_clone_is_reported_and_the_rest_stored(server: Server, tmp_path: Path) -> None:
    done = night(server, tmp_path, git_url=f"{server.url}/nothing/{{name}}.git")
    assert "The clone of acme/shop could not be updated" in done.run.partial
    assert (done.run.pulls, done.pending) == (3, 0)


def test_merged_pull_request_is_observed_for_14_days(server: Server, tmp_path: Path) -> None:
    write = audit_worlds.writer(server.world, 1)
    line = write.pull.lines[0]
    merge_commit = write.merge("squash")
    night(server, tmp_path)
    merged = rows(tmp_path, Pull, "WHERE number = 1")[0]
    assert (merged.state, merged.merge_commit, merged.final) == ("merged", merge_commit, 0)
    line.minimized = "spam"
    assert night(server, tmp_path, 13).run.pulls == 0
    assert night(server, tmp_path, 15).run.pulls == 1
    assert rows(tmp_path, Pull, "WHERE final = 1")[0].number == 1
    key = comment_key(MessageKind.LINE, line.id)
    seen = rows(tmp_path, CommentObservation, "WHERE comment = ? ORDER BY night", key)
    assert [item.minimized for item in seen] == [None, "spam"]
    assert night(server, tmp_path, 16).run.pulls == 0


def test_checks_of_the_last_head_are_read(server: Server, tmp_path: Path) -> None:
    write = audit_worlds.writer(server.world, 1)
    write.check("github-actions", "tests", None)
    night(server, tmp_path)
    write.pull.checks.clear()
    write.check("github-actions", "tests", "SUCCESS")
    write.check("ci", "build", "FAILURE", is_status=True)
    write.say(write.pull.author, "Done.")
    night(server, tmp_path, 2)
    found = rows(tmp_path, Check, "ORDER BY name")
    assert [(pull.app, pull.name, pull.outcome) for pull in found] == [
        ("ci", "build", "failure"),
        ("github-actions", "tests", "success"),
    ]


def test_commits_that_a_force_push_left_behind_are_fetched(server: Server, tmp_path: Path) -> None:
    write = audit_worlds.writer(server.world, 1)
    before = write.pull.head
    write.force_push({"a.py": "x = 1\n"})
    for pull in list(pulls_of(server).values())[1:]:
        del pulls_of(server)[pull.number]
    night(server, tmp_path)
    assert before in {one.commit_id for one in rows(tmp_path, Comment, "WHERE number = 1")}
    clone = clone_path(tmp_path / CLONES, server.world.repositories[0].id)
    kept = ["git", "--git-dir", clone, "cat-file", "-e", f"{before}^{{commit}}"]
    subprocess.run(kept, check=True)


def test_commits_that_github_lost_cost_no_git_request_and_hide_no_other(
    server: Server, tmp_path: Path
) -> None:
    write = audit_worlds.writer(server.world, 1)
    left_behind = write.pull.head
    write.force_push({"a.py": "x = 1\n"})
    night(server, tmp_path)
    clone = clone_path(tmp_path / CLONES, server.world.repositories[0].id)
    shutil.rmtree(clone)
    with opened(tmp_path) as store, store.transaction():
        comment = store.select(Comment, "WHERE number = 1 AND commit_id IS NOT NULL LIMIT 1")[0]
        store.put(
            replace(comment, key=4 * (10**9 + number), commit_id=f"{number:040x}")
            for number in range(120)
        )
    for day in (2, 3):
        start = len(server.log)
        done = night(server, tmp_path, day)
        assert (done.run.partial, done.run.points) == (None, 3)  # 2 for 120 commits, 1 for threads
        fetches = [entry for entry in server.log[start:] if entry.path.endswith("git-upload-pack")]
        # Two on the first night, of the refs and of the commit left behind, each with a list of
        # refs; then only the list of refs, from which nothing is new.
        assert len(fetches) <= {2: 4, 3: 2}[day]
    kept = ["git", "--git-dir", clone, "cat-file", "-e", f"{left_behind}^{{commit}}"]
    subprocess.run(kept, check=True)


@pytest.mark.hosts
def test_faults_lose_nothing() -> None:
    assert audit_schedules.misbehave(range(12)).other == []


@pytest.mark.hosts
def test_killed_runs_lose_nothing() -> None:
    assert audit_schedules.kill(range(4)).other == []


def test_repository_that_stays_gone_makes_only_its_first_night_partial(
    pair: Server, tmp_path: Path
) -> None:
    names = ("acme/shop", "acme/store")
    night(pair, tmp_path)
    pair.world.repositories.pop(0)
    told = "acme/shop cannot be read any more: it does not exist"
    done = night(pair, tmp_path, 2, repositories=names)
    assert told in done.run.partial
    done = night(pair, tmp_path, 3, repositories=names)
    assert done.run.partial is None
    assert told in " ".join(done.notes)


def test_clock_that_was_in_the_future_ends_no_observation_later(
    pair: Server, tmp_path: Path
) -> None:
    night(pair, tmp_path, 1_000, repositories=("acme/shop",))
    future = rows(tmp_path, AuditRun)[0].night
    write = audit_worlds.writer(pair.world, 1)
    write.merge("squash")
    done = night(pair, tmp_path, 1)
    assert done.run.night == future
    assert done.run.started[:10] == f"{audit_worlds.after(pair.world, 1):%Y-%m-%d}"
    assert rows(tmp_path, Pull, "WHERE final = 1 AND number = 1") == []
    with opened(tmp_path) as store:
        since = get_position(store, pair.world.repositories[1].id, "pulls")
    assert since
    assert since < done.run.started
    assert len(rows(tmp_path, Pull, "WHERE number IN (11, 12)")) == 2


class _EditedMeanwhile:
    """The first comment of a list is edited before its second page is asked for."""

    def __init__(self, server: Server, path: str) -> None:
        self.server, self.path, self.asked = server, path, 0

    def meet(self, number: int, request: Any) -> Fault | None:
        self.asked += request.path.endswith(self.path)
        if self.asked == 2 and request.path.endswith(self.path):
            written = [
                one for pull in pulls_of(self.server).values() for one in (*pull.notes, *pull.lines)
            ]
            kind = type(pulls_of(self.server)[1].notes[0])
            if self.path == "pulls/comments":
                kind = type(pulls_of(self.server)[1].lines[0])
            first = min((one for one in written if type(one) is kind), key=lambda one: one.edited)
            first.edited = self.server.world.tick()
        return None

    def arrange(self, path: str, items: list[Any]) -> list[Any]:
        return items


def test_token_without_the_right_to_read_checks_is_named(tmp_path: Path) -> None:
    with serve(audit_worlds.copies(3), rules=Rules(refuse_checks=True)) as server:
        done = night(server, tmp_path)
    assert (done.run.pulls, done.run.failed, done.pending) == (0, 3, 3)
    assert "the token lacks a permission" in done.run.partial


def test_deleted_comments_are_hidden_and_those_that_are_there_are_not(tmp_path: Path) -> None:
    with serve(audit_worlds.copies(2)) as server:
        night(server, tmp_path)
        assert not rows(tmp_path, CommentObservation, "WHERE minimized = 'deleted'")
        pull = pulls_of(server)[1]
        note, thread = pull.notes.pop(), next(line for line in pull.lines if line.reply_to is None)
        gone = [line for line in pull.lines if thread.id in (line.id, line.reply_to)]
        pull.lines = [line for line in pull.lines if line not in gone]
        pull.notes[0].edited = server.world.tick()
        night(server, tmp_path, days=2)
    hidden = rows(tmp_path, CommentObservation, "WHERE minimized = 'deleted'")
    assert {one.comment for one in hidden} == {
        comment_key(MessageKind.CONVERSATION, note.id),
        *(comment_key(MessageKind.LINE, one.id) for one in gone),
    }
