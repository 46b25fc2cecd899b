"""Declares options in the form that the help shows, and the options that commands share."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import io, progress
from crscore.commands import _terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]

PATH: Final = click.Path(path_type=Path)
DAY: Final = click.DateTime(["%Y-%m-%d"])
SHARE: Final = click.FloatRange(0, 1)
COUNT: Final = click.IntRange(1)
SECONDS: Final = click.FloatRange(0, 86_400)


def option(
    usage: str, text: str, *, to: str | None = None, **settings: Any
) -> Callable[[Command], Command]:
    """Declare an option.

    Args:
        usage: Flags, then the placeholder of the value: `-o, --output FILE`. If `...` follows the
            placeholder, the option may be repeated. Without a placeholder and a type, the option
            is a switch.
        text: Help, to which the default is added.
        to: Name of the parameter, if it differs from the name of the flag.
        settings: Further arguments of `click.option`.
    """
    *flags, last = usage.replace(",", " ").split()
    if last.startswith("-"):
        flags.append(last)
        settings.setdefault("is_flag", "type" not in settings)
    else:
        settings["metavar"] = last.removesuffix("...")
    if last.endswith("..."):
        settings["multiple"] = True
        text = f"{text.removesuffix('.')}; may be repeated."
    has_default = settings.get("default") not in (None, "", False)
    names = (*flags, to) if to else flags
    return click.option(*names, help=text, show_default=has_default, **settings)


def _silence(context: click.Context, _option: click.Parameter, quiet: bool) -> None:
    if quiet:
        progress.ENABLED.clear()
        context.meta[_terminal.QUIET] = True


quiet_option = option(
    "-q, --quiet", "Print no notes or progress to stderr.", expose_value=False, callback=_silence
)


def _check_output(
    context: click.Context, _option: click.Parameter, output: str | None
) -> str | None:
    # The output is checked first, so that no work is lost if it cannot be written. `-o -` is
    # stdout.
    target = None if output == io.DASH else output
    # While the shell completes a command, click parses unfinished words.
    if not context.resilient_parsing:
        io.check_output(target)
    return target


output_option = option(
    "-o, --output FILE", "Write to this file instead of stdout.", callback=_check_output
)


def format_option(*formats: str, text: str = "Format of the report.") -> Callable[..., Any]:
    """Declare `--format`; the first format is the default."""
    return option("--format", text, to="fmt", type=click.Choice(formats), default=formats[0])


def write_document(
    fmt: str, output: str | None, document: object, **renderers: Callable[..., str]
) -> None:
    """Write a document in the requested format.

    Args:
        fmt: Name of the format.
        output: Path; None for stdout.
        document: The document; the format `json` writes all its fields.
        renderers: For each other format, the function that renders the document. The function for
            `text` is called with `color` and `width`.
    """
    from crscore.reports import escape  # noqa: PLC0415

    if fmt == "json":
        content = escape.write_json(document)
    elif fmt == "text":
        content = renderers[fmt](**_terminal.report_style(to_stdout=output is None))
    else:
        content = renderers[fmt]()
    io.write_text(content, output)


sarif_option = option("--sarif FILE...", "SARIF 2.1.0 file with findings of other tools.")


def host_options(*, wait_budget_s: float) -> Callable[[Command], Command]:
    """Add `--api-url`, `--wait-budget` and `--quiet` to a command with the argument `connection`.

    Args:
        wait_budget_s: Default of `--wait-budget`, in seconds.
    """

    def add(command: Command) -> Command:
        @option("--api-url URL", "API address of GitHub (default: $GITHUB_API_URL) or GitLab.")
        @option(
            "--wait-budget SECONDS", "Maximum seconds to wait for the code host in total.",
            type=SECONDS, default=wait_budget_s,
        )  # fmt: skip
        @quiet_option
        @functools.wraps(command)
        def connect(
            *arguments: Any, api_url: str | None, wait_budget: float, **options: Any
        ) -> int:
            from crscore.hosts.site import Connection  # noqa: PLC0415

            connection = Connection(api_url, wait_budget, _terminal.print_note)
            code: int = command(*arguments, connection=connection, **options)
            return code

        return connect

    return add
