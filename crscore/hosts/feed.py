"""What an audit asks of a code host that is read by REST lists: what changed, and its details.

Times are ISO 8601 in UTC to the second. Numbers fit into 62 bits.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

from crscore.hosts.records import Remark


class FeedRepository(NamedTuple):
    """Repository on the host."""

    id: int
    """The host's number, which survives a new name."""
    name: str
    default_branch: str | None


class FeedPull(NamedTuple):
    """Pull request as the host lists it."""

    number: int
    node: str
    """The host's own identity of it."""
    title: str
    author: str | None
    state: str
    """open, merged or closed."""
    draft: bool
    created: str
    updated: str
    closed: str | None
    merged: str | None
    base_ref: str
    base: str
    """Tip of the base branch; empty in a list that does not have it."""
    head: str
    merge_commit: str | None


class FeedRemark(NamedTuple):
    """Remark with what only an audit stores."""

    remark: Remark
    author_id: int | None
    """The host's number of the account."""
    updated: str
    up: int
    down: int
    """Reactions with a thumb."""


class FeedThread(NamedTuple):
    """State of a thread of remarks on lines."""

    first: int
    """Id of its first remark."""
    node: str
    """The host's own identity of it."""
    resolved: bool
    resolved_by: str | None
    outdated: bool


class FeedPush(NamedTuple):
    """Push to a pull request, or its merge."""

    at: str
    kind: str
    """commit, or merge."""
    after: str
    """Newest commit after it."""


class FeedDetails(NamedTuple):
    """All of a pull request that an audit stores."""

    pull: FeedPull
    remarks: tuple[FeedRemark, ...]
    threads: tuple[FeedThread, ...]
    pushes: tuple[FeedPush, ...]
    lines: int | None
    """Changed lines; None when unknown."""
    language: str | None
    unlisted: str
    """Why remarks are missing that the host counts; empty when none are."""


class Feed(Protocol):
    """A code host, signed in. Every error raised is a `HostError`; none contains the token."""

    @property
    def page(self) -> str:
        """Address of a pull request's page, with `{name}` of the repository and `{number}`."""

    @property
    def refs(self) -> str:
        """Refs of the newest commits of the pull requests, with `*` for the number."""

    @property
    def login(self) -> str:
        """Account name with which git signs in."""

    @property
    def requests(self) -> int:
        """Requests sent so far."""

    def find_repository(self, name: str) -> FeedRepository:
        """Find a repository by its name, or by its number in decimal digits.

        Raises:
            HostError: It cannot be read.
        """

    def list_repositories(self, owner: str) -> tuple[FeedRepository, ...]:
        """List the repositories of an owner.

        Raises:
            HostError: They cannot be listed to the end.
        """

    def has_commit(self, repository: str, commit: str) -> bool:
        """Return whether the host still has a commit, by its 40 hex digits.

        Raises:
            HostError: It did not say.
        """

    def read_changed(self, repository: int, since: str) -> Iterator[tuple[FeedPull, ...]]:
        """Yield the pull requests changed at or after a time by pages, the oldest change first.

        Raises:
            HostError: A page cannot be read.
        """

    def read_threads(self, repository: int, number: int) -> tuple[FeedThread, ...]:
        """Read the states of the threads of a pull request.

        Raises:
            HostError: They cannot be read to the end.
        """

    def read_details(self, repository: int, number: int, placed: Collection[int]) -> FeedDetails:
        """Read a pull request to the end of its lists.

        Args:
            repository: Number of the repository.
            number: Number of the pull request.
            placed: Ids of remarks whose hunk is known, and need not be read.

        Raises:
            HostError: It cannot be read whole, or changed meanwhile.
        """
