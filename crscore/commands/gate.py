"""`crscore gate`: gates that do not depend on a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crscore.commands._options import SECONDS, host_options, option
from crscore.commands._target import find_target
from crscore.commands._terminal import CommandGroup, print_gate

if TYPE_CHECKING:
    from crscore.hosts.site import Connection


@click.group(name="gate", cls=CommandGroup)
def command() -> None:
    """Fail if a pull request lacks a review; nothing is scored.

    Examples:
        crscore gate coverage --reviewer coderabbit --wait 600 acme/shop#7
    """


# Green checks do not count, because the check of a bot is also green if the bot skipped the pull
# request or reached its limit.
@command.command("coverage")
@click.argument("target", metavar="[OWNER/REPO#]N|GROUP/PROJECT!N")
@option(
    "--reviewer NAME...", "Login or name of a reviewer; * matches any text.",
    to="reviewers", required=True,
)  # fmt: skip
@option("--wait SECONDS", "Maximum seconds to wait for a missing review.", type=SECONDS, default=0)
@host_options(wait_budget_s=60)
def coverage(
    target: str, *, reviewers: tuple[str, ...], wait: float, connection: Connection
) -> int:
    """Exit with 1 if a reviewer did not review the newest commit.

    A green check, or a notice that nothing was reviewed, does not count as a review.

    Examples:
        crscore gate coverage --reviewer coderabbit --wait 600 acme/shop#7
    """
    from crscore.pull_request import coverage as gate  # noqa: PLC0415  (so that --help is fast)

    subject = find_target(target, connection.api_url)
    host = subject.site.make_host(connection)
    result = gate.judge(host, subject.repository, subject.number, reviewers, wait_s=wait)
    code = print_gate(result.failed)
    click.echo("The gate failed." if code else "The gate passed.")
    return code
