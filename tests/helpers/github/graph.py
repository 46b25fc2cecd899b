"""The GraphQL side: a part of GitHub's schema, answered from the state of the world."""

from __future__ import annotations

import base64
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLSchema, build_schema, execute_sync, parse, validate

from tests.helpers.github import anchors, cost
from tests.helpers.github.answers import Answer, Request, refusal
from tests.helpers.github.shapes import node_id, pull_node
from tests.helpers.github.state import iso

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphql import DocumentNode

    from tests.helpers.github.state import (
        Check,
        LineComment,
        Note,
        Pull,
        Repository,
        Review,
        Rules,
        User,
        World,
    )

SDL = Path(__file__).with_name("schema.graphql")
MAX_INT = 2**31 - 1
_PREFIX = "cursor:v2:"


@cache
def schema() -> GraphQLSchema:
    """Our part of the schema; a test holds it to GitHub's own."""
    return build_schema(SDL.read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def _read(query: str) -> tuple[DocumentNode | None, list[GraphQLError]]:
    """Document of a query, and what is wrong with it. Few queries are asked thousands of times."""
    try:
        document = parse(query)
    except GraphQLError as exc:
        return None, [exc]
    return document, validate(schema(), document)


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Answers GraphQL queries."""

    world: World
    rules: Rules
    limit_state: Callable[[], Mapping[str, int]]
    """State of the hourly limit before the query."""

    def answer(self, request: Request) -> Answer:
        """Run the query in the body; what is wrong with it is said with status 200."""
        body = request.body
        if not isinstance(body, dict) or not isinstance(body.get("query"), str):
            return refusal(400, "A query attribute must be specified and must be a string.")
        document, wrong = _read(body["query"])
        if document is None or wrong:
            return Answer(body={"errors": [_error(error) for error in wrong]})
        return self._run(document, body.get("variables"))

    def _run(self, document: DocumentNode, variables: dict[str, Any] | None) -> Answer:
        """The answer to a valid query, with its price."""
        price = cost.price(schema(), document, variables)
        if price.nodes > cost.MAX_NODES:
            return Answer(body={"errors": [_too_many(price.nodes)]})
        root = self._root(price.points)
        result = execute_sync(schema(), document, root_value=root, variable_values=variables)
        answer: dict[str, Any] = {}
        if result.data is not None or not result.errors:
            answer["data"] = result.data
        if result.errors:
            answer["errors"] = [_error(error) for error in result.errors]
        return Answer(body=answer, points=price.points)

    def _root(self, points: int) -> Mapping[str, Any]:
        limit_state = self.limit_state()
        return {
            "viewer": _actor(self.world.viewer, keep_suffix=True),
            "node": lambda _, **arguments: self._node(arguments["id"]),
            "nodes": lambda _, ids: [self._node(node_id) for node_id in ids],
            "repository": lambda _, owner, name, **more: self._repository(f"{owner}/{name}"),
            "rateLimit": {
                "cost": points,
                "limit": limit_state["limit"],
                "remaining": max(limit_state["remaining"] - points, 0),
                "resetAt": iso(limit_state["reset"]),
                "used": limit_state["used"] + points,
            },
        }

    def _node(self, name: str) -> Mapping[str, Any] | None:
        """A pull request or a thread by its id; other things are not asked for by theirs."""
        for repository in self.world.repositories:
            for pull in repository.pulls.values():
                if pull_node(repository, pull) == name:
                    return {"__typename": "PullRequest", **self._pull(repository, pull.number)}
        threads = (
            thread
            for repository in self.world.repositories
            for pull in repository.pulls.values()
            for thread in self._threads(repository, pull)
        )
        thread = next((thread for thread in threads if thread["id"] == name), None)
        return None if thread is None else {"__typename": "PullRequestReviewThread", **thread}

    def _repository(self, name: str) -> Mapping[str, Any]:
        repository = self.world.repository(name)
        if repository is None:
            raise _missing(f"Could not resolve to a Repository with the name '{name}'.")
        return {
            "id": node_id("R", repository.id),
            "nameWithOwner": repository.full_name,
            "object": lambda _, oid=None, expression=None: self._object(
                repository, oid, expression
            ),
            "pullRequest": lambda _, number: self._pull(repository, number),
        }

    def _object(
        self, repository: Repository, oid: str | None, expression: str | None
    ) -> Mapping[str, Any] | None:
        """A blob or a commit by its name, or by `REF:PATH`."""
        history, name = repository.history, oid
        if name is None and expression is not None:
            ref, colon, path = expression.partition(":")
            commit = repository.resolve(ref)
            name = commit if not colon or commit is None else history.tree(commit).get(path)
        if name is None:
            return None
        data = history.blob(name)
        if data is None:
            is_known = name in history
            return self._commit(repository, name) if is_known else None
        return self._blob(name, data)

    def _blob(self, sha: str, data: bytes) -> Mapping[str, Any]:
        binary = b"\0" in data[:8_000]
        limit = self.rules.blob_text_bytes
        text = None if binary else data[:limit].decode("utf-8", errors="replace")
        return {
            "__typename": "Blob",
            "id": node_id("B", int(sha[:8], 16)),
            "oid": sha,
            "byteSize": len(data),
            "isBinary": binary,
            "isTruncated": len(data) > limit,
            "text": text,
        }

    def _pull(self, repository: Repository, number: int) -> Mapping[str, Any]:
        pull = repository.pulls.get(number)
        if pull is None:
            message = f"Could not resolve to a PullRequest with the number of {number}."
            raise _missing(message)
        base = repository.history.merge_base(pull.base, pull.head)
        changes = repository.history.changes(base, pull.head)
        hidden = pull.pending(self.world.viewer)
        reviews = [self._review(review) for review in pull.reviews if review.id not in hidden]
        return {
            "id": pull_node(repository, pull),
            "files": self._connection(
                [
                    {
                        "path": change.path,
                        "additions": change.additions,
                        "deletions": change.deletions,
                    }
                    for change in changes
                ]
            ),
            "commits": self._connection(self._commits(repository, pull)),
            "number": number,
            "title": pull.title,
            "state": "MERGED" if pull.merged_at is not None else pull.state.upper(),
            "isDraft": pull.draft,
            "author": _actor(pull.author),
            "headRefOid": pull.head,
            "baseRefOid": pull.base,
            "changedFiles": len(changes),
            "additions": sum(change.additions for change in changes),
            "deletions": sum(change.deletions for change in changes),
            "comments": self._connection([self._message("IC", note) for note in pull.notes]),
            "reviews": self._connection(reviews),
            "reviewThreads": self._connection(self._threads(repository, pull)),
        }

    def _threads(self, repository: Repository, pull: Pull) -> list[Mapping[str, Any]]:
        hidden = pull.pending(self.world.viewer)
        threads: dict[int, list[LineComment]] = defaultdict(list)
        for line in pull.lines:
            if line.review not in hidden:
                threads[line.reply_to or line.id].append(line)
        return [self._thread(repository, pull, lines) for lines in threads.values()]

    def _thread(
        self, repository: Repository, pull: Pull, lines: Sequence[LineComment]
    ) -> Mapping[str, Any]:
        first = lines[0]
        root = first.reply_to or first.id
        place = anchors.current(repository, pull, first)
        solver = pull.resolved.get(root)
        states = {review.id: review.state for review in pull.reviews}
        nodes = []
        for line in lines:
            pending = states[line.review] == "PENDING"
            more = {
                "path": line.path,
                "outdated": place is None,
                "state": "PENDING" if pending else "SUBMITTED",
            }
            nodes.append({**self._message("PRRC", line), **more})
        return {
            "id": node_id("PRRT", root),
            "isResolved": root in pull.resolved,
            "isOutdated": place is None,
            "path": first.path,
            "line": place and place.line,
            "resolvedBy": solver and _actor(solver),
            "comments": self._connection(nodes),
        }

    def _review(self, review: Review) -> Mapping[str, Any]:
        return {
            **self._message("PRR", review),
            "state": review.state,
            "createdAt": iso(review.at),
            "submittedAt": None if review.state == "PENDING" else iso(review.at),
            "updatedAt": iso(review.at),
            "commit": {"__typename": "Commit", "id": review.commit, "oid": review.commit},
        }

    def _message(self, kind: str, message: Note | Review | LineComment) -> Mapping[str, Any]:
        return {
            "id": node_id(kind, message.id),
            # An `Int` ends at 31 bits, and the ids of comments have long passed that.
            "databaseId": message.id if message.id <= MAX_INT else None,
            "fullDatabaseId": str(message.id),
            "author": _actor(message.author),
            "body": message.body,
            "isMinimized": message.minimized is not None,
            "minimizedReason": message.minimized,
            "viewerDidAuthor": message.author == self.world.viewer,
        }

    def _commit(
        self, repository: Repository, sha: str, checks: Sequence[Check] = ()
    ) -> dict[str, Any]:
        contexts = [_context(check) for check in checks if check.head == sha]
        return {
            "__typename": "Commit",
            "id": sha,
            "oid": sha,
            "committedDate": iso(repository.history.times[sha]),
            "statusCheckRollup": lambda _: self._rollup(contexts),
        }

    def _rollup(self, contexts: Sequence[Any]) -> dict[str, Any] | None:
        if self.rules.refuse_checks:
            raise _refused()
        return {"contexts": self._connection(contexts)} if contexts else None

    def _commits(self, repository: Repository, pull: Pull) -> list[dict[str, Any]]:
        """The commits of the branch, the oldest first."""
        return [
            {
                "__typename": "PullRequestCommit",
                "commit": self._commit(repository, sha, pull.checks),
            }
            for sha in repository.history.log(pull.base, pull.head)
        ]

    def _connection(self, nodes: Sequence[Any]) -> Callable[..., Mapping[str, Any]]:
        def connect(
            _: Any,
            first: int | None = None,
            after: str | None = None,
            last: int | None = None,
            before: str | None = None,
        ) -> Mapping[str, Any]:
            if last is not None and first is None and before is None:
                after, first = _cursor(max(len(nodes) - last, 0)), last
            if first is None or last not in (None, first) or before is not None:
                raise GraphQLError("You must provide a `first` value to properly paginate.")
            size = min(first, self.rules.graph_page_limit)
            if not 1 <= first <= 100:
                raise GraphQLError(f"Requesting {first} records exceeds the `first` limit of 100.")
            start = _position(after)
            end = min(start + size, len(nodes))
            return {
                "totalCount": len(nodes),
                "nodes": nodes[start:end],
                "pageInfo": {
                    "hasNextPage": end < len(nodes),
                    "hasPreviousPage": start > 0,
                    "startCursor": _cursor(start + 1) if start < end else None,
                    "endCursor": _cursor(end) if start < end else None,
                },
            }

        return connect


def _actor(user: User | None, *, keep_suffix: bool = False) -> Mapping[str, Any] | None:
    """An account; GraphQL names an app without the `[bot]` that REST shows."""
    if user is None:
        return None
    is_bot = user.type == "Bot"
    login = user.login.removesuffix("[bot]") if is_bot and not keep_suffix else user.login
    return {"__typename": "Bot" if is_bot else "User", "login": login, "databaseId": user.id}


def _context(check: Check) -> dict[str, Any]:
    if check.is_status:
        creator = {"__typename": "User", "login": check.app}
        state = {"context": check.name, "state": check.outcome, "creator": creator}
        return {"__typename": "StatusContext", **state}
    return {
        "__typename": "CheckRun",
        "name": check.name,
        "status": "IN_PROGRESS" if check.outcome is None else "COMPLETED",
        "conclusion": check.outcome,
        "checkSuite": {"app": {"slug": check.app}},
    }


def _cursor(position: int) -> str:
    return base64.b64encode(f"{_PREFIX}{position}".encode()).decode()


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        return int(base64.b64decode(cursor).decode().removeprefix(_PREFIX))
    except ValueError as exc:
        message = f"`{cursor}` does not appear to be a valid cursor."
        raise GraphQLError(message, extensions={"type": "INVALID_CURSOR_ARGUMENTS"}) from exc


def _too_many(nodes: int) -> dict[str, str]:
    message = f"This query requests up to {nodes:,} possible nodes which exceeds the maximum limit "
    message += f"of {cost.MAX_NODES:,}."
    return {"type": "MAX_NODE_LIMIT_EXCEEDED", "message": message}


def _refused() -> GraphQLError:
    message = "Resource not accessible by integration"
    return GraphQLError(message, extensions={"type": "FORBIDDEN"})


def _missing(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": "NOT_FOUND"})


def _error(error: GraphQLError) -> dict[str, Any]:
    """An error as GitHub writes it: its type beside the message."""
    answer = dict(error.formatted)
    extensions = answer.pop("extensions", None) or {}
    return {**extensions, **answer}
