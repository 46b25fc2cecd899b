"""The scenes of the GitHub on this machine, and serving them by hand."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crscore.diff import parse
from crscore.records import LineKind
from tests.helpers.github import anchors, description, scenes, serve
from tests.helpers.github.writer import writer_of

if TYPE_CHECKING:
    from tests.helpers.github import Server

ROOT = Path(__file__).parents[2]


def ask(server: Server, path: str) -> Any:
    """The decoded answer, which has to be what GitHub describes."""
    connection = http.client.HTTPConnection(server.url.rpartition("/")[2], timeout=10)
    connection.request("GET", path, headers={"Authorization": f"Bearer {server.token}"})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    place = path.partition("?")[0]
    assert description.complaints("GET", place, answer.status, body) == []
    return body


def pull_path(server: Server) -> str:
    writer = writer_of(server.world)
    return f"/repos/{writer.repository.full_name}/pulls/{writer.pull.number}"


def rows(server: Server) -> list[dict[str, Any]]:
    pages = (1, 2)
    path = f"{pull_path(server)}/files?per_page=100"
    return [row for page in pages for row in ask(server, f"{path}&page={page}")]


@pytest.mark.parametrize("name", scenes.SCENES)
def test_every_scene_is_what_github_describes(name: str) -> None:
    with serve(scenes.SCENES[name]()) as server:
        pull = ask(server, pull_path(server))
        assert pull["changed_files"] == len(rows(server)) > 0
        comments = ask(server, f"{pull_path(server)}/comments?per_page=100")
        assert len(comments) == min(pull["review_comments"], 100) > 0
        assert ask(server, f"{pull_path(server)}/reviews?per_page=100")
        notes = pull_path(server).replace("/pulls/", "/issues/") + "/comments?per_page=100"
        assert len(ask(server, notes)) == pull["comments"] > 0


@pytest.mark.parametrize("name", scenes.SCENES)
def test_every_line_comment_was_written_on_a_line_of_the_diff(name: str) -> None:
    writer = writer_of(scenes.SCENES[name]())
    for comment in writer.pull.lines:
        if comment.line is not None:
            assert anchors.hunk(writer.repository, writer.pull, comment), comment.body
            assert anchors.original_position(writer.repository, writer.pull, comment)


@pytest.mark.parametrize("name", scenes.SCENES)
def test_scene_is_the_same_each_time_and_a_copy(name: str) -> None:
    one, other = scenes.SCENES[name](), scenes.SCENES[name]()
    assert one.repositories[0].pulls == other.repositories[0].pulls
    writer_of(one).say(None, "Only here")
    assert one.repositories[0].pulls != other.repositories[0].pulls


@pytest.mark.parametrize(
    ("files", "changed", "comments"), [(120, 3_000, 300), (7, 100, 30), (3, 8, 12)]
)
def test_large_has_the_size_asked_for(files: int, changed: int, comments: int) -> None:
    with serve(scenes.large(files, changed, comments)) as server:
        pull = ask(server, pull_path(server))
        listed = rows(server)
        texts = sum(bool(review.body) for review in writer_of(server.world).pull.reviews)
    assert pull["changed_files"] == len(listed) == files
    assert pull["additions"] + pull["deletions"] == changed
    assert sum(row["changes"] for row in listed) == changed
    assert pull["comments"] + pull["review_comments"] + texts == comments


def test_checkout_and_file_list_show_the_same_change(tmp_path: Path) -> None:
    writer = writer_of(scenes.shop())
    writer.repository.history.clone(tmp_path, writer.pull.head)
    command = ["git", "diff", f"{writer.pull.base}...{writer.pull.head}"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
    parsed = parse.parse_diff(shown)
    added = sum(
        line.kind is LineKind.ADDED
        for file in parsed.files
        for hunk in file.hunks
        for line in hunk.lines
    )
    with serve(scenes.shop()) as server:
        pull = ask(server, pull_path(server))
        paths = [row["filename"] for row in rows(server)]
    assert [file.path for file in parsed.files] == paths
    assert added == pull["additions"]
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, check=True, text=True
    )
    assert head.stdout.strip() == pull["head"]["sha"]


def test_unseen_patches_are_hidden_without_a_word() -> None:
    with serve(scenes.unseen_patches()) as server:
        pull = ask(server, pull_path(server))
        listed = {row["filename"]: row for row in rows(server)}
    large = listed["b/large.sql"]
    assert (large["additions"], "patch" in large) == (300, False)
    silent = [path for path, row in listed.items() if not row["changes"] and "patch" not in row]
    assert silent == [
        "z/empty.py",
        "z/late.py",
        "z/logo.png",
        "z/new.py",
        "z/new_name.py",
        "z/run.sh",
    ]
    # z/late.py has two lines added and two removed, z/new.py two added: nobody says so.
    assert pull["additions"] - sum(row["additions"] for row in listed.values()) == 4


def test_fork_is_read_only_and_not_found_by_its_commit() -> None:
    with serve(scenes.fork()) as server:
        pull = ask(server, pull_path(server))
        assert server.may_write is False
        assert pull["head"]["repo"]["full_name"] == "stranger-9/shop"
        sha = pull["head"]["sha"]
        assert ask(server, f"/repos/acme/shop/commits/{sha}/pulls") == []
        (found,) = ask(server, "/repos/acme/shop/pulls?head=stranger-9:main")
    assert found["number"] == pull["number"]


def test_hostile_paths_and_texts_arrive_as_they_are() -> None:
    with serve(scenes.hostile()) as server:
        listed = {row["filename"] for row in rows(server)}
        comments = ask(server, f"{pull_path(server)}/comments?per_page=100")
    assert {"new\nline.py", "tab\there.py", 'quo"ted\\.py', "\u202egnp.py"} <= listed
    assert any("\x1b[2J" in one["body"] for one in comments)
    assert {one["path"] for one in comments} <= listed


def test_file_list_ends_at_its_limit() -> None:
    world = scenes.large(files=7, changed_lines=100, comments=30)
    world.rules.file_limit = 5
    with serve(world) as server:
        assert ask(server, pull_path(server))["changed_files"] == 7
        assert len(rows(server)) == 5


def test_scene_is_served_by_hand_until_interrupted(tmp_path: Path) -> None:
    told = tmp_path / "port"
    command = [sys.executable, "-m", "tests.helpers.github", "--port-file", str(told), "--log"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 60
            while not told.exists() or not told.read_text(encoding="utf-8").endswith("\n"):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            connection = http.client.HTTPConnection("127.0.0.1", int(told.read_text("utf-8")))
            connection.request("GET", "/repos/acme/shop/pulls/7")
            assert connection.getresponse().status == 200
            connection.close()
        finally:
            process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "crscore pr 'acme/shop#7' --api-url http://127.0.0.1:" in out
    assert "200 GET /repos/acme/shop/pulls/7" in out
