"""GitHub as a source: lists by REST, details of many pull requests in one GraphQL query."""

from collections.abc import Callable, Sequence
from typing import Any

from crscore.audit.store.database import Store
from crscore.audit.store.queries import Account
from crscore.audit.store.rows import Pull, Repository
from crscore.audit.sync.details import DetailReader
from crscore.audit.sync.lists import read_lists
from crscore.audit.sync.repositories import Listed, Messages
from crscore.audit.sync.threads import observe_threads
from crscore.audit.sync.traffic import Meter
from crscore.errors import NotFoundError


class GitHubSource(Meter):
    """GitHub within budgets: see `Source`, and `Meter` for the arguments."""

    page: str | None = None
    is_deep = False
    refs = "refs/pull/*/head"
    login = "x-access-token"

    def find(self, name: str) -> Listed:
        """Find a repository by its name."""
        return self.get(f"/repos/{name}", Listed)

    def find_by_id(self, number: int) -> Listed:
        """Find a repository by its number."""
        return self.get(f"/repositories/{number}", Listed)

    def list_owner(self, owner: str) -> list[Listed]:
        """List the repositories of an organisation, or of a user."""
        try:
            pages = list(self.pages(f"/orgs/{owner}/repos", Listed, {"type": "all"}))
        except NotFoundError:
            pages = list(self.pages(f"/users/{owner}/repos", Listed))
        return [item for page in pages for item in page]

    def read_lists(
        self,
        store: Store,
        repository: Repository,
        logins: dict[Account, str],
        messages: Messages,
        now: str,
    ) -> Repository:
        """Store what changed in a repository."""
        return read_lists(store, self, repository, logins, messages, now)

    def observe_threads(
        self, store: Store, pulls: Sequence[Pull], night: str, advance: Callable[[], None]
    ) -> None:
        """Observe the threads of many pull requests in one query."""
        observe_threads(store, self, pulls, night, advance)

    def make_reader(self, **options: Any) -> DetailReader:
        """Make the reader of details."""
        return DetailReader(meter=self, **options)
