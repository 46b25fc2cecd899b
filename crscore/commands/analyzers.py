"""`crscore analyzers`: which tools look for issues, and installing those of npm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crscore.commands._settings import load_settings, setting_options
from crscore.commands._terminal import CommandGroup
from crscore.errors import UnknownPluginError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crscore.settings import Config
    from crscore.static_analysis.suite import Suite


@click.group(
    name="analyzers",
    cls=CommandGroup,
    invoke_without_command=True,
    examples=("crscore analyzers", "crscore analyzers install"),
)
@click.pass_context
@setting_options("analyzers", "tools_dir", "config")
def command(context: click.Context, *, config_file: Path | None, **flags: Any) -> int:
    """List the analyzers; install those that come with npm.

    Analyzers for Python come with `pip install 'crscore[analyzers]'`.
    """
    context.obj = settings = load_settings(config_file, flags)
    if context.invoked_subcommand is None:
        for line in table(settings):
            click.echo(line)
    return 0


@command.command(name="install", examples=("crscore analyzers install pmd",))
@click.argument("names", nargs=-1)
@click.pass_obj
def install(settings: Config, names: tuple[str, ...]) -> int:
    """Install the npm analyzers, or those NAMED: exact versions, by hash, without scripts."""
    from crscore.static_analysis import tools  # noqa: PLC0415

    suite = _suite(settings)
    known = {one.name: one for one in suite.analyzers if tools.is_of_npm(one)}
    for name in names or known:
        if name not in known:
            raise UnknownPluginError("analyzers of npm", name, tuple(known))
        click.echo(f"{name}: {tools.install_tool(known[name], suite.tools)}")
    return 0


def table(settings: Config) -> Iterator[str]:
    """List each analyzer: whether it can run here, or how to get it."""
    from crscore.static_analysis.tools import Installed  # noqa: PLC0415

    for one, found in _suite(settings).installed():
        if isinstance(found, Installed):
            state = f"{found.version}, ready: {one.manifest.about}"
        else:
            state = f"{found.state.value}: {found.reason}"
        yield f"  {one.name:<12}{state}"


def _suite(settings: Config) -> Suite:
    from crscore import scorer  # noqa: PLC0415  (after --help and wrong options)

    return scorer.make_analyzers(settings)
