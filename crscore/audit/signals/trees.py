"""Trees of a bare clone, read with few git processes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from crscore.audit.signals.align import MAX_LINES
from crscore.diff import git
from crscore.errors import HostError

COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""Full name of a commit; nothing else is passed to git."""
MAX_FILE_BYTES: Final = 1_000_000
"""Maximum size of a file that is followed."""
_MAX_BYTES: Final = 256_000_000
# `<object> blob 120`; a missing one has `missing` instead, and no match.
_OBJECT: Final = re.compile(rb"([0-9a-f]{40,64}) (blob|commit) ([0-9]+)")
# Renames from half of the lines on; at most 1,000 files are compared with each other.
_DIFF: Final = ("diff-tree", "-r", "-z", "-M50%", "-l1000", "--name-status", "--no-relative")


class File(NamedTuple):
    """File in a tree."""

    lines: tuple[str, ...] | None
    """None when the file is missing or cannot be followed."""
    problem: str | None = None
    """Why it cannot be followed."""


class Changes(NamedTuple):
    """Files that differ between two trees."""

    renamed: Mapping[str, str]
    """New path by old path."""
    paths: tuple[tuple[str | None, str], ...]
    """Old path, None for an added file, and new path; without deleted files."""


@dataclass(frozen=True, slots=True)
class _Object:
    name: str
    size: int


class Trees:
    """Trees of one bare clone; contents are cached until `forget`."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._files: dict[tuple[str, str], File] = {}
        self._changes: dict[tuple[str, str], Changes] = {}
        self._forks: dict[tuple[str, str], str | None] = {}

    def forget(self) -> None:
        """Clear the cache."""
        self._files.clear()
        self._changes.clear()
        self._forks.clear()

    def find_known(self, commits: Iterable[str | None]) -> frozenset[str]:
        """Return the commits that the clone has.

        Raises:
            HostError: git failed.
        """
        names = sorted({commit for commit in commits if commit and COMMIT.fullmatch(commit)})
        # The `^{commit}` below also rejects the name of a tree or a blob.
        objects = self._find_objects([f"{name}^{{commit}}" for name in names])
        return frozenset(
            name for name, git_object in zip(names, objects, strict=True) if git_object
        )

    def fork(self, base: str, commit: str) -> str | None:
        """Return where a commit forked from a branch; None when they have nothing in common.

        Raises:
            HostError: git failed.
        """
        if (base, commit) not in self._forks:
            # git exits with 1 if the histories have nothing in common.
            answer = self._run(("merge-base", base, commit), fine=(0, 1)).decode().strip()
            self._forks[base, commit] = answer or None
        return self._forks[base, commit]

    def parent(self, commit: str) -> str | None:
        """Return the first parent of a commit; None when it has none.

        Raises:
            HostError: git failed.
        """
        parent = self._find_objects([f"{commit}^1"])[0]
        return parent.name if parent else None

    def changes(self, old: str, new: str) -> Changes:
        """Compare two commits' trees.

        Raises:
            HostError: git failed.
        """
        if (old, new) not in self._changes:
            # Paths are bytes; any that are not UTF-8 survive the round trip.
            text = self._run((*_DIFF, old, new, "--")).decode("utf-8", "surrogateescape")
            self._changes[old, new] = _read_changes(text.split("\0"))
        return self._changes[old, new]

    def load(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Read files, pairs of commit and path, in two processes.

        Raises:
            HostError: git failed.
        """
        new = sorted({pair for pair in pairs if pair not in self._files})
        for pair in new:
            self._files[pair] = File(None, "odd path" if "\n" in pair[1] else None)
        # git reads one name a line.
        safe_pairs = [pair for pair in new if "\n" not in pair[1]]
        objects = self._find_objects([f"{commit}:{path}" for commit, path in safe_pairs])
        # The sizes are known before anything large is read.
        blobs = {blob.name: blob for blob in objects if blob and blob.size <= MAX_FILE_BYTES}
        texts = self._contents(list(blobs.values()))
        for pair, blob in zip(safe_pairs, objects, strict=True):
            if blob:
                data = texts.get(blob.name)
                self._files[pair] = File(None, "file is too large") if data is None else _file(data)

    def file(self, commit: str, path: str) -> File:
        """Read one file.

        Raises:
            HostError: git failed.
        """
        self.load([(commit, path)])
        return self._files[commit, path]

    def messages(self, commits: Sequence[str]) -> dict[str, str]:
        """Return the messages of commits.

        Raises:
            HostError: git failed.
        """
        names = [commit for commit in commits if COMMIT.fullmatch(commit)]
        objects = [git_object for git_object in self._find_objects(names) if git_object]
        return {
            name: data.partition(b"\n\n")[2].decode("utf-8", "replace")
            for name, data in self._contents(objects).items()
        }

    def _find_objects(self, names: Sequence[str]) -> list[_Object | None]:
        if not names:
            return []
        lines = self._cat("--batch-check", names).split(b"\n")
        return [
            _Object(match[1].decode(), int(match[3]))
            if (match := _OBJECT.fullmatch(line))
            else None
            for line in lines[: len(names)]
        ]

    def _contents(self, objects: Sequence[_Object]) -> dict[str, bytes]:
        if not objects:
            return {}
        text, position = self._cat("--batch", [git_object.name for git_object in objects]), 0
        contents: dict[str, bytes] = {}
        for git_object in objects:
            start = text.index(b"\n", position) + 1
            contents[git_object.name] = text[start : start + git_object.size]
            position = start + git_object.size + 1
        return contents

    def _cat(self, mode: str, names: Sequence[str]) -> bytes:
        input_bytes = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        return self._run(("cat-file", mode), input_bytes=input_bytes)

    def _run(
        self, arguments: Sequence[str], *, input_bytes: bytes = b"", fine: tuple[int, ...] = (0,)
    ) -> bytes:
        return git.run_git(
            arguments,
            folder=self._git_dir,
            is_git_dir=True,
            input_bytes=input_bytes,
            accepted_codes=fine,
            max_bytes=_MAX_BYTES,
        )


def open_trees(git_dir: Path) -> Trees | None:
    """Open a clone; None when there is none that git can read."""
    if not git_dir.is_dir():
        return None
    try:
        git.run_git(("rev-parse", "--git-dir"), folder=git_dir, is_git_dir=True)
    except HostError:
        return None
    return Trees(git_dir)


def _file(data: bytes) -> File:
    if b"\0" in data:
        return File(None, "binary file")
    lines = tuple(data.decode("utf-8", "replace").split("\n"))
    return File(lines) if len(lines) <= MAX_LINES else File(None, "file is too large")


def _read_changes(fields: Sequence[str]) -> Changes:
    renamed: dict[str, str] = {}
    paths: list[tuple[str | None, str]] = []
    remaining = iter(fields)
    for status in remaining:
        if status.startswith(("R", "C")):
            old, new = next(remaining), next(remaining)
            if status.startswith("R"):
                renamed[old] = new
            paths.append((old, new))
        elif status:
            path = next(remaining)
            if not status.startswith("D"):
                paths.append((None if status == "A" else path, path))
    return Changes(renamed, tuple(paths))
