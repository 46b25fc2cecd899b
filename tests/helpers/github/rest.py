"""The REST routes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tests.helpers.github import answers
from tests.helpers.github.answers import Answer, Request
from tests.helpers.github.shapes import latest
from tests.helpers.github.state import LineComment, Note, iso

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.helpers.github.history import Change
    from tests.helpers.github.shapes import Shapes
    from tests.helpers.github.state import Pull, Repository, Rules, World

Posted = TypeVar("Posted", LineComment, Note)
MAX_BODY = 65_536
_NAME = r"(?P<name>[^/]+/[^/]+)"


@dataclass(frozen=True, kw_only=True)
class Write:
    """Something that was changed."""

    kind: str
    """`created`, `edited` or `deleted`."""
    id: int
    pull: int
    body: str | None = None


@dataclass(kw_only=True)
class Rest:
    """Answers REST requests from the state of the world."""

    world: World
    shapes: Shapes
    rules: Rules
    may_write: bool
    writes: list[Write] = field(default_factory=list)

    def answer(self, request: Request) -> Answer:
        """The answer to a request whose token was checked."""
        for method, pattern, handler in _ROUTES:
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                if "owner" in match.groupdict():
                    return handler(self, request, **match.groupdict())
                return self._handle(handler, request, match.groupdict())
        return answers.not_found()

    def _handle(
        self, handler: Callable[..., Answer], request: Request, found: dict[str, Any]
    ) -> Answer:
        repository = self.world.repository(found.pop("name"))
        if repository is None:
            return answers.not_found()
        if request.method != "GET" and not self.may_write:
            return answers.read_only()
        if "number" in found:
            pull = repository.pulls.get(int(found.pop("number")))
            return handler(self, request, repository, pull) if pull else answers.not_found()
        return handler(self, request, repository, **found)

    def repository(self, request: Request, repository: Repository) -> Answer:
        return Answer(body=self.shapes.repository(repository))

    def organisation(self, request: Request, owner: str) -> Answer:
        return self._repositories(request, owner, ("Organization",))

    def user(self, request: Request, owner: str) -> Answer:
        return self._repositories(request, owner, ("Organization", "User"))

    def _repositories(self, request: Request, owner: str, types: tuple[str, ...]) -> Answer:
        """The repositories of an owner, who is there for having one."""
        owned = [
            repository
            for repository in self.world.repositories
            if repository.owner.lower() == owner.lower() and repository.owner_type in types
        ]
        signed_in = "authorization" in request.headers
        seen = [repository for repository in owned if signed_in or not repository.private]
        return Answer(items=seen, shape=self.shapes.repository) if owned else answers.not_found()

    def pulls(self, request: Request, repository: Repository) -> Answer:
        query = request.query
        state = query.get("state", "open")
        found = [pull for pull in repository.pulls.values() if state in ("all", pull.state)]
        if "base" in query:
            found = [pull for pull in found if pull.base_ref == query["base"]]
        if "head" in query:
            found = [pull for pull in found if _label(repository, pull) == query["head"]]
        sort = query.get("sort", "created")
        down = "desc" if sort == "created" else "asc"
        found.sort(
            key=lambda one: (latest(one) if sort == "updated" else one.at, one.number),
            reverse=query.get("direction", down) == "desc",
        )
        return Answer(items=found, shape=lambda one: self.shapes.pull_simple(repository, one))

    def all_line_comments(self, request: Request, repository: Repository) -> Answer:
        viewer = self.world.viewer
        hidden = {one for pull in repository.pulls.values() for one in pull.pending(viewer)}
        found = [
            (pull, line)
            for pull in repository.pulls.values()
            for line in pull.lines
            if line.review not in hidden
        ]
        return Answer(
            items=_changed(request, found),
            shape=lambda one: self.shapes.line_comment(repository, *one),
        )

    def all_notes(self, request: Request, repository: Repository) -> Answer:
        found = [(pull, note) for pull in repository.pulls.values() for note in pull.notes]
        return Answer(
            items=_changed(request, found), shape=lambda one: self.shapes.note(repository, *one)
        )

    def pull(self, request: Request, repository: Repository, pull: Pull) -> Answer:
        return Answer(body=self.shapes.pull(repository, pull, self.world.viewer))

    def files(self, request: Request, repository: Repository, pull: Pull) -> Answer:
        lag = min(self.rules.stale_heads, len(pull.heads) - 1)
        head = pull.heads[-1 - lag]
        base = repository.history.merge_base(pull.base, head)
        seen = self._listed(repository.history.changes(base, head))
        rows = [self.shapes.file(repository, head, item) for item in seen]
        return Answer(items=rows[: self.rules.file_limit])

    def _listed(self, changes: tuple[Change, ...]) -> list[Change]:
        """The changes as a file list shows them, with what it leaves out without a word."""
        listed, lines = [], 0
        for change in changes:
            total = change.additions + change.deletions
            if lines >= self.rules.total_patch_lines:
                listed.append(replace(change, patch=None, additions=0, deletions=0))
            elif total > self.rules.file_patch_lines:
                listed.append(replace(change, patch=None))
            else:
                listed.append(change)
                lines += len((change.patch or "").splitlines())
        return listed

    def line_comments(self, request: Request, repository: Repository, pull: Pull) -> Answer:
        hidden = pull.pending(self.world.viewer)
        seen = [line for line in pull.lines if line.review not in hidden]
        return Answer(items=[self.shapes.line_comment(repository, pull, item) for item in seen])

    def line_comment(self, request: Request, repository: Repository, line: str) -> Answer:
        for pull in repository.pulls.values():
            hidden = pull.pending(self.world.viewer)
            for one in pull.lines:
                if one.id == int(line) and one.review not in hidden:
                    return Answer(body=self.shapes.line_comment(repository, pull, one))
        return answers.not_found()

    def reviews(self, request: Request, repository: Repository, pull: Pull) -> Answer:
        hidden = pull.pending(self.world.viewer)
        seen = [review for review in pull.reviews if review.id not in hidden]
        return Answer(items=[self.shapes.review(repository, pull, item) for item in seen])

    def notes(self, request: Request, repository: Repository, pull: Pull) -> Answer:
        return Answer(items=[self.shapes.note(repository, pull, note) for note in pull.notes])

    def write_note(self, request: Request, repository: Repository, pull: Pull) -> Answer:
        refused = _bad_body(request)
        if refused:
            return refused
        at = self.world.tick()
        note = Note(
            id=self.world.new_id(),
            author=self.world.viewer,
            body=self._kept(request.body["body"]),
            at=at,
            edited=at,
        )
        pull.notes.append(note)
        self.writes.append(Write(kind="created", id=note.id, pull=pull.number, body=note.body))
        body = self.shapes.note(repository, pull, note)
        return Answer(status=201, body=body, headers={"Location": body["url"]})

    def _kept(self, body: str) -> str:
        if not self.rules.web_line_ends:
            return body
        return "\r\n".join(body.splitlines()).rstrip()

    def edit_note(self, request: Request, repository: Repository, note: str) -> Answer:
        found = self.world.note(repository, int(note))
        refused = _bad_body(request)
        if found is None or refused:
            return refused or answers.not_found()
        pull, kept = found
        kept.body, kept.edited = self._kept(request.body["body"]), self.world.tick()
        self.writes.append(Write(kind="edited", id=kept.id, pull=pull.number, body=kept.body))
        return Answer(body=self.shapes.note(repository, pull, kept))

    def one_note(self, request: Request, repository: Repository, note: str) -> Answer:
        found = self.world.note(repository, int(note))
        return Answer(body=self.shapes.note(repository, *found)) if found else answers.not_found()

    def delete_note(self, request: Request, repository: Repository, note: str) -> Answer:
        found = self.world.note(repository, int(note))
        if found is None:
            return answers.not_found()
        pull, gone = found
        pull.notes.remove(gone)
        self.writes.append(Write(kind="deleted", id=gone.id, pull=pull.number))
        return Answer(status=204)

    def compare(self, request: Request, repository: Repository, base: str, head: str) -> Answer:
        start = repository.resolve(base)
        end = repository.resolve(head.rpartition(":")[2])
        if start is None or end is None:
            return answers.not_found()
        history = repository.history
        middle = history.merge_base(start, end)
        ahead, behind = history.log(start, end), history.log(end, start)
        url = f"{self.shapes.api}/repos/{repository.full_name}/compare/{base}...{head}"
        page = f"https://github.com/{repository.full_name}/compare/{base}...{head}"
        first = int(request.query.get("page", "1")) == 1
        seen = self._listed(history.changes(middle, end)) if first else []
        body = {
            "url": url,
            "html_url": page,
            "permalink_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "base_commit": self.shapes.commit(repository, start),
            "merge_base_commit": self.shapes.commit(repository, middle),
            "status": _status(len(ahead), len(behind)),
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": [self.shapes.commit(repository, sha) for sha in ahead] if first else [],
            "files": [
                self.shapes.file(repository, end, item) for item in seen[: self.rules.compare_files]
            ],
        }
        return Answer(body=body)

    def commit_pulls(self, request: Request, repository: Repository, sha: str) -> Answer:
        if sha not in repository.history:
            message = f"No commit found for SHA: {sha}"
            return answers.refusal(422, message)
        found = [
            self.shapes.pull_simple(repository, pull)
            for pull in repository.pulls.values()
            # A fork's commits are in the fork: GitHub does not find them from here.
            if pull.head_repository == repository.full_name
            and sha in (*repository.history.log(pull.base, pull.head), pull.head)
        ]
        return Answer(items=found)

    def content(self, request: Request, repository: Repository, path: str) -> Answer:
        ref = request.query.get("ref", repository.default_branch)
        commit = repository.resolve(ref)
        blob = None if commit is None else repository.history.tree(commit).get(path)
        if blob is None:
            return answers.not_found()
        return Answer(body=self.shapes.content(repository, path, ref, blob))

    def blob(self, request: Request, repository: Repository, sha: str) -> Answer:
        data = repository.history.blob(sha)
        if data is None:
            return answers.not_found()
        return Answer(body=self.shapes.blob(repository, sha, data))


def _changed(request: Request, found: list[tuple[Pull, Posted]]) -> list[tuple[Pull, Posted]]:
    """Comments of a repository since a time, in the order asked for."""
    query = request.query
    since, by_change = query.get("since", ""), query.get("sort") == "updated"
    return sorted(
        (pull for pull in found if iso(pull[1].edited) >= since),
        key=lambda one: (one[1].edited if by_change else one[1].at, one[1].id),
        # Without `sort` GitHub takes no notice of the direction.
        reverse="sort" in query and query.get("direction") == "desc",
    )


def _bad_body(request: Request) -> Answer | None:
    if not isinstance(request.body, dict):
        return answers.refusal(400, "Problems parsing JSON")
    body = request.body.get("body")
    if not isinstance(body, str) or not body.strip():
        return answers.missing_field("IssueComment", "body")
    return answers.too_long() if len(body) > MAX_BODY else None


def _label(repository: Repository, pull: Pull) -> str:
    owner = (pull.head_repository or "unknown/").partition("/")[0]
    return f"{owner}:{pull.head_ref}"


def _status(ahead: int, behind: int) -> str:
    if ahead and behind:
        return "diverged"
    return "ahead" if ahead else "behind" if behind else "identical"


_PULL = rf"/repos/{_NAME}/pulls/(?P<number>\d+)"
_ISSUE = rf"/repos/{_NAME}/issues/(?P<number>\d+)"
_NOTE = rf"/repos/{_NAME}/issues/comments/(?P<note>\d+)"
_ROUTES: tuple[tuple[str, str, Callable[..., Answer]], ...] = (
    ("GET", rf"/repos/{_NAME}", Rest.repository),
    ("GET", rf"/repos/{_NAME}/pulls", Rest.pulls),
    ("GET", r"/orgs/(?P<owner>[^/]+)/repos", Rest.organisation),
    ("GET", r"/users/(?P<owner>[^/]+)/repos", Rest.user),
    ("GET", rf"/repos/{_NAME}/pulls/comments", Rest.all_line_comments),
    ("GET", rf"/repos/{_NAME}/issues/comments", Rest.all_notes),
    ("GET", _PULL, Rest.pull),
    ("GET", rf"{_PULL}/files", Rest.files),
    ("GET", rf"{_PULL}/comments", Rest.line_comments),
    ("GET", rf"/repos/{_NAME}/pulls/comments/(?P<line>\d+)", Rest.line_comment),
    ("GET", rf"{_PULL}/reviews", Rest.reviews),
    ("GET", rf"{_ISSUE}/comments", Rest.notes),
    ("POST", rf"{_ISSUE}/comments", Rest.write_note),
    ("GET", _NOTE, Rest.one_note),
    ("PATCH", _NOTE, Rest.edit_note),
    ("DELETE", _NOTE, Rest.delete_note),
    ("GET", rf"/repos/{_NAME}/compare/(?P<base>.+?)\.\.\.(?P<head>.+)", Rest.compare),
    ("GET", rf"/repos/{_NAME}/commits/(?P<sha>[^/]+)/pulls", Rest.commit_pulls),
    ("GET", rf"/repos/{_NAME}/contents/(?P<path>.+)", Rest.content),
    ("GET", rf"/repos/{_NAME}/git/blobs/(?P<sha>[^/]+)", Rest.blob),
)
