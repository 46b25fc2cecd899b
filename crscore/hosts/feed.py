"""Protocol for reading a code host in an audit: changed pull requests and their details.

Times are ISO 8601 in UTC to the second. Numbers fit into 62 bits.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from crscore.hosts.records import HostMessage


class FeedPull(NamedTuple):
    """Pull request as the host lists it."""

    repository: int
    number: int
    # In a query for several objects, GitHub's GraphQL names them by these identifiers.
    node: str
    """The host's own identifier."""
    title: str
    author: str | None
    state: str
    """open, merged or closed."""
    created: str
    updated: str
    closed: str | None
    merged: str | None
    base_ref: str
    # GitLab's lists do not have the base; `read_details` reads it.
    base: str
    """Tip of the base branch; empty if the list does not have it."""
    head: str
    merge_commit: str | None


class FeedThread(NamedTuple):
    """State of a thread of messages on lines."""

    first: int
    """Id of its first message; 0 from `read_threads`."""
    node: str
    """The host's own identifier."""
    resolved: bool
    resolved_by: str | None
    outdated: bool


class FeedDetails(NamedTuple):
    """All data of a pull request that an audit stores."""

    pull: FeedPull | None
    """The pull request itself; None if `read_changed` has all its fields."""
    messages: tuple[HostMessage, ...]
    threads: tuple[FeedThread, ...]
    lines: int | None
    """Changed lines; None when unknown."""
    language: str | None
    unlisted: str
    """Why messages that the host counts are missing; empty if none are missing."""
    checks: Mapping[tuple[str, str, str], str] = MappingProxyType({})
    """Checks of its newest commit: the commit, the app or account that reported it (empty when
    unknown), and its name -> the result in lower case, `pending` while it runs."""


class Feed(Protocol):
    """A signed-in code host. All errors are `HostError`s; none contains the token."""

    page: str | None
    """Address of a pull request's page, with `{name}` and `{number}`; None for GitHub's."""
    refs: str
    """Refs of the newest commits of the pull requests, with `*` for the number."""
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
        """Find a repository by its name, or by its number in decimal digits; return both.

        A repository keeps its number when it is renamed.

        Raises:
            HostError: It cannot be read.
        """

    def list_repositories(self, owner: str) -> dict[int, str]:
        """Return the names of an owner's repositories by number.

        Raises:
            HostError: The list cannot be read to its end.
        """

    # A force-push leaves commits that no branch has; an audit's clone fetches them by name.
    def find_commits(self, repository: str, commits: Sequence[str]) -> Sequence[str]:
        """Return the commits (40 hex digits each) that the host still has.

        Raises:
            HostError: Some could not be checked.
        """

    def read_changed(self, repository: int, since: str) -> Iterator[tuple[FeedPull, ...]]:
        """Yield pages of the pull requests changed at or after a time, oldest change first.

        Raises:
            HostError: A page cannot be read.
        """

    # A resolved thread does not change its pull request, so `read_changed` does not list it.
    def read_threads(self, pulls: Sequence[FeedPull]) -> Sequence[tuple[FeedThread, ...] | None]:
        """Read the states of the threads; None for a pull request that needs `read_details`.

        Raises:
            HostError: They cannot be read.
        """

    def read_details(self, pull: FeedPull, known_hunks: Collection[int]) -> FeedDetails:
        """Read a pull request to the end of its lists.

        Args:
            pull: The pull request.
            known_hunks: Ids of messages whose hunks are known and need not be read.

        Raises:
            HostError: It cannot be read in full, or changed meanwhile.
        """
