"""Real git output: numbers against `git diff --numstat`, sources against the files themselves."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from crscore.diff import parse
from crscore.records import FileStatus, LineKind

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.records import Diff

UNICODE = 'dôc \t"q" 日本.md'
LONG = "".join(f"line {n}\n" for n in range(1, 61))


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")

    def git(self, *args: str) -> bytes:
        names = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.org"))
        }
        empty = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        return subprocess.run(
            ["git", *args],
            cwd=self.root,
            env={**os.environ, **names, **empty},
            check=True,
            capture_output=True,
        ).stdout

    def write(self, path: str, content: str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def text(self, revision: str, path: str) -> str:
        return self.git("show", f"{revision}:{path}").decode()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("repository"))
    repository.write("src/app.py", LONG)
    repository.write("src/move.py", LONG.replace("line", "move"))
    repository.write("src/pure.py", LONG.replace("line", "pure"))
    repository.write("src/copied.py", LONG.replace("line", "copy"))
    repository.write("gone.txt", "a\nb\n")
    repository.write("run.sh", "echo\n")
    repository.write("both.sh", "echo\n")
    repository.write("image.png", bytes(range(256)))
    repository.write("dos.txt", "one\r\ntwo\r\nthree\r\n")
    repository.write("with space/my file.c", "int x;\n")
    repository.write(UNICODE, "# Title\n")
    repository.write("tail.txt", "no newline")
    repository.write("form.txt", "a\x0cb\u2028c\nd\x85e\n")
    repository.write("query.sql", "-- first\n-- second\nselect 1;\n")
    repository.write("type.txt", "target\n")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    (repository.root / "lib").mkdir()
    repository.commit("Start")
    grown = LONG.replace("line 5\n", "line five\nline 5b\n")
    repository.write("src/app.py", grown.replace("line 50\n", ""))
    repository.git("mv", "src/move.py", "src/moved here.py")
    repository.write(
        "src/moved here.py", LONG.replace("line", "move").replace("move 9\n", "nine\n")
    )
    repository.git("mv", "src/pure.py", "pure.py")
    repository.write("src/copy.py", LONG.replace("line", "copy") + "more\n")
    repository.write("src/copied.py", LONG.replace("line", "copy").replace("copy 1\n", "one\n"))
    (repository.root / "gone.txt").unlink()
    (repository.root / "run.sh").chmod(0o755)
    (repository.root / "both.sh").chmod(0o755)
    repository.write("both.sh", "echo on\n")
    repository.write("image.png", bytes(reversed(range(256))))
    repository.write("new.png", bytes(range(256)) * 2)
    repository.write("empty.txt", "")
    repository.write("dos.txt", "one\r\n2\r\nthree\r\nfour\n")
    repository.write("with space/my file.c", "long x;\n")
    repository.write(UNICODE, "# Title\n\nText\n")
    repository.write("tail.txt", "no newline\nstill none")
    repository.write("form.txt", "a\x0cb\u2028c\nd\x85f\n")
    repository.write("query.sql", "-- second\n++ odd\nselect 1;\n")
    (repository.root / "type.txt").unlink()
    (repository.root / "type.txt").symlink_to("run.sh")
    repository.git("add", "-A")
    repository.git("update-index", "--cacheinfo", f"160000,{'2' * 40},lib")
    repository.git("commit", "-q", "-m", "Change\n\n--- not a header\n@@ not a hunk\n")
    return repository


def numstat(repository: Repository, *options: str) -> dict[str, tuple[int, int]]:
    fields = repository.git("diff", "--numstat", "-z", *options, "HEAD~1", "HEAD").split(b"\0")
    counts: dict[str, tuple[int, int]] = {}
    rest = iter(fields[:-1])
    for row in rest:
        added, removed, path = row.split(b"\t", 2)
        name = path or (next(rest), next(rest))[1]
        numbers = (0, 0) if added == b"-" else (int(added), int(removed))
        old = counts.get(name.decode(), (0, 0))
        counts[name.decode()] = (old[0] + numbers[0], old[1] + numbers[1])
    return counts


def counted(parsed: Diff) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for file in parsed.files:
        kinds = [line.kind for hunk in file.hunks for line in hunk.lines]
        added, removed = counts.get(file.path, (0, 0))
        if file.is_submodule:
            added, removed = 1, 1
        counts[file.path] = (
            added + kinds.count(LineKind.ADDED),
            removed + kinds.count(LineKind.REMOVED),
        )
    return counts


OPTIONS = [
    (),
    ("-U0",),
    ("-U25",),
    ("-M", "-C"),
    ("-M", "-C", "--find-copies-harder"),
    ("--no-prefix",),
    ("--src-prefix=before/", "--dst-prefix=after/"),
    ("-M", "--full-index", "--binary"),
    ("-M", "--no-prefix", "--minimal"),
]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_git_diff_has_the_counts_of_numstat(
    repository: Repository, options: tuple[str, ...]
) -> None:
    parsed = parse.parse_diff(repository.git("diff", *options, "HEAD~1", "HEAD"))
    moves = [one for one in options if one in {"-M", "-C", "--find-copies-harder"}]
    assert counted(parsed) == numstat(repository, *moves)


def test_mnemonic_prefixes_are_taken_away(repository: Repository) -> None:
    output = repository.git("-c", "diff.mnemonicPrefix=true", "diff", "HEAD~1", "HEAD")
    assert {file.path for file in parse.parse_diff(output).files} >= {
        "src/app.py",
        UNICODE,
        "empty.txt",
    }


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_rebuilding_gives_the_files_of_the_other_commit(
    repository: Repository, options: tuple[str, ...]
) -> None:
    parsed = parse.parse_diff(repository.git("diff", *options, "HEAD~1", "HEAD"))
    rebuilt = 0
    for file in parsed.files:
        if not file.hunks or file.status in (FileStatus.ADDED, FileStatus.DELETED):
            continue
        old = repository.text("HEAD~1", file.old_path or file.path)
        new = repository.text("HEAD", file.path)
        assert parse.rebuild_new(file, old) == new
        assert parse.rebuild_old(file, new) == old
        rebuilt += 1
    assert rebuilt >= 8


def test_numbers_are_those_of_the_files(repository: Repository) -> None:
    parsed = parse.parse_diff(repository.git("diff", "-M", "HEAD~1", "HEAD"))
    checked = 0
    for file in parsed.files:
        if not file.hunks:
            continue
        sides = {"HEAD~1": file.old_path or file.path, "HEAD": file.path}
        for hunk in file.hunks:
            for line in hunk.lines:
                for revision, number in (("HEAD~1", line.old), ("HEAD", line.new)):
                    if number is None:
                        continue
                    lines = repository.text(revision, sides[revision]).split("\n")
                    assert lines[number - 1].rstrip("\r") == line.text
                    checked += 1
    assert checked > 100


def test_statuses_are_those_of_name_status(repository: Repository) -> None:
    args = ("-M", "-C", "--find-copies-harder", "HEAD~1", "HEAD")
    fields = repository.git("diff", "--name-status", "-z", *args).decode().split("\0")[:-1]
    expected: set[tuple[str, str]] = set()
    rest = iter(fields)
    for letter in rest:
        path = next(rest) if letter[0] not in "RC" else (next(rest), next(rest))[1]
        # git shows a change of type as a deletion and an addition of one path.
        expected.add(("M" if letter == "T" else letter[0], path))
    letters = {
        FileStatus.MODIFIED: "M",
        FileStatus.MODE_CHANGED: "M",
        FileStatus.ADDED: "A",
        FileStatus.DELETED: "D",
        FileStatus.RENAMED: "R",
        FileStatus.COPIED: "C",
    }
    files_by_status = {
        (letters[file.status], file.path)
        for file in parse.parse_diff(repository.git("diff", *args)).files
    }
    assert files_by_status == expected


@pytest.mark.parametrize(
    "command",
    [
        ("show", "-M", "--stat", "-p", "HEAD"),
        ("log", "-1", "-p", "-M"),
        ("format-patch", "-1", "-M", "--stdout"),
        ("format-patch", "-1", "-M", "--stdout", "--binary", "--attach"),
        ("diff", "-M", "--color=always", "HEAD~1", "HEAD"),
    ],
    ids=" ".join,
)
def test_other_commands_give_the_same_files(
    repository: Repository, command: tuple[str, ...]
) -> None:
    expected = parse.parse_diff(repository.git("diff", "-M", "HEAD~1", "HEAD"))
    assert parse.parse_diff(repository.git(*command)).files == expected.files


def test_format_patch_of_two_commits_gives_both(repository: Repository) -> None:
    parsed = parse.parse_diff(repository.git("format-patch", "--root", "HEAD", "-M", "--stdout"))
    first = parse.parse_diff(repository.git("show", "--format=", "HEAD~1"))
    second = parse.parse_diff(repository.git("show", "-M", "--format=", "HEAD"))
    assert parsed.files == first.files + second.files
    assert any("'src/app.py' is changed 2 times" in note for note in parsed.notes)


def test_submodule_log_form_is_noted(repository: Repository) -> None:
    parsed = parse.parse_diff(repository.git("diff", "--submodule=log", "HEAD~1", "HEAD"))
    assert "lib" not in {file.path for file in parsed.files}
    assert any("but not their changes: 'Submodule lib " in note for note in parsed.notes)
