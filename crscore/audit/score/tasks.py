"""Finds pull requests to score in the store, and makes tasks of them."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from crscore.audit.score.assemble import ScoringTask
from crscore.audit.store.database import Store
from crscore.audit.store.queries import (
    FAILED,
    all_repositories,
    pull_pages,
    read_comments,
    reviewed_pulls,
    scores_of_content,
    to_message,
)
from crscore.audit.store.rows import Pull
from crscore.diff import full_files, git
from crscore.errors import HostError
from crscore.hosts.host import Host
from crscore.hosts.records import Change
from crscore.scorer import diff_limits
from crscore.settings import Config

_CONTENT_BYTES: Final = 8
_ANSWER_BYTES: Final = 200
"""Maximum bytes of git's output for one commit."""


class UnscoredPull(NamedTuple):
    """Pull request whose content has no score."""

    repository: int
    """Number of the repository."""
    number: int
    """Number of the pull request."""
    content: bytes
    """Hash of its head and its comments with their lines, 8 bytes."""


def find_unscored(store: Store, signature: str, night: str) -> list[UnscoredPull]:
    """List the pull requests to score.

    They have a comment of a reviewer, and their content has no score with this signature.

    Args:
        store: The store.
        signature: Text of the signature.
        night: Date of the run; pull requests that failed on another night are listed again.

    Returns:
        The pull requests, sorted by repository and number.
    """
    pulls = (UnscoredPull(*key, _content(store, *key)) for key in reviewed_pulls(store))
    # A signature that was never stored has the id 0, which no score has.
    id_ = {text: id_ for id_, text in store.signatures().items()}.get(signature, 0)
    return [
        pull
        for pull in pulls
        # A failure is tried again on another night; in the same night it would fail again.
        if not any(
            score.night == night or not (score.reason or "").startswith(FAILED)
            for score in scores_of_content(store, pull.repository, pull.number, id_, pull.content)
        )
    ]


def _content(store: Store, repository: int, number: int) -> bytes:
    """Hash the head and the comments, including their lines."""
    (pull,) = store.find(Pull, repository=repository, number=number)
    comments = [
        [
            row.key, row.thread, row.author, row.body.hex(), row.hunk and row.hunk.hex(),
            row.state, row.commit_id, row.path, row.line, row.start_line, row.side, is_outdated,
        ]
        for row, is_outdated, _ in read_comments(store, repository, number)
    ]  # fmt: skip
    # Thumbs and resolved threads do not affect scores, so they are not part of the content.
    data = json.dumps([pull.head, pull.base_ref, pull.author, comments]).encode()
    return hashlib.sha256(data).digest()[:_CONTENT_BYTES]


def make_tasks(
    store: Store,
    clones: Path,
    settings: Config,
    pulls: Sequence[UnscoredPull],
    *,
    host: Host | None,
    web: str,
    night: str,
) -> Iterator[ScoringTask]:
    """Read the rows of each pull request.

    Args:
        store: The store.
        clones: Folder of the bare clones, `<repository id>.git`.
        settings: Settings with the size limits.
        pulls: Pull requests to score.
        host: Reads changes that no clone has; None to skip them.
        web: Address of GitHub's pages.
        night: Date of the run, ISO 8601.

    Raises:
        StoreError: The store cannot be read.
    """
    names = {row.id: row.name for row in all_repositories(store)}
    pages = pull_pages(store, web)
    limits = full_files.Limits(
        diff=diff_limits(settings), max_source_bytes=settings.max_source_bytes
    )
    for repository, number, content in pulls:
        (pull,) = store.find(Pull, repository=repository, number=number)
        name, clone = names.get(repository, str(repository)), clones / f"{repository}.git"
        change: Change | str | None = None
        # Read from the API in this process, because workers have neither client nor token.
        if host is not None and not _has(clone, pull.base, pull.head):
            try:
                change = host.read_change(name, number, head=pull.head, limits=limits)
            except HostError as exc:
                change = str(exc)
        yield ScoringTask(
            name=name,
            url=pages.get(name, "").replace("{number}", str(number)),
            pull=pull,
            messages=tuple(
                replace(
                    to_message(store, comment.row),
                    outdated=comment.is_outdated,
                    resolved=comment.is_resolved,
                    minimized=False,
                )
                for comment in read_comments(store, repository, number)
            ),
            content=content,
            night=night,
            clone=clone.absolute(),
            change=change,
        )


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
