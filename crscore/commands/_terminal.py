"""Width and colors of a command's reports, and the layout of its help."""

from __future__ import annotations

import inspect
import shutil
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from crscore.commands._settings import GROUPS
from crscore.settings import color_choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH: Final = 100
"""Width in columns of a report that is not written to a terminal."""
# All exit codes: docs/cli.md.
EXIT_GATE: Final = 1
EXIT_FAILED: Final = 3
QUIET: Final = "crscore.quiet"
"""Key in the context of click: if it is set, no notes are printed."""


def safe_line(text: str) -> str:
    """Escape an untrusted text for a line of a terminal, or of a log that may contain commands."""
    from crscore.reports import escape  # noqa: PLC0415

    return escape.no_commands(escape.one_line(text))


def print_message(line: str) -> None:
    """Print one line on stderr, which may contain untrusted text."""
    click.echo(f"crscore: {safe_line(line)}", err=True)


def print_note(line: str) -> None:
    """Print one line on stderr, unless the command is quiet."""
    if QUIET not in click.get_current_context().meta:
        print_message(line)


def print_gate(failed: Sequence[str], notices: Sequence[str] = ()) -> int:
    """Print the messages of a gate, even with `-q`, and return its exit code."""
    # Printed even with -q: a gate that failed, or could not be applied, must say so.
    for line in (*notices, *failed):
        print_message(line)
    return EXIT_GATE if failed else 0


def report_style(*, to_terminal: bool) -> dict[str, Any]:
    """Return the options of a report that depend on where it is written: `color` and `width`.

    Colors follow `NO_COLOR`, then `FORCE_COLOR`, then whether stdout is a terminal that is not
    `TERM=dumb`.

    Args:
        to_terminal: Whether the report is written to stdout, which may be a terminal, rather than
            to a file.
    """
    # Escape sequences in a file would be read as text.
    is_terminal = to_terminal and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((WIDTH, 40)).columns if is_terminal else WIDTH
    return {"color": to_terminal and color_choice(is_terminal=is_terminal), "width": width}


_HELP_ALL_KEY = "crscore.help_all"


def _show_all(context: click.Context, _option: click.Parameter, requested: bool) -> None:
    if requested:
        context.meta[_HELP_ALL_KEY] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    # Before missing arguments are reported:
    # https://click.palletsprojects.com/en/stable/advanced/#callback-evaluation-order
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options and exit.",
)


# click has no option groups (https://github.com/pallets/click/issues/373), and importing a library
# that adds them (cloup, rich-click) takes longer than the rest of the help.
class GroupedCommand(click.Command):
    """Command whose help lists the options in groups, and then the examples of its docstring.

    Args:
        groups: Further groups, listed before those of the settings: heading -> names of options,
            with `_` in place of `-`.
        common: If given, `--help` lists only these options and those without a group, and
            `--help-all` lists all options.
    """

    def __init__(
        self,
        *arguments: Any,
        groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
        common: Sequence[str] = (),
        **options: Any,
    ) -> None:
        text, _, examples = inspect.cleandoc(options.get("help") or "").partition("\nExamples:\n")
        super().__init__(*arguments, **options | {"help": text})
        self.groups = {**groups, **GROUPS}
        self.examples = inspect.cleandoc(examples).splitlines()
        self.common = common
        if common:
            self.params.append(_HELP_ALL)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        heading_of = {name: heading for heading, names in self.groups.items() for name in names}
        is_complete = not self.common or ctx.meta.get(_HELP_ALL_KEY, False)
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Options", *self.groups)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                # The long form of `-o`, `--output`.
                flag = max(parameter.opts, key=len).removeprefix("--").replace("-", "_")
                if is_complete or flag in self.common or flag not in heading_of:
                    rows[heading_of.get(flag, "Options")].append(record)
        for heading, listed in rows.items():
            if listed:
                with formatter.section(heading):
                    formatter.write_dl(listed)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        super().format_epilog(ctx, formatter)


class CommandGroup(GroupedCommand, click.Group):
    """Group of commands with the same kind of help."""

    command_class = GroupedCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group, and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
