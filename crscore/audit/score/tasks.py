"""Pull requests to score, as tasks, from the store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from crscore.audit.score import work
from crscore.audit.score.assemble import Task
from crscore.audit.store.database import Store
from crscore.audit.store.remarks import to_remark
from crscore.audit.store.rows import Comment, Pull, Repository
from crscore.diff import full_files, git
from crscore.errors import HostError
from crscore.github import pull as host
from crscore.github.client import Client
from crscore.github.pull import Change
from crscore.github.records import Remark
from crscore.scorer import diff_limits
from crscore.settings import Config

_CONTENT_BYTES: Final = 8
_ANSWER_BYTES: Final = 200
"""Most bytes of git's answer about one commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Pull request whose content has no score."""

    repository: int
    """Number of the repository."""
    number: int
    """Number of the pull request."""
    content: bytes
    """Hash of its head and its comments with their places, 8 bytes."""


@dataclass(frozen=True, slots=True)
class _Post:
    """Comment with the last observation of its thread."""

    row: Comment
    outdated: bool
    resolved: bool | None


def choose(store: Store, signature: str, night: str) -> list[Chosen]:
    """List the pull requests to score.

    Those are the ones with a comment of a reviewer whose content has no score of a signature.

    Args:
        store: The store.
        signature: Text of the signature.
        night: Date of the run: those that failed on another one are listed again.

    Returns:
        By repository and number.
    """
    pulls = store.query(
        "SELECT repository, number FROM pulls WHERE observed IS NOT NULL AND EXISTS (SELECT 1 FROM "
        "comments WHERE comments.repository = pulls.repository AND comments.number = pulls.number "
        "AND is_review = 1) ORDER BY repository, number"
    )
    found = (
        Chosen(repository=repository, number=number, content=_content(store, repository, number))
        for repository, number in pulls
    )
    known = {text: number for number, text in store.signatures().items()}.get(signature, 0)
    return [one for one in found if not _is_scored(store, one, known, night)]


def _is_scored(store: Store, one: Chosen, signature: int, night: str) -> bool:
    rows = store.query(
        "SELECT night, reason FROM scores WHERE repository = ? AND number = ? AND reviewer = '' "
        "AND signature = ? AND content = ?",
        one.repository,
        one.number,
        signature,
        one.content,
    )
    return any(last == night or not (reason or "").startswith(work.FAILED) for last, reason in rows)


def _content(store: Store, repository: int, number: int) -> bytes:
    """Hash the head and the comments with their places."""
    pull = _pull(store, repository, number)
    posts = [
        [
            row.key, row.thread, row.author, row.body.hex(), row.hunk and row.hunk.hex(),
            row.state, row.commit_id, row.path, row.line, row.start_line, row.side, post.outdated,
        ]
        for post in _posts(store, repository, number)
        for row in (post.row,)
    ]  # fmt: skip
    data = json.dumps([pull.head, pull.base_ref, pull.author, posts]).encode()
    return hashlib.sha256(data).digest()[:_CONTENT_BYTES]


def _pull(store: Store, repository: int, number: int) -> Pull:
    return store.select(Pull, "WHERE repository = ? AND number = ?", repository, number)[0]


def _posts(store: Store, repository: int, number: int) -> list[_Post]:
    """Read the comments of a pull request that are not minimised, by key."""
    of_pull = "WHERE repository = ? AND number = ?"  # no value is in these queries
    threads = {
        thread: (bool(outdated), bool(resolved))
        for thread, outdated, resolved in store.query(
            "SELECT thread, outdated, resolved FROM thread_observations WHERE thread IN (SELECT "  # noqa: S608
            f"thread FROM comments {of_pull}) ORDER BY night",
            repository,
            number,
        )
    }
    minimized = dict(
        store.query(
            "SELECT comment, minimized FROM comment_observations WHERE comment IN (SELECT key "  # noqa: S608
            f"FROM comments {of_pull}) ORDER BY night",
            repository,
            number,
        )
    )
    rows = store.select(Comment, f"{of_pull} ORDER BY key", repository, number)
    return [
        _Post(row, *threads.get(row.thread, (False, None)))
        for row in rows
        if minimized.get(row.key) is None
    ]


def _remark(store: Store, post: _Post) -> Remark:
    found = to_remark(store, post.row)
    return replace(found, outdated=post.outdated, resolved=post.resolved, minimized=False)


class Tasks:
    """Maker of the tasks of chosen pull requests.

    Args:
        store: The store.
        clones: Folder with a bare clone `<repository's id>.git` each.
        settings: Settings with the size limits.
        client: Reads changes that no clone has; None to read none.
        web: Start of the host's pages.
        night: Date of the run, ISO 8601.
    """

    def __init__(
        self,
        store: Store,
        clones: Path,
        settings: Config,
        *,
        client: Client | None,
        web: str,
        night: str,
    ) -> None:
        self._store, self._clones, self._night = store, clones, night
        self._client, self._web = client, web.rstrip("/")
        self._limits = full_files.Limits(
            diff=diff_limits(settings), max_source_bytes=settings.max_source_bytes
        )
        self._names = {one.id: one.name for one in store.select(Repository)}

    def make(self, chosen: Sequence[Chosen]) -> Iterator[Task]:
        """Read the rows of each pull request.

        Raises:
            StoreError: The store cannot be read.
        """
        for one in chosen:
            pull = _pull(self._store, one.repository, one.number)
            posts = _posts(self._store, one.repository, one.number)
            name = self._names.get(one.repository, str(one.repository))
            clone = self._clones / f"{one.repository}.git"
            yield Task(
                name=name,
                url=f"{self._web}/{name}/pull/{one.number}",
                pull=pull,
                remarks=tuple(_remark(self._store, post) for post in posts),
                content=one.content,
                night=self._night,
                clone=clone.absolute(),
                change=self._fallback(name, pull, clone),
            )

    def _fallback(self, name: str, pull: Pull, clone: Path) -> Change | str | None:
        """Read the change from the interface when the clone lacks a commit."""
        if self._client is None or _has(clone, pull.base, pull.head):
            return None
        try:
            return host.read_change(
                self._client, name, pull.number, head=pull.head, limits=self._limits
            )
        except HostError as exc:
            return str(exc)


def _has(clone: Path, *commits: str) -> bool:
    given = "".join(f"{commit}^{{commit}}\n" for commit in commits).encode()
    try:
        answer = git.run_git(
            ("cat-file", "--batch-check"),
            folder=clone,
            is_git_dir=True,
            input_bytes=given,
            most_bytes=len(commits) * _ANSWER_BYTES,
        )
    except HostError:
        return False
    return all(b" commit " in line for line in answer.splitlines())
