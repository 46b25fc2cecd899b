"""GitHub's JSON for what the world holds, with every field its description requires."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.helpers.github import anchors
from tests.helpers.github.addresses import REPOSITORY_URLS, USER_URLS
from tests.helpers.github.state import Pull, Repository, User, iso

if TYPE_CHECKING:
    from tests.helpers.github.history import Change
    from tests.helpers.github.state import LineComment, Note, Review, Thumbs

WEB = "https://github.com"


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """Makes JSON values whose `url`s lead back to this server."""

    api: str
    """This server's address, without a final slash."""

    def user(self, user: User | None) -> dict[str, Any] | None:
        if user is None:
            return None
        page = user.login.removesuffix("[bot]")
        url = f"{self.api}/users/{quote(user.login)}"
        return {
            "login": user.login,
            "id": user.id,
            "node_id": node_id("U", user.id),
            "avatar_url": f"https://avatars.githubusercontent.com/u/{user.id}?v=4",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{WEB}/apps/{page}" if user.type == "Bot" else f"{WEB}/{page}",
            **{key: url + tail for key, tail in USER_URLS.items()},
            "type": user.type,
            "user_view_type": "public",
            "site_admin": False,
        }

    def repository(self, repository: Repository) -> dict[str, Any]:
        url = f"{self.api}/repos/{repository.full_name}"
        kind = repository.owner_type
        owner = User(login=repository.owner, id=repository.id // 10, type=kind)
        return {
            "id": repository.id,
            "node_id": node_id("R", repository.id),
            "name": repository.name,
            "full_name": repository.full_name,
            "private": repository.private,
            "owner": self.user(owner),
            "html_url": f"{WEB}/{repository.full_name}",
            "description": None,
            "fork": False,
            "url": url,
            **{key: url + tail for key, tail in REPOSITORY_URLS.items()},
            "clone_url": f"{WEB}/{repository.full_name}.git",
            "git_url": f"git://github.com/{repository.full_name}.git",
            "ssh_url": f"git@github.com:{repository.full_name}.git",
            "svn_url": f"{WEB}/{repository.full_name}",
            "default_branch": repository.default_branch,
            "language": repository.language,
            **dict.fromkeys(("homepage", "mirror_url", "license"), None),
            **dict.fromkeys(("has_issues", "has_projects", "has_wiki", "has_downloads"), True),
            **dict.fromkeys(("has_pages", "has_discussions", "archived", "disabled"), False),
            **dict.fromkeys(("forks", "forks_count", "stargazers_count", "size"), 0),
            **dict.fromkeys(("watchers", "watchers_count"), 0),
            **dict.fromkeys(("network_count", "subscribers_count"), 0),
            "open_issues": len(repository.pulls),
            "open_issues_count": len(repository.pulls),
            "visibility": "private" if repository.private else "public",
            **dict.fromkeys(("pushed_at", "created_at", "updated_at"), iso(1_750_000_000)),
        }

    def pull_simple(self, repository: Repository, pull: Pull) -> dict[str, Any]:
        url = f"{self.api}/repos/{repository.full_name}/pulls/{pull.number}"
        issue = f"{self.api}/repos/{repository.full_name}/issues/{pull.number}"
        page = f"{WEB}/{repository.full_name}/pull/{pull.number}"
        statuses = f"{self.api}/repos/{repository.full_name}/statuses/{pull.head}"
        links = {
            "self": url,
            "html": page,
            "issue": issue,
            "comments": f"{issue}/comments",
            "review_comments": f"{url}/comments",
            "review_comment": f"{self.api}/repos/{repository.full_name}/pulls/comments{{/number}}",
            "commits": f"{url}/commits",
            "statuses": statuses,
        }
        return {
            "url": url,
            "id": pull.number + 2_000_000_000,
            "node_id": pull_node(repository, pull),
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "issue_url": issue,
            "number": pull.number,
            "state": pull.state,
            "locked": False,
            "title": pull.title,
            "user": self.user(pull.author),
            "body": pull.body,
            "created_at": iso(pull.at),
            "updated_at": iso(latest(pull)),
            "closed_at": _time(pull.closed_at),
            "merged_at": _time(pull.merged_at),
            "merge_commit_sha": pull.merge_commit,
            **dict.fromkeys(("milestone", "active_lock_reason"), None),
            "assignee": None,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "labels": [],
            "draft": pull.draft,
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "comments_url": links["comments"],
            "statuses_url": statuses,
            "head": self._end(repository, pull, head=True),
            "base": self._end(repository, pull, head=False),
            "_links": {key: {"href": value} for key, value in links.items()},
            "author_association": pull.author.association if pull.author else "NONE",
            "auto_merge": None,
        }

    def _end(self, repository: Repository, pull: Pull, *, head: bool) -> dict[str, Any]:
        name = pull.head_repository if head else repository.full_name
        ref = pull.head_ref if head else pull.base_ref
        owner, _, short = (name or "unknown/unknown").partition("/")
        place = repository
        if name is not None and name != repository.full_name:
            place = Repository(
                owner=owner, name=short, id=repository.id + 1, history=repository.history
            )
        return {
            "label": f"{owner}:{ref}",
            "ref": ref,
            "sha": pull.head if head else pull.base,
            "user": None if name is None else self.user(User(login=owner, id=place.id // 10)),
            "repo": None if name is None else self.repository(place),
        }

    def pull(self, repository: Repository, pull: Pull, viewer: User) -> dict[str, Any]:
        base = repository.history.merge_base(pull.base, pull.head)
        changes = repository.history.changes(base, pull.head)
        hidden = pull.pending(viewer)
        return self.pull_simple(repository, pull) | {
            "merged": pull.merged_at is not None,
            "mergeable": True if pull.state == "open" else None,
            "rebaseable": True if pull.state == "open" else None,
            "mergeable_state": "clean" if pull.state == "open" else "unknown",
            "merged_by": None,
            "comments": len(pull.notes),
            "review_comments": sum(line.review not in hidden for line in pull.lines),
            "maintainer_can_modify": False,
            "commits": len(repository.history.log(base, pull.head)),
            "additions": sum(change.additions for change in changes),
            "deletions": sum(change.deletions for change in changes),
            "changed_files": len(changes),
        }

    def file(self, repository: Repository, head: str, change: Change) -> dict[str, Any]:
        path = quote(change.path)
        page = f"{WEB}/{repository.full_name}"
        entry = {
            "sha": change.sha,
            "filename": change.path,
            "status": change.status,
            "additions": change.additions,
            "deletions": change.deletions,
            "changes": change.additions + change.deletions,
            "blob_url": f"{page}/blob/{head}/{quote(change.path, safe='')}",
            "raw_url": f"{page}/raw/{head}/{quote(change.path, safe='')}",
            "contents_url": (f"{self.api}/repos/{repository.full_name}/contents/{path}?ref={head}"),
        }
        if change.patch is not None:
            entry["patch"] = change.patch
        if change.previous is not None:
            entry["previous_filename"] = change.previous
        return entry

    def line_comment(
        self, repository: Repository, pull: Pull, comment: LineComment
    ) -> dict[str, Any]:
        url = f"{self.api}/repos/{repository.full_name}/pulls/comments/{comment.id}"
        pull_url = f"{self.api}/repos/{repository.full_name}/pulls/{pull.number}"
        page = f"{WEB}/{repository.full_name}/pull/{pull.number}#discussion_r{comment.id}"
        now = anchors.current(repository, pull, comment)
        fields = {
            "url": url,
            "pull_request_review_id": comment.review,
            "id": comment.id,
            "node_id": node_id("PRRC", comment.id),
            "diff_hunk": anchors.hunk(repository, pull, comment),
            "path": comment.path,
            # GitHub carries a comment along with the head for as long as its line is there.
            "commit_id": comment.commit if now is None else pull.head,
            "original_commit_id": comment.commit,
            "user": self.user(comment.author),
            "body": comment.body,
            "created_at": iso(comment.at),
            "updated_at": iso(comment.edited),
            "html_url": page,
            "pull_request_url": pull_url,
            "author_association": _association(comment.author, pull),
            "_links": {
                "self": {"href": url},
                "html": {"href": page},
                "pull_request": {"href": pull_url},
            },
            "reactions": self._reactions(url, comment.thumbs),
            "start_line": now and now.start_line,
            "original_start_line": comment.start_line,
            "start_side": comment.side if comment.start_line else None,
            "line": now and now.line,
            "original_line": comment.line,
            "side": comment.side,
            "original_position": anchors.original_position(repository, pull, comment),
            "position": now and now.position,
            "subject_type": "file" if comment.line is None else "line",
        }
        if comment.reply_to is not None:
            fields["in_reply_to_id"] = comment.reply_to
        return fields

    def review(self, repository: Repository, pull: Pull, review: Review) -> dict[str, Any]:
        page = f"{WEB}/{repository.full_name}/pull/{pull.number}#pullrequestreview-{review.id}"
        pull_url = f"{self.api}/repos/{repository.full_name}/pulls/{pull.number}"
        fields = {
            "id": review.id,
            "node_id": node_id("PRR", review.id),
            "user": self.user(review.author),
            "body": review.body,
            "state": review.state,
            "html_url": page,
            "pull_request_url": pull_url,
            "author_association": _association(review.author, pull),
            "_links": {"html": {"href": page}, "pull_request": {"href": pull_url}},
            "commit_id": review.commit,
        }
        if review.state != "PENDING":
            fields["submitted_at"] = iso(review.at)
        return fields

    def note(self, repository: Repository, pull: Pull, note: Note) -> dict[str, Any]:
        url = f"{self.api}/repos/{repository.full_name}/issues/comments/{note.id}"
        return {
            "url": url,
            "html_url": f"{WEB}/{repository.full_name}/pull/{pull.number}#issuecomment-{note.id}",
            "issue_url": f"{self.api}/repos/{repository.full_name}/issues/{pull.number}",
            "id": note.id,
            "node_id": node_id("IC", note.id),
            "user": self.user(note.author),
            "created_at": iso(note.at),
            "updated_at": iso(note.edited),
            "body": note.body,
            "author_association": _association(note.author, pull),
            "reactions": self._reactions(url, note.thumbs),
            "performed_via_github_app": None,
        }

    def commit(self, repository: Repository, sha: str) -> dict[str, Any]:
        url = f"{self.api}/repos/{repository.full_name}/commits/{sha}"
        git = f"{self.api}/repos/{repository.full_name}/git"
        page = f"{WEB}/{repository.full_name}/commit/{sha}"
        person = {"name": "Ada", "email": "ada@example.org", "date": iso(1_760_000_000)}
        return {
            "url": url,
            "sha": sha,
            "node_id": node_id("C", int(sha[:8], 16)),
            "html_url": page,
            "comments_url": f"{url}/comments",
            "commit": {
                "url": f"{git}/commits/{sha}",
                "author": person,
                "committer": person,
                "message": repository.history.messages[sha],
                "comment_count": 0,
                "tree": {"sha": sha, "url": f"{git}/trees/{sha}"},
            },
            "author": None,
            "committer": None,
            "parents": [
                {"sha": parent, "url": url.replace(sha, parent), "html_url": page}
                for parent in repository.history.parents(sha)
            ],
        }

    def content(self, repository: Repository, path: str, ref: str, blob: str) -> dict[str, Any]:
        data = repository.history.blob(blob) or b""
        url = f"{self.api}/repos/{repository.full_name}/contents/{quote(path)}?ref={ref}"
        git = f"{self.api}/repos/{repository.full_name}/git/blobs/{blob}"
        page = f"{WEB}/{repository.full_name}/blob/{ref}/{quote(path)}"
        # Above 1 MB GitHub leaves the text out and says so by the encoding.
        large = len(data) > 1_048_576
        return {
            "name": path.rpartition("/")[2],
            "path": path,
            "sha": blob,
            "size": len(data),
            "url": url,
            "html_url": page,
            "git_url": git,
            "download_url": f"https://raw.githubusercontent.com/{repository.full_name}/{ref}/x",
            "type": "file",
            "content": "" if large else base64.encodebytes(data).decode(),
            "encoding": "none" if large else "base64",
            "_links": {"self": url, "git": git, "html": page},
        }

    def blob(self, repository: Repository, sha: str, data: bytes) -> dict[str, Any]:
        return {
            "sha": sha,
            "node_id": node_id("B", int(sha[:8], 16)),
            "size": len(data),
            "url": f"{self.api}/repos/{repository.full_name}/git/blobs/{sha}",
            "content": base64.encodebytes(data).decode(),
            "encoding": "base64",
        }

    def _reactions(self, url: str, thumbs: Thumbs) -> dict[str, Any]:
        kinds = ("laugh", "hooray", "confused", "heart", "rocket", "eyes")
        return {
            "url": f"{url}/reactions",
            "total_count": thumbs.up + thumbs.down,
            "+1": thumbs.up,
            "-1": thumbs.down,
            **dict.fromkeys(kinds, 0),
        }


def node_id(kind: str, number: int) -> str:
    """An opaque id as GraphQL has it."""
    tail = base64.urlsafe_b64encode(str(number).encode()).decode().rstrip("=")
    return f"{kind}_{tail}"


def pull_node(repository: Repository, pull: Pull) -> str:
    """GraphQL id of a pull request, unique over all repositories."""
    return node_id("PR", (repository.id << 24) + pull.number)


def _time(seconds: int | None) -> str | None:
    return None if seconds is None else iso(seconds)


def _association(author: User | None, pull: Pull) -> str:
    return "NONE" if author is None else author.association


def latest(pull: Pull) -> int:
    """When it was last changed; resolving a thread and reacting change it not."""
    times = [pull.at, pull.pushed_at, pull.closed_at or 0]
    times += [note.edited for note in pull.notes]
    times += [line.edited for line in pull.lines]
    times += [review.at for review in pull.reviews]
    return max(times)
