"""Command line: runs a subcommand, and converts an error to one line and an exit code.

Exit codes: 0 success, 1 the quality gate failed, 2 wrong usage or settings, 3 the input cannot be
used or a part of the run failed, 4 a bug in crscore, 130 interrupted, 141 broken pipe.
"""

import difflib
import gc
import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from crscore import commands, progress
from crscore.errors import ConfigError, CRScoreError, UnknownPluginError
from crscore.version import __version__

# The last two are the codes with which shells report signals: 128 + SIGINT (2), 128 + SIGPIPE (13).
EXIT_USAGE, EXIT_FAILED, EXIT_BUG, EXIT_INTERRUPTED, EXIT_PIPE = 2, 3, 4, 130, 141
DEFAULT_COMMAND = "score"


class _Commands(click.Group):
    """Group whose subcommands are imported on demand.

    The subcommands are the modules of `crscore.commands` and the entry points of other packages.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click passes it)
        return sorted(commands.module_names() | commands.command_names())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        return commands.load_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            names = self.list_commands(ctx)
            formatter.write_dl([(name, commands.summarize(name)) for name in names])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Convert `crscore DIFF REVIEW` to `crscore score DIFF REVIEW`."""
        word = args[0] if args else "--help"
        known_words = {"--help", "-h", "--version", "-V", *commands.module_names()}
        # Entry points take 5 ms to read, so they are read only for a word that can be a command.
        if word in known_words or (word.isidentifier() and word in commands.command_names()):
            return super().parse_args(ctx, args)
        # While the shell completes a word, the word is unfinished, so it is not checked.
        if not (word.startswith("-") or ctx.resilient_parsing or Path(word).exists()):
            spellings = [*self.list_commands(ctx), "--version", "--help"]
            if close_names := difflib.get_close_matches(word, spellings, n=1):
                raise click.UsageError(
                    f"{word!r} is neither a command nor a file; did you mean {close_names[0]}?", ctx
                )
        return super().parse_args(ctx, [DEFAULT_COMMAND, *args])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands, and the names of files for the default command."""
        completions = super().shell_complete(ctx, incomplete)
        return (
            completions
            if incomplete.startswith("-")
            else [*completions, CompletionItem("", type="file")]
        )


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    # Without `\b`, click would join the lines:
    # https://click.palletsprojects.com/en/stable/documentation/
    epilog="\b\nExamples:\n  crscore change.diff review.md"
    "   # the same as crscore score change.diff review.md\n  crscore pr acme/shop#7",
)
@click.version_option(__version__, "--version", "-V", message="crscore %(version)s")
def cli() -> None:
    """Measure how good a code review is, and show why."""


def main() -> None:
    """Run the command line and exit."""
    # Imports create 70,000 objects that live until the end. The garbage collector would scan them
    # repeatedly, which takes a tenth of a run
    # (https://docs.python.org/3/library/gc.html#gc.freeze).
    gc.set_threshold(200_000)
    code = run(sys.argv[1:])
    gc.freeze()  # the collection at exit skips frozen objects
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command.

    Args:
        arguments: The words after `crscore`.

    Returns:
        The exit code.
    """
    # A character that the terminal does not support must not crash a finished run.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    progress.ENABLED.set()
    try:
        return _dispatch(arguments)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", EXIT_INTERRUPTED)
    except SystemExit:
        # click exits with 1 if the pipe is closed (`crscore ... | head`). No message can be shown,
        # and 1 would mean that the quality gate failed.
        return EXIT_PIPE
    except OSError as exc:
        return _fail(f"the operating system reports an error: {exc}", EXIT_FAILED)
    except Exception as exc:  # noqa: BLE001  (only here, where a bug is logged)
        return _fail(_log_bug(exc), EXIT_BUG)
    finally:
        progress.ENABLED.clear()


def _dispatch(arguments: list[str]) -> int:
    try:
        # In its standalone mode, click would print errors and exit with other codes.
        outcome = cli.main(args=arguments, prog_name="crscore", standalone_mode=False)
        return int(outcome or 0)
    except click.exceptions.NoArgsIsHelpError as exc:
        exc.show()
        return EXIT_USAGE
    except click.ClickException as exc:
        return _fail(_explain(exc), EXIT_USAGE)
    except (ConfigError, UnknownPluginError) as exc:
        return _fail(str(exc), EXIT_USAGE)
    except CRScoreError as exc:
        return _fail(str(exc), EXIT_FAILED)


def _explain(error: click.ClickException) -> str:
    """Return a message about wrong usage, with suggestions for an unknown option."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "crscore"
    if isinstance(error, click.NoSuchOption):
        from crscore import plugins  # noqa: PLC0415  (imports msgspec: a third of the time of --help)

        name, suggestion = error.option_name, ""
        # For click, `crscore --verison` is an unknown option of the default command, `score`.
        if difflib.get_close_matches(name, ["--version"], cutoff=0.8):
            suggestion = "crscore --version"
        elif name.removeprefix("--") in plugins.names("reports"):
            suggestion = f"--format {name.removeprefix('--')}"
        if suggestion:
            error = click.NoSuchOption(name, possibilities=[suggestion], ctx=error.ctx)
    message = error.format_message().replace("a valid float", "a number such as 0.5")
    message = message.replace("a valid integer", "a whole number")
    return f"{message} (try: {path} --help)"


def _fail(message: str, code: int) -> int:
    # A message may quote untrusted text with escape sequences, which a terminal would obey
    # (CWE-150).
    line = " ".join("".join(char if char.isprintable() else " " for char in message).split())
    click.echo(f"crscore: {line}", err=True)
    return code


def _log_bug(exc: Exception) -> str:
    """Write the details for a bug report to a file, and return a message with its path."""
    import platform  # noqa: PLC0415  (these three take 20 ms)
    import tempfile  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    versions = f"crscore {__version__}, Python {platform.python_version()}, {platform.platform()}"
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="crscore-bug-", suffix=".log", delete=False
    ) as log:
        log.writelines([f"{versions}\n", *traceback.format_exception(exc)])
    return f"this is a bug in crscore ({type(exc).__name__}); please report it with {log.name}"
