"""Git over HTTP: `git http-backend` on a repository's history, to be read only."""

from __future__ import annotations

import base64
import binascii
import os
import re
import subprocess
from typing import TYPE_CHECKING

from tests.helpers.github.answers import Answer

if TYPE_CHECKING:
    from tests.helpers.github.answers import Request
    from tests.helpers.github.state import Repository

_PATH = re.compile(r"/(?P<name>[^/]+/[^/]+?)\.git(?P<tail>/info/refs|/git-upload-pack)")
_SERVICE = "git-upload-pack"


def asked(request: Request) -> str | None:
    """`owner/name` of the repository that git wants to read; None for any other request."""
    match = _PATH.fullmatch(request.path)
    if match is None:
        return None
    reads = request.path.endswith(_SERVICE) or request.query.get("service") == _SERVICE
    return match["name"] if reads else None


def password(request: Request) -> str:
    """The token of a Basic login; empty without one."""
    scheme, _, login = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(login, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def answer(
    request: Request, repository: Repository, space: str, heads: str = "refs/pull"
) -> Answer:
    """What git answers.

    Args:
        request: One that `asked` knows.
        repository: The repository it is about.
        space: Namespace of the refs: copies of a world share the history's folder.
        heads: Where the heads of pull requests are.
    """
    if request.path.endswith("/info/refs"):
        _write_refs(repository, space, heads)
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PROJECT_ROOT": repository.history.folder.as_posix(),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_NAMESPACE": space,
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "REQUEST_METHOD": request.method,
        "PATH_INFO": request.path.partition(".git")[2],
        "QUERY_STRING": f"service={_SERVICE}" if request.method == "GET" else "",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.raw)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
    }
    done = subprocess.run(
        ["git", "http-backend"],
        env=environment,
        input=request.raw,
        capture_output=True,
        # It fails after its answer that there is no such object.
        check=False,
        timeout=120,
    )
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    status = int(headers.pop("Status", "200").split()[0])
    return Answer(status=status, body=body, headers=headers)


def _write_refs(repository: Repository, space: str, heads: str) -> None:
    """Name the branches and the heads of the pull requests as they are now."""
    history, root = repository.history, f"refs/namespaces/{space}/"
    wanted = {f"{root}refs/heads/{name}": sha for name, sha in repository.branches.items()}
    for number, pull in repository.pulls.items():
        wanted[f"{root}{heads}/{number}/head"] = pull.head
    listed = history.git("for-each-ref", "--format=%(refname) %(objectname)", f"{root}refs/")
    now = dict(line.split(" ") for line in listed.decode().splitlines())
    lines = [f"delete {name}\n" for name in now.keys() - wanted.keys()]
    lines += [f"update {name} {sha}\n" for name, sha in wanted.items() if now.get(name) != sha]
    history.git("update-ref", "--stdin", stdin="".join(lines).encode())
    history.git("symbolic-ref", f"{root}HEAD", f"{root}refs/heads/{repository.default_branch}")
