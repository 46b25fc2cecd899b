"""One synchronisation run.

    repositories -> changed pull requests (pending) -> threads of the others -> details -> clones

Each step stores its data before the next step begins, so that after a stop at any point the next
run can continue. Data that cannot be read is reported, and the run goes on.
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

# Reactions and resolved threads do not change the time of a pull request, and some come after the
# merge: they are seen on its last reading (docs/design/025-audits.md).
OBSERVED_DAYS: Final = 14
"""Number of days for which a merged or closed pull request is observed."""
FIRST_DAYS: Final = 30
"""Number of days before the first run that are read from a new repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Repositories to synchronise, and their addresses."""

    repositories: tuple[str, ...] = ()
    """Names of the form `owner/name`."""
    organisations: tuple[str, ...] = ()
    """Owners with a shell pattern for names: `acme/*`."""
    since: datetime | None = None
    """Start of the data that is read from a new repository; None for 30 days ago."""
    git_url: str = "https://github.com/{name}.git"
    """Address of a repository's clone."""
    token: str | None = field(default=None, repr=False)
    """Token to fetch with; None for anonymous fetches."""


class Summary(NamedTuple):
    """Outcome of a run."""

    run: AuditRun
    pending: int
    """Number of pull requests left for the next run."""
    notes: tuple[str, ...]
    """Notes for the user, one sentence each."""


def sync(store: Store, feed: Feed, clones: Path, request: Request, *, now: datetime) -> Summary:
    """Bring the store and the clones up to date.

    Args:
        store: The store.
        feed: The code host.
        clones: Folder of the bare clones.
        request: Repositories to synchronise.
        now: Current time, with a time zone.

    Returns:
        The outcome; `run.partial` has the reason if not everything could be read.

    Raises:
        InputError: A name is not a repository's, or the store has data of another host.
        BadTokenError: The token is missing or wrong.
        StoreError: The store cannot be written.
    """
    check_names(store, feed, request.repositories, request.organisations)
    start, messages, sent_before = time.monotonic(), Messages(), feed.requests
    now = now.astimezone(UTC)
    today, last = now.date().isoformat(), queries.last_night(store) or ""
    # Observations are kept in the order of their nights, so a night must not be before the last
    # one.
    if last > today:
        messages.notes.append(
            f"The clock went back: the last run was on {last}, and now it is {today}. "
            f"Observations count for {last}."
        )
    reader = PullReader(
        store=store,
        feed=feed,
        night=max(last, today),
        final_before=_iso(now - timedelta(days=OBSERVED_DAYS)),
        messages=messages,
    )
    # The run is stored before anything is read, so that a killed run leaves a row without an end.
    run = queries.add_run(store, "sync", night=reader.night, started=_iso(now))
    repositories: dict[int, Repository] = {}
    try:
        # After a step that stopped early, the next steps still run: GitHub's REST and GraphQL APIs
        # have separate rate limits, and clones have none
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
        # The clones are fetched last, because the commits to fetch are in the details.
        with _step(messages), progress.track("fetching clones", len(repositories)) as advance:
            for repository in repositories.values():
                # `replace`, not `format`: an address may contain other braces.
                url = request.git_url.replace("{name}", repository.name)
                try:
                    fetch_repository(store, feed, clones, repository, url, request.token)
                except HostError as exc:
                    messages.missing.append(
                        f"The clone of {repository.name} could not be brought up to date: "
                        f"{one_line(exc.reason)}."
                    )
                advance()
    except BadTokenError as exc:
        messages.missing.append(f"{exc}.")
        raise
    # The row is completed also after an error: what was stored counts, and `partial` has the
    # reason.
    finally:
        seconds = time.monotonic() - start
        run = replace(
            run,
            pulls=reader.read,
            failed=len(reader.failures),
            finished=_iso(now + timedelta(seconds=seconds)),
            partial=" ".join(messages.missing) or None,
            rest=feed.requests - sent_before,
            points=feed.points,
        )
        store.put([run])
    pending = queries.pending_pulls(store, [*repositories])
    return Summary(run, len(pending), tuple(dict.fromkeys(messages.notes)))


@contextmanager
def _step(messages: Messages) -> Iterator[None]:
    """Run one step; if it stops early, leave the rest of it to the next run."""
    try:
        yield
    except BadTokenError:
        raise
    except HostError as exc:
        messages.missing.append(f"Stopped early: {exc}.")


def _read_lists(
    store: Store, feed: Feed, repositories: dict[int, Repository], messages: Messages, now: str
) -> None:
    """Read the lists of changed pull requests; rename repositories, and remove those that are gone.

    After an early stop, the other repositories stay, so that the next steps include them.
    """
    with progress.track("listing pull requests of repositories", len(repositories)) as advance:
        for number, repository in tuple(repositories.items()):
            current = _read_repository(store, feed, repository, messages, now)
            if current is None:
                del repositories[number]
            else:
                repositories[number] = current
            advance()


def _read_repository(
    store: Store, feed: Feed, repository: Repository, messages: Messages, now: str
) -> Repository | None:
    """Return the repository with its current name; None if it no longer exists."""
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
    # Threads before details: an unknown thread makes its pull request pending, so that its details
    # are read in this run.
    with _step(messages):
        queries.mark_last_reading(store, reader.final_before)
        pulls = queries.observed_pulls(store, repositories, reader.night, reader.final_before)
        with progress.track("observing pull requests", len(pulls)) as advance:
            observe_threads(store, reader.feed, pulls, reader.night, advance)
    with _step(messages):
        pulls = queries.pending_pulls(store, repositories)
        with progress.track("reading pull requests", len(pulls)) as advance:
            for _ in reader.read_pulls(pulls):
                # Stored each time, because a run may be killed.
                store.put([replace(run, pulls=reader.read, failed=len(reader.failures))])
                advance()


def _iso(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
