"""Commits, trees and diffs of a repository: a real bare git repository in a temporary folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied"}
_REGULAR = "100644"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One file that differs between two commits, as GitHub's file list has it."""

    path: str
    previous: str | None
    status: str
    sha: str
    additions: int
    deletions: int
    patch: str | None
    """From the first `@@` on, without a last line end; None when git shows no lines."""


class History:
    """The commits of one repository; the same calls give the same shas."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="loopback-github-"))
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._trees: dict[str, dict[str, str]] = {}
        self._blobs: dict[str, bytes] = {}
        self._parents: dict[str, tuple[str, ...]] = {}
        self.messages: dict[str, str] = {}
        self.times: dict[str, int] = {}
        """Commit -> when it was committed."""
        self._diffs: dict[tuple[str, str], tuple[Change, ...]] = {}
        self._bases: dict[tuple[str, str], str] = {}
        self._logs: dict[tuple[str, str], tuple[str, ...]] = {}
        self.git("init", "--quiet", "--bare", ".")
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")

    def git(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        clean |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=clean,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=120,
        )
        if done.returncode:
            raise RuntimeError(f"git {arguments}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def commit(
        self,
        files: Mapping[str, str | bytes],
        *,
        parents: Sequence[str] = (),
        message: str = "Change",
        at: int = 1_760_000_000,
        modes: Mapping[str, str] | None = None,
    ) -> str:
        """Add a commit whose tree is exactly `files`; returns its sha."""
        lines = [b"commit refs/heads/import\nmark :1\n"]
        lines.append(f"committer Ada <ada@example.org> {at} +0000\n".encode())
        lines.append(_data(message.encode()))
        lines += [f"from {sha}\n".encode() for sha in parents[:1]]
        lines += [f"merge {sha}\n".encode() for sha in parents[1:]]
        lines.append(b"deleteall\n")
        tree = {}
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            mode = (modes or {}).get(path, _REGULAR)
            lines.append(b"M %s inline %s\n" % (mode.encode(), _quoted(path)))
            lines.append(_data(data))
            tree[path] = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            self._blobs[tree[path]] = data
        lines.append(b"get-mark :1\nreset refs/heads/import\n\n")
        # The ref starts anew each time, so that `from` alone decides the parent.
        out = self.git("fast-import", "--quiet", "--force", stdin=b"".join(lines))
        sha = out.decode().strip()
        self._trees[sha], self._parents[sha] = tree, tuple(parents)
        self.messages[sha], self.times[sha] = message, at
        self.git("update-ref", f"refs/kept/{sha}", sha)
        return sha

    def __deepcopy__(self, memo: object) -> History:
        """Copies of a world share it: commits are only ever added."""
        return self

    def __contains__(self, sha: str) -> bool:
        return sha in self._trees

    def tree(self, commit: str) -> Mapping[str, str]:
        """Path -> blob sha."""
        return self._trees[commit]

    def merged(self, base: str, ours: str, theirs: str) -> dict[str, bytes]:
        """Files of `ours` with what `theirs` changed since `base`, a file as a whole."""
        before, after, tree = self._trees[base], self._trees[theirs], dict(self._trees[ours])
        for path in before.keys() | after.keys():
            if before.get(path) != after.get(path):
                tree.pop(path, None)
                if path in after:
                    tree[path] = after[path]
        return {path: self._blobs[sha] for path, sha in sorted(tree.items())}

    def parents(self, commit: str) -> tuple[str, ...]:
        return self._parents[commit]

    def blob(self, sha: str) -> bytes | None:
        return self._blobs.get(sha)

    def text(self, commit: str, path: str) -> str | None:
        """The file's text at a commit; None when it is not there."""
        sha = self._trees.get(commit, {}).get(path)
        return None if sha is None else self._blobs[sha].decode(errors="replace")

    def merge_base(self, one: str, other: str) -> str:
        if (one, other) not in self._bases:
            self._bases[one, other] = self.git("merge-base", one, other).decode().strip()
        return self._bases[one, other]

    def log(self, base: str, head: str) -> tuple[str, ...]:
        """Commits of `head` that `base` does not have, the oldest first."""
        if (base, head) not in self._logs:
            listed = self.git("rev-list", "--reverse", f"{base}..{head}").decode()
            self._logs[base, head] = tuple(listed.split())
        return self._logs[base, head]

    def changes(self, base: str, head: str) -> tuple[Change, ...]:
        """Changes from one commit to the other; renames are found as git does."""
        if (base, head) not in self._diffs:
            self._diffs[base, head] = self._read(base, head)
        return self._diffs[base, head]

    def _read(self, base: str, head: str) -> tuple[Change, ...]:
        raw = self.git("diff", "-M", "--raw", "-z", "--no-abbrev", base, head)
        patch = self.git("diff", "-M", "--no-color", "--no-ext-diff", "--full-index", base, head)
        pairs = zip(_entries(raw), _sections(patch), strict=True)
        return tuple(_change(entry, section) for entry, section in pairs)

    def clone(self, folder: Path, head: str) -> None:
        """Make a checkout of a commit with the whole history behind it and of every kept commit."""
        folder.mkdir(parents=True, exist_ok=True)
        for arguments in (
            ("init", "--quiet", "."),
            ("fetch", "--quiet", self.folder.as_posix(), "refs/kept/*:refs/kept/*"),
            ("checkout", "--quiet", "--detach", head),
        ):
            self.git("-C", folder.as_posix(), *arguments)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    escaped = path.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"%s"' % escaped


def _entries(raw: bytes) -> list[tuple[str, str, str | None, str]]:
    """Status letter, path, previous path and blob of each entry of `git diff --raw -z`."""
    fields = raw.decode(errors="surrogateescape").split("\0")
    found = []
    at = 0
    while at + 1 < len(fields):
        _, _, old, new, status = fields[at].split(" ")
        letter = status[0]
        if letter in "RC":
            found.append((letter, fields[at + 2], fields[at + 1], new))
            at += 3
        else:
            found.append((letter, fields[at + 1], None, old if letter == "D" else new))
            at += 2
    return found


def _sections(patch: bytes) -> list[list[str]]:
    sections: list[list[str]] = []
    for line in patch.decode(errors="replace").split("\n"):
        if line.startswith("diff --git "):
            sections.append([])
        elif sections:
            sections[-1].append(line)
    for section in sections:  # the last line end makes an empty string
        if section and section[-1] == "":
            section.pop()
    return sections


def _change(entry: tuple[str, str, str | None, str], section: list[str]) -> Change:
    letter, path, previous, sha = entry
    starts = [at for at, line in enumerate(section) if line.startswith("@@")]
    body = section[starts[0] :] if starts else []
    return Change(
        path=path,
        previous=previous,
        status=_STATUS.get(letter, "changed"),
        sha=sha,
        additions=sum(line.startswith("+") for line in body),
        deletions=sum(line.startswith("-") for line in body),
        patch="\n".join(body) if body else None,
    )
