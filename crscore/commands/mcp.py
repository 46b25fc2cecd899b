"""`crscore mcp`: serves scores and triage to agents over the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crscore.commands._settings import SCORING, load_settings, setting_options
from crscore.commands._terminal import GroupedCommand

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    name="mcp", cls=GroupedCommand, short_help="Serve triage and scores to coding agents."
)
@setting_options(*SCORING, "config", analyzers="none")
def command(*, config_file: Path | None, **flags: Any) -> int:
    """Serve the tools triage_review and score_review to an agent, over standard input and output.

    The agent starts this command, so the server has no address and opens no port. Linters are off
    by default, because agents send diffs of code that nobody has checked.

    Examples:
        crscore mcp   # the command that an agent's settings name
    """
    from crscore.agents.mcp_server import make_server  # noqa: PLC0415
    from crscore.scorer import Scorer  # noqa: PLC0415

    # Sockets are allowed, because the event loop of the server needs them.
    settings = load_settings(config_file, flags, forbid_sockets=False)
    make_server(Scorer(settings, untrusted=True)).run("stdio")
    return 0
