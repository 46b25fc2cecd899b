"""Options for the connection to a code host."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from crscore.commands._terminal import print_note, quiet_option
from crscore.hosts.site import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]


def host_options(*, wait_budget_s: float) -> Callable[[Command], Command]:
    """Add `--api-url`, `--wait-budget` and `--quiet` to a command, which gets a `connection`.

    Args:
        wait_budget_s: Default of `--wait-budget`, in seconds.
    """

    def add(command: Command) -> Command:
        @click.option(
            "--api-url",
            metavar="URL",
            help="GitHub's API (default: GITHUB_API_URL), or GitLab's address.",
        )
        @click.option(
            "--wait-budget",
            type=click.FloatRange(0, 86_400),
            default=wait_budget_s,
            metavar="SECONDS",
            help=f"Maximum seconds to wait for the host in total (default: {wait_budget_s:.0f}).",
        )
        @quiet_option
        @functools.wraps(command)
        def connect(
            *arguments: Any, api_url: str | None, wait_budget: float, **options: Any
        ) -> int:
            connection = Connection(api_url, wait_budget, print_note)
            code: int = command(*arguments, connection=connection, **options)
            return code

        return connect

    return add
