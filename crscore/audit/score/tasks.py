"""Pull requests to score, as tasks, from the store."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from crscore.audit.score.assemble import Task
from crscore.audit.store.database import Store
from crscore.audit.store.queries import (
    FAILED,
    ObservedComment,
    all_repositories,
    pull_pages,
    read_comments,
    reviewed_pulls,
    scores_of_content,
    to_remark,
)
from crscore.audit.store.rows import Pull
from crscore.diff import full_files, git
from crscore.errors import HostError
from crscore.hosts.host import Host
from crscore.hosts.records import Change, Remark
from crscore.scorer import diff_limits
from crscore.settings import Config

_CONTENT_BYTES: Final = 8
_ANSWER_BYTES: Final = 200
"""Maximum bytes of git's answer about one commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnscoredPull:
    """Pull request whose content has no score."""

    repository: int
    """Number of the repository."""
    number: int
    """Number of the pull request."""
    content: bytes
    """Hash of its head and its comments with their places, 8 bytes."""


def choose(store: Store, signature: str, night: str) -> list[UnscoredPull]:
    """List the pull requests to score.

    Those are the ones with a comment of a reviewer whose content has no score of a signature.

    Args:
        store: The store.
        signature: Text of the signature.
        night: Date of the run; those that failed on another night are listed again.

    Returns:
        By repository and number.
    """
    pulls = (
        UnscoredPull(
            repository=repository, number=number, content=_content(store, repository, number)
        )
        for repository, number in reviewed_pulls(store)
    )
    # A signature that was never stored has the id 0, which no score has.
    id_ = {text: id_ for id_, text in store.signatures().items()}.get(signature, 0)
    return [pull for pull in pulls if not _is_scored(store, pull, id_, night)]


def _is_scored(store: Store, pull: UnscoredPull, signature: int, night: str) -> bool:
    return any(
        # A failure is tried again on another night; a repeated run of this one would fail alike.
        score.night == night or not (score.reason or "").startswith(FAILED)
        for score in scores_of_content(store, pull.repository, pull.number, signature, pull.content)
    )


def _content(store: Store, repository: int, number: int) -> bytes:
    """Hash the head and the comments with their places."""
    (pull,) = store.find(Pull, repository=repository, number=number)
    comments = [
        [
            row.key, row.thread, row.author, row.body.hex(), row.hunk and row.hunk.hex(),
            row.state, row.commit_id, row.path, row.line, row.start_line, row.side, is_outdated,
        ]
        for row, is_outdated, _ in read_comments(store, repository, number)
    ]  # fmt: skip
    # Thumbs and resolved threads change no score, so they are not part of the content.
    data = json.dumps([pull.head, pull.base_ref, pull.author, comments]).encode()
    return hashlib.sha256(data).digest()[:_CONTENT_BYTES]


def _remark(store: Store, comment: ObservedComment) -> Remark:
    remark = to_remark(store, comment.row)
    return replace(
        remark, outdated=comment.is_outdated, resolved=comment.is_resolved, minimized=False
    )


class Tasks:
    """Creates the tasks of pull requests.

    Args:
        store: The store.
        clones: Folder with a bare clone `<repository's id>.git` each.
        settings: Settings with the size limits.
        host: Reads changes that no clone has; None to skip them.
        web: Address of GitHub's pages.
        night: Date of the run, ISO 8601.
    """

    def __init__(
        self,
        store: Store,
        clones: Path,
        settings: Config,
        *,
        host: Host | None,
        web: str,
        night: str,
    ) -> None:
        self._store, self._clones, self._night = store, clones, night
        self._host = host
        self._limits = full_files.Limits(
            diff=diff_limits(settings), max_source_bytes=settings.max_source_bytes
        )
        self._names = {row.id: row.name for row in all_repositories(store)}
        self._pages = pull_pages(store, web)

    def make(self, pulls: Sequence[UnscoredPull]) -> Iterator[Task]:
        """Read the rows of each pull request.

        Raises:
            StoreError: The store cannot be read.
        """
        for unscored in pulls:
            repository, number = unscored.repository, unscored.number
            (pull,) = self._store.find(Pull, repository=repository, number=number)
            comments = read_comments(self._store, repository, number)
            name = self._names.get(repository, str(repository))
            clone = self._clones / f"{repository}.git"
            yield Task(
                name=name,
                url=self._pages.get(name, "").replace("{number}", str(number)),
                pull=pull,
                remarks=tuple(_remark(self._store, comment) for comment in comments),
                content=unscored.content,
                night=self._night,
                clone=clone.absolute(),
                # Read from the API in this process: workers have no client and no token.
                change=self._fallback(name, pull, clone),
            )

    def _fallback(self, name: str, pull: Pull, clone: Path) -> Change | str | None:
        """Read the change from the API when the clone lacks a commit."""
        if self._host is None or _has(clone, pull.base, pull.head):
            return None
        try:
            return self._host.read_change(name, pull.number, head=pull.head, limits=self._limits)
        except HostError as exc:
            return str(exc)


def _has(clone: Path, *commits: str) -> bool:
    names = "".join(f"{commit}^{{commit}}\n" for commit in commits).encode()
    try:
        answer = git.run_git(
            ("cat-file", "--batch-check"),
            folder=clone,
            is_git_dir=True,
            input_bytes=names,
            max_bytes=len(commits) * _ANSWER_BYTES,
        )
    except HostError:
        return False
    return all(b" commit " in line for line in answer.splitlines())
