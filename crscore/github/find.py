"""Which pull requests there are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from crscore.github.host import Host


class _Head(msgspec.Struct, frozen=True):
    sha: str


class _Listed(msgspec.Struct, frozen=True):
    number: int
    head: _Head
    updated_at: str = ""


def of_head(host: Host, repository: str, *, owner: str, branch: str, sha: str) -> tuple[int, ...]:
    """Find the open pull requests of a branch: there is one for each base it may go to.

    Args:
        host: Where to ask.
        repository: `owner/name` of the base.
        owner: Login of who owns the branch's repository, which may be a fork.
        branch: The branch; a stranger chose its name.
        sha: The commit that has to be its newest one, 40 hex digits.

    Returns:
        The numbers; empty when no open pull request has this head any more.

    Raises:
        HostError: The list could not be read.
    """
    wanted = {"state": "open", "head": f"{owner}:{branch}"}
    pages = host.pages(f"/repos/{repository}/pulls", _Listed, wanted)
    return tuple(one.number for one in pages.items if one.head.sha == sha)


def recent(
    host: Host, repository: str, *, days: int, most: int, now: datetime | None = None
) -> tuple[int, ...]:
    """Find the open pull requests that changed lately.

    Args:
        host: Where to ask.
        repository: `owner/name`.
        days: How lately.
        most: How many at most, up to 100.
        now: The present; the clock's when None.

    Returns:
        Numbers, the last changed first.

    Raises:
        HostError: The list could not be read.
    """
    since = (now or datetime.now(UTC)) - timedelta(days=days)
    order = {
        "state": "open",
        "sort": "updated",
        "direction": "desc",
        "per_page": str(min(most, 100)),
    }
    listed = host.get(f"/repos/{repository}/pulls", list[_Listed], order)
    # ISO 8601 in UTC sorts as text.
    return tuple(one.number for one in listed if one.updated_at >= f"{since:%Y-%m-%dT%H:%M:%SZ}")
