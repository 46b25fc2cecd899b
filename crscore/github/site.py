"""Describes GitHub to `hosts.site`: the forms of names and addresses, and the clients."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from crscore.hosts.records import MessageKind
from crscore.hosts.site import PAGE, Connection, Site
from crscore.settings import variable

if TYPE_CHECKING:
    from crscore.github.client import Client
    from crscore.hosts.feed import Feed
    from crscore.hosts.host import Host


def web_address(api_url: str | None) -> str:
    """Return the address of GitHub's pages and clones, given the address of its API.

    If `api_url` is None, it is read from the environment.

    Example:
        >>> web_address("https://api.github.com"), web_address("https://git.example.org/api/v3")
        ('https://github.com', 'https://git.example.org')
        >>> web_address("https://api.acme.ghe.com/")
        'https://acme.ghe.com'
    """
    api_url = _api_address(api_url)
    if api_url.rstrip("/") == "https://api.github.com":
        return "https://github.com"
    parts = urlsplit(api_url)
    host = parts.netloc
    # On GHE.com, the API has a host name of its own:
    # https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency
    host = host.removeprefix("api.") if host.endswith(".ghe.com") else host
    return f"{parts.scheme}://{host}"


def _api_address(api_url: str | None) -> str:
    return api_url or variable("GITHUB_API_URL") or "https://api.github.com"


# GitHub's own command line reads the same variables:
# https://cli.github.com/manual/gh_help_environment
def _token() -> str | None:
    return variable("GITHUB_TOKEN", "GH_TOKEN")


def make_client(connection: Connection, token: str | None) -> Client:
    """Make a client that signs in with a token, or sends anonymous requests if it is None."""
    from crscore.github.client import Client  # noqa: PLC0415  (so that --help answers at once)

    return Client(token=token, api_url=_api_address(connection.api_url), **connection.options())


def _make_host(connection: Connection) -> Host:
    from crscore.github.host import GitHub  # noqa: PLC0415  (so that --help answers at once)

    return GitHub(make_client(connection, _token()))


def _make_feed(connection: Connection) -> Feed:
    from crscore.github.feed import GitHubFeed  # noqa: PLC0415  (so that --help answers at once)

    return GitHubFeed(make_client(connection, _token()))


SITE: Final = Site(
    name="GitHub",
    form="OWNER/REPO#N",
    variable="GITHUB_API_URL",
    mark="#",
    pull_path="/pull/",
    # `owner/repo#7`, `owner/repo/pull/7`, `https://host/owner/repo/pull/7/changes?w=1#diff-1`
    target=re.compile(
        r"(?:https?://(?P<server>[\w.:-]+)/)?(?P<repository>[\w.-]+/[\w.-]+)"
        rf"(?:\#|/pulls?/)(?P<number>[1-9]\d{{0,8}}){PAGE}",
        re.ASCII,
    ),
    allows_nested_groups=False,
    commit_form="/commits/{commit}",
    file_form="/files#diff-{sha256}{lines}",
    comment_forms={
        MessageKind.LINE: "#discussion_r{number}",
        MessageKind.REVIEW: "#pullrequestreview-{number}",
        MessageKind.CONVERSATION: "#issuecomment-{number}",
    },
    branch_commit_form="/commit/{commit}",
    web=web_address,
    token=_token,
    # https://docs.github.com/en/authentication/troubleshooting-ssh/using-ssh-over-the-https-port
    aliases={"ssh.github.com": "github.com", "www.github.com": "github.com"},
    make_host=_make_host,
    make_feed=_make_feed,
)
