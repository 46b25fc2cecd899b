"""Known code hosts: the forms of their names and addresses, and their clients.

To add a host, write a package with a module `site` that defines `SITE`, and add a line to `SITES`:
see docs/flow.md.
"""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from urllib.parse import urlsplit

from crscore.settings import COMMENT_KEY, variable

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

    from crscore.hosts.feed import Feed
    from crscore.hosts.host import Host
    from crscore.hosts.records import MessageKind

PAGE: Final = r"(?:\.(?:diff|patch))?(?:[/?#]\S*)?"
"""Pattern of the rest of a pull request's address: any tab, query and anchor, such as
`/files/1a2b..3c4d?diff=split#diff-5e6fR7-R9`."""
# GitHub comes first, because `acme/shop` is a name on both hosts.
SITES: Final = ("crscore.github.site", "crscore.gitlab.site")
"""Modules of the hosts. A name that fits the forms of several hosts belongs to the first one."""


class Connection(NamedTuple):
    """Options of the command line for the connection to a host."""

    api_url: str | None
    """Address of the API; None for the address in the environment."""
    wait_budget_s: float
    """Maximum total seconds to wait for the host."""
    report: Callable[[str], None] | None = None
    """Called with one line about each wait."""
    max_requests: int | None = None
    """Maximum number of requests; None for no limit."""

    def options(self) -> dict[str, Any]:
        """Return keyword arguments for a `HostClient`."""
        from crscore.hosts.http import WaitBudget  # noqa: PLC0415  (so that --help answers at once)

        return {
            "budget": WaitBudget(left_s=self.wait_budget_s),
            "report": self.report,
            "max_requests": self.max_requests,
            "comment_key": variable(COMMENT_KEY),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Site:
    """Properties of a code host that are known without a request."""

    name: str
    """Name of the host in messages."""
    form: str
    """Form of a pull request's name, as messages show it."""
    variable: str
    """Environment variable with the address of the host."""
    mark: str
    """Character before the number in a pull request's name."""
    pull_path: str
    """Part of the address of every pull request's page, before its number."""
    target: re.Pattern[str]
    """Matches names and addresses of pull requests; groups `server`, `repository`, `number`."""
    allows_nested_groups: bool
    """Whether repositories can be in nested groups, as on GitLab."""
    commit_form: str
    """Suffix of a pull request's address for the change at a `{commit}`."""
    file_form: str
    """Suffix for a file: a form with `{sha1}` or `{sha256}` of the path, and `{lines}`."""
    comment_forms: Mapping[MessageKind, str]
    """Suffix for a comment of each kind: a form with the comment's `{number}`."""
    branch_commit_form: str
    """Suffix of the repository's address for a `{commit}` on a branch."""
    web: Callable[[str | None], str]
    """Returns the address of the host's pages and clones, given the address of the API. None stands
    for the address in the environment."""
    token: Callable[[], str | None]
    """Returns the token in the environment; None if there is none."""
    aliases: Mapping[str, str]
    """Other names of servers, such as the one for SSH on the port of HTTPS -> the server's name."""
    make_host: Callable[[Connection], Host]
    """Returns the object that reads pull requests and writes crscore's comment."""
    make_feed: Callable[[Connection], Feed]
    """Returns the object that reads pull requests for audits."""

    def commit_address(self, url: str, commit: str) -> str:
        """Return the address of the change at a commit; `url` is the pull request's page."""
        return f"{url}{self.commit_form.format(commit=commit)}"

    def file_address(self, url: str, path: str, lines: str) -> str:
        """Return the address of a file in the change.

        Args:
            url: Page of the pull request.
            path: Path under which the host lists the file.
            lines: Lines in the form of GitHub's anchors; empty for the whole file.
        """
        data = path.encode("utf-8", "surrogatepass")
        # The anchor of a changed file is the SHA-256 of its path on GitHub, the SHA-1 on GitLab.
        sha1 = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        sha256 = hashlib.sha256(data).hexdigest()
        return f"{url}{self.file_form.format(sha1=sha1, sha256=sha256, lines=lines)}"

    def comment_address(self, url: str, kind: MessageKind, number: int) -> str:
        """Return the address of a comment, given the pull request's page and the comment's id."""
        return f"{url}{self.comment_forms[kind].format(number=number)}"

    def branch_commit_address(self, url: str, commit: str) -> str:
        """Return the address of a commit on a branch; `url` is a pull request's page."""
        return f"{url.rpartition(self.pull_path)[0]}{self.branch_commit_form.format(commit=commit)}"

    def name_below(self, path: str, api_url: str | None) -> str:
        """Return a repository's name, given its path on the server.

        The address of a self-hosted server can end with a folder, which is not part of the name.
        """
        folder = urlsplit(self.web(api_url)).path.strip("/")
        return path.removeprefix(f"{folder}/") if folder else path


@cache
def all_sites() -> tuple[Site, ...]:
    """Return the known hosts."""
    return tuple(cast("Site", importlib.import_module(name).SITE) for name in SITES)


def site_of_page(url: str) -> Site:
    """Return the host that has a pull request's page; the first of `SITES` if none fits.

    Example:
        >>> site_of_page("https://git.example.org/a/b/-/merge_requests/7").name
        'GitLab'
    """
    sites = all_sites()
    # The path of the page shows the host, because a server of either host can have any name.
    return next((site for site in sites if site.pull_path in url), sites[0])


def pull_name(repository: str, number: int, url: str) -> str:
    """Return the name of a pull request as people on its host write it.

    Example:
        >>> pull_name("acme/shop", 7, "https://github.com/acme/shop/pull/7")
        'acme/shop#7'
    """
    return f"{repository}{site_of_page(url).mark}{number}"
