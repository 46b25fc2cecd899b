"""Nights of an audit against the simulated GitLab, over real HTTP and with real git."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from crscore import cli
from crscore.audit.store.queries import get_position
from crscore.audit.store.rows import (
    Comment,
    CommentObservation,
    Pull,
    Repository,
    ThreadObservation,
    comment_key,
)
from crscore.audit.sync.clones import clone_path
from crscore.errors import InputError
from crscore.gitlab.client import Client
from crscore.hosts.http import WaitBudget
from crscore.hosts.records import MessageKind
from tests.helpers import audit_nights, audit_worlds
from tests.helpers.audit_nights import CLONES, contents, opened
from tests.helpers.github import audit_demo, faults
from tests.helpers.github.faults import At, Fault, Kind
from tests.helpers.github.server import serve as serve_github
from tests.helpers.gitlab import nights
from tests.helpers.gitlab.server import TOKEN, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.helpers.gitlab.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(audit_worlds.copies(3), clock=time.time) as running:
        yield running


def night(server: Server, folder: Path, days: float = 1, **asked: Any) -> Any:
    return nights.run_night(server.url, folder, audit_worlds.after(server.world, days), **asked)


def rows(folder: Path, kind: type[Any], rest: str = "", *values: Any) -> list[Any]:
    with opened(folder) as store:
        return store.select(kind, rest, *values)


def pulls_of(server: Server) -> dict[int, Any]:
    return server.world.repositories[0].pulls


def test_first_night_reads_merge_requests_and_notes(server: Server, tmp_path: Path) -> None:
    done = night(server, tmp_path)
    assert (done.run.partial, done.run.pulls, done.run.failed, done.pending) == (None, 3, 0, 0)
    comments = rows(tmp_path, Comment)
    expected = set()
    for pull in pulls_of(server).values():
        sent = [review for review in pull.reviews if review.state != "PENDING"]
        hidden = {review.id for review in pull.reviews} - {review.id for review in sent}
        said = [*pull.notes, *(review for review in sent if review.body)]
        expected |= {comment_key(MessageKind.CONVERSATION, note.id) for note in said}
        lines = [line.id for line in pull.lines if line.review not in hidden]
        expected |= {comment_key(MessageKind.LINE, line) for line in lines}
    assert {row.key for row in comments} == expected
    heads = {row.number: row.head for row in rows(tmp_path, Pull)}
    assert heads == {number: pull.head for number, pull in pulls_of(server).items()}
    assert all(row.lines for row in rows(tmp_path, Pull))


def test_lines_that_gitlab_leaves_out_are_unknown(server: Server, tmp_path: Path) -> None:
    server.hidden_lines = 1
    night(server, tmp_path)
    assert [row.lines for row in rows(tmp_path, Pull)] == [None] * 3


def test_rows_of_comments_on_lines_are_those_of_github(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path / "gitlab")
    with serve_github(server.world) as github:
        audit_nights.run_night(github, tmp_path / "github", audit_worlds.after(server.world))
    columns = ("created", "updated", "author", "path", "line", "side", "hunk", "thread", "body")
    both = [
        {
            row.key: tuple(getattr(row, name) for name in columns)
            # GitLab moves those that still apply along with a push.
            for row in rows(tmp_path / name, Comment, "WHERE key % 4 = 0")
            if row.commit_id == pulls_of(server)[row.number].head
        }
        for name in ("gitlab", "github")
    ]
    shared = both[0].keys() & both[1].keys()
    assert len(shared) > 10
    for key in shared:
        assert both[0][key][:-1] == both[1][key][:-1]
    # On GitLab, a suggestion block names the lines that it replaces.
    differing = {both[1][key][-1] for key in shared if both[0][key][-1] != both[1][key][-1]}
    assert len(differing) == 1
    observed = [
        {(row.thread, row.resolved, row.resolved_by, row.outdated) for row in found}
        for found in (rows(tmp_path / name, ThreadObservation) for name in ("gitlab", "github"))
    ]
    assert observed[0] == observed[1]


def test_second_night_without_news_changes_nothing(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    before, asked = contents(tmp_path), len(server.log)
    done = night(server, tmp_path, 2)
    assert contents(tmp_path) == before
    assert (done.run.partial, done.run.pulls) == (None, 0)
    # The project, its list, and two for the threads of each merge request; the rest is git's.
    api = [entry for entry in server.log[asked:] if entry.path.startswith("/api/")]
    assert (done.run.rest, len(api)) == (8, 8)


def test_only_what_changed_is_read_again(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    note = pulls_of(server)[2].notes[0]
    note.body, note.edited = "Edited.", server.world.tick()
    deleted = pulls_of(server)[2].notes.pop()
    done = night(server, tmp_path, 2)
    assert done.run.pulls == 1
    with opened(tmp_path) as store:
        row = store.find_one(Comment, key=comment_key(MessageKind.CONVERSATION, note.id))
        assert row is not None
        assert store.text(row.body) == "Edited."
    key = comment_key(MessageKind.CONVERSATION, deleted.id)
    seen = rows(tmp_path, CommentObservation, "WHERE comment = ? ORDER BY night", key)
    assert [row.minimized for row in seen] == [None, "deleted"]


def test_resolved_thread_is_observed(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    pull = pulls_of(server)[2]
    threads = {row.thread for row in rows(tmp_path, ThreadObservation, "WHERE resolved = 0")}
    line = next(one for one in pull.lines if comment_key(MessageKind.LINE, one.id) in threads)
    pull.resolved[line.id] = pull.author
    assert night(server, tmp_path, 2).run.pulls == 0
    key = comment_key(MessageKind.LINE, line.id)
    seen = rows(tmp_path, ThreadObservation, "WHERE thread = ? ORDER BY night", key)
    assert [(row.resolved, row.resolved_by) for row in seen] == [
        (0, None),
        (1, pull.author.login),
    ]


def test_place_of_the_first_night_stays_when_a_push_moves_the_note(
    server: Server, tmp_path: Path
) -> None:
    night(server, tmp_path)
    key = "WHERE number = 1 AND key % 4 = 0 ORDER BY key"
    before = [(row.commit_id, row.line, row.hunk) for row in rows(tmp_path, Comment, key)]
    write = audit_worlds.writer(server.world, 1)
    write.push({"added.py": "x = 1\n"})
    night(server, tmp_path, 2)
    after = [(row.commit_id, row.line, row.hunk) for row in rows(tmp_path, Comment, key)]
    assert after == before
    assert rows(tmp_path, Pull, "WHERE number = 1")[0].head == write.pull.head


def test_renamed_and_missing_projects_are_reported(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    server.world.repositories[0].name = "market"
    done = night(server, tmp_path, 2)
    assert done.notes == ("acme/shop is now called acme/market.",)
    repository = server.world.repositories.pop()
    done = night(server, tmp_path, 3, repositories=("acme/market",))
    assert "acme/market cannot be read any more" in done.run.partial
    server.world.repositories.append(repository)


def test_group_is_listed(server: Server, tmp_path: Path) -> None:
    done = night(server, tmp_path, repositories=(), organisations=("acme/s*",))
    assert (done.run.partial, done.run.pulls > 0) == (None, True)


def test_store_of_another_host_is_refused(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    with (
        serve_github(server.world) as github,
        pytest.raises(InputError, match="of another host: give another --store"),
    ):
        audit_nights.run_night(github, tmp_path, audit_worlds.after(server.world))
    with (
        serve(server.world, clock=time.time) as other,
        pytest.raises(InputError, match="of another host"),
    ):
        night(other, tmp_path, 2)


def test_spent_budget_leaves_the_rest_to_the_next_run(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path / "peace")
    asked = Client(token=TOKEN, url=server.url, max_requests=15)
    done = night(server, tmp_path / "poor", client=asked)
    assert "the budget of 15 requests is spent" in done.run.partial
    assert done.run.rest == 15
    assert done.pending > 0
    assert night(server, tmp_path / "poor").pending == 0
    assert contents(tmp_path / "poor") == contents(tmp_path / "peace")


def test_pages_after_the_limit_are_left_to_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(audit_worlds.copies(5), clock=time.time, page_limit=2) as server:
        night(server, tmp_path / "peace")
        with monkeypatch.context() as patch:
            patch.setattr("crscore.gitlab.feed.MAX_PAGES", 1)
            done = night(server, tmp_path / "short")
        assert "left to the next run" in done.run.partial
        with opened(tmp_path / "short") as store:
            assert 0 < len(store.select(Pull, "")) < 5
        night(server, tmp_path / "short")
    assert contents(tmp_path / "short") == contents(tmp_path / "peace")


def test_host_that_stops_answering_is_not_asked_for_every_one(tmp_path: Path) -> None:
    with serve(audit_worlds.copies(12), clock=time.time) as server:
        place = At(pattern="discussions", fault=Fault(kind=Kind.STATUS, status=502))
        server.faults = faults.Places([place])
        budget = WaitBudget(sleep=lambda _: None)
        client = Client(token=TOKEN, url=server.url, budget=budget)
        done = night(server, tmp_path, client=client)
    assert "Stopped early" in done.run.partial
    assert (done.run.failed, done.pending) == (5, 12)


def test_list_that_lacks_merge_requests_is_read_again(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path / "peace")
    server.faults = faults.Places([At(pattern="/merge_requests[?]", fault=Fault(kind=Kind.EMPTY))])
    done = night(server, tmp_path / "late")
    assert "0 of 3 items were listed" in done.run.partial
    server.faults = faults.Script({})
    night(server, tmp_path / "late")
    assert contents(tmp_path / "late") == contents(tmp_path / "peace")


def test_list_of_versions_without_the_newest_is_read_again(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path / "peace")
    server.faults = faults.Places([At(pattern="/versions[?]", fault=Fault(kind=Kind.STALE))])
    done = night(server, tmp_path / "late")
    assert "the newest version is not listed yet" in done.run.partial
    server.faults = faults.Script({})
    night(server, tmp_path / "late")
    assert contents(tmp_path / "late") == contents(tmp_path / "peace")


def test_clock_of_the_host_that_is_ahead_hides_nothing(server: Server, tmp_path: Path) -> None:
    pull = pulls_of(server)[1]
    ahead = audit_worlds.after(server.world, 400)
    pull.notes[0].edited, right = int(ahead.timestamp()), pull.notes[0].edited
    night(server, tmp_path)
    with opened(tmp_path) as store:
        position = get_position(store, server.world.repositories[0].id, "pulls")
    assert position == f"{audit_worlds.after(server.world):%Y-%m-%dT%H:%M:%SZ}"
    pull.notes[0].edited = right
    pulls_of(server)[2].notes[0].edited = int((ahead - timedelta(days=390)).timestamp())
    assert night(server, tmp_path, 20).run.pulls >= 1


@pytest.mark.hosts
def test_faults_lead_to_the_same_store_or_say_what_is_missing() -> None:
    tally = nights.misbehave(range(20_001, 20_009))
    assert (tally.late, tally.other) == ([], [])
    assert tally.partial + tally.errors > 0
    assert tally.met.total() > 20


@pytest.mark.hosts
def test_killed_runs_are_continued() -> None:
    assert nights.kill(range(3)).other == []


@pytest.mark.hosts
def test_sync_score_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with serve(audit_demo.audit(), clock=time.time) as server:
        monkeypatch.setenv("GITLAB_URL", server.url)
        monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
        monkeypatch.setenv("CRSCORE_CACHE_DIR", str(tmp_path / "cache"))
        monkeypatch.setenv("CRSCORE_AUDIT_STORE", "audit.db")
        names = [f"{server.url}/acme/shop", f"{server.url}/acme/billing/"]
        assert cli.run(["audit", "sync", *names, "--since", audit_demo.FIRST_DAY]) == 0
        assert "40 pull requests read, 0 not completed" in capsys.readouterr().out
        assert cli.run(["audit", "sync"]) == 0
        assert "0 pull requests read, 0 not completed" in capsys.readouterr().out
        assert cli.run(["audit", "score", "--analyzers", "none"]) == 0
        period = ["--since", audit_demo.FIRST_DAY, "--until", audit_demo.LAST_DAY]
        capsys.readouterr()
        assert cli.run(["audit", "report", "--format", "json", *period]) == 0
        document = json.loads(capsys.readouterr().out)
        assert cli.run(["audit", "report", "-o", "site", *period]) == 0
        assert cli.run(["audit", "gate", "*", "--baseline", "1", *period]) == 0
    assert TOKEN not in "".join(capsys.readouterr())
    assert (document["pulls"], document["failed"]) == (40, 0)
    by_name = {row["name"]: row for row in document["reviewers"]}
    assert {"coderabbit", "copilot", "nitpicker"} <= by_name.keys()
    assert by_name["coderabbit"]["pulls"] > 10
    comments = by_name["coderabbit"]["comments"]
    assert comments["fixed"] > 5
    assert comments["resolved"] > 8
    kinds = by_name["coderabbit"]["examples"].values()
    start = f"{server.url}/acme/"
    urls = [example["url"] for examples in kinds for example in examples]
    assert urls
    assert all(url.startswith(start) and "/-/merge_requests/" in url for url in urls)
    assert "/pull/" not in (tmp_path / "site" / "index.html").read_text()
    for file in (tmp_path / "audit.db", *tmp_path.glob("audit.db.clones/**/config")):
        assert TOKEN.encode() not in file.read_bytes()


def test_repository_has_its_page(server: Server, tmp_path: Path) -> None:
    night(server, tmp_path)
    page = rows(tmp_path, Repository)[0].page
    assert page == f"{server.url}/{{name}}/-/merge_requests/{{number}}"


def test_a_commit_that_the_host_lost_hides_no_other(server: Server, tmp_path: Path) -> None:
    write = audit_worlds.writer(server.world, 1)
    left_behind = write.pull.head
    write.force_push({"a.py": "x = 1\n"})
    night(server, tmp_path)
    clone = clone_path(tmp_path / CLONES, server.world.repositories[0].id)
    shutil.rmtree(clone)
    with opened(tmp_path) as store, store.transaction():
        comment = store.select(Comment, "WHERE number = 1 AND commit_id IS NOT NULL LIMIT 1")[0]
        store.put(
            replace(comment, key=4 * (10**9 + number), commit_id=commit)
            for number, commit in enumerate((left_behind, "0" * 40))
        )
    assert night(server, tmp_path, 2).run.partial is None
    kept = ["git", "--git-dir", clone, "cat-file", "-e", f"{left_behind}^{{commit}}"]
    subprocess.run(kept, check=True)
