"""Repositories of the GitHub on this machine, read by git itself."""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.helpers.github import scenes, serve
from tests.helpers.github.writer import writer_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.helpers.github import Server

TOKEN = "secret"


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(scenes.shop(), token=TOKEN) as running:
        yield running


def git(
    server: Server, folder: Path, *arguments: str, token: str | None = None, name: str = "acme/shop"
) -> subprocess.CompletedProcess[str]:
    """Run git with the address of a repository in place of `URL`."""
    login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    options = ["-c", f"http.extraHeader=Authorization: Basic {login}"] if token else []
    url = f"{server.url}/{name}.git"
    return subprocess.run(
        ["git", *options, *(url if argument == "URL" else argument for argument in arguments)],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "GIT_TERMINAL_PROMPT": "0", "HOME": folder.as_posix()},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_bare_clone_has_branches_and_pull_requests(server: Server, tmp_path: Path) -> None:
    pull = writer_of(server.world).pull
    listed = git(server, tmp_path, "ls-remote", "URL").stdout.split("\n")
    assert dict(reversed(line.split("\t")) for line in listed if line) == {
        "HEAD": pull.base,
        "refs/heads/discounts": pull.head,
        "refs/heads/main": pull.base,
        "refs/pull/7/head": pull.head,
    }
    assert git(server, tmp_path, "clone", "-q", "--bare", "URL", "shop.git").returncode == 0
    shown = git(server, tmp_path / "shop.git", "show", f"{pull.head}:shop/cart.py").stdout
    assert shown == writer_of(server.world).repository.history.text(pull.head, "shop/cart.py")
    assert server.budget.used["core"] == 0


def test_push_and_removed_branch_are_seen(server: Server, tmp_path: Path) -> None:
    writer = writer_of(server.world)
    git(server, tmp_path, "ls-remote", "URL")
    writer.push({"new.py": "a = 1\n"})
    del writer.repository.branches["discounts"]
    listed = git(server, tmp_path, "ls-remote", "URL").stdout
    assert f"{writer.pull.head}\trefs/pull/7/head" in listed
    assert "refs/heads/discounts" not in listed


def test_commit_that_no_ref_names_can_be_fetched(server: Server, tmp_path: Path) -> None:
    history = writer_of(server.world).repository.history
    lost = history.commit({"lost.py": "a = 1\n"})
    git(server, tmp_path, "init", "-q", "--bare", ".")
    fetched = git(server, tmp_path, "fetch", "-q", "URL", lost)
    assert (fetched.returncode, fetched.stderr) == (0, "")
    assert git(server, tmp_path, "cat-file", "-t", lost).stdout == "commit\n"


def test_private_repository_needs_the_token(server: Server, tmp_path: Path) -> None:
    server.world.repositories[0].private = True
    assert "not found" in git(server, tmp_path, "ls-remote", "URL").stderr
    assert git(server, tmp_path, "ls-remote", "URL", token="wrong").returncode != 0
    assert git(server, tmp_path, "ls-remote", "URL", token=TOKEN).returncode == 0


def test_gone_repository_is_not_found(server: Server, tmp_path: Path) -> None:
    gone = git(server, tmp_path, "ls-remote", "URL", token=TOKEN, name="acme/gone")
    assert "not found" in gone.stderr
    assert [entry.status for entry in server.log] == [404]
