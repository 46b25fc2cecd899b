"""Repository of the clone that a command runs in, by git's remotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crscore.errors import ConfigError, CRScoreError

if TYPE_CHECKING:
    from pathlib import Path

REMOTES: Final = ("upstream", "origin")
"""Names of remotes, in the order in which they are taken: a fork's pull requests are upstream."""
# `git@host:owner/name.git`, `ssh://git@host:22/owner/name`, `https://token@host/owner/name.git`
_ADDRESS: Final = re.compile(
    r"(?:\w+://(?:[^@/]*@)?(?P<host>[\w.-]+)(?::\d+)?/|(?:[\w.-]+@)?(?P<short>[\w.-]+):)"
    r"(?P<repository>[\w.-]+/[\w.-]+?)(?:\.git)?/?",
    re.ASCII,
)

_ALSO: Final = {"ssh.github.com": "github.com", "www.github.com": "github.com"}
"""Other names of a host: of the one that takes SSH on the port of HTTPS, for instance."""


def find_repository(folder: Path) -> tuple[str, str]:
    """Find the repository on the host that a clone is of.

    Args:
        folder: A folder of the clone.

    Returns:
        The host without its port, and `owner/name`.

    Raises:
        ConfigError: There is no clone, or no remote with such an address. The message has no
            address, which may hold a token.
    """
    from crscore.diff.git import run_git  # noqa: PLC0415

    try:
        names = run_git(["remote"], folder=folder).decode("utf-8", errors="replace").split()
    except CRScoreError as exc:
        raise _unknown("this is no clone") from exc
    for name in sorted(
        names, key=lambda one: REMOTES.index(one) if one in REMOTES else len(REMOTES)
    ):
        try:
            address = run_git(["remote", "get-url", "--", name], folder=folder).decode().strip()
        except (CRScoreError, UnicodeDecodeError):
            continue
        if found := _ADDRESS.fullmatch(address):
            host = (found["host"] or found["short"]).lower()
            return _ALSO.get(host, host), found["repository"]
    raise _unknown("no remote of this clone is on a code host")


def _unknown(reason: str) -> ConfigError:
    return ConfigError("N", "command line", f"alone needs a clone, and {reason}; give acme/shop#7")
