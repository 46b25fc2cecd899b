"""Protocol of a code host, implemented by the package of each host."""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from crscore.diff.checkout import Checkout
from crscore.diff.parse import DiffLimits
from crscore.hosts.records import Change, HostMessage, OwnMessages, PullRequest
from crscore.hosts.sticky import Posted

FindCheckout = Callable[[str, str], tuple[Checkout | None, str]]
"""Returns a local checkout that has the given base and head, and ""; or None and the reason, which
is "" if no checkout was expected."""

# The file is read from the base branch, so that the author of a pull request cannot change the
# settings with which it is scored.
SETTINGS_FILE: Final = "pyproject.toml"


def no_checkout(_base: str, _head: str) -> tuple[None, str]:
    """Return no checkout and no reason, so that the change is read from its host."""
    return None, ""


class Head(NamedTuple):
    """Current head of a pull request on its host."""

    repository: str
    """Current full name of the base's repository."""
    sha: str
    """The newest commit, 40 hex digits."""
    url: str
    """Address of the pull request's page on the host."""
    author: str | None = None
    """Login of the pull request's author; None if unknown."""


class Host(Protocol):
    """A signed-in code host. All errors are `HostError`s; none contains the token."""

    def read_pull(
        self,
        repository: str,
        number: int,
        *,
        limits: DiffLimits,
        find_checkout: FindCheckout = no_checkout,
    ) -> PullRequest:
        """Read a pull request; `missing` names the parts that could not be read.

        Args:
            repository: Full name of the repository.
            number: Number of the pull request.
            limits: Size limits of the diff and the full files.
            find_checkout: Finds a local checkout; by default, there is none.

        Raises:
            HostError: The pull request itself could not be read.
        """

    def read_change(self, repository: str, number: int, *, head: str, limits: DiffLimits) -> Change:
        """Read only the change, without a checkout.

        Args:
            repository: Full name of the repository.
            number: Number of the pull request.
            head: Commit that must be the newest one, 40 hex digits.
            limits: Size limits of the diff and the full files.

        Raises:
            HostError: The change could not be read, or the pull request has another head.
        """

    def read_head(self, repository: str, number: int) -> Head:
        """Read the current head.

        Raises:
            HostError: The head could not be read.
        """

    def read_reviews(self, repository: str, number: int) -> tuple[Head, tuple[HostMessage, ...]]:
        """Read the current head and the reviews, each with its commit if the host knows it.

        This takes two or three requests if the lists are short.

        Raises:
            HostError: The reviews could not be read in full.
        """

    # A job that posts the result of another job calls only `read_head` and the next two methods.
    def read_own(self, repository: str, number: int) -> OwnMessages:
        """Read crscore's own comments.

        Raises:
            HostError: A list of comments could not be read.
        """

    def post_to(self, repository: str, number: int, body: str, existing: OwnMessages) -> Posted:
        """Create or update crscore's comment; return what was done, or why nothing was written.

        Args:
            repository: Full name of the repository.
            number: Number of the pull request.
            body: Text without the marker.
            existing: crscore's own comments, as `read_own` returns them.
        """
