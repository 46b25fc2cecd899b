"""GraphQL queries of the synchronisation, and the answers' types.

GitHub counts a query's cost before it runs: one request for each connection and each of its
parents, as if every connection were full; a point is 100 requests. So the `first` arguments of
lists within lists decide the cost, and what is longer is read for that pull request alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

import msgspec

T = TypeVar("T")

FIRST_ITEMS: Final = {
    "reviews": 10, "threads": 12, "comments": 10, "timeline": 100, "commits": 1
}  # fmt: skip
"""Items of each list of a pull request in a query for many."""
NEXT_ITEMS: Final = {"reviews": 50, "threads": 50, "comments": 50, "timeline": 100}
"""Items of each list in a query for the rest of one pull request's lists."""
_STATE: Final = """\
fullDatabaseId isMinimized minimizedReason
reactionGroups { content reactors { totalCount } }"""
_LISTS: Final = {
    "reviews": """
      pageInfo { hasNextPage endCursor }
      nodes {
        author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
        body state submittedAt createdAt updatedAt commit { oid }
        STATE
      }""",
    "threads": """
      pageInfo { hasNextPage endCursor }
      nodes {
        id isResolved isOutdated resolvedBy { login }
        comments(first: 1) { totalCount nodes { state STATE } }
      }""",
    "comments": """
      pageInfo { hasNextPage endCursor }
      nodes { STATE }""",
    "timeline": """
      pageInfo { hasNextPage endCursor }
      nodes {
        __typename
        ... on PullRequestCommit { commit { oid committedDate } }
        ... on HeadRefForcePushedEvent {
          createdAt beforeCommit { oid } afterCommit { oid }
        }
        ... on MergedEvent { createdAt mergeCommit: commit { oid } }
      }""",
    "commits": """
      nodes { commit { oid statusCheckRollup { contexts(first: 100) { nodes {
        __typename
        ... on CheckRun { name status conclusion checkSuite { app { slug } } }
        ... on StatusContext { context state creator { login } }
      } } } } }""",
}
_FIELDS: Final = {
    "reviews": "reviews(first: {first}{after})",
    "threads": "threads: reviewThreads(first: {first}{after})",
    "comments": "comments(first: {first}{after})",
    "timeline": (
        "timeline: timelineItems(first: {first}{after}, itemTypes: "
        "[PULL_REQUEST_COMMIT, HEAD_REF_FORCE_PUSHED_EVENT, MERGED_EVENT])"
    ),
    "commits": "commits(last: {first})",
}
_FRAME: Final = """\
query(%s) {
  rateLimit { cost }
  nodes(ids: $ids) {
    ... on PullRequest {
      id
%s
    }
  }
}
"""
_SUMMARY: Final = (
    "      additions deletions files(first: 100) { nodes { path additions deletions } }"
)
STATES_QUERY: Final = _FRAME % (
    "$ids: [ID!]!",
    """\
      threads: reviewThreads(first: 100) {
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved isOutdated resolvedBy { login } }
      }""",
)
"""States of the threads of up to 100 pull requests, for one point."""


def _fields(names: Iterable[str], *, first: dict[str, int], after: bool) -> str:
    lines = []
    for name in names:
        cursor = f", after: ${name}" if after else ""
        head = _FIELDS[name].replace("{first}", str(first[name])).replace("{after}", cursor)
        lines.append(f"      {head} {{{_LISTS[name]}\n      }}")
    return "\n".join(lines).replace("STATE", _STATE)


DETAILS_QUERY: Final = _FRAME % (
    "$ids: [ID!]!",
    f"{_SUMMARY}\n{_fields(FIRST_ITEMS, first=FIRST_ITEMS, after=False)}",
)
"""Everything of many pull requests, their lists as far as `FIRST_ITEMS`."""
UNCHECKED_QUERY: Final = _FRAME % (
    "$ids: [ID!]!",
    _SUMMARY
    + "\n"
    + _fields((name for name in FIRST_ITEMS if name != "commits"), first=FIRST_ITEMS, after=False),
)
"""The same without the checks, for a token that may not read them."""


def rest_query(names: Iterable[str]) -> str:
    """Return the query for what follows in some lists; `$NAME` is a list's cursor."""
    names = tuple(names)
    variables = ", ".join(["$ids: [ID!]!", *(f"${name}: String" for name in names)])
    return _FRAME % (variables, _fields(names, first=NEXT_ITEMS, after=True))


class _Object(msgspec.Struct, frozen=True, rename="camel"):
    """GraphQL object."""


class PageInfo(_Object, frozen=True):
    """Whether a list goes on."""

    has_next_page: bool = False
    end_cursor: str | None = None


class Connection(_Object, Generic[T], frozen=True):
    """Part of a list."""

    nodes: list[T]
    page_info: PageInfo = PageInfo()
    total_count: int = 0


class RateLimit(_Object, frozen=True):
    """What a query cost."""

    cost: int = 1


class Actor(_Object, frozen=True):
    """Account, without the `[bot]` that REST appends to an app's login."""

    login: str
    typename: str = msgspec.field(name="__typename", default="User")
    database_id: int | None = None

    @property
    def is_app(self) -> bool:
        """Whether it is an app's."""
        return self.typename == "Bot"

    @property
    def rest_login(self) -> str:
        """Login as in REST."""
        return f"{self.login.removesuffix('[bot]')}[bot]" if self.is_app else self.login


class Total(_Object, frozen=True):
    """Length of a list."""

    total_count: int = 0


class ReactionGroup(_Object, frozen=True):
    """Reactions of one kind."""

    content: str
    reactors: Total = Total()


class State(_Object, frozen=True):
    """State of a comment."""

    # 64 bits, more than a JSON number can safely hold: sent as a string
    full_database_id: str
    is_minimized: bool = False
    minimized_reason: str | None = None
    reaction_groups: list[ReactionGroup] | None = None
    state: str = ""

    @property
    def id(self) -> int:
        """Id of the comment in REST."""
        return int(self.full_database_id)

    @property
    def minimized(self) -> str | None:
        """Why it is hidden, in lower case; None when it is shown."""
        return (self.minimized_reason or "hidden").lower() if self.is_minimized else None

    def reactions(self, content: str) -> int:
        """Return the number of reactions of one kind, such as `THUMBS_UP`."""
        groups = self.reaction_groups or ()
        return sum(one.reactors.total_count for one in groups if one.content == content)


class CommitName(_Object, frozen=True):
    """Commit."""

    oid: str
    committed_date: str = ""


class Review(State, frozen=True):
    """Submitted or pending review."""

    author: Actor | None = None
    body: str = ""
    created_at: str = ""
    submitted_at: str | None = None
    updated_at: str = ""
    commit: CommitName | None = None


class Thread(_Object, frozen=True):
    """Thread of comments on lines, with its first comment."""

    id: str
    is_resolved: bool
    is_outdated: bool
    resolved_by: Actor | None = None
    comments: Connection[State] | None = None


class Event(_Object, frozen=True):
    """Commit, force-push or merge; other events have none of the fields."""

    typename: str = msgspec.field(name="__typename")
    created_at: str = ""
    commit: CommitName | None = None
    merge_commit: CommitName | None = None
    before_commit: CommitName | None = None
    after_commit: CommitName | None = None

    @property
    def revision(self) -> tuple[str, CommitName | None]:
        """Kind of the revision, and the commit that it ends with."""
        return {
            "HeadRefForcePushedEvent": ("force-push", self.after_commit),
            "MergedEvent": ("merge", self.merge_commit),
        }.get(self.typename, ("commit", self.commit))


class _App(_Object, frozen=True):
    slug: str = ""


class _Suite(_Object, frozen=True):
    app: _App | None = None


class CheckContext(_Object, frozen=True):
    """Check run or status."""

    name: str = ""
    status: str = ""
    conclusion: str | None = None
    check_suite: _Suite | None = None
    context: str = ""
    state: str = ""
    creator: Actor | None = None

    @property
    def app(self) -> str:
        """App or account that reported it; empty when unknown."""
        if self.check_suite is not None and self.check_suite.app is not None:
            return self.check_suite.app.slug
        return self.creator.login if self.creator else ""

    @property
    def outcome(self) -> str:
        """Result in lower case; `pending` while it runs."""
        found = (self.conclusion or self.state).lower()
        return found if found not in {"", "expected"} else "pending"


class _Rollup(_Object, frozen=True):
    contexts: Connection[CheckContext]


class _HeadCommit(_Object, frozen=True):
    oid: str
    status_check_rollup: _Rollup | None = None


class HeadNode(_Object, frozen=True):
    """Newest commit of a pull request."""

    commit: _HeadCommit


class File(_Object, frozen=True):
    """Changed file."""

    path: str
    additions: int
    deletions: int


class Pull(_Object, frozen=True):
    """Pull request; a list that was not asked for is None."""

    id: str = ""
    additions: int = 0
    deletions: int = 0
    files: Connection[File] | None = None
    reviews: Connection[Review] | None = None
    threads: Connection[Thread] | None = None
    comments: Connection[State] | None = None
    timeline: Connection[Event] | None = None
    commits: Connection[HeadNode] | None = None


class Answer(_Object, frozen=True):
    """Answer to each of the queries."""

    nodes: list[Pull | None]
    rate_limit: RateLimit | None = None
