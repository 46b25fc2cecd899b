"""Messages of commands, the width and colors of their reports, and the layout of their help."""

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
"""Width in characters of a report that is not written to a terminal."""
# docs/cli.md lists all exit codes.
EXIT_GATE: Final = 1
EXIT_FAILED: Final = 3
QUIET: Final = "crscore.quiet"
"""Key in the `meta` of click's context; if it is set, no notes are printed."""


def safe_line(text: str) -> str:
    """Escape untrusted text for one line of a terminal, or of a CI log that interprets commands."""
    from crscore.reports import escape  # noqa: PLC0415

    return escape.no_commands(escape.one_line(text))


def print_message(line: str) -> None:
    """Print one line, which may contain untrusted text, on stderr."""
    click.echo(f"crscore: {safe_line(line)}", err=True)


def print_note(line: str) -> None:
    """Print one line on stderr, unless `--quiet` is given."""
    if QUIET not in click.get_current_context().meta:
        print_message(line)


def print_gate(failed: Sequence[str], notices: Sequence[str] = ()) -> int:
    """Print the messages of a gate, and return its exit code."""
    # Printed even with --quiet, because a gate that failed or could not judge must say so.
    for line in (*notices, *failed):
        print_message(line)
    return EXIT_GATE if failed else 0


def report_style(*, to_stdout: bool) -> dict[str, Any]:
    """Return the options of a report that depend on where it is written: `color` and `width`.

    The report has colors if `color_choice` allows it.

    Args:
        to_stdout: Whether the report is written to stdout, which may be a terminal, and not to a
            file.
    """
    # A file gets no colors, because their escape sequences would be shown as text.
    is_terminal = to_stdout and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((WIDTH, 40)).columns if is_terminal else WIDTH
    return {"color": to_stdout and color_choice(is_terminal=is_terminal), "width": width}


_HELP_ALL_KEY = "crscore.help_all"


def _show_all(context: click.Context, _option: click.Parameter, requested: bool) -> None:
    if requested:
        context.meta[_HELP_ALL_KEY] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    # Eager, so that the option is handled before missing arguments are reported:
    # https://click.palletsprojects.com/en/stable/advanced/#callback-evaluation-order
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options and exit.",
)


# click has no groups of options (https://github.com/pallets/click/issues/373). To import a library
# that adds them (cloup, rich-click) would take longer than the rest of the help.
class GroupedCommand(click.Command):
    """Command whose help lists the options in groups, then the examples from its docstring.

    Args:
        groups: Heading -> names of options, with `_` instead of `-`. These groups come before those
            of the settings.
        common: Names of options. If given, `--help` lists only these and the options without a
            group, and `--help-all` lists all options.
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
                # `-o, --output` is found by its long form.
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
    """Group of commands whose help also lists the options in groups."""

    command_class = GroupedCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group, and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
