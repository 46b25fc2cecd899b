"""`crscore code`: judge code beside references, or by running it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from crscore import io
from crscore.settings import no_color

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT: Final = "score"
_PATH: Final = click.Path(path_type=Path)


class _Commands(click.Group):
    """Group whose default command is `score`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Convert `crscore code A B` to `crscore code score A B`."""
        if args and args[0] not in {"--help", "-h", *self.list_commands(ctx)}:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


# Without a command, click would use its whole help as the error message.
@click.group(
    name="code",
    cls=_Commands,
    no_args_is_help=False,
    epilog="`crscore code CANDIDATE REFERENCE` is the same as `crscore code score ...`.",
)
def command() -> None:
    """Judge code: beside references, or by its tests."""


def _document(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that writes a document."""
    for option in (
        click.option("-o", "--output", "target", metavar="FILE", help="Write here, not to stdout."),
        click.option("--format", "form", type=click.Choice(("text", "json")), default="text"),
    ):
        function = option(function)
    return function


def _write(found: msgspec.Struct, text: Callable[..., str], form: str, target: str | None) -> None:
    """Write a document as text, by a function of it that takes `color` and `width`, or as JSON."""
    if form == "json":
        content = msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"
    else:
        terminal = target is None and sys.stdout is not None and sys.stdout.isatty()
        width = shutil.get_terminal_size((100, 40)).columns if terminal else 100
        content = text(found, color=terminal and not no_color(), width=width)
    io.write_text(content, target)


_metrics = click.option(
    "--metrics", "names", metavar="NAMES",
    help="Separated by commas, each NAME or NAME:OPTION=VALUE (default: all that apply).",
)  # fmt: skip


@command.command(DEFAULT)
@click.argument("candidates", metavar="CANDIDATE", type=_PATH)
@click.argument("references", metavar="REFERENCE...", type=_PATH, nargs=-1)
@_metrics
@click.option(
    "--context", default="", metavar="TEXT", help="Intent or prompt that both sides share."
)
@click.option("--language", metavar="NAME", help="Language of code whose file does not tell it.")
@_document
def score(
    candidates: Path,
    references: tuple[Path, ...],
    *,
    names: str | None,
    context: str,
    language: str | None,
    form: str,
    target: str | None,
) -> int:
    """Compare code with references by published metrics.

    CANDIDATE and REFERENCE are files of code, folders of files with the same names, or JSON Lines
    of {candidate, references, context, language, id}; several references may be given.
    """
    from crscore.code import samples, scores  # noqa: PLC0415  (after --help and wrong options)

    io.check_output(target)
    read = samples.read_samples(candidates, references, context=context, language=language)
    found = scores.score_samples(read, names.split(",") if names else None)
    _write(found, scores.render_text, form, target)
    return 0
