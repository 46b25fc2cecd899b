"""`crscore gate`: gates that need no score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crscore.commands._host import host_options
from crscore.commands._target import find_target
from crscore.commands._terminal import EXIT_GATE, CommandGroup, print_message

if TYPE_CHECKING:
    from crscore.hosts.site import Connection

_EXAMPLE = "crscore gate coverage --reviewer coderabbit --wait 600 acme/shop#7"


@click.group(name="gate", cls=CommandGroup, examples=(_EXAMPLE,))
def command() -> None:
    """Fail if a pull request lacks something; nothing is scored."""


@command.command("coverage", examples=(_EXAMPLE,))
@click.argument("target", metavar="[OWNER/REPO#]N|GROUP/PROJECT!N")
@click.option(
    "--reviewer",
    "reviewers",
    metavar="NAME",
    multiple=True,
    required=True,
    help="Login or name of a reviewer; * matches any text; may be repeated.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0, 86_400),
    default=0.0,
    metavar="SECONDS",
    help="Maximum seconds to wait for a missing review (default: 0).",
)
@host_options(wait_budget_s=60)
def coverage(
    target: str, *, reviewers: tuple[str, ...], wait: float, connection: Connection
) -> int:
    """Exit with 1 if a reviewer did not review the newest commit.

    A green check, or a notice that nothing was reviewed, is not a review.
    """
    from crscore.pull_request import coverage as gate  # noqa: PLC0415  (so that --help is quick)

    subject = find_target(target, connection.api_url)
    host = subject.site.make_host(connection)
    result = gate.judge(host, subject.repository, subject.number, reviewers, wait_s=wait)
    for line in result.failed:
        print_message(line)
    click.echo("The gate failed." if result.failed else "The gate passed.")
    return EXIT_GATE if result.failed else 0
