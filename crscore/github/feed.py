"""Reads pull requests as an audit stores them.

Reading a changed pull request takes one GraphQL query, a REST request for each of two lists of
comments, and further requests for lists of more than one page. One query reads the states of all
threads of 100 pull requests.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from crscore.diff.languages import language_of
from crscore.errors import NotFoundError, UnavailableError
from crscore.github import graphql
from crscore.github.client import Client
from crscore.github.conversation import (
    PENDING,
    CommentItem,
    LineItem,
    PullItem,
    Repository,
    read_comment,
    read_line_comment,
)
from crscore.hosts.feed import FeedDetails, FeedPull, FeedThread
from crscore.hosts.http import PAGE_ITEMS
from crscore.hosts.records import HostMessage, MessageKind

Response = TypeVar("Response", graphql.Nodes, graphql.Commits)

# GitHub charges a query for its lists, not for its single objects, so a query for 100 commits costs
# one point, as does a query for one.
COMMITS_PER_QUERY: Final = 100
"""Maximum number of commits per query."""
# This allows 300,000 pull requests. The limit is for a host whose list never ends.
MAX_PULL_PAGES: Final = 3_000
"""Maximum number of pages to read from a repository's list of pull requests."""


class GitHubFeed:
    """`Feed` of a GitHub server.

    Args:
        client: The client.
    """

    page: str | None = None
    # GitHub keeps the head of each pull request here, even if it is closed or from a fork:
    # https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/checking-out-pull-requests-locally
    refs = "refs/pull/*/head"
    # GitHub requires this user name if the password is a token:
    # https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation
    login = "x-access-token"
    # GitHub refuses a longer list, "You may not provide more than 100 node ids", a limit that its
    # documentation lacks: https://github.com/sourcecred/sourcecred/pull/908
    threads_at_once = 100

    def __init__(self, client: Client) -> None:
        self.points = 0
        self._queries = 0
        self._client = client

    @property
    def requests(self) -> int:
        """REST requests sent so far."""
        return self._client.requests - self._queries

    def find_repository(self, name: str) -> tuple[int, str]:
        """Find a repository: see `Feed`."""
        path = f"/repositories/{name}" if name.isdigit() else f"/repos/{name}"
        item = self._client.get(path, Repository)
        return item.id, item.full_name

    def list_repositories(self, owner: str) -> dict[int, str]:
        """List the repositories of an organisation or a user: see `Feed`."""
        try:
            items = self._client.pages(f"/orgs/{owner}/repos", Repository, {"type": "all"})
        except NotFoundError:
            items = self._client.pages(f"/users/{owner}/repos", Repository)
        return {item.id: item.full_name for item in items}

    def find_commits(self, repository: str, commits: Sequence[str]) -> list[str]:
        """Return the commits that GitHub still has, for one point per 100 commits: see `Feed`."""
        owner, _, name = repository.partition("/")
        present: list[str] = []
        for start in range(0, len(commits), COMMITS_PER_QUERY):
            query = graphql.commits_query(commits[start : start + COMMITS_PER_QUERY])
            response = self._send(query, {"owner": owner, "name": name}, graphql.Commits)
            present += [commit.oid for commit in response.repository.values() if commit]
        return present

    def read_changed(self, repository: int, since: str) -> Iterator[tuple[FeedPull, ...]]:
        """Yield the changed pull requests: see `Feed`.

        GitHub's list has no `since` parameter, so it is read from the newest item on. Pull requests
        that change meanwhile move to the top, and the others move to later pages, so none of them
        is skipped.
        """
        # https://docs.github.com/en/rest/pulls/pulls#list-pull-requests
        path = f"/repositories/{repository}/pulls"
        query = {"state": "all", "sort": "updated", "direction": "desc"}
        changed: dict[int, FeedPull] = {}
        times: list[str] = []
        for number in range(1, MAX_PULL_PAGES + 1):
            page = self._client.page(path, PullItem, number, query)
            for item in page.items:
                times.append(item.updated_at)
                if item.updated_at >= since:
                    changed.setdefault(item.number, _convert_pull(item, repository))
            # If the list is in order so far, no item after these has changed since that time.
            is_past = bool(times) and times[-1] < since
            if not page.has_more or (is_past and times == sorted(times, reverse=True)):
                break
        else:
            reason = f"the list has more than {MAX_PULL_PAGES:,} pages"
            raise UnavailableError(f"GET {path}", reason)
        pulls = sorted(changed.values(), key=lambda pull: (pull.updated, pull.number))
        for start in range(0, len(pulls), PAGE_ITEMS):
            yield tuple(pulls[start : start + PAGE_ITEMS])

    def read_threads(self, pulls: Sequence[FeedPull]) -> list[tuple[FeedThread, ...] | None]:
        """Read the states of the threads in one query: see `Feed`."""
        nodes = self._read_nodes(graphql.THREAD_STATES_QUERY, pulls)
        states: list[tuple[FeedThread, ...] | None] = []
        for pull in pulls:
            node = nodes.get(pull.node)
            # This query has no paging: if there are more threads, `read_details` must read them.
            is_complete = node is not None and not node.threads.page_info.has_next_page
            states.append(
                tuple(_convert_thread(thread, 0) for thread in node.threads.nodes)
                if node is not None and is_complete
                else None
            )
        return states

    def read_details(self, pull: FeedPull, known_hunks: Collection[int]) -> FeedDetails:  # noqa: ARG002
        """Read a pull request: see `Feed`.

        GitHub lists each comment with its hunk, so no hunks are requested.
        """
        node = self._read_node(pull)
        path = f"/repositories/{pull.repository}"
        reviews = node.reviews.nodes if node.reviews else []
        pending = {review.id for review in reviews if review.state == PENDING}
        # Pending reviews are drafts that only their author can see.
        lines = [
            item
            for item in self._client.pages(f"{path}/pulls/{pull.number}/comments", LineItem)
            if item.pull_request_review_id not in pending
        ]
        comments = self._client.pages(f"{path}/issues/{pull.number}/comments", CommentItem)
        roots = {item.id: item.in_reply_to_id or item.id for item in lines}
        threads = [
            (first, thread)
            for thread in node.threads.nodes
            for first in thread.comments.nodes
            if first.state != PENDING
        ]
        counts = Counter(roots.values())
        unread = {note.id for note in node.comments.nodes} - {item.id for item in comments} or any(
            first.id not in roots or counts[roots[first.id]] < thread.comments.total_count
            for first, thread in threads
        )
        states: dict[tuple[MessageKind, int], graphql.CommentState] = {
            **{(MessageKind.LINE, first.id): first for first, _ in threads},
            **{(MessageKind.CONVERSATION, note.id): note for note in node.comments.nodes},
            **{(MessageKind.REVIEW, review.id): review for review in reviews},
        }
        messages = [read_line_comment(item, original=True) for item in lines]
        messages += map(read_comment, comments)
        messages += [_convert_review(review) for review in reviews if review.state != PENDING]
        return FeedDetails(
            pull=None,
            messages=tuple(
                replace(message, minimized=state.minimized)
                if (state := states.get((message.kind, message.id)))
                else message
                for message in messages
            ),
            threads=tuple(
                _convert_thread(thread, roots.get(first.id, first.id)) for first, thread in threads
            ),
            checks={
                (head["commit"].oid, check.app, check.name or check.context): check.outcome
                for head in node.commits.nodes
                if (rollup := head["commit"].status_check_rollup) is not None
                for check in rollup["contexts"].nodes
            },
            lines=node.additions + node.deletions,
            language=_find_main_language(node),
            unlisted="GitHub counts comments that it does not list" if unread else "",
        )

    def _read_node(self, pull: FeedPull) -> graphql.Node:
        node = self._read_nodes(graphql.DETAILS_QUERY, [pull]).get(pull.node)
        if node is None:
            raise NotFoundError("GraphQL", "the pull request no longer exists")
        return graphql.read_to_end(partial(self._send, kind=graphql.Nodes), node, graphql.DETAILS)

    def _read_nodes(self, query: str, pulls: Sequence[FeedPull]) -> dict[str, graphql.Node]:
        response = self._send(query, {"ids": [pull.node for pull in pulls]}, graphql.Nodes)
        # GraphQL returns null for a pull request that was deleted or that the token may not see.
        return {node.id: node for node in response.nodes if node is not None}

    def _send(self, query: str, variables: Mapping[str, Any], kind: type[Response]) -> Response:
        before = self._client.requests
        try:
            response = self._client.graphql(query, variables, kind)
        finally:
            self._queries += self._client.requests - before
        self.points += response.rate_limit.get("cost", 1)
        return response


def _convert_pull(item: PullItem, repository: int) -> FeedPull:
    return FeedPull(
        repository=repository,
        number=item.number,
        node=item.node_id,
        title=item.title,
        author=item.user.login if item.user else None,
        # REST calls a merged pull request closed.
        state="merged" if item.merged_at else item.state,
        created=item.created_at,
        updated=item.updated_at,
        closed=item.closed_at,
        merged=item.merged_at,
        base_ref=item.base.ref,
        base=item.base.sha,
        head=item.head.sha,
        # https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
        # For an open pull request, this is GitHub's test merge, which is on no branch.
        merge_commit=item.merge_commit_sha if item.merged_at else None,
    )


def _convert_review(review: graphql.Review) -> HostMessage:
    author = review.author
    return HostMessage(
        id=review.id,
        kind=MessageKind.REVIEW,
        body=review.body,
        login=author.rest_login if author else None,
        is_bot=author is not None and author.is_app,
        created=review.submitted_at or review.created_at,
        updated=review.updated_at,
        state=review.state,
        commit=review.commit.oid if review.commit else None,
    )


def _convert_thread(thread: graphql.Node, first: int) -> FeedThread:
    return FeedThread(
        first=first,
        node=thread.id,
        resolved=thread.is_resolved,
        resolved_by=thread.resolved_by.login if thread.resolved_by else None,
        outdated=thread.is_outdated,
    )


def _find_main_language(node: graphql.Node) -> str | None:
    """Return the language with the most changed lines; in a tie, the first by name."""
    lines: Counter[str] = Counter()
    for file in node.files.nodes if node.files else ():
        language = language_of(file.path)
        if language is not None:
            lines[language] += file.additions + file.deletions
    return min(lines, key=lambda language: (-lines[language], language), default=None)
