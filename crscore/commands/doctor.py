"""`crscore doctor`: lists the parts that are ready, and how to install the missing parts."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import click

from crscore import plugins
from crscore.commands import analyzers
from crscore.commands._settings import SCORING, load_settings, setting_options
from crscore.commands._terminal import EXIT_FAILED, GroupedCommand
from crscore.errors import CRScoreError
from crscore.sandbox import run
from crscore.scoring.assembly import render_signature
from crscore.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.settings import Config


@click.command(name="doctor", cls=GroupedCommand)
@setting_options(*SCORING, "offline", "config")
def command(*, config_file: Path | None, **flags: Any) -> int:
    """List which parts are ready and which are missing.

    The exit code is 0 if these settings can produce a score, else 3.

    Examples:
        crscore doctor
        crscore doctor --claims vllm
    """
    settings = load_settings(config_file, flags)
    click.echo(f"crscore {__version__}, Python {platform.python_version()}, {platform.platform()}")
    is_ready = _report_scorer(settings)
    click.echo("\nplugins:")
    for kind in plugins.KINDS:
        # A plugin without a function `missing` needs no package, model or program.
        checks = {
            name: getattr(plugins.load(kind, name), "missing", lambda: None)
            for name in plugins.names(kind)
        }
        missing = {name: reason for name, check in checks.items() if (reason := check())}
        ready = [name for name in checks if name not in missing]
        click.echo(f"  {kind:<12}{', '.join(ready)}")
        for name, reason in missing.items():
            click.echo(f"  {'':<12}missing: {name}: {reason}")
    click.echo("\nanalyzers:")
    for line in analyzers.list_analyzers(settings):
        click.echo(line)
    denied = run.network_denied()
    network = (
        "tools run without a network"
        if denied
        else "tools could use the network here (sandbox:none), so pr, action and audit run them "
        "only with --trust"
    )
    click.echo(f"  {network}")
    if run.can_run_code():
        click.echo("  programs of `code run` can read only their files and tools (Landlock)")
    else:
        click.echo("  `code run` is not possible here: it needs seccomp and Landlock of Linux")
    return 0 if is_ready else EXIT_FAILED


def _report_scorer(settings: Config) -> bool:
    """Print the signature of scores, or why none are possible; return whether they are possible."""
    from crscore.scorer import Scorer, make_cache  # noqa: PLC0415

    if settings.cache:
        click.echo(f"cache: {make_cache(settings).file}")
    try:
        # Offline, so that missing files are reported and not downloaded.
        scorer = Scorer(settings, offline=True)
        # An encoder loads its model with the first text.
        scorer.parts.encoder.encode(["one sentence, to see that the model loads"])
    except CRScoreError as exc:
        click.echo(f"\nnot ready: {exc}")
        return False
    line = render_signature({**scorer.parts.signature, "analyzers": settings.analyzers})
    click.echo(f"\nready: {line}")
    return True
