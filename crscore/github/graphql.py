"""GitHub's GraphQL API: queries for pull requests, records of the responses, and pagination.

GitHub computes the cost of a query in advance, as if every list were full: a list counts as one
request for each of its parent objects, and 100 requests are one point. So nested lists have small
pages, and longer lists are read to their end for one pull request at a time:
https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from crscore.errors import UnavailableError
from crscore.hosts.http import MAX_PAGES

T = TypeVar("T")


class _Object(msgspec.Struct, frozen=True, rename="camel"):
    """Base of the records of GraphQL objects."""


class PageInfo(_Object, frozen=True):
    """Whether more pages of a list follow."""

    has_next_page: bool = False
    end_cursor: str | None = None


class Connection(_Object, Generic[T], frozen=True):
    """One page of a list."""

    nodes: list[T]
    page_info: PageInfo = PageInfo()
    total_count: int = 0


class Actor(_Object, frozen=True):
    """Account, without the `[bot]` that REST appends to an app's login."""

    login: str
    typename: str = msgspec.field(name="__typename", default="User")

    @property
    def is_app(self) -> bool:
        """Whether the account belongs to an app, whose type is `Bot` in GraphQL."""
        return self.typename == "Bot"

    @property
    def rest_login(self) -> str:
        """Login as REST writes it, with `[bot]` for an app."""
        return f"{self.login.removesuffix('[bot]')}[bot]" if self.is_app else self.login


class CommentState(_Object, frozen=True):
    """State of a comment that GitHub's REST API does not show, such as hidden or pending."""

    # An id has up to 64 bits, more than a JSON number can hold exactly, so GitHub sends a string.
    full_database_id: Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,19}\Z")]
    is_minimized: bool = False
    minimized_reason: str | None = None
    viewer_did_author: bool = False
    state: str = ""
    """PENDING until the comment is submitted; "" for a comment in the conversation."""

    @property
    def id(self) -> int:
        """Id of the comment in REST."""
        return int(self.full_database_id)

    @property
    def minimized(self) -> str:
        """Why the comment is hidden, in lower case; "" if it is shown."""
        return (self.minimized_reason or "hidden").lower() if self.is_minimized else ""


class GitObject(_Object, frozen=True):
    """Commit, tree or blob, with the fields that were requested."""

    oid: str = ""
    status_check_rollup: "dict[str, Connection[CheckContext]] | None" = None
    """Checks of a commit, under the only key, `contexts`."""
    text: str | None = None
    """Text of a blob."""
    is_binary: bool | None = None
    is_truncated: bool = False


class Review(CommentState, frozen=True):
    """Submitted or pending review."""

    author: Actor | None = None
    body: str = ""
    created_at: str = ""
    submitted_at: str | None = None
    updated_at: str = ""
    commit: GitObject | None = None


class CheckContext(_Object, frozen=True):
    """Check run (`name`, `status`, `conclusion`) or commit status (`context`, `state`)."""

    name: str = ""
    status: str = ""
    conclusion: str | None = None
    check_suite: dict[str, dict[str, str] | None] | None = None
    context: str = ""
    state: str = ""
    creator: Actor | None = None

    @property
    def app(self) -> str:
        """App or account that reported the check; empty if unknown."""
        app = (self.check_suite or {}).get("app") or {}
        return app.get("slug") or (self.creator.login if self.creator else "")

    @property
    def outcome(self) -> str:
        """Result in lower case; `pending` while the check runs."""
        result = (self.conclusion or self.state).lower()
        # https://docs.github.com/en/graphql/reference/enums#statusstate
        # EXPECTED means that a branch rule requires the status, but nothing has reported it yet.
        return result if result not in {"", "expected"} else "pending"


class File(_Object, frozen=True):
    """Changed file."""

    path: str
    additions: int
    deletions: int


class Node(_Object, frozen=True):
    """Pull request, or thread of comments on lines, with the fields that were requested."""

    id: str = ""
    is_resolved: bool = False
    is_outdated: bool = False
    resolved_by: Actor | None = None
    head_ref_oid: str = ""
    additions: int = 0
    deletions: int = 0
    files: Connection[File] | None = None
    reviews: Connection[Review] | None = None
    threads: "Connection[Node]" = Connection(nodes=[])
    comments: Connection[CommentState] = Connection(nodes=[])
    commits: Connection[dict[str, GitObject]] = Connection(nodes=[])


class Nodes(_Object, frozen=True):
    """Response to a query of `nodes_query`."""

    nodes: list[Node | None]
    rate_limit: dict[str, int] = {}
    """The `cost` of the query in points."""


class Commits(_Object, frozen=True):
    """Response to a query of `commits_query`."""

    repository: dict[str, GitObject | None]
    """Alias (`c` and the hex digits) -> commit; None for a commit that GitHub lacks."""
    rate_limit: dict[str, int] = {}
    """The `cost` of the query in points."""


class _Repository(_Object, frozen=True):
    pull_request: Node
    object: GitObject | None = None


class PullResponse(_Object, frozen=True):
    """Response to `PULL_QUERY`."""

    repository: _Repository


Send = Callable[[str, Mapping[str, Any]], Nodes]
"""Sends a query with its variables."""


class ListQuery(NamedTuple):
    """List to read to its end."""

    field: str
    """Name of the list in GitHub's schema."""
    nodes: str
    """Fields to read of each item."""
    # GitHub's limit is 100 items per page: see the address in the module's docstring.
    first: int = 100
    """Number of items in the first query."""
    later: int = 100
    """Number of items in each further query."""


_PAGE: Final = "pageInfo { hasNextPage endCursor }"
_FLAGS: Final = "fullDatabaseId isMinimized viewerDidAuthor"
_STATE: Final = "fullDatabaseId isMinimized minimizedReason"
_THREAD: Final = "id isResolved isOutdated resolvedBy { login }"
# Long pages cost little here, because a run reads one pull request. An audit reads `DETAILS` of
# many, so those pages are short.
CONVERSATION: Final = {
    "threads": ListQuery(
        "reviewThreads", f"id isResolved comments(first: 100) {{ {_PAGE} nodes {{ {_FLAGS} }} }}"
    ),
    "comments": ListQuery("comments", _FLAGS),
    "reviews": ListQuery("reviews", f"{_FLAGS} state"),
}
"""Lists with the states of all comments: minimised, resolved, written by the signed-in account."""
THREAD_COMMENTS: Final = {"comments": ListQuery("comments", _FLAGS)}
THREAD_STATES: Final = {"threads": ListQuery("reviewThreads", _THREAD)}
"""States of the threads of up to 100 pull requests, for one point."""
DETAILS: Final = {
    "reviews": ListQuery(
        "reviews",
        "author { __typename login } "
        f"body state submittedAt createdAt updatedAt commit {{ oid }} {_STATE}",
        first=10,
        later=50,
    ),
    "threads": ListQuery(
        "reviewThreads",
        # One comment identifies the thread; `totalCount` shows whether any comment is unread.
        f"{_THREAD} comments(first: 1) {{ totalCount nodes {{ state {_STATE} }} }}",
        first=12,
        later=50,
    ),
    "comments": ListQuery("comments", _STATE, first=10, later=50),
}
"""Lists of a pull request that an audit stores."""
SIZE: Final = "additions deletions files(first: 100) { nodes { path additions deletions } }"
CHECKS: Final = """\
commits(last: 1) { nodes { commit { oid statusCheckRollup { contexts(first: 100) { nodes {
  __typename
  ... on CheckRun { name status conclusion checkSuite { app { slug } } }
  ... on StatusContext { context state creator { login } }
} } } } } }"""


_EMPTY: Final = Connection[Any](nodes=[])


def _list_fields(lists: Mapping[str, ListQuery], *, later: bool = False) -> str:
    return "\n".join(
        f"{name}: {query.field}("
        + (f"first: {query.later}, after: ${name}" if later else f"first: {query.first}")
        + f") {{ {_PAGE} nodes {{ {query.nodes} }} }}"
        for name, query in lists.items()
    )


def nodes_query(
    lists: Mapping[str, ListQuery], *fields: str, kind: str = "PullRequest", later: bool = False
) -> str:
    """Return the query for lists of the objects whose ids are in `$ids`.

    Args:
        lists: Lists to read, by their names in the response.
        fields: Other fields to read.
        kind: Type of the objects in GitHub's schema.
        later: True for later pages. The query then has one more variable for each list, with the
            list's name: the cursor after which the page starts.
    """
    cursors = "".join(f", ${name}: String" for name in lists) if later else ""
    selection = "\n".join((*fields, _list_fields(lists, later=later)))
    return (
        f"query($ids: [ID!]!{cursors}) {{\nrateLimit {{ cost }}\n"
        f"nodes(ids: $ids) {{ ... on {kind} {{\nid\n{selection}\n}} }}\n}}"
    )


def commits_query(commits: Iterable[str]) -> str:
    """Return the query that checks which commits (hex digits) a repository has, for one point."""
    objects = "\n".join(f'c{commit}: object(oid: "{commit}") {{ oid }}' for commit in commits)
    return (
        "query($owner: String!, $name: String!) {\nrateLimit { cost }\n"
        f"repository(owner: $owner, name: $name) {{\n{objects}\n}}\n}}"
    )


PULL_QUERY: Final = f"""\
query($owner: String!, $name: String!, $number: Int!, $settings: String!) {{
repository(owner: $owner, name: $name) {{
object(expression: $settings) {{ ... on Blob {{ text isTruncated }} }}
pullRequest(number: $number) {{
id headRefOid
{_list_fields(CONVERSATION)}
}}
}}
}}"""
"""Query for the conversation of a pull request and for the settings file at its base."""
DETAILS_QUERY: Final = nodes_query(DETAILS, SIZE, CHECKS)
"""Query for all that an audit stores of a pull request, up to the first page of each list."""
THREAD_STATES_QUERY: Final = nodes_query(THREAD_STATES)


def read_to_end(
    send: Send, node: Node, lists: Mapping[str, ListQuery], *fields: str, kind: str = "PullRequest"
) -> Node:
    """Read the remaining pages of lists; each query reads the next page of every unfinished list.

    Args:
        send: Sends a query.
        node: Pull request or thread, as read so far.
        lists: Lists of the node, by field of `Node`.
        fields: Fields that are read again with each page.
        kind: Type of the node in GitHub's schema.

    Returns:
        The node with complete lists.

    Raises:
        HostError: A page is missing; incomplete lists are not used.
    """
    pages = 0
    while cursors := {
        name: page.end_cursor
        for name in lists
        if (page := (getattr(node, name) or _EMPTY).page_info).has_next_page
    }:
        if (pages := pages + 1) > MAX_PAGES:
            raise UnavailableError("GraphQL", f"a list has more than {MAX_PAGES} pages")
        query = nodes_query({name: lists[name] for name in cursors}, *fields, kind=kind, later=True)
        page_node = send(query, {"ids": [node.id], **cursors}).nodes[0]
        if page_node is None:
            raise UnavailableError("GraphQL", "the pull request was deleted while it was read")
        joined: dict[str, Connection[Any]] = {}
        for name in cursors:
            page = getattr(page_node, name)
            if not page.nodes:
                raise UnavailableError("GraphQL", "a list ends before its last page")
            nodes = [*getattr(node, name).nodes, *page.nodes]
            joined[name] = msgspec.structs.replace(page, nodes=nodes)
        # The head may change while lists are read; the last response has the newest one.
        head = page_node.head_ref_oid or node.head_ref_oid
        node = msgspec.structs.replace(node, head_ref_oid=head, **joined)
    return node
