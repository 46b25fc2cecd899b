"""One synchronisation run.

    repositories -> changed pull requests (pending) -> threads of the others -> details -> clones

Each step stores its data before the next one begins, so that the next run can continue after a stop
at any point. Data that cannot be read is reported; the rest continues.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from crscore import progress
from crscore.audit.store import queries
from crscore.audit.store.database import Store
from crscore.audit.store.rows import AuditRun, Repository
from crscore.audit.sync.clones import fetch_repository
from crscore.audit.sync.pulls import PullReader, observe_threads, read_changed
from crscore.audit.sync.repositories import (
    Messages,
    check_names,
    find_again,
    find_repositories,
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Outcome of a run."""

    run: AuditRun
    repositories: int
    """Number of synchronised repositories."""
    pending: int
    """Number of pull requests left for the next run."""
    notes: tuple[str, ...]
    """Notes for the user, one sentence each."""


def sync(
    store: Store,
    feed: Feed,
    clones: Path,
    request: Request,
    *,
    now: datetime,
) -> Summary:
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
    start, messages = time.monotonic(), Messages()
    now = now.astimezone(UTC)
    today, last = now.date().isoformat(), queries.last_night(store) or ""
    # Observations must be in order.
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
    # Stored before anything is read, so that a killed run leaves a row without an end.
    run = queries.add_run(store, "sync", night=reader.night, started=_iso(now))
    night = _Night(
        store=store,
        feed=feed,
        sent_before=feed.requests,
        clones=clones,
        request=request,
        now=now,
        messages=messages,
        run=run,
        reader=reader,
    )
    try:
        night.read()
    except BadTokenError as exc:
        messages.missing.append(f"{exc}.")
        raise
    # Also after an error: stored data counts, and `partial` has the reason.
    finally:
        run = night.complete(seconds=time.monotonic() - start)
    return Summary(
        run=run,
        repositories=len(night.repositories),
        pending=len(queries.pending_pulls(store, night.numbers)),
        notes=tuple(dict.fromkeys(messages.notes)),
    )


@dataclass(slots=True, kw_only=True)
class _Night:
    """One run of `sync`."""

    store: Store
    feed: Feed
    clones: Path
    request: Request
    now: datetime
    """Current time; all days are counted back from it."""
    messages: Messages
    run: AuditRun
    sent_before: int
    """Number of requests sent before this run."""
    reader: PullReader
    repositories: list[Repository] = field(default_factory=list)

    @property
    def numbers(self) -> list[int]:
        """Numbers of the repositories."""
        return [repository.id for repository in self.repositories]

    def read(self) -> None:
        """Run all steps; a step that stops early leaves the rest to the next run."""
        # After a step that stopped, the others still run: GitHub's REST and GraphQL APIs have
        # separate rate limits, and clones have none
        # (https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
        store, feed, reader = self.store, self.feed, self.reader
        with self._step():
            self.repositories = find_repositories(
                store,
                feed,
                self.request.repositories,
                self.request.organisations,
                _iso(self.request.since or self.now - timedelta(days=FIRST_DAYS)),
                self.messages,
            )
        with self._step():
            self._read_lists()
        # Threads before details: an unknown thread makes its pull request pending, so that its
        # details are read in this run.
        with self._step():
            queries.mark_last_reading(store, reader.final_before)
            pulls = queries.observed_pulls(store, self.numbers, reader.night, reader.final_before)
            with progress.track("observing pull requests", len(pulls)) as advance:
                observe_threads(store, feed, pulls, reader.night, advance)
        with self._step():
            pulls = queries.pending_pulls(store, self.numbers)
            with progress.track("reading pull requests", len(pulls)) as advance:
                for _ in reader.read_pulls(pulls):
                    # Stored each time, because a run may be killed.
                    with store.transaction():
                        store.put([replace(self.run, pulls=reader.read, failed=reader.failed)])
                    advance()
        # Clones last: they need the commits in the details.
        with (
            self._step(),
            progress.track("fetching clones", len(self.repositories)) as advance,
        ):
            for repository in self.repositories:
                self._fetch(repository)
                advance()

    @contextmanager
    def _step(self) -> Iterator[None]:
        try:
            yield
        except BadTokenError:
            raise
        except HostError as exc:
            self.messages.missing.append(f"Stopped early: {exc}.")

    def complete(self, *, seconds: float) -> AuditRun:
        """Complete the run's row."""
        completed = replace(
            self.run,
            pulls=self.reader.read,
            failed=self.reader.failed,
            finished=_iso(self.now + timedelta(seconds=seconds)),
            partial=" ".join(self.messages.missing) or None,
            rest=self.feed.requests - self.sent_before,
            points=self.feed.points,
        )
        with self.store.transaction():
            self.store.put([completed])
        return completed

    def _read_lists(self) -> None:
        unread, self.repositories = self.repositories, []
        try:
            with progress.track("listing pull requests of repositories", len(unread)) as advance:
                while unread:
                    repository = self._read_repository(unread[0])
                    self.repositories += [repository] if repository is not None else []
                    # Only now, so that a repository whose reading was interrupted stays unread.
                    unread.pop(0)
                    advance()
        finally:
            # After an early stop, the other steps still include the rest.
            self.repositories += unread

    def _read_repository(self, repository: Repository) -> Repository | None:
        """Return the repository with its current name; None if it no longer exists."""
        try:
            try:
                return self._read_from(repository)
            except NotFoundError:
                renamed = find_again(self.store, self.feed, repository, self.messages)
                return None if renamed is None else self._read_from(renamed)
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            self.messages.missing.append(f"{repository.name} was not read to the end: {exc}.")
            return repository

    def _read_from(self, repository: Repository) -> Repository:
        return read_changed(self.store, self.feed, repository, self.messages, _iso(self.now))

    def _fetch(self, repository: Repository) -> None:
        try:
            fetch_repository(
                self.store,
                self.clones,
                repository.id,
                # `replace`, not `format`: an address may contain other braces.
                self.request.git_url.replace("{name}", repository.name),
                self.request.token,
                find_commits=partial(self.feed.find_commits, repository.name),
                refs=self.feed.refs,
                login=self.feed.login,
            )
        except HostError as exc:
            self.messages.missing.append(
                f"The clone of {repository.name} could not be brought up to date: "
                f"{one_line(exc.reason)}."
            )


def _iso(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
