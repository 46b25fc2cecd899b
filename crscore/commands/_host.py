"""Options for the connection to a code host, and a command's messages on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

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


def print_message(line: str) -> None:
    """Print one line on stderr, which may contain untrusted text."""
    from crscore.reports import escape  # noqa: PLC0415

    click.echo(f"crscore: {escape.no_commands(escape.one_line(line))}", err=True)
