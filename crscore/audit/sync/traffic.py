"""Requests and points of a run, and its budgets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from crscore.errors import RateLimitedError, UnavailableError
from crscore.github.client import Client
from crscore.github.graphql import Commits, Nodes, commits_query

T = TypeVar("T")
Answer = TypeVar("Answer", Nodes, Commits)

COMMITS_PER_QUERY: Final = 100
"""Commits that one query asks for."""

MAX_PAGES: Final = 5_000
"""Maximum number of pages of one list in one run; a host can list without end."""


class Meter:
    """Reads from GitHub within budgets.

    Args:
        client: The client.
        max_requests: Maximum REST requests; None for no limit. One more may be sent for a redirect
            or another try.
        max_points: GraphQL points after which no query is sent; None for no limit.
    """

    def __init__(
        self, client: Client, *, max_requests: int | None = None, max_points: int | None = None
    ) -> None:
        self.requests = 0
        self.points = 0
        self._client = client
        self._max_requests = max_requests
        self._max_points = max_points

    def get(self, path: str, kind: type[T]) -> T:
        """Read one resource.

        Raises:
            RateLimitedError: The budget is spent, or GitHub's.
            HostError: It cannot be read.
        """
        return self._count(lambda: self._client.get(path, kind))

    def pages(
        self,
        path: str,
        kind: type[T],
        parameters: Mapping[str, str] | None = None,
        *,
        first: int = 1,
        time: Callable[[T], str] | None = None,
    ) -> Iterator[tuple[T, ...]]:
        """Read a list page by page.

        With page numbers, an item is lost when an earlier one moves to the end meanwhile. A list
        that starts at a time can be read by time instead: each page starts at the time of the last
        item of the page before, which is read twice. After a page of a single time, or out of
        order, reading continues with page numbers.

        Args:
            path: As for `get`.
            kind: Type that an item is converted to.
            parameters: Parameters of the query; with `time`, `since` is one of them.
            first: First page to read.
            time: Gives the time of an item in a list that is sorted by it; None reads by page
                numbers.

        Yields:
            Items of a page.

        Raises:
            RateLimitedError: The budget is spent, or GitHub's.
            HostError: A page cannot be read, has no items although others follow it, or is one too
                many.
        """
        number, query = first, dict(parameters or {})
        for _ in range(MAX_PAGES):
            page = self._count(partial(self._client.page, path, kind, number, query))
            if number > first and not page.items:
                # Taken for the end, an empty page would move the position over what was not read.
                raise UnavailableError(f"GET {path}", f"page {number} of the list has no items")
            yield page.items
            if not page.has_more:
                return
            number += 1
            times = [query["since"], *map(time, page.items)] if time else []
            # Out of order, or GitHub ignored `sort`: times cannot lead to the next page.
            if times != sorted(times):
                time = None
            # A page of one single time would be requested again forever.
            elif times and times[-1] > times[0]:
                number, query = 1, query | {"since": times[-1]}
        raise UnavailableError(f"GET {path}", f"pages after {MAX_PAGES:,} are left to the next run")

    def graphql(self, query: str, variables: Mapping[str, Any]) -> Nodes:
        """Send a query of `graphql.nodes_query`.

        Raises:
            RateLimitedError: The budget is spent, or GitHub's.
            HostError: The answer is missing or incomplete.
        """
        return self._graphql(query, variables, Nodes)

    def find_commits(self, repository: str, commits: Sequence[str]) -> list[str]:
        """Return those of the commits that GitHub has, for a point per `COMMITS_PER_QUERY`.

        Raises:
            RateLimitedError: The budget is spent, or GitHub's.
            HostError: The answer is missing or incomplete.
        """
        owner, _, name = repository.partition("/")
        present: list[str] = []
        for start in range(0, len(commits), COMMITS_PER_QUERY):
            query = commits_query(commits[start : start + COMMITS_PER_QUERY])
            answer = self._graphql(query, {"owner": owner, "name": name}, Commits)
            present += [commit.oid for commit in answer.repository.values() if commit]
        return present

    def _graphql(self, query: str, variables: Mapping[str, Any], kind: type[Answer]) -> Answer:
        # A query's cost is only known afterwards, so the last one may exceed the budget.
        if self._max_points is not None and self.points >= self._max_points:
            raise RateLimitedError("GraphQL", f"the budget of {self._max_points} points is spent")
        answer = self._client.graphql(query, variables, kind)
        self.points += answer.rate_limit.cost
        return answer

    def _count(self, read: Callable[[], T]) -> T:
        if self._max_requests is not None and self.requests >= self._max_requests:
            reason = f"the budget of {self._max_requests} requests is spent"
            raise RateLimitedError("REST", reason)
        # A call can be several requests: redirects and retries count.
        before = self._client.traffic.requests
        try:
            return read()
        finally:
            self.requests += self._client.traffic.requests - before
