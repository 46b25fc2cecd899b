"""Fetches bare clones of the repositories, with the heads of all pull requests.

Fetched objects are never deleted: garbage collection is switched off, and a ref `refs/kept/COMMIT`
keeps each commit that a force-push replaced. Names of branches and files are untrusted, so they are
never passed to git as arguments.
"""

import base64
import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.queries import observed_commits
from crscore.audit.store.rows import Repository
from crscore.diff.git import COMMIT, missing_commits, run_git
from crscore.errors import HostError
from crscore.hosts.feed import Feed
from crscore.text import mask_secret

FETCH_TIMEOUT_S: Final = 3_600.0
"""Maximum duration of one fetch in seconds; the first fetch clones the entire repository."""
# Network settings, such as a company's proxy, are passed on to git. Of git's own variables, only
# those that name certificates are.
_NETWORK_VARIABLES: Final = (
    "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY",
    "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
)  # fmt: skip
_BASIC: Final = "Authorization: Basic "
# Automatic maintenance is switched off, because it would delete unreachable objects.
_FETCH_OPTIONS: Final = (
    "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
    "--no-recurse-submodules", "--prune", "--force",
)  # fmt: skip


def clone_path(clones: Path, repository: int) -> Path:
    """Return the folder of a repository's clone."""
    return clones / f"{repository}.git"


def fetch_repository(
    store: Store, feed: Feed, clones: Path, repository: Repository, url: str, token: str | None
) -> None:
    """Fetch new objects into the clone of a repository, which is created if missing.

    Args:
        store: The store; the commits in its pull requests and comments are fetched, too.
        feed: The code host.
        clones: Folder of the clones.
        repository: The repository.
        url: Address to fetch from.
        token: Token to sign in with; None for an anonymous fetch. It is never passed as an argument
            or written to a file.

    Raises:
        HostError: git or the host failed, or the folder cannot be written. Objects that were
            fetched before are kept.
    """
    git_dir = clone_path(clones, repository.id)
    try:
        git_dir.mkdir(parents=True, exist_ok=True)
        # A git process that is killed leaves its lock files. Those that are older than any fetch
        # can last are removed.
        cutoff = time.time() - 2 * FETCH_TIMEOUT_S
        for lock in git_dir.rglob("*.lock"):
            # The git process that created a lock may still be running and may remove it first.
            with contextlib.suppress(FileNotFoundError):
                if lock.stat().st_mtime < cutoff:
                    lock.unlink()
    except OSError as exc:
        raise HostError("git fetch", f"{git_dir} cannot be written ({exc.strerror})") from exc
    if not (git_dir / "HEAD").is_file():
        # With an empty `--template=`, no hooks are copied from a template of the user or system.
        run_git(("init", "--quiet", "--bare", "--template=", "."), folder=git_dir)
    variables = _make_variables(url, f"{feed.login}:{token}" if token is not None else None)
    # With `+`, refs that a force-push has moved are also updated.
    refspecs = [f"+{name}:{name}" for name in (feed.refs, "refs/heads/*")]
    _fetch(git_dir, url, refspecs, variables)
    # Commits from the host are untrusted text, so each is checked to be an object name.
    commits = filter(COMMIT.fullmatch, observed_commits(store, repository.id))
    missing = sorted(missing_commits(git_dir, [*commits]))
    # A commit that the host no longer has would make the fetch fail.
    existing = feed.find_commits(repository.name, missing) if missing else ()
    if present := sorted({*missing}.intersection(existing)):
        # A commit that a force-push replaced is on no branch. It is fetched by its name, and a ref
        # keeps it.
        _fetch(git_dir, url, [f"{commit}:refs/kept/{commit}" for commit in present], variables)


def _fetch(git_dir: Path, url: str, refspecs: Iterable[str], variables: Mapping[str, str]) -> None:
    try:
        run_git(
            ("fetch", *_FETCH_OPTIONS, "--stdin", "--", url),
            folder=git_dir,
            is_git_dir=True,
            # Refspecs are passed on standard input, because they may be too long for a command
            # line.
            input_bytes="".join(f"{refspec}\n" for refspec in refspecs).encode(),
            variables=variables,
            timeout_s=FETCH_TIMEOUT_S,
        )
    except HostError as exc:
        # The message of git may quote the host's response, which may contain the login: encoded,
        # decoded, or only the token.
        reason = exc.reason.encode()
        for value in variables.values():
            if value.startswith(_BASIC):
                encoded = value.removeprefix(_BASIC).encode()
                login = base64.b64decode(encoded)
                for secret in (encoded, login, login.partition(b":")[2]):
                    reason = mask_secret(reason, secret)
        raise HostError(exc.request, reason.decode()) from None


def _make_variables(url: str, login: str | None) -> dict[str, str]:
    """Return the environment variables of a fetch: network settings, git's settings and the token.

    Args:
        url: Address to fetch from.
        login: User name and token, separated by a colon; None for an anonymous fetch.
    """
    settings = {
        # An empty value switches off the machine's credential helpers, which could provide another
        # account.
        "credential.helper": "",
        "http.followRedirects": "false",  # the token must not be sent to another address
        # If the user's settings enable this check, old repositories with a malformed commit cannot
        # be fetched: https://github.com/psf/requests/issues/3088
        "fetch.fsckObjects": "false",
        "fetch.unpackLimit": "1",  # keep packs instead of one file per object
    }
    # The token is passed in the environment, because other users of the machine can read the
    # arguments of a process, and a file might not be deleted.
    if login is not None:
        encoded = base64.b64encode(login.encode()).decode()
        settings[f"http.{url}.extraHeader"] = f"{_BASIC}{encoded}"
    variables = {name: os.environ[name] for name in _NETWORK_VARIABLES if name in os.environ}
    # Other protocols are forbidden, because an address `ext::...` runs a command:
    # https://git-scm.com/docs/git-remote-ext
    variables |= {"GIT_ALLOW_PROTOCOL": "https:http", "GIT_CONFIG_COUNT": str(len(settings))}
    for index, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
    return variables
