"""Runs git on an untrusted repository.

Git is run with an argument list, never in a shell. Its environment has no tokens and none of the
user's `GIT_` variables. Time and output are limited. Hooks, pagers, prompts and lazy fetches are
off, and so is the network, unless the caller allows a protocol.
"""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from crscore.errors import HostError

COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""Full name of a commit: SHA-1, or SHA-256 (https://git-scm.com/docs/hash-function-transition)."""
TIMEOUT_S: Final = 60.0
"""Time limit of one call in seconds."""
_MAX_ERROR_BYTES: Final = 2_000
# HOME is kept, because git reads `safe.directory`, the list of other users' folders that this user
# trusts, only from the user's own configuration (https://git-scm.com/docs/git-config).
_KEPT_VARIABLES: Final = ("PATH", "HOME", "XDG_CONFIG_HOME", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
_SET_VARIABLES: Final = {
    # `run_git` looks for lines that start with "fatal: ", which git translates in other locales.
    "LC_ALL": "C",
    # A fetch of a private repository without a token would wait for a password forever:
    # https://git-scm.com/docs/git, which also describes the next two variables.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # With `refs/replace/`, git could show other contents for a commit than the host has.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    # In a partial clone, git would fetch missing objects (https://git-scm.com/docs/partial-clone).
    # Versions before 2.39.4 ignore the first of these two variables.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
# `core.hooksPath` and `core.fsmonitor` name programs that git would start, and `gc` and
# `maintenance` would write to the repository. The others determine how git reads the repository
# and formats its output.
_SETTINGS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=",
    "core.attributesFile=/dev/null",
    "core.quotePath=true",
    "core.sparseCheckout=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "diff.suppressBlankEmpty=false",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    # A change can contain a folder that looks like a bare repository, with its own configuration:
    # https://git-scm.com/docs/git-config
    "safe.bareRepository=explicit",
)


def run_git(
    arguments: Sequence[str],
    *,
    folder: Path,
    variables: Mapping[str, str] | None = None,
    is_git_dir: bool = False,
    input_bytes: bytes = b"",
    max_bytes: int = 1_000_000,
    accepted_codes: tuple[int, ...] = (0,),
    timeout_s: float | None = None,
) -> bytes:
    """Run git once.

    Args:
        arguments: Arguments after `git`; the caller must check untrusted arguments.
        folder: Folder in which git runs.
        variables: Additional environment variables.
        is_git_dir: Whether the folder is a repository's `.git`, so that git need not search for it.
        input_bytes: Standard input.
        max_bytes: Maximum bytes of output.
        accepted_codes: Exit codes that are not failures.
        timeout_s: Time limit in seconds; None for `TIMEOUT_S`.

    Returns:
        Standard output of git.

    Raises:
        HostError: git is missing, took too long, printed too much or failed.
    """
    label = f"git {arguments[0] if not arguments[0].startswith('-') else ''}".strip()
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    location = {"GIT_DIR": str(folder)} if is_git_dir else {}
    # Files are used instead of pipes, because git could block on a full pipe while this process
    # reads another pipe.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(input_bytes)
        stdin.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603
                ["git", "--no-pager", *settings, *arguments],  # noqa: S607
                cwd=folder,
                env={**environment, **_SET_VARIABLES, **location, **(variables or {})},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                # A process group, so that `_kill` also reaches the programs that git has started.
                start_new_session=True,
            )
        except OSError as exc:
            raise HostError(label, f"git cannot be run here ({exc.strerror})") from exc
        text = _read(process, label, max_bytes, timeout_s or TIMEOUT_S)
        stderr.seek(0, os.SEEK_END)
        stderr.seek(max(0, stderr.tell() - _MAX_ERROR_BYTES))
        error = stderr.read().decode("utf-8", "replace")
    if process.returncode not in accepted_codes:
        lines = [line.strip() for line in error.splitlines() if line.strip()]
        # Git may print advice after the message.
        messages = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines
        message = next(iter(messages), f"git ended with {process.returncode}")
        raise HostError(label, message.removeprefix("fatal: ").removeprefix("error: "))
    return text


def missing_commits(git_dir: Path, commits: Iterable[str]) -> set[str]:
    """Return the commits that a repository lacks; texts that are no full hashes count as missing.

    Raises:
        HostError: git failed.
    """
    # Only full hashes are passed to git, because any other text could name something else.
    hashes = sorted(commit for commit in set(commits) if COMMIT.fullmatch(commit))
    answer = run_git(
        ("cat-file", "--batch-check"),
        folder=git_dir,
        is_git_dir=True,
        input_bytes="".join(f"{name}^{{commit}}\n" for name in hashes).encode(),
        max_bytes=len(hashes) * 200,  # each line has a commit, its type and its size
    )
    lines = answer.splitlines()
    present = {name for name, line in zip(hashes, lines, strict=True) if b" commit " in line}
    return set(commits) - present


def _read(process: subprocess.Popen[bytes], label: str, max_bytes: int, timeout_s: float) -> bytes:
    timed_out = threading.Event()

    def stop() -> None:
        timed_out.set()
        _kill(process)

    # `read` has no time limit, but it ends when git is killed.
    timer = threading.Timer(timeout_s, stop)
    timer.start()
    try:
        with process:
            text = process.stdout.read(max_bytes + 1) if process.stdout else b""
            if len(text) > max_bytes:
                _kill(process)
    finally:
        timer.cancel()
        timer.join()
    if timed_out.is_set():
        raise HostError(label, f"it took longer than {timeout_s:g} s")
    if len(text) > max_bytes:
        raise HostError(label, f"it printed more than {max_bytes:,} bytes")
    return text


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill git and, on POSIX, the programs that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
