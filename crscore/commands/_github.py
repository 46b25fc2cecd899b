"""GitHub client of a command, and its messages on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crscore.settings import host_address, host_token

if TYPE_CHECKING:
    from crscore.github.client import Client
    from crscore.settings import Config


def make_client(
    settings: Config, api_url: str | None, wait_budget: float, *, quiet: bool
) -> Client:
    """Make the client for the configured host and token.

    Args:
        settings: Settings of the run: whether and where to cache.
        api_url: Address from the command line; None for the environment's.
        wait_budget: Longest time to wait for the host in all, in seconds.
        quiet: Whether waits are not told.

    Raises:
        HostError: The address or the token cannot be one.
    """
    from crscore.github.client import Client  # noqa: PLC0415  (so that --help answers at once)
    from crscore.github.retry import RetryBudget  # noqa: PLC0415
    from crscore.scorer import make_store  # noqa: PLC0415

    return Client(
        token=host_token(),
        api_url=api_url or host_address(),
        store=make_store(settings) if settings.cache else None,
        retry=RetryBudget(budget_s=wait_budget),
        say=None if quiet else say,
    )


def say(line: str) -> None:
    """Print one line on stderr, which may contain untrusted text."""
    from crscore.reports import escape  # noqa: PLC0415

    click.echo(f"crscore: {escape.no_commands(escape.one_line(line))}", err=True)
