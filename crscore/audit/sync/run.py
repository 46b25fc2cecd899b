"""One night of synchronisation: lists, threads, details, clones.

    repositories -> lists of what changed -> pending -> threads of the others -> details -> clones

Each step stores what it read before the next begins, so that the next run continues one that was
stopped anywhere. What cannot be read is reported; the rest continues.
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
    logins_by_account,
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

OBSERVED_DAYS: Final = 14
"""Days after the merge, or the close, on which a pull request is observed."""
FIRST_DAYS: Final = 30
"""Days before its first night that are read of a new repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Repositories to synchronise, and where from."""

    repositories: tuple[str, ...] = ()
    """Each `owner/name`."""
    organisations: tuple[str, ...] = ()
    """Each an owner with a pattern of names, as in a shell: `acme/*`."""
    since: datetime | None = None
    """Earliest time that is read of a new repository; None for 30 days ago."""
    git_url: str = "https://github.com/{name}.git"
    """Address of a repository's clone."""
    token: str | None = field(default=None, repr=False)
    """Token to fetch with; None fetches without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Outcome of a run."""

    run: AuditRun
    repositories: int
    """Repositories that were synchronised."""
    pending: int
    """Pull requests left for the next run."""
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
        request: What to synchronise.
        now: Current time, with a time zone.

    Returns:
        The outcome. A run that could not read everything has the reason in `run.partial`.

    Raises:
        InputError: A name is not that of a repository, or the store is of another host.
        BadTokenError: The token is missing or wrong.
        StoreError: The store cannot be written.
    """
    check_names(store, feed, request.repositories, request.organisations)
    start, messages = time.monotonic(), Messages()
    now = now.astimezone(UTC)
    date = _check_clock(store, now, messages)
    # Before anything is read: a run that is killed leaves a row without an end.
    run = add_run(
        store,
        AuditRun(
            kind="sync",
            night=date,
            started=_iso(now),
            pulls=0,
            failed=0,
            rest=0,
            points=0,
            seconds=0.0,
        ),
    )
    night = _Night(
        store=store,
        feed=feed,
        sent_before=feed.requests,
        clones=clones,
        request=request,
        night=date,
        now=now,
        messages=messages,
        run=run,
    )
    try:
        night.read()
    except BadTokenError as exc:
        messages.miss(f"{exc}.")
        raise
    # Also after an error: what was read counts, and `partial` has the reason.
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
    """One run."""

    store: Store
    feed: Feed
    clones: Path
    request: Request
    night: str
    """Date of the observations, ISO 8601."""
    now: datetime
    """Current time; all days are counted back from it."""
    messages: Messages
    run: AuditRun
    sent_before: int
    """Requests that were sent before this run."""
    repositories: list[Repository] = field(default_factory=list)
    reader: PullReader | None = None

    @property
    def numbers(self) -> list[int]:
        """Numbers of the repositories."""
        return [repository.id for repository in self.repositories]

    @property
    def observed_since(self) -> str:
        """Earliest time of closing at which a pull request is still observed."""
        return _iso(self.now - timedelta(days=OBSERVED_DAYS))

    def read(self) -> None:
        """Run all steps; one that stops early leaves the rest of its work to the next run.

        REST and GraphQL of GitHub have separate limits, and the clones have none.
        """
        # Threads before details: an unknown thread makes its pull request pending, and it is read
        # tonight. Clones last: they need the commits that the details name.
        for step in (
            self._find, self._read_lists, self._observe_threads, self._read_pulls, self._fetch
        ):  # fmt: skip
            try:
                step()
            except BadTokenError:
                raise
            except HostError as exc:
                self.messages.miss(f"Stopped early: {exc}.")

    def complete(self, *, seconds: float) -> AuditRun:
        """Complete the run's row."""
        self._count_pulls()
        completed = replace(
            self.run,
            finished=_iso(self.now + timedelta(seconds=seconds)),
            partial=" ".join(self.messages.missing) or None,
            rest=self.feed.requests - self.sent_before,
            points=self.feed.points,
            seconds=round(seconds, 3),
        )
        with self.store.transaction():
            self.store.put([completed])
        return completed

    def _count_pulls(self) -> None:
        """Store how many pull requests were read: a run may be killed."""
        if self.reader is not None:
            self.run = replace(self.run, pulls=self.reader.read, failed=self.reader.failed)
            with self.store.transaction():
                self.store.put([self.run])

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
                    # Only now: a repository whose reading was interrupted stays unread.
                    unread.pop(0)
                    advance()
        finally:
            # After an early stop, the rest is still read in detail and fetched.
            self.repositories += unread

    def _read_repository(self, repository: Repository) -> Repository | None:
        """Return the repository with its present name; None when it is gone."""
        try:
            try:
                return self._read_from(repository)
            except NotFoundError:
                renamed = find_again(self.store, self.feed, repository, self.messages)
                return None if renamed is None else self._read_from(renamed)
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            self.messages.miss(f"{repository.name} was not read to the end: {exc}.")
            return repository

    def _read_from(self, repository: Repository) -> Repository:
        return read_changed(self.store, self.feed, repository, self.messages, _iso(self.now))

    def _observe_threads(self) -> None:
        """Observe the threads of what is not read in full tonight."""
        mark_last_reading(self.store, self.observed_since)
        pulls = observed_pulls(self.store, self.numbers, self.night, self.observed_since)
        with progress.track("observing pull requests", len(pulls)) as advance:
            observe_threads(self.store, self.feed, pulls, self.night, advance)

    def _read_pulls(self) -> None:
        pulls = pending_pulls(self.store, self.numbers)
        with progress.track("reading pull requests", len(pulls)) as advance:

            def count_and_advance() -> None:
                self._count_pulls()
                advance()

            self.reader = PullReader(
                store=self.store,
                feed=self.feed,
                night=self.night,
                final_before=self.observed_since,
                logins=logins_by_account(self.store),
                messages=self.messages,
                advance=count_and_advance,
            )
            self.reader.read_pulls(pulls)

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
                    self.messages.miss(
                        f"The clone of {repository.name} could not be brought up to date: "
                        f"{one_line(exc.reason)}."
                    )
                advance()


def _check_clock(store: Store, now: datetime, messages: Messages) -> str:
    """Return tonight's date, or that of the last night if later: observations are in order."""
    last = last_night(store)
    night = now.date().isoformat()
    if last is None or last <= night:
        return night
    messages.note(
        f"The clock went back: the last run was on {last}, and now it is {night}. "
        f"Observations count for {last}."
    )
    return last


def _iso(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
