"""`crscore doctor`: what is active, what is missing, and the command that installs it."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from crscore import plugins
from crscore.commands import analyzers
from crscore.commands._settings import PARTS, SCORING, load_settings, setting_options
from crscore.errors import CRScoreError
from crscore.sandbox import run
from crscore.scoring import signature
from crscore.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.settings import Config

EXIT_FAILED = 3
# Packages for work on crscore itself are not checked.
_DEVELOPMENT = frozenset({"check", "demo", "test"})
# `numpy>=1.26`, `scipy>=1.13; extra == "validate"`
_REQUIREMENT = re.compile(r"^([\w.-]+)[^;]*(?:;.*extra == ['\"](\w+)['\"])?")


@click.command(name="doctor")
@setting_options(*SCORING, *PARTS, "offline", "config")
def command(*, config_file: Path | None, **flags: Any) -> int:
    """List which parts are ready and which are missing.

    Exits with 0 if these settings can produce a score, else with 3.
    """
    settings = load_settings(config_file, flags)
    click.echo(f"crscore {__version__}, Python {platform.python_version()}, {platform.platform()}")
    problem = _active(settings)
    for kind in plugins.KINDS:
        click.echo(f"\n{kind}:")
        for name in plugins.names(kind):
            click.echo(f"  {name:<12}{_state(kind, name)}")
    click.echo("\nanalyzers:")
    for line in analyzers.table(settings):
        click.echo(line)
    denied = run.network_denied()
    network = (
        "tools run without a network"
        if denied
        else "tools here cannot be kept off the network (sandbox:none): pr, action and audit run "
        "none without --trust"
    )
    click.echo(f"  {network}")
    click.echo("\npackages:")
    for package, extra in sorted(_requirements()):
        click.echo(f"  {package:<24}{_version(package, extra)}")
    return EXIT_FAILED if problem else 0


def _active(settings: Config) -> bool:
    """Load the model and print the signature, or the reason for a failure."""
    from crscore.scorer import Scorer  # noqa: PLC0415

    try:
        scorer = Scorer(settings)
        scorer.parts.encoder.encode(["one sentence, to see that the model loads"])
    except CRScoreError as exc:
        click.echo(f"\nnot ready: {exc}")
        return True
    line = signature.render_signature({**scorer.parts.signature, "analyzers": settings.analyzers})
    click.echo(f"\nready: {line}")
    return False


def _state(kind: str, name: str) -> str:
    """Return what a plugin lacks; one without `missing` needs nothing."""
    module = plugins.load(kind, name)
    missing: str | None = module.missing() if hasattr(module, "missing") else None
    return f"missing: {missing}" if missing else "ready"


def _requirements() -> set[tuple[str, str]]:
    """Return the declared requirements: package and extra ("" for none)."""
    declared = [
        (match[1], match[2] or "")
        for line in importlib.metadata.requires("crscore") or ()
        if (match := _REQUIREMENT.match(line))
        and match[1] != "crscore"
        and match[2] not in _DEVELOPMENT
    ]
    sizes = Counter(extra for _, extra in declared)
    found: dict[str, str] = {}
    # An extra may include another one: install the smallest that has the package.
    for package, extra in sorted(declared, key=lambda one: (one[1] != "", sizes[one[1]], one[1])):
        found.setdefault(package, extra)
    return set(found.items())


def _version(package: str, extra: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        name = f"'crscore[{extra}]'" if extra else "crscore"
        return f"not installed; pip install {name}"
