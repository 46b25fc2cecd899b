"""Known code hosts: how people name what is there, and what reads it.

A further host is a package with a module `site` that has a `SITE`, and one line in `SITES`.
"""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

    from crscore.hosts.feed import Feed
    from crscore.hosts.host import Host
    from crscore.hosts.records import MessageKind

SITES: Final = ("crscore.github.site", "crscore.gitlab.site")
"""Modules of the hosts; a text that could name two hosts is one of the first."""


class Connection(NamedTuple):
    """How the command line asks for a host."""

    api_url: str | None
    """Address of the API; None for the environment's."""
    wait_budget_s: float
    """Maximum total seconds to wait for the host."""
    report: Callable[[str], None] | None = None
    """Called with one line for each wait."""
    max_requests: int | None = None
    """Maximum requests; None for no limit."""
    max_points: int | None = None
    """Maximum GraphQL points, where the host has them; None for no limit."""

    def options(self) -> dict[str, Any]:
        """Return the arguments of a `HostClient`."""
        from crscore.hosts.http import WaitBudget  # noqa: PLC0415  (so that --help answers at once)

        budget = WaitBudget(left_s=self.wait_budget_s)
        return {"budget": budget, "report": self.report, "max_requests": self.max_requests}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Site:
    """A code host, as far as it is known without a request."""

    name: str
    form: str
    """Form of a pull request's name, for messages."""
    variable: str
    """Environment variable of its address."""
    mark: str
    """Character before the number in a pull request's name."""
    pull_path: str
    """Part of the address of every pull request's page, before its number."""
    target: re.Pattern[str]
    """Names and addresses of a pull request: groups `server`, `repository` and `number`."""
    is_deep: bool
    """Whether owners can have owners."""
    commit_form: str
    """Address of the change at a `{commit}`, after that of the pull request's page."""
    file_form: str
    """Address of a file after the page's: `{sha1}` or `{sha256}` of its path, and `{lines}`."""
    comment_forms: Mapping[MessageKind, str]
    """Address of a comment after the page's, with its `{number}`."""
    landed_form: str
    """Address of a `{commit}` of a branch, after that of the repository."""
    web: Callable[[str | None], str]
    """Returns the address of its pages and clones, from that of its API or the environment."""
    token: Callable[[], str | None]
    """Returns the environment's token; None without one."""
    make_host: Callable[[Connection], Host]
    """Makes what reads and comments its pull requests."""
    make_feed: Callable[[Connection], Feed]
    """Makes what an audit reads it with."""

    def commit_address(self, url: str, commit: str) -> str:
        """Return the address of the change at a commit, from that of the pull request's page."""
        return f"{url}{self.commit_form.format(commit=commit)}"

    def file_address(self, url: str, path: str, lines: str) -> str:
        """Return the address of a file in the change.

        Args:
            url: Page of the pull request.
            path: Path under which the host lists the file.
            lines: Lines as GitHub writes them; empty for the whole file.
        """
        data = path.encode("utf-8", "surrogatepass")
        sha1 = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        sha256 = hashlib.sha256(data).hexdigest()
        return f"{url}{self.file_form.format(sha1=sha1, sha256=sha256, lines=lines)}"

    def comment_address(self, url: str, kind: MessageKind, number: int) -> str:
        """Return the address of a comment on a pull request, by the host's id of it."""
        return f"{url}{self.comment_forms[kind].format(number=number)}"

    def landed_address(self, url: str, commit: str) -> str:
        """Return the address of a commit of a branch, from the page of a pull request."""
        return f"{url.rpartition(self.pull_path)[0]}{self.landed_form.format(commit=commit)}"

    def name_below(self, path: str, api_url: str | None) -> str:
        """Return a repository's name, given its path on the server, which may have a folder."""
        folder = urlsplit(self.web(api_url)).path.strip("/")
        return path.removeprefix(f"{folder}/") if folder else path


@cache
def all_sites() -> tuple[Site, ...]:
    """Return the known hosts."""
    return tuple(cast("Site", importlib.import_module(name).SITE) for name in SITES)


def site_of_page(url: str) -> Site:
    """Return the host of a pull request's page, by the form of its address.

    Example:
        >>> site_of_page("https://git.example.org/a/b/-/merge_requests/7").name
        'GitLab'
    """
    sites = all_sites()
    return next((site for site in sites if site.pull_path in url), sites[0])


def pull_name(repository: str, number: int, url: str) -> str:
    """Return the name of a pull request as people on its host write it.

    Example:
        >>> pull_name("acme/shop", 7, "https://github.com/acme/shop/pull/7")
        'acme/shop#7'
    """
    return f"{repository}{site_of_page(url).mark}{number}"
