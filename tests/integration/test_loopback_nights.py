"""What a nightly reader asks of the GitHub on this machine, held to GitHub's descriptions."""

from __future__ import annotations

import base64
import os
import statistics
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.helpers.github import description, scenes, serve
from tests.helpers.github.busy import busy, one_more_night
from tests.helpers.github.people import JONAS, MIRA, NADIA
from tests.helpers.github.shapes import latest
from tests.helpers.github.state import Repository, World
from tests.helpers.github.writer import Spot, Writer, opened
from tests.integration.test_loopback_github import ask, query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.helpers.github import Server

TOKEN = "secret"
FILES = {"a.py": "a = 1\n", "b.py": "b = 1\n"}


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(scenes.shop(), token=TOKEN) as running:
        yield running


def small() -> Writer:
    """A pull request that changes one of two files."""
    world = World(repositories=[Repository(owner="acme", name="tools", language="Python")])
    return opened(world, FILES, FILES | {"a.py": "a = 2\n"}, number=3, title="More", author=NADIA)


@pytest.mark.parametrize(
    "path",
    [
        "/repositories/90000001",
        "/orgs/acme/repos",
        "/users/acme/repos",
        "/repos/acme/shop/pulls/comments",
        "/repos/acme/shop/issues/comments",
    ],
)
def test_lists_are_what_github_describes(server: Server, path: str) -> None:
    answer = ask(server, path)
    assert answer.status == 200
    assert answer.body
    described = path.replace("/repositories/90000001", "/repos/acme/shop")
    assert description.complaints("GET", described, 200, answer.body) == []


def test_user_is_no_organisation(server: Server) -> None:
    server.world.repositories[0].owner_type = "User"
    assert ask(server, "/orgs/acme/repos").status == 404
    (one,) = ask(server, "/users/acme/repos").body
    assert (one["full_name"], one["owner"]["type"]) == ("acme/shop", "User")
    assert ask(server, "/users/nobody/repos").status == 404


def test_organisation_shows_its_private_repositories_to_the_token_only(server: Server) -> None:
    server.world.repositories[0].private = True
    assert ask(server, "/orgs/acme/repos", token=None).body == []
    assert len(ask(server, "/orgs/acme/repos").body) == 1


@pytest.mark.parametrize("path", ["pulls", "issues"])
def test_comments_of_a_repository_come_by_their_last_change(server: Server, path: str) -> None:
    at = f"/repos/acme/shop/{path}/comments?sort=updated&per_page=100"
    whole = ask(server, f"{at}&direction=asc").body
    times = [one["updated_at"] for one in whole]
    assert times == sorted(times)
    assert [one["id"] for one in ask(server, f"{at}&direction=desc").body] == [
        one["id"] for one in reversed(whole)
    ]
    since = times[2]
    later = ask(server, f"{at}&direction=asc&since={since}").body
    assert later == [one for one in whole if one["updated_at"] >= since]
    assert not any("Draft" in one["body"] for one in whole)


@pytest.mark.parametrize(
    ("method", "parents"), [("merge", "tip head"), ("squash", "tip"), ("rebase", "tip")]
)
def test_merge_joins_what_both_sides_changed(method: str, parents: str) -> None:
    writer = small()
    repository, pull, history = writer.repository, writer.pull, writer.repository.history
    tip = history.commit(FILES | {"b.py": "b = 2\n"}, parents=[pull.base])
    repository.branches["main"] = tip
    merged = writer.merge(method)
    assert history.text(merged, "a.py") == "a = 2\n"
    assert history.text(merged, "b.py") == "b = 2\n"
    names = {"tip": tip, "head": pull.head}
    assert history.parents(merged) == tuple(names[name] for name in parents.split())
    with serve(writer.world, token=TOKEN) as server:
        (one,) = ask(server, "/repos/acme/tools/pulls?state=closed").body
        assert ask(server, "/repos/acme/tools/pulls").body == []
        assert ask(server, "/repos/acme/tools").body["language"] == "Python"
    assert one["merge_commit_sha"] == merged
    assert one["merged_at"] == one["closed_at"] == one["updated_at"]


def test_what_moves_the_time_of_a_pull_request() -> None:
    writer = small()
    (line,) = writer.review(MIRA, spots=[Spot(path="a.py", line=1, body="Why?")])
    before = latest(writer.pull)
    writer.resolve(line, NADIA)
    writer.react(line, up=1)
    assert latest(writer.pull) == before
    times = [before]
    for change in (
        lambda: writer.push(FILES),
        lambda: writer.force_push(FILES | {"a.py": "a = 3\n"}),
        lambda: writer.say(JONAS, "Well"),
        lambda: writer.review(JONAS, state="APPROVED"),
        writer.close,
    ):
        change()
        times.append(latest(writer.pull))
    assert times == sorted(set(times))


def test_reactions_are_counted() -> None:
    writer = small()
    writer.react(writer.say(JONAS, "Well"), up=2, down=1)
    with serve(writer.world, token=TOKEN) as server:
        (one,) = ask(server, "/repos/acme/tools/issues/comments").body
    counts = one["reactions"]
    assert (counts["+1"], counts["-1"], counts["total_count"]) == (2, 1, 3)


def test_details_of_pull_requests_come_by_their_ids() -> None:
    writer = small()
    pull = writer.pull
    (line,) = writer.review(MIRA, spots=[Spot(path="a.py", line=1, body="Why?")])
    writer.resolve(line, NADIA)
    first = pull.head
    writer.force_push(FILES | {"a.py": "a = 3\n"})
    writer.check("github-actions", "tests", "SUCCESS")
    writer.check("ci", "build", "PENDING", is_status=True)
    merged = writer.merge("squash")
    text = """query($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest {
      number state files(first: 9) { nodes { path additions } }
      reviews(first: 9) { nodes { submittedAt author { ... on User { databaseId } } } }
      reviewThreads(first: 9) { nodes { isResolved resolvedBy { login } } }
      timelineItems(first: 9, itemTypes: [HEAD_REF_FORCE_PUSHED_EVENT, MERGED_EVENT]) { nodes {
        ... on HeadRefForcePushedEvent { beforeCommit { oid } afterCommit { oid } }
        ... on MergedEvent { commit { oid } } } }
      commits(last: 1) { nodes { commit { oid statusCheckRollup { contexts(first: 9) { nodes {
        ... on CheckRun { name status conclusion checkSuite { app { slug } } }
        ... on StatusContext { context state creator { login } } } } } } } } } } }"""
    with serve(writer.world, token=TOKEN) as server:
        listed: list[Any] = ask(server, "/repos/acme/tools/pulls?state=all").body
        answer = query(server, text, ids=[listed[0]["node_id"], "PR_none"])
    found, none = answer["data"]["nodes"]
    assert none is None
    assert (found["number"], found["state"]) == (3, "MERGED")
    assert found["files"]["nodes"] == [{"path": "a.py", "additions": 1}]
    assert found["reviews"]["nodes"][0]["author"] == {"databaseId": MIRA.id}
    assert found["reviewThreads"]["nodes"] == [
        {"isResolved": True, "resolvedBy": {"login": "nadia"}}
    ]
    assert found["timelineItems"]["nodes"] == [
        {"beforeCommit": {"oid": first}, "afterCommit": {"oid": pull.head}},
        {"commit": {"oid": merged}},
    ]
    (head,) = found["commits"]["nodes"]
    assert head["commit"]["oid"] == pull.head
    run, status = head["commit"]["statusCheckRollup"]["contexts"]["nodes"]
    assert (run["name"], run["conclusion"]) == ("tests", "SUCCESS")
    assert run["checkSuite"] == {"app": {"slug": "github-actions"}}
    assert status == {"context": "build", "state": "PENDING", "creator": {"login": "ci"}}


def fetch(folder: Path, server: Server, *refs: str, token: str | None = None) -> str:
    """Fetch into a new bare repository; returns what git said of an error."""
    subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
    login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    header = ["-c", f"http.extraHeader=Authorization: Basic {login}"] if token else []
    url = f"{server.url}/acme/tools.git"
    done = subprocess.run(
        ["git", "-c", "credential.helper=", *header, "fetch", "-q", url, *refs],
        cwd=folder,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stderr


def test_clone_has_branches_pull_requests_and_lost_commits(tmp_path: Path) -> None:
    writer = small()
    lost = writer.pull.head
    writer.force_push(FILES | {"a.py": "a = 3\n"})
    refs = ("+refs/pull/*/head:refs/pull/*/head", "+refs/heads/*:refs/heads/*")
    with serve(writer.world, token=TOKEN) as server:
        assert fetch(tmp_path, server, *refs, f"{lost}:refs/kept/{lost}") == ""
    listed = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname) %(objectname)"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert dict(line.split() for line in listed.stdout.splitlines()) == {
        "refs/heads/change": writer.pull.head,
        "refs/heads/main": writer.pull.base,
        "refs/kept/" + lost: lost,
        "refs/pull/3/head": writer.pull.head,
    }


def test_private_clone_needs_the_token_and_a_gone_one_is_not_found(tmp_path: Path) -> None:
    writer = small()
    writer.repository.private = True
    refs = "+refs/heads/*:refs/heads/*"
    with serve(writer.world, token=TOKEN) as server:
        assert "not found" in fetch(tmp_path / "a", server, refs)
        assert fetch(tmp_path / "b", server, refs, token=TOKEN) == ""
        writer.world.repositories.clear()
        assert "not found" in fetch(tmp_path / "c", server, refs, token=TOKEN)


def test_busy_month_is_the_same_each_time_and_goes_on() -> None:
    one, other = busy(pulls=100), busy(pulls=100)
    assert one.repositories[0].pulls == other.repositories[0].pulls
    pulls = one.repositories[0].pulls
    threads = [sum(line.reply_to is None for line in pull.lines) for pull in pulls.values()]
    assert (statistics.median(threads), max(threads)) == (4, 60)
    assert 50 < sum(pull.merged_at is not None for pull in pulls.values()) < 90
    before = one.now
    numbers = one_more_night(one, changed=20, seed=3)
    assert numbers == one_more_night(other, changed=20, seed=3)
    assert pulls == other.repositories[0].pulls
    assert [number for number in pulls if latest(pulls[number]) > before] == numbers
