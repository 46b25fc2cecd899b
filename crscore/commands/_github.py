"""Options for the connection to a code host, its client, and a command's messages on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from crscore.settings import (
    gitlab_address,
    gitlab_certificates,
    gitlab_token,
    host_address,
    host_token,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.github.client import Client
    from crscore.gitlab.client import Client as GitLabClient
    from crscore.hosts.host import Host

    Command = Callable[..., Any]


def host_options(*, wait_budget_s: float) -> Callable[[Command], Command]:
    """Add the options `--api-url` and `--wait-budget` to a command.

    Args:
        wait_budget_s: Default of `--wait-budget`, in seconds.
    """

    def add(command: Command) -> Command:
        command = click.option(
            "--wait-budget",
            type=click.FloatRange(0, 86_400),
            default=wait_budget_s,
            metavar="SECONDS",
            help=f"Maximum seconds to wait for the host in total (default: {wait_budget_s:.0f}).",
        )(command)
        return click.option(
            "--api-url",
            metavar="URL",
            help="GitHub's API (default: GITHUB_API_URL), or GitLab's address.",
        )(command)

    return add


def make_client(
    api_url: str | None,
    wait_budget: float,
    *,
    token: str | None,
    max_requests: int | None = None,
    report: Callable[[str], None] | None,
) -> Client:
    """Make the client for the configured host and token.

    Args:
        api_url: Address from the command line; None for the environment's.
        wait_budget: Maximum total time to wait for the host, in seconds.
        token: Token to sign in with; None for anonymous requests.
        max_requests: Maximum requests; None for no limit.
        report: Called with one line for each wait; None to report none.

    Raises:
        HostError: The address or the token is invalid.
    """
    from crscore.github.client import Client  # noqa: PLC0415  (so that --help answers at once)
    from crscore.hosts.http import WaitBudget  # noqa: PLC0415

    return Client(
        token=token,
        api_url=api_url or host_address(),
        budget=WaitBudget(left_s=wait_budget),
        max_requests=max_requests,
        report=report,
    )


def make_host(
    api_url: str | None,
    wait_budget: float,
    *,
    is_gitlab: bool,
    report: Callable[[str], None] | None,
) -> Host:
    """Make the host of the pull requests that a command line names.

    Args:
        api_url: Address from the command line; None for the environment's.
        wait_budget: Maximum total time to wait for the host, in seconds.
        is_gitlab: Whether it is a GitLab.
        report: Called with one line for each wait; None to report none.

    Raises:
        HostError: The address or the token is invalid.
    """
    if not is_gitlab:
        from crscore.github.host import GitHub  # noqa: PLC0415  (so that --help answers at once)

        client = make_client(api_url, wait_budget, token=host_token(), report=report)
        return GitHub(client)
    from crscore.gitlab.host import GitLab  # noqa: PLC0415

    return GitLab(make_gitlab_client(api_url, wait_budget, report=report))


def make_gitlab_client(
    api_url: str | None,
    wait_budget: float,
    *,
    max_requests: int | None = None,
    report: Callable[[str], None] | None,
) -> GitLabClient:
    """Make the client for the configured GitLab and token.

    Args:
        api_url: Address from the command line; None for the environment's.
        wait_budget: Maximum total time to wait for the host, in seconds.
        max_requests: Maximum requests; None for no limit.
        report: Called with one line for each wait; None to report none.

    Raises:
        HostError: The address or the token is invalid.
    """
    from crscore.gitlab.client import Client, Token  # noqa: PLC0415
    from crscore.hosts.http import WaitBudget  # noqa: PLC0415

    token = gitlab_token()
    return Client(
        token=Token(*token) if token is not None else None,
        url=api_url or gitlab_address(),
        certificates=gitlab_certificates(),
        budget=WaitBudget(left_s=wait_budget),
        max_requests=max_requests,
        report=report,
    )


def web_address(api_url: str) -> str:
    """Return the address of a host's pages and clones, from that of its API.

    Example:
        >>> web_address("https://api.github.com"), web_address("https://git.example.org/api/v3")
        ('https://github.com', 'https://git.example.org')
        >>> web_address("https://api.acme.ghe.com/")
        'https://acme.ghe.com'
    """
    if api_url.rstrip("/") == "https://api.github.com":
        return "https://github.com"
    parts = urlsplit(api_url)
    host = parts.netloc
    # On GHE.com the API has a host of its own.
    host = host.removeprefix("api.") if host.endswith(".ghe.com") else host
    return f"{parts.scheme}://{host}"


def print_message(line: str) -> None:
    """Print one line on stderr, which may contain untrusted text."""
    from crscore.reports import escape  # noqa: PLC0415

    click.echo(f"crscore: {escape.no_commands(escape.one_line(line))}", err=True)
