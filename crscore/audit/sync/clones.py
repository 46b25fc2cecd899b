"""Bare clones of the repositories, with the heads of all pull requests.

What was fetched is never given up: no garbage collection, and commits that a force-push left
behind are kept by `refs/kept/COMMIT`. Names of branches and files are untrusted; they appear in no
argument.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from crscore.audit.store.database import Store
from crscore.diff.git import run_git
from crscore.errors import HostError

FETCH_TIMEOUT_S: Final = 3_600.0
"""Time limit of one fetch in seconds; the first is a whole clone."""
MAX_FETCHES: Final = 20
"""Most fetches of lost commits in one night: each can find one commit that GitHub has not."""
_REFSPECS: Final = ("+refs/pull/*/head:refs/pull/*/head", "+refs/heads/*:refs/heads/*")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# `fatal: remote error: upload-pack: not our ref 1234...`
_NOT_THERE: Final = re.compile(r"not our ref ([0-9a-f]{40,64})")
# Settings of the network, as a company's machines have them; git's own are not taken over.
_KEPT: Final = (
    "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY",
    "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
)  # fmt: skip
_OPTIONS: Final = (
    "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
    "--no-recurse-submodules", "--prune", "--force",
)  # fmt: skip


def clone_path(clones: Path, repository: int) -> Path:
    """Return where the clone of a repository lies."""
    return clones / f"{repository}.git"


def fetch_repository(
    store: Store, clones: Path, repository: int, url: str, token: str | None
) -> None:
    """Fetch what is new into the clone of a repository, which is made when missing.

    Args:
        store: The store; its comments and revisions name the commits that are needed.
        clones: Folder of the clones.
        repository: The host's number of the repository.
        url: Address to fetch from.
        token: Token to sign in with; it is in no argument and in no file.

    Raises:
        HostError: git failed; what was there before still is.
    """
    git_dir = clone_path(clones, repository)
    try:
        git_dir.mkdir(parents=True, exist_ok=True)
        _remove_old_locks(git_dir)
    except OSError as exc:
        raise HostError("git fetch", f"{git_dir} cannot be written ({exc.strerror})") from exc
    if not (git_dir / "HEAD").is_file():
        run_git(("init", "--quiet", "--bare", "--template=", "."), folder=git_dir)
    variables = _variables(url, token)
    _fetch(git_dir, url, _REFSPECS, variables)
    missing = _missing(git_dir, _named(store, repository))
    for _ in range(MAX_FETCHES):
        if not missing:
            return
        try:
            kept = [f"{commit}:refs/kept/{commit}" for commit in sorted(missing)]
            _fetch(git_dir, url, kept, variables)
            return
        except HostError as exc:
            found = _NOT_THERE.search(exc.reason)
            if found is None or found[1] not in missing:
                raise
            missing.remove(found[1])


def _fetch(git_dir: Path, url: str, refspecs: Iterable[str], variables: Mapping[str, str]) -> None:
    run_git(
        ("fetch", *_OPTIONS, "--stdin", "--", url),
        folder=git_dir,
        is_git_dir=True,
        input_bytes="".join(f"{one}\n" for one in refspecs).encode(),
        variables=variables,
        timeout_s=FETCH_TIMEOUT_S,
    )


def _variables(url: str, token: str | None) -> dict[str, str]:
    """Return the environment of a fetch: it has the network and the token, and asks nobody."""
    settings = {
        "credential.helper": "",
        "http.followRedirects": "false",
        "fetch.fsckObjects": "false",
        "fetch.unpackLimit": "1",
    }
    if token is not None:
        login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        settings[f"http.{url}.extraHeader"] = f"Authorization: Basic {login}"
    found = {name: os.environ[name] for name in _KEPT if name in os.environ}
    found |= {"GIT_ALLOW_PROTOCOL": "https:http", "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _named(store: Store, repository: int) -> set[str]:
    """Return the commits that the pull requests still observed are about."""
    sql = (
        "WITH chosen AS (SELECT * FROM pulls WHERE repository = ? AND (final = 0 OR observed = "
        "(SELECT MAX(observed) FROM pulls WHERE repository = ?))) "
        "SELECT base FROM chosen UNION SELECT head FROM chosen "
        "UNION SELECT merge_commit FROM chosen "
        "UNION SELECT commit_id FROM comments JOIN chosen USING (repository, number) "
        "UNION SELECT before FROM revisions JOIN chosen USING (repository, number) "
        "UNION SELECT after FROM revisions JOIN chosen USING (repository, number)"
    )
    found = store.query(sql, repository, repository)
    return {name for (name,) in found if name and _COMMIT.fullmatch(name)}


def _missing(git_dir: Path, commits: set[str]) -> set[str]:
    """Return the commits that the clone does not have."""
    if not commits:
        return set()
    given = "".join(f"{one}\n" for one in sorted(commits)).encode()
    text = run_git(
        ("cat-file", "--batch-check"),
        folder=git_dir,
        is_git_dir=True,
        input_bytes=given,
        most_bytes=len(commits) * 120,
    )
    lines = text.decode("ascii", "replace").splitlines()
    return {line.split()[0] for line in lines if line.endswith(" missing")}


def _remove_old_locks(git_dir: Path) -> None:
    """Remove locks that a git that was killed has left: no fetch takes that long."""
    before = time.time() - 2 * FETCH_TIMEOUT_S
    for lock in git_dir.rglob("*.lock"):
        with contextlib.suppress(FileNotFoundError):
            if lock.stat().st_mtime < before:
                lock.unlink()
