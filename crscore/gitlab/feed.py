"""Reads merge requests as an audit stores them.

Reading a merge request takes five requests, and one more for each older version with new notes.
Sources: https://docs.gitlab.com/api/merge_requests/ and https://docs.gitlab.com/api/discussions/.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from operator import attrgetter
from typing import Final
from urllib.parse import quote

import msgspec

from crscore.errors import NotFoundError, UnavailableError
from crscore.gitlab import notes, versions
from crscore.gitlab.client import Client
from crscore.gitlab.notes import Discussion, Id
from crscore.gitlab.versions import MergeRequest, read_version, request_path
from crscore.hosts.feed import FeedDetails, FeedPull, FeedThread
from crscore.hosts.http import MAX_PAGES
from crscore.hosts.records import MessageKind

# A merge request is locked only while GitLab merges it, "a very short-lived, transitional state":
# https://gitlab.com/gitlab-org/gitlab-ce/issues/43790
_STATES: Final = {"opened": "open", "locked": "open"}


class _Project(msgspec.Struct, frozen=True):
    id: Id
    path_with_namespace: str


class GitLabFeed:
    """`Feed` of a GitLab server."""

    # GitLab itself writes these refs, so a project also has the commits of its forks' branches.
    refs = "refs/merge-requests/*/head"
    # Discussions are listed for one merge request at a time:
    # https://docs.gitlab.com/api/discussions/. Only GitHub's GraphQL counts points.
    threads_at_once = 1
    points = 0

    def __init__(self, client: Client) -> None:
        self.client = client
        self.page: str | None = f"{client.url}/{{name}}/-/merge_requests/{{number}}"
        # https://docs.gitlab.com/ci/jobs/ci_job_token/ and https://docs.gitlab.com/api/oauth2/
        self.login = "gitlab-ci-token" if client.is_job else "oauth2"

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        return self.client.requests

    def find_repository(self, name: str) -> tuple[int, str]:
        """Find a project: see `Feed`."""
        project = self.client.get(f"/projects/{quote(name, safe='')}", _Project)
        return project.id, project.path_with_namespace

    def list_repositories(self, owner: str) -> dict[int, str]:
        """List the projects of a group and its subgroups: see `Feed`."""
        path = f"/groups/{quote(owner, safe='')}/projects"
        projects = self.client.pages(path, _Project, {"include_subgroups": "true"})
        return {project.id: project.path_with_namespace for project in projects}

    def find_commits(self, repository: str, commits: Sequence[str]) -> list[str]:
        """Return the commits that still exist: see `Feed`.

        GitLab keeps the commits of all versions, even after a force-push.
        """
        path = f"/projects/{quote(repository, safe='')}/repository/commits"
        present = []
        for commit in commits:
            with suppress(NotFoundError):
                self.client.get(f"{path}/{commit}", msgspec.Raw)
                present.append(commit)
        return present

    def read_changed(self, repository: int, since: str) -> Iterator[tuple[FeedPull, ...]]:
        """Yield the changed merge requests: see `Feed`.

        An item that changes while the list is read moves to the end of the list. The items behind
        it move forward, perhaps to a page that was already read. So as long as the list is in
        order, each page is requested by the time of the last item read, not by its number.
        """
        path = f"/projects/{repository}/merge_requests"
        query = {"scope": "all", "state": "all", "order_by": "updated_at", "sort": "asc"}
        after, number, count, in_order = since, 1, 0, True
        for _ in range(MAX_PAGES):
            page = self.client.page(path, MergeRequest, number, query | {"updated_after": after})
            pulls = tuple(_convert_request(item, repository) for item in page.items)
            count += len(pulls)
            if not page.has_more and count < (page.total or 0):
                raise UnavailableError(f"GET {path}", f"{count} of {page.total} items were listed")
            yield pulls
            if not page.has_more:
                return
            times = [after, *(pull.updated for pull in pulls)]
            in_order = in_order and all(time <= later for time, later in pairwise(times))
            # If all items of a page have the same time, a request by this time would repeat the
            # page, so the next page is requested by its number.
            if in_order and times[-1] > after:
                after, number, count = times[-1], 1, 0
            else:
                number += 1
        raise UnavailableError(f"GET {path}", f"pages after {MAX_PAGES} are left to the next run")

    def read_threads(self, pulls: Sequence[FeedPull]) -> list[tuple[FeedThread, ...]]:
        """Read the states of the threads: see `Feed`."""
        states = []
        for pull in pulls:
            path = request_path(pull.repository, pull.number)
            request = self.client.get(path, MergeRequest)
            states.append(tuple(_convert_threads(self._read_discussions(path), request.sha or "")))
        return states

    def read_details(self, pull: FeedPull, known_hunks: Collection[int]) -> FeedDetails:
        """Read a merge request: see `Feed`."""
        path = request_path(pull.repository, pull.number)
        request = self.client.get(path, MergeRequest)
        discussions = self._read_discussions(path)
        entries = self.client.pages(f"{path}/versions", versions.Entry)
        # After the target branch moved, several versions have the same head. The newest is used.
        ordered = sorted(entries, key=attrgetter("id"))
        ids = {entry.head_commit_sha: entry.id for entry in ordered}
        messages = []
        for _, note, message in notes.read_notes(
            discussions, url=request.web_url, head=request.sha or ""
        ):
            hunk, created = message.hunk, utc(note.created_at)
            # The position of an outdated note refers to the version that it was written on.
            if message.id not in known_hunks and message.path and message.commit in ids:
                version = read_version(self.client, path, ids[message.commit])
                hunk = versions.cut_hunk(version, message)
            updated = utc(note.updated_at) or created
            messages.append(replace(message, hunk=hunk, created=created, updated=updated))
        lines, language = None, None
        if request.sha in ids:
            version = read_version(self.client, path, ids[request.sha])
            lines, language = versions.count_lines(version)
        elif ids and request.sha:
            raise UnavailableError(f"GET {path}/versions", "the newest version is not listed yet")
        current = self.client.get(path, MergeRequest)
        if current.sha != request.sha:
            raise UnavailableError(path, "new commits were pushed while it was read")
        listed = sum(not note.system for item in discussions for note in item.notes)
        return FeedDetails(
            pull=_convert_request(current, pull.repository),
            messages=tuple(messages),
            threads=tuple(_convert_threads(discussions, request.sha or "")),
            lines=lines,
            language=language,
            unlisted=current.describe_unlisted(listed),
        )

    def _read_discussions(self, path: str) -> tuple[Discussion, ...]:
        return self.client.pages(f"{path}/discussions", Discussion)


def utc(text: str | None) -> str:
    """Convert a time to UTC, to the second; return "" if the time is missing or invalid.

    A self-hosted server can write times in its own time zone.

    Example:
        >>> utc("2026-01-02T03:04:05.678+02:00"), utc("yesterday")
        ('2026-01-02T01:04:05Z', '')
    """
    try:
        time = datetime.fromisoformat(text or "")
        return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError):
        return ""


def _convert_request(request: MergeRequest, repository: int) -> FeedPull:
    merged = utc(request.merged_at) or None
    # If the merge was a fast-forward, it made no commit of its own.
    commit = request.merge_commit_sha or request.squash_commit_sha or request.sha
    return FeedPull(
        repository=repository,
        number=request.iid,
        node=str(request.id),
        title=request.title,
        author=request.author.username if request.author else None,
        state=_STATES.get(request.state, request.state),
        created=utc(request.created_at),
        updated=utc(request.updated_at),
        closed=merged or utc(request.closed_at) or None,
        merged=merged,
        base_ref=request.target_branch,
        base=request.diff_refs.start_sha if request.diff_refs else "",
        head=request.sha or "",
        merge_commit=commit if merged else None,
    )


def _convert_threads(discussions: Collection[Discussion], head: str) -> Iterator[FeedThread]:
    for discussion in discussions:
        pairs = [
            (note, message)
            for _, note, message in notes.read_notes([discussion], url="", head=head)
            if message.kind is MessageKind.LINE
        ]
        if not pairs:
            continue
        resolvable = [note for note, _ in pairs if note.resolvable]
        resolved = bool(resolvable) and all(note.resolved for note in resolvable)
        by = next((note.resolved_by for note in resolvable if note.resolved_by), None)
        first = pairs[0][1]
        yield FeedThread(
            first=first.thread or first.id,
            node=discussion.id,
            resolved=resolved,
            resolved_by=by.username if by and resolved else None,
            outdated=first.outdated,
        )
