"""What every reading of pull requests has in common: counts, failures, and the row at the end."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from crscore.audit.store.database import Store
from crscore.audit.store.queries import Account
from crscore.audit.store.rows import Pull, Repository
from crscore.audit.sync.repositories import Directory, Messages
from crscore.reports.escape import one_line


@dataclass(slots=True, kw_only=True)
class PullReader(ABC):
    """Reads pull requests in full and stores them."""

    store: Store
    night: str
    """Night of the observations, ISO 8601."""
    final_before: str
    """Pull requests that were closed before this time are read for the last time."""
    logins: dict[Account, str]
    """Logins of the accounts, brought up to date."""
    messages: Messages
    names: Mapping[int, str]
    """Names of the repositories by number."""
    advance: Callable[[], None]
    """Called for each pull request."""
    read: int = 0
    """Pull requests that were read."""
    failed: int = 0
    """Pull requests that were not."""
    first_reason: str = ""
    """Why the first of these was not."""
    failed_again: int = 0
    """Those that had failed before, too."""

    def read_pulls(self, pulls: Sequence[Pull]) -> None:
        """Read pull requests in this order.

        Raises:
            RateLimitedError: The budget is spent, or the host's.
            BadTokenError: The token is missing or wrong.
            UnavailableError: The host has stopped answering.
        """
        try:
            self.read_all(pulls)
        finally:
            if self.failed:
                noun = "pull request" if self.failed == 1 else "pull requests"
                reason = self.first_reason
                # One that the host never answers for does not make each later run partial.
                report = self.messages.miss
                if self.failed == self.failed_again:
                    report = self.messages.note
                report(f"{self.failed:,} {noun} could not be read: {reason}.")

    @abstractmethod
    def read_all(self, pulls: Sequence[Pull]) -> None:
        """Read pull requests: what each host does differently."""

    def fail(self, pull: Pull, reason: str) -> None:
        """Store why a pull request could not be read."""
        self.failed += 1
        self.failed_again += pull.failure is not None
        self.first_reason = self.first_reason or one_line(reason)
        with self.store.transaction():
            self.store.put([replace(pull, failure=reason, pending=1)])
        self.advance()

    def complete(
        self, pull: Pull, *, lines: int | None, language: str | None, unlisted: str
    ) -> None:
        """Store a pull request that was read, in an open transaction.

        Args:
            pull: Its row.
            lines: Changed lines.
            language: That of most changed lines.
            unlisted: Why comments are missing; empty when none are. The host may take a moment to
                list what it counts.
        """
        row = replace(
            pull,
            lines=lines,
            language=language,
            pending=int(bool(unlisted)),
            observed=self.night,
            # Closed ones are read once more after the observed days; from then on they stay as they
            # are.
            final=int(pull.closed is not None and pull.closed < self.final_before),
            failure=unlisted or None,
        )
        self.store.put([row])
        self.first_reason = self.first_reason or unlisted
        self.read, self.failed = self.read + (not unlisted), self.failed + bool(unlisted)
        self.failed_again += bool(unlisted) and pull.failure is not None


class Source(Directory, Protocol):
    """A code host as a night reads it; every method stores what it reads."""

    refs: str
    """Refs of the newest commits of the pull requests, with `*` for the number."""
    login: str
    """Account name with which git signs in."""

    @property
    def requests(self) -> int:
        """REST requests of this run."""

    @property
    def points(self) -> int:
        """GraphQL points of this run."""

    def read_lists(
        self,
        store: Store,
        repository: Repository,
        logins: dict[Account, str],
        messages: Messages,
        now: str,
    ) -> Repository:
        """Store what changed in a repository and mark its pull requests as pending.

        Returns:
            The repository, with its present name.

        Raises:
            NotFoundError: There is no repository of this name.
            HostError: A list could not be read to its end.
        """

    def observe_threads(
        self, store: Store, pulls: Sequence[Pull], night: str, advance: Callable[[], None]
    ) -> None:
        """Append the states of threads that changed; pull requests that fail become pending.

        Raises:
            RateLimitedError: The budget is spent, or the host's.
            BadTokenError: The token is missing or wrong.
        """

    def find_commits(self, repository: str, commits: Sequence[str]) -> Sequence[str]:
        """Return those of some commits that the host still has.

        Raises:
            HostError: It did not say so of all.
        """

    def make_reader(self, **options: object) -> PullReader:
        """Make what reads the details of pull requests, from the fields of `PullReader`."""
