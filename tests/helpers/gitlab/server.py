"""The HTTP side and the answers of the simulated GitLab."""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.helpers.github import anchors, faults, git_http
from tests.helpers.github.answers import Answer, Request
from tests.helpers.github.faults import Kind
from tests.helpers.github.shapes import latest
from tests.helpers.github.state import Note, iso
from tests.helpers.github.transport import Http, handler
from tests.helpers.gitlab import description

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.helpers.github.history import Change
    from tests.helpers.github.state import LineComment, Repository, User, World

TOKEN = "loopback-token"
OWN = 41898282


@dataclass
class Schedule(faults.Schedule):
    """The faults of the simulated GitHub's schedules; a stale list is one of versions."""

    def _draw(self, draw: Any, request: Request) -> faults.Fault:
        path = f"{request.path}/files" if request.path.endswith("/versions") else request.path
        return super()._draw(draw, replace(request, path=path))


@dataclass(kw_only=True)
class Entry:
    """One request as the log has it."""

    method: str
    path: str
    fault: str | None


@dataclass(kw_only=True)
class Server:
    """A GitLab with the pull requests of a world as its merge requests.

    `repository` and `pull` are those of the last request, under the lock.
    """

    world: World
    clock: Callable[[], float]
    page_limit: int = 100
    may_write: bool = True
    hidden_lines: int = 10**9
    """A longer patch is left out as too large."""
    faults: faults.Plan = field(default_factory=lambda: faults.Script({}))
    log: list[Entry] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    """Lines of notes that GitLab would obey."""
    job_token: str = ""
    url: str = ""
    deviations: list[str] = field(default_factory=list)
    """Where an answer is not what GitLab's API description says."""

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self.repository = self.world.repositories[0]
        self.pull = next(iter(self.repository.pulls.values()))
        self.http = Http(("127.0.0.1", 0), handler(self.meet))
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)

    def meet(self, request: Request) -> tuple[Answer, faults.Fault | None]:
        with self._lock:
            fault = self.faults.meet(len(self.log), request)
            self.log.append(
                Entry(method=request.method, path=request.path, fault=fault.kind if fault else None)
            )
            answer = self._answer(request, fault)
            if answer.status in (200, 201):
                path = request.path.removeprefix("/api/v4")
                # What a fault puts in the place of an answer is no answer of GitLab's.
                is_git = git_http.asked(request) is not None
                replaced = fault is not None and fault.kind in (
                    Kind.STATUS,
                    Kind.PRIMARY,
                    Kind.SECONDARY,
                )
                if not is_git and not replaced:
                    is_list = request.method == "GET"
                    self.deviations += description.deviations(path, answer.body, is_list=is_list)
            return answer, fault

    def _answer(self, request: Request, fault: faults.Fault | None) -> Answer:
        if fault and fault.kind in (Kind.PRIMARY, Kind.SECONDARY):
            answer = Answer(status=429, body=b"Retry later\n")
            if fault.kind is Kind.SECONDARY:
                answer.headers["Retry-After"] = str(fault.wait_s)
            else:
                reset = int(self.clock()) + (fault.wait_s or 0)
                answer.headers |= {"RateLimit-Remaining": "0", "RateLimit-Reset": str(reset)}
            return answer
        if fault and (early := fault.instead(self.clock())) is not None:
            return early
        if (name := git_http.asked(request)) is not None:
            return self._git(request, name)
        path = request.path.removeprefix("/api/v4")
        is_job = bool(self.job_token) and request.headers.get("job-token") == self.job_token
        if request.headers.get("private-token") != TOKEN and not is_job:
            return _message(401, "401 Unauthorized")
        if path == "/job" and is_job:
            return Answer(body={"id": 1, "user": _account(self.world.viewer)})
        if path == "/user" and not is_job:
            return Answer(body=_account(self.world.viewer))
        return self._below(path, request, fault)

    def _below(self, path: str, request: Request, fault: faults.Fault | None) -> Answer:
        if match := re.fullmatch(r"/groups/([^/]+)/projects", path):
            owned = [one for one in self.world.repositories if one.owner == match[1]]
            if not owned:
                return _message(404, "404 Group Not Found")
            return self._page([_project(one) for one in owned], request, fault)
        match = re.match(r"/projects/(\d+|[^/]+/[^/]+)(?=/|$)", path)
        name = match[1] if match else ""
        repository = self.world.by_id(int(name)) if name.isdigit() else self.world.repository(name)
        if repository is None or match is None:
            return _message(404, "404 Project Not Found")
        self.repository = repository
        path = path.removeprefix(match[0])
        return self._in_project(path, request, fault) if path else Answer(body=_project(repository))

    def _git(self, request: Request, name: str) -> Answer:
        repository = self.world.repository(name)
        if repository is None or git_http.password(request) not in (TOKEN, self.job_token):
            return _message(404, "404 Project Not Found")
        space = f"{self.http.server_port}-{repository.id}"
        return git_http.answer(request, repository, space, heads="refs/merge-requests")

    def _listed(self, request: Request) -> list[dict[str, Any]]:
        """The merge requests, which have no commits in lists."""
        rows = []
        for pull in self.repository.pulls.values():
            self.pull = pull
            row = self._merge_request()
            del row["diff_refs"]
            rows.append(row)
        after = request.query.get("updated_after", "")
        rows = [row for row in rows if row["updated_at"] >= after]
        return sorted(rows, key=lambda row: (row["updated_at"], row["iid"]))

    def _members(self) -> list[dict[str, Any]]:
        pulls = self.repository.pulls.values()
        authors = {
            message.author.id: message.author
            for pull in pulls
            for message in (*pull.lines, *pull.notes, *pull.reviews)
            if message.author
        }
        return [
            _user(user) | {"access_level": 30}
            for user in authors.values()
            if user.type == "Bot" or user.association in ("OWNER", "MEMBER", "COLLABORATOR")
        ]

    def _in_repository(self, path: str, ref: str) -> Answer:
        if match := re.fullmatch(r"/repository/files/(.+)", path):
            return self._file(match[1], ref)
        commit = path.removeprefix("/repository/commits/")
        if commit in self.repository.history:
            return Answer(body={"id": commit})
        return _message(404, "404 Commit Not Found")

    def _in_project(self, path: str, request: Request, fault: faults.Fault | None) -> Answer:
        if path in ("/merge_requests", "/members/all"):
            items = self._members() if path == "/members/all" else self._listed(request)
            return self._page(self.faults.arrange(request.path, items), request, fault)
        if path.startswith("/repository/"):
            return self._in_repository(path, request.query.get("ref", ""))
        match = re.match(r"/merge_requests/(\d+)(?=/|$)", path)
        if match is None or int(match[1]) not in self.repository.pulls:
            return _message(404, "404 Not found")
        self.pull = self.repository.pulls[int(match[1])]
        path = path.removeprefix(match[0])
        if request.method != "GET":
            return self._write(path, request)
        if match := re.fullmatch(r"/versions/(\d+)", path):
            return Answer(body=self._version(int(match[1])))
        if not path:
            return Answer(body=self._merge_request())
        lists = {"/versions": self._versions, "/discussions": self._discussions}
        lists["/notes"] = lambda: [_note(note) for note in self.pull.notes]
        if path not in lists:
            return _message(404, "404 Not found")
        items = self.faults.arrange(request.path, lists[path]())
        if fault and fault.stale and len(items) > 1:
            items = [item for item in items if item.get("head_commit_sha") != self.pull.head]
        return self._page(items, request, fault)

    def _page(self, items: list[Any], request: Request, fault: faults.Fault | None) -> Answer:
        size = min(int(request.query.get("per_page", 20)), self.page_limit)
        page = int(request.query.get("page", 1))
        body = items[(page - 1) * size : page * size]
        body = fault.page(body, items, page) if fault else body
        following = str(page + 1) if page * size < len(items) else ""
        headers = {"X-Total": str(len(items)), "X-Next-Page": following, "X-Page": str(page)}
        return Answer(body=body, headers=headers)

    def _merge_request(self) -> dict[str, Any]:
        lines = [line for line in self.pull.lines if self._is_sent(line)]
        url = f"{self.url}/{self.repository.full_name}/-/merge_requests/{self.pull.number}"
        return {
            "id": self.repository.id % 1000 * 1000 + self.pull.number,
            "iid": self.pull.number,
            "state": {"open": "opened"}.get(self.pull.state, self.pull.state)
            if not self.pull.merged_at
            else "merged",
            "draft": self.pull.draft,
            "created_at": iso(self.pull.at),
            "updated_at": iso(latest(self.pull)),
            "closed_at": iso(self.pull.closed_at) if self.pull.closed_at else None,
            "merged_at": iso(self.pull.merged_at) if self.pull.merged_at else None,
            "merge_commit_sha": self.pull.merge_commit if self.pull.merged_at else None,
            "squash_commit_sha": None,
            "title": self.pull.title,
            "web_url": url,
            "sha": self.pull.head,
            "target_branch": self.pull.base_ref,
            "author": _account(self.pull.author) if self.pull.author else None,
            "user_notes_count": len(self.pull.notes) + len(lines) + len(self._bodies()),
            "diff_refs": self._refs(self.pull.head),
        }

    def _refs(self, head: str) -> dict[str, str]:
        base = self.repository.history.merge_base(self.pull.base, head)
        return {"base_sha": base, "head_sha": head, "start_sha": self.pull.base}

    def _versions(self) -> list[dict[str, Any]]:
        return [self._entry(index) for index in reversed(range(len(self.pull.heads)))]

    def _entry(self, index: int) -> dict[str, Any]:
        refs = self._refs(self.pull.heads[index])
        shas = {f"{name.removesuffix('_sha')}_commit_sha": sha for name, sha in refs.items()}
        is_last = index == len(self.pull.heads) - 1
        at = iso((self.pull.pushed_at if is_last else 0) or self.pull.at)
        return {
            "id": index + 1, "state": "collected", "real_size": "1", "created_at": at, **shas,
        }  # fmt: skip

    def _version(self, number: int) -> dict[str, Any]:
        entry = self._entry(number - 1)
        history = self.repository.history
        changes = history.changes(entry["base_commit_sha"], entry["head_commit_sha"])
        before = history.tree(entry["base_commit_sha"])
        diffs = [
            {
                "old_path": change.previous or change.path,
                "new_path": change.path,
                "a_mode": "0" if change.status == "added" else "100644",
                # Without another change, it is the mode that differs.
                "b_mode": {"removed": "0"}.get(
                    change.status, "100755" if before.get(change.path) == change.sha else "100644"
                ),
                "new_file": change.status == "added",
                "renamed_file": change.status == "renamed",
                "deleted_file": change.status == "removed",
                "diff": self._patch(change),
                "collapsed": False,
                "too_large": change.patch is not None and not self._patch(change),
            }
            for change in changes
        ]
        return {**entry, "real_size": str(len(diffs)), "diffs": diffs}

    def _patch(self, change: Change) -> str:
        if change.patch is None:
            history = self.repository.history
            data = history.blob(change.sha) or b""
            name = change.path
            return f"Binary files a/{name} and b/{name} differ\n" if b"\0" in data else ""
        return f"{change.patch}\n" if change.patch.count("\n") < self.hidden_lines else ""

    def _is_sent(self, line: LineComment) -> bool:
        pending = {review.id for review in self.pull.reviews if review.state == "PENDING"}
        return line.review not in pending

    def _bodies(self) -> list[Note]:
        return [
            Note(
                id=review.id, author=review.author, body=review.body, at=review.at, edited=review.at
            )
            for review in self.pull.reviews
            if review.body and review.state != "PENDING"
        ]

    def _discussions(self) -> list[dict[str, Any]]:
        threads: dict[int, list[dict[str, Any]]] = {}
        for line in filter(self._is_sent, self.pull.lines):
            threads.setdefault(line.reply_to or line.id, []).append(self._line(line))
        for note in (*self.pull.notes, *self._bodies()):
            threads[note.id] = [_note(note)]
        added = Note(id=1, author=self.pull.author, body="added 1 commit", at=1, edited=1)
        threads[1] = [_note(added) | {"system": True}]
        return [{"id": f"{first:040x}", "notes": notes} for first, notes in threads.items()]

    def _line(self, line: LineComment) -> dict[str, Any]:
        row = anchors.current(self.repository, self.pull, line)
        placed = row is not None or line.line is None
        head = self.pull.head if placed else line.commit
        number = getattr(row, "line", line.line) if row is not None else line.line
        old = line.side == "LEFT"
        position = {
            **self._refs(head),
            "position_type": "file" if line.line is None else "text",
            "old_path": line.path,
            "new_path": line.path,
            "old_line": number if old else None,
            "new_line": None if old else number,
        }
        by = self.pull.resolved.get(line.reply_to or line.id)
        shown = Note(id=line.id, author=line.author, body=line.body, at=line.at, edited=line.edited)
        resolved = {"resolved": by is not None, "resolved_by": _user(by) if by else None}
        return _note(shown) | {"resolvable": True, "position": position, **resolved}

    def _file(self, path: str, ref: str) -> Answer:
        commit = self.repository.resolve(ref)
        text = self.repository.history.text(commit, path) if commit else None
        if text is None:
            return _message(404, "404 File Not Found")
        data = text.encode()
        digest = hashlib.sha256(data).hexdigest()
        content = base64.b64encode(data).decode()
        return Answer(body={"encoding": "base64", "content": content, "content_sha256": digest})

    def _write(self, path: str, request: Request) -> Answer:
        match = re.fullmatch(r"/notes(?:/(\d+))?", path)
        if match is None:
            return _message(404, "404 Not found")
        if not self.may_write:
            return _message(403, "403 Forbidden")
        body = (request.body or {}).get("body", "")
        self.commands += re.findall(r"(?m)^\s*/\w+", body)
        if match[1] is None:
            at = self.world.tick()
            note = Note(
                id=self.world.new_id(), author=self.world.viewer, body=body, at=at, edited=at
            )
            self.pull.notes.append(note)
            return Answer(status=201, body=_note(note))
        known = [note for note in self.pull.notes if note.id == int(match[1])]
        if not known:
            return _message(404, "404 Note Not Found")
        if request.method == "DELETE":
            self.pull.notes.remove(known[0])
            return Answer(status=204)
        known[0].body = body
        return Answer(body=_note(known[0]))


def _message(status: int, text: str) -> Answer:
    return Answer(status=status, body={"message": text})


def _project(repository: Repository) -> dict[str, Any]:
    return {
        "id": repository.id,
        "path_with_namespace": repository.full_name,
        "default_branch": repository.default_branch,
    }


def _user(user: User) -> dict[str, Any]:
    return {"id": user.id, "username": user.login, "state": "active"}


def _account(user: User) -> dict[str, Any]:
    """Only some answers say who is a bot."""
    return {**_user(user), "bot": user.type == "Bot"}


def _note(note: Note) -> dict[str, Any]:
    author = _user(note.author) if note.author else {"id": 2, "username": "ghost"}
    return {
        "id": note.id,
        "body": note.body,
        "author": author,
        "created_at": iso(note.at),
        "updated_at": iso(note.edited),
        "system": False,
        "internal": False,
        "resolvable": False,
    }


@contextmanager
def serve(world: World, *, clock: Callable[[], float], page_limit: int = 100) -> Iterator[Server]:
    """Serve a world until the block ends."""
    server = Server(world=world, clock=clock, page_limit=page_limit)
    server.thread.start()
    try:
        yield server
        assert not server.deviations, sorted(set(server.deviations))[:9]
    finally:
        server.http.shutdown()
        server.thread.join()
        server.http.close_connections()
        server.http.server_close()
