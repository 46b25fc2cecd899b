"""Git over HTTP: the history of a repository, with the refs that GitHub shows."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.helpers.github.answers import Answer

if TYPE_CHECKING:
    from tests.helpers.github.answers import Request
    from tests.helpers.github.state import Repository


def answer(request: Request, repository: Repository, tail: str) -> Answer:
    """Answer a fetch by `git http-backend`; `tail` is the path within the repository."""
    _name_refs(repository)
    service = request.query.get("service", "")
    variables = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "uploadpack.hideRefs",
        "GIT_CONFIG_VALUE_0": "refs/kept",
        "GIT_PROJECT_ROOT": str(repository.history.folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "REQUEST_METHOD": request.method,
        "PATH_INFO": tail,
        "QUERY_STRING": f"service={service}" if service else "",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.data)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(
        ["git", "http-backend"],
        env=variables,
        input=request.data,
        capture_output=True,
        check=True,
        timeout=120,
    )
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n"))
    status = int(headers.pop("Status", "200").split()[0])
    return Answer(status=status, body=body, headers=headers)


def _name_refs(repository: Repository) -> None:
    """Make the refs true to the state: the branches and the head of each pull request."""
    history = repository.history
    refs = {f"refs/heads/{name}": sha for name, sha in repository.branches.items()}
    refs |= {f"refs/pull/{pull.number}/head": pull.head for pull in repository.pulls.values()}
    there = history.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/pull")
    lines = [f"delete {name}\n" for name in there.decode().split() if name not in refs]
    lines += [f"update {name} {sha}\n" for name, sha in refs.items()]
    history.git("update-ref", "--stdin", stdin="".join(lines).encode())
