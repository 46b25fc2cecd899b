"""One night of synchronisation: lists, threads, details, clones.

    repositories -> lists of what changed -> pending -> threads of the others -> details -> clones

Each step stores what it read before the next begins, so that a run that is stopped anywhere goes on
with the next one. What cannot be read is told, and the rest goes on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from crscore import progress
from crscore.audit.store.database import Store
from crscore.audit.store.rows import Pull, Repository, Run
from crscore.audit.sync.clones import fetch_repository
from crscore.audit.sync.comments import Logins, known_logins
from crscore.audit.sync.details import Reader
from crscore.audit.sync.lists import read_lists
from crscore.audit.sync.repositories import (
    Messages,
    check_names,
    find_again,
    find_repositories,
)
from crscore.audit.sync.threads import look_at_threads
from crscore.audit.sync.traffic import Meter
from crscore.errors import BadTokenError, HostError, NotFoundError, RateLimitedError
from crscore.github.client import Client
from crscore.github.response_errors import one_line

OBSERVED_DAYS: Final = 14
"""Days after the merge, or the close, on which a pull request is observed."""
FIRST_DAYS: Final = 30
"""Days before its first night from which a repository is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to synchronise, and at what price."""

    repositories: tuple[str, ...] = ()
    """Each `owner/name`."""
    organisations: tuple[str, ...] = ()
    """Each an owner with a pattern of names, as in a shell: `acme/*`."""
    max_requests: int | None = None
    """Maximum REST requests; None for no limit."""
    max_points: int | None = None
    """GraphQL points after which no query is sent; None for no limit."""
    since: datetime | None = None
    """Time from which a new repository is read; None for 30 days ago."""
    git_url: str = "https://github.com/{name}.git"
    """Address of a repository's clone."""
    token: str | None = field(default=None, repr=False)
    """Token to fetch with; None fetches without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run did."""

    run: Run
    """Its row."""
    repositories: int
    """Repositories that were synchronised."""
    pending: int
    """Pull requests that the next run goes on with."""
    notes: tuple[str, ...]
    """Things to know, one sentence each."""


def sync(
    store: Store,
    client: Client,
    clones: Path,
    request: Request,
    *,
    now: datetime,
) -> Summary:
    """Bring the store and the clones up to date.

    Args:
        store: The store.
        client: GitHub client.
        clones: Folder of the bare clones.
        request: What to synchronise.
        now: Present time, with a time zone.

    Returns:
        What was done. A run that could not read everything has the reason in `run.partial`.

    Raises:
        InputError: A name is no repository.
        BadTokenError: The token is missing or wrong.
        StoreError: The store cannot be written.
    """
    check_names(request.repositories, request.organisations)
    start, messages = time.monotonic(), Messages()
    now = now.astimezone(UTC)
    date = _check_clock(store, now, messages)
    run = _begin(store, date, now)
    night = _Night(
        store=store,
        meter=Meter(client, max_requests=request.max_requests, max_points=request.max_points),
        clones=clones,
        request=request,
        night=date,
        now=now,
        messages=messages,
    )
    try:
        night.read()
    except BadTokenError as exc:
        messages.miss(f"{exc}.")
        raise
    finally:
        run = night.complete(run, seconds=time.monotonic() - start)
    return Summary(
        run=run,
        repositories=len(night.repositories),
        pending=len(night.pending()),
        notes=tuple(dict.fromkeys(messages.notes)),
    )


@dataclass(slots=True, kw_only=True)
class _Night:
    """One run."""

    store: Store
    meter: Meter
    clones: Path
    request: Request
    night: str
    """Date that observations get, ISO 8601."""
    now: datetime
    """Present time, from which all days are counted."""
    messages: Messages
    repositories: list[Repository] = field(default_factory=list)
    reader: Reader | None = None

    def read(self) -> None:
        """Make all steps; one that stops early leaves the rest of its work to the next run.

        REST and GraphQL have separate limits, and the clones have none.
        """
        for step in (
            self._find, self._read_lists, self._look_at_threads, self._read_pulls, self._fetch
        ):  # fmt: skip
            try:
                step()
            except BadTokenError:
                raise
            except HostError as exc:
                self.messages.miss(f"Stopped early: {exc}.")

    def pending(self) -> list[Pull]:
        """Return what is to be read, what changed first before the rest."""
        return self._pulls("pending = 1")

    def complete(self, run: Run, *, seconds: float) -> Run:
        """Complete the run's row."""
        done = replace(
            run,
            finished=_iso(self.now + timedelta(seconds=seconds)),
            partial=" ".join(self.messages.missing) or None,
            pulls=self.reader.read if self.reader else 0,
            failed=self.reader.failed if self.reader else 0,
            rest=self.meter.requests,
            points=self.meter.points,
            seconds=round(seconds, 3),
        )
        with self.store.transaction():
            self.store.put([done])
        return done

    def _find(self) -> None:
        self.repositories = find_repositories(
            self.store,
            self.meter,
            self.request.repositories,
            self.request.organisations,
            _iso(self.request.since or self.now - timedelta(days=FIRST_DAYS)),
            self.messages,
        )

    def _read_lists(self) -> None:
        found, self.repositories = self.repositories, []
        known = known_logins(self.store)
        try:
            with progress.track("listing pull requests of repositories", len(found)) as advance:
                while found:
                    there = self._read_one(found[0], known)
                    self.repositories += [there] if there is not None else []
                    found.pop(0)
                    advance()
        finally:
            self.repositories += found

    def _read_one(self, repository: Repository, known: Logins) -> Repository | None:
        """Return the repository as it is called now; None when it is gone."""
        try:
            try:
                return read_lists(self.store, self.meter, repository, known, self.messages)
            except NotFoundError:
                again = find_again(self.store, self.meter, repository, self.messages)
                if again is None:
                    return None
                return read_lists(self.store, self.meter, again, known, self.messages)
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            self.messages.miss(f"{repository.name} was not read to the end: {exc}.")
            return repository

    def _look_at_threads(self) -> None:
        """Look at what is observed and not read in full tonight."""
        end = _iso(self.now - timedelta(days=OBSERVED_DAYS))
        with self.store.transaction():
            last = "UPDATE pulls SET pending = 1 WHERE final = 0 AND closed < ?"
            self.store.change(last, end)
        pulls = self._pulls(
            "pending = 0 AND final = 0 AND observed < ? AND (closed IS NOT NULL OR updated >= ?)",
            self.night,
            end,
        )
        with progress.track("observing pull requests", len(pulls)) as advance:
            look_at_threads(self.store, self.meter, pulls, self.night, advance)

    def _read_pulls(self) -> None:
        pulls = self.pending()
        with progress.track("reading pull requests", len(pulls)) as advance:
            self.reader = Reader(
                store=self.store,
                meter=self.meter,
                night=self.night,
                final_before=_iso(self.now - timedelta(days=OBSERVED_DAYS)),
                known=known_logins(self.store),
                messages=self.messages,
                names={one.id: one.name for one in self.repositories},
                advance=advance,
            )
            self.reader.read_pulls(pulls)

    def _fetch(self) -> None:
        with progress.track("fetching clones", len(self.repositories)) as advance:
            for one in self.repositories:
                url = self.request.git_url.replace("{name}", one.name)
                try:
                    fetch_repository(self.store, self.clones, one.id, url, self.request.token)
                except HostError as exc:
                    reason = one_line(exc.reason)
                    missing = f"The clone of {one.name} could not be brought up to date: {reason}."
                    self.messages.miss(missing)
                advance()

    def _pulls(self, condition: str, *values: str) -> list[Pull]:
        numbers = [one.id for one in self.repositories]
        marks = ", ".join("?" * len(numbers))
        where = (
            f"WHERE {condition} AND repository IN ({marks}) ORDER BY updated, repository, number"
        )
        return self.store.select(Pull, where, *values, *numbers)


def _check_clock(store: Store, now: datetime, messages: Messages) -> str:
    """Return the date of tonight, but not before the last night: observations only move on."""
    last: str | None = store.query("SELECT MAX(night) FROM runs")[0][0]
    night = now.date().isoformat()
    if last is None or last <= night:
        return night
    messages.note(
        f"The clock went back: the last run was on {last}, and now it is {night}. "
        f"What is observed counts for {last}."
    )
    return last


def _begin(store: Store, night: str, now: datetime) -> Run:
    run = Run(
        kind="sync",
        night=night,
        started=_iso(now),
        pulls=0,
        failed=0,
        rest=0,
        points=0,
        seconds=0.0,
    )
    with store.transaction():
        store.put([run])
        return replace(run, id=store.query("SELECT MAX(id) FROM runs")[0][0])


def _iso(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
