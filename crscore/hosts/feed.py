"""Protocol for reading a code host in an audit: changed pull requests and their details.

Times are ISO 8601 in UTC, to the second. Numbers and ids are below 2**62.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from crscore.hosts.records import HostMessage


class FeedPull(NamedTuple):
    """Pull request as the host lists it."""

    repository: int
    number: int
    # GitHub's GraphQL needs this identifier in a query for several pull requests.
    node: str
    """The host's own identifier of the pull request."""
    title: str
    author: str | None
    state: str
    """open, merged or closed."""
    created: str
    updated: str
    closed: str | None
    merged: str | None
    base_ref: str
    # GitLab's lists do not contain the tip of the base branch; `read_details` reads it.
    base: str
    """Tip of the base branch; empty if the host's list does not contain it."""
    head: str
    merge_commit: str | None


class FeedThread(NamedTuple):
    """State of a thread of messages on lines."""

    first: int
    """Id of the thread's first message; 0 if unknown."""
    node: str
    """The host's own identifier of the thread."""
    resolved: bool
    resolved_by: str | None
    outdated: bool


class FeedDetails(NamedTuple):
    """All data of a pull request that an audit stores."""

    pull: FeedPull | None
    """The pull request itself; None if `read_changed` already returned all its fields."""
    messages: tuple[HostMessage, ...]
    threads: tuple[FeedThread, ...]
    lines: int | None
    """Number of changed lines; None if unknown."""
    language: str | None
    """Language with the most changed lines; None if unknown."""
    unlisted: str
    """Why messages that the host counts are missing; empty if none are missing."""
    checks: Mapping[tuple[str, str, str], str] = MappingProxyType({})
    """Results of the checks of the newest commit, in lower case; `pending` while a check runs. Each
    key has the commit, the app or account that reported the check (empty if unknown), and the
    check's name."""


class Feed(Protocol):
    """A signed-in code host. All errors are `HostError`s; none contains the token."""

    page: str | None
    """Address of a pull request's page, with `{name}` of the repository and `{number}`; None for
    GitHub's addresses."""
    refs: str
    """Refs of the pull requests' newest commits, with `*` instead of the number."""
    login: str
    """Account name with which git signs in."""
    threads_at_once: int
    """Maximum number of pull requests per call of `read_threads`."""
    points: int
    """GraphQL points spent so far."""

    @property
    def requests(self) -> int:
        """REST requests sent so far."""

    def find_repository(self, name: str) -> tuple[int, str]:
        """Return the number and the current name of a repository.

        Args:
            name: Name of the repository, or its number in decimal digits. A repository keeps its
                number when it is renamed.

        Raises:
            HostError: The repository cannot be read.
        """

    def list_repositories(self, owner: str) -> dict[int, str]:
        """Return a mapping from the number of each repository of an owner to its name.

        Raises:
            HostError: The list cannot be read to its end.
        """

    # After a force-push, no branch has the former commits. An audit's clone fetches them by hash.
    def find_commits(self, repository: str, commits: Sequence[str]) -> Sequence[str]:
        """Return the commits (40 hex digits each) that the host still has.

        Raises:
            HostError: Some commits could not be checked.
        """

    def read_changed(self, repository: int, since: str) -> Iterator[tuple[FeedPull, ...]]:
        """Yield pages of the pull requests changed at or after a time, oldest change first.

        Raises:
            HostError: A page cannot be read.
        """

    # When a thread is resolved, the time of the pull request's last change stays the same, so
    # `read_changed` does not list the pull request.
    def read_threads(self, pulls: Sequence[FeedPull]) -> Sequence[tuple[FeedThread, ...] | None]:
        """Read the states of the threads of each pull request.

        Returns:
            The threads of each pull request, in the given order; None for a pull request whose
            threads can only be read by `read_details`.

        Raises:
            HostError: The threads cannot be read.
        """

    def read_details(self, pull: FeedPull, known_hunks: Collection[int]) -> FeedDetails:
        """Read a pull request to the end of its lists.

        Args:
            pull: The pull request.
            known_hunks: Ids of messages whose hunks need not be read, because they are stored.

        Raises:
            HostError: The pull request cannot be read in full, or changed meanwhile.
        """
