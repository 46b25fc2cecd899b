"""GitHub as a code host."""

from dataclasses import dataclass
from typing import Any

from crscore.cache import Store
from crscore.diff.full_files import Limits
from crscore.github import conversation, pull
from crscore.github.client import Client
from crscore.github.comment import CommentWriter
from crscore.hosts import sticky
from crscore.hosts.host import FindCheckout, Head, OwnMessages, Reviews
from crscore.hosts.http import Traffic
from crscore.hosts.records import Change, PullRequest
from crscore.hosts.sticky import Posted


@dataclass(frozen=True, slots=True)
class GitHub:
    """`Host` of a GitHub server."""

    client: Client

    @property
    def traffic(self) -> Traffic:
        """Requests sent and seconds waited so far."""
        return self.client.traffic

    def read_pull(
        self,
        repository: str,
        number: int,
        *,
        limits: Limits,
        find_checkout: FindCheckout | None = None,
        store: Store | None = None,
    ) -> PullRequest:
        """Read a pull request: see `Host`."""
        options: dict[str, Any] = {"find_checkout": find_checkout, "store": store}
        return pull.read_pull(self.client, repository, number, limits=limits, **options)

    def read_change(self, repository: str, number: int, *, head: str, limits: Limits) -> Change:
        """Read only the change: see `Host`."""
        return pull.read_change(self.client, repository, number, head=head, limits=limits)

    def read_head(self, repository: str, number: int) -> Head:
        """Read the current head: see `Host`."""
        return pull.read_head(self.client, repository, number)

    def read_reviews(self, repository: str, number: int) -> Reviews:
        """Read the reviews and their commits: see `Host`."""
        return pull.read_reviews(self.client, repository, number)

    def read_own(self, repository: str, number: int, head: str) -> OwnMessages:
        """Read crscore's own comments: see `Host`."""
        discussion = conversation.read_conversation(
            self.client, repository, number, settings=f"{head}:"
        )
        messages = sticky.find_own(discussion.messages, self.client.comment_key)
        return OwnMessages(messages, not discussion.unlisted)

    def post_to(self, repository: str, number: int, body: str, existing: OwnMessages) -> Posted:
        """Create or update crscore's comment: see `Host`."""
        writer = CommentWriter(self.client, repository, number)
        return sticky.post(
            writer, body, self.client.comment_key, existing.messages, certain=existing.certain
        )
