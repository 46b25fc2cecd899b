"""Makes command-line options from the table of settings, and settings from their values."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec import inspect

from crscore import offline, plugins
from crscore.settings import SETTINGS, ModelSettings, find_settings_file, resolve_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.settings import Config

    Command = Callable[..., Any]

MODEL: Final = ModelSettings.__struct_fields__
"""Settings of a language model."""
_READER: Final = ("reader", "reader_limit", "reader_price")
_SEPARATE: Final = {*MODEL, *_READER, "claims", "threshold", "offline", "trust"}
"""Settings that some commands lack or replace by other options."""
COMMON: Final = tuple(
    name
    for name, setting in SETTINGS.items()
    if setting.group not in (None, "Report", "Gate") and name not in _SEPARATE
)
"""Settings that every command that scores has."""
SCORING: Final = ("claims", "threshold", *_READER, *MODEL, *COMMON)
"""Settings that determine the score of a review."""
GATES: Final = tuple(name for name, setting in SETTINGS.items() if setting.group == "Gate")
"""Settings of the quality gate, for the commands that have one."""
_KINDS = {"claims": "claims", "encoder": "encoders", "format": "reports", "matcher": "matchers"}
"""Setting whose value names a plugin -> kind of the plugin."""
_CONFIG: Final = click.option(
    "--config",
    "config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Settings file (default: the nearest pyproject.toml with [tool.crscore]).",
)
FILE: Final = click.Path(allow_dash=True)
"""Argument that the shell completes as a path; whether the path exists is checked later."""
_OTHER_OPTIONS: Final = {
    "Report": ("output", "quiet", "verbose"),
    "Gate": ("fail_on",),
    "Parts of the run": (),
    "Static analysis": ("sarif",),
    "Language model": (),
    "Cache and network": ("config",),
}
"""Heading in the help -> names of the options below it that are not settings."""
GROUPS: Final = {
    heading: (*(name for name, item in SETTINGS.items() if item.group == heading), *extra_names)
    for heading, extra_names in _OTHER_OPTIONS.items()
}
"""Heading in the help -> names of all options below it."""


def add_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command; the help lists them in this order."""

    def add(command: Command) -> Command:
        # click lists options in the reverse order of the decorators.
        for declared in reversed(options):
            command = declared(command)
        return command

    return add


def setting_options(*names: str, **defaults: Any) -> Callable[[Command], Command]:
    """Add the options of these settings to a command, in this order.

    Args:
        names: Names of settings; `config` adds the option that names a settings file.
        defaults: Defaults of this command, which override the environment and the settings file.
    """
    return add_options(*(_option(name, defaults.get(name)) for name in names))


def _option(name: str, default: Any) -> Callable[[Command], Command]:
    if name == "config":
        return _CONFIG
    setting, flag = SETTINGS[name], f"--{name.replace('_', '-')}"
    text = setting.help
    if name in _KINDS:
        text = f"{text} Plugins: {', '.join(plugins.names(_KINDS[name]))}."
    if isinstance(setting.kind, inspect.BoolType):
        off = "--online" if name == "offline" else f"--no-{flag.removeprefix('--')}"
        # The default is None, not False, because an option that is not given must not override
        # the environment or the file.
        return click.option(f"{flag}/{off}", name, default=None, help=text)
    if default is None and setting.default is not None:
        text = f"{text} [default: {setting.default}]"
    # Text values are checked later, together with those from the environment and the file.
    types = {inspect.IntType: click.INT, inspect.FloatType: click.FLOAT}
    return click.option(
        flag,
        name,
        type=types.get(type(setting.kind), click.STRING),
        default=default,
        metavar=setting.metavar,
        help=text,
    )


def load_settings(
    config_file: Path | None, flags: dict[str, Any], *, forbid_sockets: bool = True
) -> Config:
    """Merge the options, the environment and the settings file; go offline if requested.

    Args:
        config_file: The settings file that the command line names; None to search for a file.
        flags: Settings on the command line, by name; None means not set.
        forbid_sockets: Whether to refuse all sockets of this process if the setting `offline` is
            true.

    Returns:
        The settings of this run.

    Raises:
        ConfigError: A setting is unknown or wrong.
    """
    file = config_file
    # The working folder of the shell may have been deleted.
    with contextlib.suppress(FileNotFoundError):
        file = file or find_settings_file(Path.cwd())
    settings = resolve_settings(flags, file=file)
    if settings.offline and forbid_sockets:
        offline.forbid_sockets()
    return settings
