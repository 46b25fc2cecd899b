"""Scores all pull requests whose present content has no score in the store."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from crscore import progress
from crscore.audit.engines import WORKER_DIED_REASON, make_engine
from crscore.audit.score import pull_rows
from crscore.audit.score.assemble import ScoringTask
from crscore.audit.store import queries
from crscore.audit.store.database import Store
from crscore.audit.store.rows import AuditRun, Pull, Score
from crscore.diff import git
from crscore.errors import HostError
from crscore.hosts.host import Host
from crscore.hosts.records import Change
from crscore.readers.model import Effort
from crscore.scorer import diff_limits
from crscore.settings import Config

GITHUB: Final = "https://github.com"


def score(
    store: Store,
    clones: Path,
    settings: Config,
    *,
    night: str,
    engine: str = "processes",
    workers: int = 1,
    host: Host | None = None,
    web: str = GITHUB,
) -> AuditRun:
    """Score the pull requests whose content has no score with the signature of these settings.

    If a run is killed, the next run continues where it stopped. A pull request that could not be
    scored gets a row with the reason, and is tried again in a run on another date.

    Args:
        store: The store; only this process writes to it.
        clones: Folder of the bare clones, `<repository id>.git`.
        settings: Settings of the scorer, for all repositories.
        night: Date of the run, ISO 8601.
        engine: `processes` or `ray[:ADDRESS]`.
        workers: Number of worker processes; see `engines.make_engine`.
        host: Code host from which to read changes that no clone has. If it is None, pull requests
            with such a change cannot be scored.
        web: Address of GitHub's pages.

    Returns:
        The stored row of the run, with its counts.

    Raises:
        ConfigError: The engine or a setting is wrong.
        DependencyError: A package that the engine or the encoder needs is missing.
        ModelNotFoundError: The encoder's model is missing.
        StoreError: The store cannot be read or written.
    """
    # Engine and scorer are created before the first task, so that a wrong engine or a missing model
    # is one error, not an error for each pull request.
    chosen_engine = make_engine(engine, workers)
    scorer = pull_rows.make_scorer(settings)
    signature, effort = pull_rows.signature_of(scorer), Effort()
    unscored = find_unscored(store, signature, night)
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    record = queries.add_run(store, "score", night=night, started=now, signature=signature)
    results = chosen_engine(
        make_tasks(store, clones, settings, unscored, host=host, web=web, night=night),
        partial(pull_rows.score_task, settings=pull_rows.share_limit(settings, workers)),
        lambda task: pull_rows.make_failure(task, signature, WORKER_DIED_REASON),
    )
    with progress.track("scoring pull requests", len(unscored)) as advance:
        for scored in results:
            effort = Effort(*map(sum, zip(effort, scored.effort, strict=True)))
            record = replace(
                record, pulls=record.pulls + 1, requests=effort.new_requests,
                failed=record.failed + (scored.failure is not None),
                tokens_read=effort.new_read, tokens_written=effort.new_written,
            )  # fmt: skip
            with store.transaction():
                store.put(scored.with_signature(store.signature_id(scored.signature)))
                # The run is stored each time, so that the counts of a killed run match its rows.
                store.put([record])
            advance()
    if model := scorer.parts.model:
        # Each worker process has its own model, so the model of this process lacks their effort.
        model.effort = effort
    record = replace(record, finished=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    store.put([record])
    return record


def find_unscored(store: Store, signature: str, night: str) -> list[tuple[int, int, bytes]]:
    """List the pull requests to score.

    These are the pull requests on which a reviewer commented and whose present content has no score
    with this signature. The content consists of the head and the comments with their lines, so that
    a pull request is scored again if a comment was edited or moved.

    Args:
        store: The store.
        signature: Text of the signature.
        night: Date of the run; pull requests that failed on another date are listed again.

    Returns:
        Repository, number and hash of the content (8 bytes) of each pull request, sorted.
    """
    # If the signature was never stored, 0 is used, which is the id of no signature.
    id_ = {text: id_ for id_, text in store.signatures().items()}.get(signature, 0)
    unscored = []
    for repository, number in queries.reviewed_pulls(store):
        (pull,) = store.find(Pull, repository=repository, number=number)
        comments = [
            [
                row.key, row.thread, row.author, row.body.hex(), row.hunk and row.hunk.hex(),
                row.state, row.commit_id, row.path, row.line, row.start_line, row.side, is_outdated,
            ]
            for row, is_outdated, _ in queries.read_comments(store, repository, number)
        ]  # fmt: skip
        # Resolved threads do not affect scores, so they are not part of the content.
        data = json.dumps([pull.head, pull.base_ref, pull.author, comments]).encode()
        content = hashlib.sha256(data).digest()[:8]
        of_pull = {"repository": repository, "number": number, "content": content}
        scores = store.find(Score, **of_pull, reviewer="", signature=id_)
        # A pull request that failed on this date would probably fail again.
        if not any(
            row.night == night or not (row.reason or "").startswith(queries.FAILED)
            for row in scores
        ):
            unscored.append((repository, number, content))
    return unscored


def make_tasks(
    store: Store,
    clones: Path,
    settings: Config,
    pulls: Sequence[tuple[int, int, bytes]],
    *,
    host: Host | None,
    web: str,
    night: str,
) -> Iterator[ScoringTask]:
    """Yield the task of each pull request: its stored data and, if no clone has it, its change.

    Args:
        store: The store.
        clones: Folder of the bare clones, `<repository id>.git`.
        settings: Settings with the size limits.
        pulls: Pull requests to score, as `find_unscored` returns them.
        host: Code host from which to read changes that no clone has; None not to read them.
        web: Address of GitHub's pages.
        night: Date of the run, ISO 8601.

    Raises:
        StoreError: The store cannot be read.
    """
    names = {row.id: row.name for row in queries.all_repositories(store)}
    pages = queries.pull_pages(store, web)
    limits = diff_limits(settings)
    for repository, number, content in pulls:
        (pull,) = store.find(Pull, repository=repository, number=number)
        name, clone = names.get(repository, str(repository)), clones / f"{repository}.git"
        change: Change | str | None = None
        # This process reads the change from the API, because workers have no client and no token.
        if host is not None and not _has_commits(clone, pull.base, pull.head):
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
                    queries.to_message(store, row),
                    outdated=outdated,
                    resolved=resolved,
                    minimized="",
                )
                for row, outdated, resolved in queries.read_comments(store, repository, number)
            ),
            content=content,
            night=night,
            clone=clone.absolute(),
            change=change,
        )


def _has_commits(clone: Path, *commits: str) -> bool:
    try:
        return not git.missing_commits(clone, commits)
    except HostError:
        return False
