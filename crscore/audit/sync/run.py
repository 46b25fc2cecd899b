"""Runs a synchronisation: reads what is new on the code host into the store.

The steps are: find the repositories, list the pull requests that changed and mark them as pending,
read the threads of the other pull requests, read the details of the pending ones, fetch the clones.
Each step stores its data before the next step begins, so that the next run can continue wherever
this run is stopped. Data that cannot be read are reported, and the run continues.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from crscore import progress
from crscore.audit.store import queries
from crscore.audit.store.database import Store
from crscore.audit.store.rows import AuditRun, Repository
from crscore.audit.sync.clones import fetch_repository
from crscore.audit.sync.pulls import PullReader, observe_threads, read_changed
from crscore.audit.sync.repositories import Messages, check_names, find_again, find_repositories
from crscore.errors import BadTokenError, HostError, NotFoundError, RateLimitedError
from crscore.hosts.feed import Feed
from crscore.reports.escape import one_line

# People also resolve threads after the merge. A host does not list a pull request as changed if
# only a thread was resolved, so the threads are read in each run (docs/design/025-audits.md).
OBSERVED_DAYS: Final = 14
"""Number of days after a pull request was closed or merged in which it is still observed."""
FIRST_DAYS: Final = 30
"""How many days back the first run reads a new repository, by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Repositories to synchronise, and how to fetch them."""

    repositories: tuple[str, ...] = ()
    """Names of the form `owner/name`."""
    organisations: tuple[str, ...] = ()
    """Owners with a shell pattern for names, such as `acme/*`."""
    since: datetime | None = None
    """Time from which the data of a new repository are read; None for 30 days ago."""
    git_url: str = "https://github.com/{name}.git"
    """Address to fetch a repository from, with `{name}` in place of its name."""
    token: str | None = field(default=None, repr=False)
    """Token to fetch with; None for anonymous fetches."""


class Summary(NamedTuple):
    """Outcome of a run."""

    run: AuditRun
    """Stored row of the run."""
    pending: int
    """Number of pull requests that the next run has to read."""
    notes: tuple[str, ...]
    """Notes for the user, one sentence each."""


def sync(store: Store, feed: Feed, clones: Path, request: Request, *, now: datetime) -> Summary:
    """Update the store and the clones.

    Args:
        store: The store.
        feed: The code host.
        clones: Folder of the bare clones.
        request: Repositories to synchronise.
        now: Current time, with a time zone.

    Returns:
        The outcome. If not everything could be read, its `run.partial` has the reason.

    Raises:
        InputError: A name or pattern is invalid, or the store has data of another host.
        BadTokenError: The token is missing or wrong.
        StoreError: The store cannot be written.
    """
    check_names(store, feed, request.repositories, request.organisations)
    start, messages, requests_before = time.monotonic(), Messages(), feed.requests
    now = now.astimezone(UTC)
    today, last = now.date().isoformat(), queries.last_run_date(store) or ""
    # The night of a run is its date in UTC. Observations are sorted by night, so the night must not
    # be before that of the last run.
    if last > today:
        messages.notes.append(
            f"The clock went back: the last run was on {last}, but today is {today}. "
            f"This run counts as one on {last}."
        )
    reader = PullReader(
        store=store,
        feed=feed,
        night=max(last, today),
        final_before=_iso(now - timedelta(days=OBSERVED_DAYS)),
        messages=messages,
    )
    # The run is stored before anything is read, so that a killed run has a row, without an end.
    run = queries.add_run(store, "sync", night=reader.night, started=_iso(now))
    repositories: dict[int, Repository] = {}
    try:
        # If a step stops early, the next steps still run, because GitHub's REST and GraphQL APIs
        # have separate rate limits, and clones have no rate limit
        # (https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
        with _step(messages):
            repositories = find_repositories(
                store,
                feed,
                request.repositories,
                request.organisations,
                _iso(request.since or now - timedelta(days=FIRST_DAYS)),
                messages,
            )
        with _step(messages):
            _read_lists(store, feed, repositories, messages, _iso(now))
        _read_pulls(reader, run, [*repositories])
        # The clones are fetched last, because the details say which commits to fetch.
        with _step(messages), progress.track("fetching clones", len(repositories)) as advance:
            for repository in repositories.values():
                # `format` cannot be used, because an address may contain other braces.
                url = request.git_url.replace("{name}", repository.name)
                try:
                    fetch_repository(store, feed, clones, repository, url, request.token)
                except HostError as exc:
                    messages.missing.append(
                        f"The clone of {repository.name} could not be updated: "
                        f"{one_line(exc.reason)}."
                    )
                advance()
    except BadTokenError as exc:
        messages.missing.append(f"{exc}.")
        raise
    # The row is also completed after an error, because the data that were read are stored, and
    # `partial` has the reason.
    finally:
        seconds = time.monotonic() - start
        run = replace(
            run,
            pulls=reader.read,
            failed=len(reader.failures),
            finished=_iso(now + timedelta(seconds=seconds)),
            partial=" ".join(messages.missing) or None,
            rest=feed.requests - requests_before,
            points=feed.points,
        )
        store.put([run])
    pending = queries.pending_pulls(store, [*repositories])
    return Summary(run, len(pending), tuple(dict.fromkeys(messages.notes)))


@contextmanager
def _step(messages: Messages) -> Iterator[None]:
    """Run a step. If it stops early, add a sentence for the user; the next run does the rest."""
    try:
        yield
    except BadTokenError:
        raise
    except HostError as exc:
        messages.missing.append(f"Stopped early: {exc}.")


def _read_lists(
    store: Store, feed: Feed, repositories: dict[int, Repository], messages: Messages, now: str
) -> None:
    """Read the list of changed pull requests of each repository.

    In `repositories`, renamed repositories are replaced, and those that no longer exist are
    removed. If the step stops early, the other repositories stay, so that the next steps include
    them.
    """
    with progress.track("listing pull requests of repositories", len(repositories)) as advance:
        for id_, repository in tuple(repositories.items()):
            current = _read_repository(store, feed, repository, messages, now)
            if current is None:
                del repositories[id_]
            else:
                repositories[id_] = current
            advance()


def _read_repository(
    store: Store, feed: Feed, repository: Repository, messages: Messages, now: str
) -> Repository | None:
    """Read the list of one repository, and return the repository with its current name.

    The result is None if the repository no longer exists.
    """
    try:
        try:
            return read_changed(store, feed, repository, messages, now)
        except NotFoundError:
            renamed = find_again(store, feed, repository, messages)
            return renamed and read_changed(store, feed, renamed, messages, now)
    except (RateLimitedError, BadTokenError):
        raise
    except HostError as exc:
        messages.missing.append(f"{repository.name} was not read to the end: {exc}.")
        return repository


def _read_pulls(reader: PullReader, run: AuditRun, repositories: Sequence[int]) -> None:
    """Read the threads of the observed pull requests, and the details of the pending ones."""
    store, messages = reader.store, reader.messages
    # Threads are read before details, because a pull request with a new thread becomes pending, and
    # its details are then read in the same run.
    with _step(messages):
        queries.mark_closed_pending(store, reader.final_before)
        pulls = queries.observed_pulls(store, repositories, reader.night, reader.final_before)
        with progress.track("observing pull requests", len(pulls)) as advance:
            observe_threads(store, reader.feed, pulls, reader.night, advance)
    with _step(messages):
        pulls = queries.pending_pulls(store, repositories)
        with progress.track("reading pull requests", len(pulls)) as advance:
            for _ in reader.read_pulls(pulls):
                # The counts are stored each time, because the run may be killed.
                store.put([replace(run, pulls=reader.read, failed=len(reader.failures))])
                advance()


def _iso(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
