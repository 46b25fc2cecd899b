"""Scoring of all pull requests whose content is new to the store."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from crscore import progress
from crscore.audit.engines import WORKER_DIED_REASON, make_engine
from crscore.audit.score import pull_rows
from crscore.audit.score.tasks import find_unscored, make_tasks
from crscore.audit.store.database import Store
from crscore.audit.store.queries import add_run
from crscore.hosts.host import Host
from crscore.settings import Config

GITHUB: Final = "https://github.com"


class ScoringSummary(NamedTuple):
    """Outcome of a run."""

    signature: str
    """Signature of the scores."""
    pulls: int
    """Number of pull requests that were scored or failed."""
    failed: int
    """Number of pull requests that failed; their rows have the reasons."""


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
) -> ScoringSummary:
    """Score the pull requests without a score of the current signature for their content.

    After a killed run, the next run continues where it stopped. A pull request that fails gets a
    row with the reason, and is tried again on another night.

    Args:
        store: The store; only this process writes to it.
        clones: Folder of the bare clones, `<repository id>.git`.
        settings: Settings of the scorer, for all repositories.
        night: Date of the run, ISO 8601.
        engine: `processes` or `ray[:ADDRESS]`.
        workers: Number of worker processes; see `engines.make_engine`.
        host: Reads changes that no clone has; None to skip them.
        web: Address of GitHub's pages.

    Returns:
        Counts of the run.

    Raises:
        ConfigError: The engine or a setting is wrong.
        DependencyError: A package that the engine or the encoder needs is missing.
        ModelNotFoundError: The encoder's model is missing.
        StoreError: The store cannot be read or written.
    """
    start = time.monotonic()
    # Created before the first task, so that a wrong engine or a missing model fails only once.
    chosen_engine = make_engine(engine, workers)
    signature = pull_rows.signature_of(pull_rows.make_scorer(settings))
    unscored = find_unscored(store, signature, night)
    record = add_run(store, "score", night=night, started=_now(), signature=signature)
    pulls = failed = 0
    results = chosen_engine(
        make_tasks(store, clones, settings, unscored, host=host, web=web, night=night),
        partial(pull_rows.score_task, settings=pull_rows.share_limit(settings, workers)),
        lambda task: pull_rows.failed(task, signature, WORKER_DIED_REASON),
    )
    with progress.track("scoring pull requests", len(unscored)) as advance:
        for scored in results:
            pulls, failed = pulls + 1, failed + (scored.failure is not None)
            with store.transaction():
                store.put(scored.numbered(store.signature_id(scored.signature)))
                # Updated each time, so that the counts of a killed run match its rows.
                store.put([replace(record, pulls=pulls, failed=failed)])
            advance()
    seconds = time.monotonic() - start
    finished = replace(record, finished=_now(), pulls=len(unscored), failed=failed, seconds=seconds)
    with store.transaction():
        store.put([finished])
    return ScoringSummary(signature, len(unscored), failed)


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
