"""Reading all files of a repository, also of one that wants to be read wrongly."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from crscore.diff import checkout

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def git(root: Path, *arguments: str) -> str:
    who = {
        f"GIT_{role}_{part}": "a@b.c"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    clean = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        env={**os.environ, **who, **clean},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


FILES: dict[str, str | bytes] = {
    "app/a.py": "def a(): ...\n",
    "b é.md": "text\n",
    "logo.png": b"\x89PNG\0",
    "core.dat": b"a\0b",
}


def test_a_folder_has_its_text_files(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"node_modules/x.js": "x", ".hidden/y.py": "y"})

    texts, reason = checkout.read_folder(tmp_path)

    assert reason is None
    assert texts == {"app/a.py": b"def a(): ...\n", "b é.md": b"text\n"}


def test_a_work_tree_has_what_git_does_not_ignore(tmp_path: Path) -> None:
    write(tmp_path, FILES | {".gitignore": "build/\n", "build/x.py": "x"})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "app/a.py")

    assert set(checkout.read_folder(tmp_path).texts) == {"app/a.py", "b é.md", ".gitignore"}


def test_a_commit_has_its_files(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    git(tmp_path, "init", "-q")
    (tmp_path / "link.py").symlink_to("app/a.py")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    head = git(tmp_path, "rev-parse", "HEAD")
    found, _ = checkout.find_checkout(tmp_path, head, head)

    assert found is not None
    assert found.tree() == ({"app/a.py": b"def a(): ...\n", "b é.md": b"text\n"}, None)


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside", {"key.txt": "secret"})
    root = write(tmp_path / "root", {"a.py": "a", "deep/b.py": "b"})
    (root / "file.py").symlink_to(secret / "key.txt")
    (root / "folder").symlink_to(secret)
    (root / "loop").symlink_to(root)

    assert set(checkout.read_folder(root).texts) == {"a.py", "deep/b.py"}


def test_folder_that_became_a_link_is_reported(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside", {"b.py": "secret"})
    root = write(tmp_path / "root", {"a.py": "a", "deep/b.py": "b"})
    git(root, "init", "-q")
    git(root, "add", ".")
    (root / "deep/b.py").unlink()
    (root / "deep").rmdir()
    (root / "deep").symlink_to(secret)

    texts, reason = checkout.read_folder(root)

    assert set(texts) == {"a.py"}
    assert "deep/b.py" in (reason or "")


def test_pipe_is_not_opened(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "a"})
    os.mkfifo(tmp_path / "pipe.py")

    assert set(checkout.read_folder(tmp_path).texts) == {"a.py"}


@pytest.mark.parametrize(
    ("limit", "value", "kept"),
    [
        ("MAX_FILES", 1, {"a.py"}),
        ("MAX_BYTES", 5, {"a.py"}),
        ("MAX_FILE_BYTES", 4, {"a.py", "c.py"}),
    ],
)
def test_limits_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, kept: set[str]
) -> None:
    monkeypatch.setattr(checkout, limit, value)
    write(tmp_path, {"a.py": "aaaa", "b.py": "bbbbb", "c.py": "c"})

    texts, reason = checkout.read_folder(tmp_path)

    assert (set(texts), bool(reason)) == (kept, True)


def test_deep_folders_are_read(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 1200)
    subprocess.run(["mkdir", "-p", str(deep)], check=True)
    (deep / "a.py").write_text("a", "utf-8")

    try:
        assert len(checkout.read_folder(tmp_path).texts) == 1
    finally:
        # Python's own removal is recursive.
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)
