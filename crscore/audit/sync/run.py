"""One synchronisation run.

    repositories -> changed pull requests (pending) -> threads of the others -> details -> clones

Each step stores its data before the next one begins, so that the next run can continue after a stop
at any point. Data that cannot be read is reported; the rest continues.
"""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from crscore import progress
from crscore.audit.store.database import Store
from crscore.audit.store.queries import (
    add_run,
    last_night,
    mark_last_reading,
    observed_pulls,
    pending_pulls,
)
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
    today, last = now.date().isoformat(), last_night(store) or ""
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
    run = add_run(store, "sync", night=reader.night, started=_iso(now))
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
        pending=len(pending_pulls(store, night.numbers)),
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
        """Run all steps; a step that stops early leaves the rest to the next run.

        The other steps still run, because GitHub's REST and GraphQL APIs have separate rate limits,
        and the clones have none.
        """
        # Threads before details: an unknown thread makes its pull request pending, so that its
        # details are read in this run. Clones last: they need the commits in the details.
        for step in (
            self._find, self._read_lists, self._observe_threads, self._read_pulls, self._fetch
        ):  # fmt: skip
            try:
                step()
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
            seconds=round(seconds, 3),
        )
        with self.store.transaction():
            self.store.put([completed])
        return completed

    def _find(self) -> None:
        self.repositories = find_repositories(
            self.store,
            self.feed,
            self.request.repositories,
            self.request.organisations,
            _iso(self.request.since or self.now - timedelta(days=FIRST_DAYS)),
            self.messages,
        )

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

    def _observe_threads(self) -> None:
        """Observe the threads of pull requests that this run does not read in full."""
        night, since = self.reader.night, self.reader.final_before
        mark_last_reading(self.store, since)
        pulls = observed_pulls(self.store, self.numbers, night, since)
        with progress.track("observing pull requests", len(pulls)) as advance:
            observe_threads(self.store, self.feed, pulls, night, advance)

    def _read_pulls(self) -> None:
        pulls = pending_pulls(self.store, self.numbers)
        with progress.track("reading pull requests", len(pulls)) as advance:

            def count_and_advance() -> None:
                # Stored each time, because a run may be killed.
                counts = {"pulls": self.reader.read, "failed": self.reader.failed}
                with self.store.transaction():
                    self.store.put([replace(self.run, **counts)])
                advance()

            self.reader.read_pulls(pulls, count_and_advance)

    def _fetch(self) -> None:
        with progress.track("fetching clones", len(self.repositories)) as advance:
            for repository in self.repositories:
                url, token = self.request.git_url, self.request.token
                # `replace`, not `format`: an address may contain other braces.
                url = url.replace("{name}", repository.name)
                try:
                    fetch_repository(
                        self.store,
                        self.clones,
                        repository.id,
                        url,
                        token,
                        find_commits=partial(self.feed.find_commits, repository.name),
                        refs=self.feed.refs,
                        login=self.feed.login,
                    )
                except HostError as exc:
                    self.messages.missing.append(
                        f"The clone of {repository.name} could not be brought up to date: "
                        f"{one_line(exc.reason)}."
                    )
                advance()


def _iso(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
