"""Options for the connection to GitHub, the client of a command, and its messages on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from crscore.settings import host_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.github.client import Client
    from crscore.settings import Config

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
            help=f"Maximum seconds to wait for GitHub in total (default: {wait_budget_s:.0f}).",
        )(command)
        return click.option(
            "--api-url", metavar="URL", help="GitHub's API (default: GITHUB_API_URL)."
        )(command)

    return add


def make_client(
    settings: Config,
    api_url: str | None,
    wait_budget: float,
    *,
    token: str | None,
    report: Callable[[str], None] | None,
) -> Client:
    """Make the client for the configured host and token.

    Args:
        settings: Settings of the run: whether and where to cache.
        api_url: Address from the command line; None for the environment's.
        wait_budget: Maximum total time to wait for the host, in seconds.
        token: Token to sign in with; None for anonymous requests.
        report: Called with one line for each wait; None to report none.

    Raises:
        HostError: The address or the token is invalid.
    """
    from crscore.github.client import Client  # noqa: PLC0415  (so that --help answers at once)
    from crscore.github.retry import RetryBudget  # noqa: PLC0415
    from crscore.scorer import make_store  # noqa: PLC0415

    return Client(
        token=token,
        api_url=api_url or host_address(),
        store=make_store(settings) if settings.cache else None,
        retry=RetryBudget(budget_s=wait_budget),
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
