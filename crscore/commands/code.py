"""`crscore code`: judges code by comparison with references, or by running its tests."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from crscore import commands, progress
from crscore.commands._options import (
    COUNT,
    PATH,
    format_option,
    option,
    output_option,
    write_document,
)
from crscore.commands._terminal import CommandGroup, print_note
from crscore.errors import COMMAND_LINE, ConfigError, InputError

if TYPE_CHECKING:
    from crscore.reports import layout

DEFAULT: Final = "score"
WrittenDocument = tuple[msgspec.Struct, Callable[..., str]]
"""Document, and the function that renders it as text, to which `color` and `width` are passed."""


class _Commands(CommandGroup):
    """Group whose default command is `score`. Other packages may add commands named `code.NAME`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *commands.command_names("code")})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or commands.load_command(f"code.{cmd_name}")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Convert `crscore code A B` to `crscore code score A B`."""
        if args and args[0] not in {"--help", "-h", *self.list_commands(ctx)}:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.group(name="code", cls=_Commands)
def command() -> None:
    """Evaluate code by comparison with references, or by its tests.

    Examples:
        crscore code candidate.py reference.py   # the same as crscore code score ...
    """


def document_command(function: Callable[..., WrittenDocument]) -> Callable[..., int]:
    """Return a command that has `--output` and `--format` and writes the function's document."""

    @output_option
    @format_option("text", "json")
    @functools.wraps(function)
    def write(*, fmt: str, output: str | None, **options: Any) -> int:
        document, render = function(**options)
        write_document(fmt, output, document, text=functools.partial(render, document))
        return 0

    return write


def as_report(lay_out: Callable[[Any], layout.Report]) -> Callable[..., str]:
    """Return a function that renders a document as the text of the report that `lay_out` makes."""
    from crscore.reports import layout  # noqa: PLC0415

    return lambda document, **_: layout.to_text(lay_out(document))


metrics_option = option(
    "--metrics NAMES",
    "Comma-separated metrics, each NAME or NAME:OPTION=VALUE (default: all that apply).",
    callback=lambda _context, _option, names: None if names is None else names.split(","),
)
preset_option = option("--preset NAME", "Options of a published study: out-of-the-bleu.")
seed_option = option("--seed N", "Random seed.", type=click.IntRange(0), default=42)


def resamples_option(default: int) -> Callable[..., Any]:
    """Return the option `--resamples` with this default."""
    return option("--resamples N", "Number of bootstrap resamples.", type=COUNT, default=default)


@command.command(DEFAULT)
@click.argument("candidates", metavar="CANDIDATE", type=PATH)
@click.argument("references", metavar="REFERENCE...", type=PATH, nargs=-1)
@metrics_option
@preset_option
@option("--context TEXT", "Intent or prompt of both candidate and reference.", default="")
@option("--language NAME", "Language of the code, if no file name shows it.")
@document_command
def score(
    *,
    candidates: Path,
    references: tuple[Path, ...],
    metrics: list[str] | None,
    preset: str | None,
    context: str,
    language: str | None,
) -> WrittenDocument:
    """Compare code with references by published metrics.

    CANDIDATE and REFERENCE are files of code, folders of files with the same names, or JSON Lines
    of {candidate, references, context, language, id}. Several references may be given. Start with
    meteor or chrf, because codebertscore uses MiniLM by default, which was trained on English and
    not on code.

    Examples:
        crscore code candidate.py reference.py
        crscore code samples.jsonl references.jsonl --metrics chrf,codebleu
    """
    from crscore.code import samples, scores  # noqa: PLC0415  (so that --help is fast)

    pairs = samples.read_samples(candidates, references, context=context, language=language)
    return scores.score_samples(pairs, metrics, preset=preset), scores.render_text


@command.command("compare")
@click.argument("first", metavar="A", type=PATH)
@click.argument("second", metavar="B", type=PATH)
@metrics_option
@preset_option
@option("--language NAME", "Language of samples that name no language.")
@resamples_option(1_000)
@seed_option
@document_command
def compare(*, first: Path, second: Path, language: str | None, **options: Any) -> WrittenDocument:
    """Compare the code of two systems, samples A and B, with a paired bootstrap.

    A and B have the formats that `crscore code score` reads, with references. For each metric, the
    report shows which system is better; the test is corrected for the number of metrics.

    Examples:
        crscore code compare a.jsonl b.jsonl
    """
    from crscore.code import comparison  # noqa: PLC0415
    from crscore.code.samples import read_samples  # noqa: PLC0415  (so that --help is fast)

    document = comparison.compare(
        read_samples(first, language=language),
        read_samples(second, language=language),
        # Two files in different folders may have the same name.
        labels=(first.name, second.name) if first.name != second.name else ("A", "B"),
        **options,
    )
    return document, as_report(comparison.comparison_report)


@command.command("run")
@click.argument("samples", type=PATH, required=False)
@option(
    "--tests FILE", "JSON Lines of problems with their tests, in the form of HumanEval.",
    type=PATH, required=True,
)  # fmt: skip
# The default values are those of the HumanEval paper: https://arxiv.org/abs/2107.03374
@option("--k NUMBERS", "Values of k for pass@k.", to="ks", default="1,10,100")
@option(
    # The default is that of HumanEval's program: https://github.com/openai/human-eval
    "--timeout SECONDS", "Maximum seconds for the tests of a program.",
    type=click.FloatRange(0, min_open=True), default=3.0,
)  # fmt: skip
@option("--workers N", "Programs to run at a time (default: number of cores).", type=COUNT)
@option("--canonical", "Run the reference solutions of the problems, not SAMPLES.")
@option(
    "--allow-code-execution", "Allow programs that nobody has reviewed to run; required.",
    to="allowed",
)  # fmt: skip
@document_command
def run(
    *,
    samples: Path | None,
    tests: Path,
    ks: str,
    timeout: float,
    workers: int | None,
    canonical: bool,
    allowed: bool,
) -> WrittenDocument:
    """Run SAMPLES with their tests in a sandbox and estimate pass@k.

    SAMPLES is JSON Lines of {task_id, completion}. Programs in Python, Java, JavaScript and C++ are
    run if the language is installed.

    Examples:
        crscore code run samples.jsonl --tests problems.jsonl --allow-code-execution
    """
    from crscore.code.execution import programs, report, runner  # noqa: PLC0415

    try:
        numbers = [int(number) for number in ks.split(",")]
    except ValueError:
        numbers = [0]  # rejected below, like any other wrong number
    if min(numbers) < 1:
        raise ConfigError("--k", COMMAND_LINE, f"must be whole numbers from 1, not {ks}")
    problems = programs.read_problems(tests)
    if canonical:
        completions = programs.solutions(problems)
    elif samples is not None:
        completions = programs.read_completions(samples, tuple(problems))
    else:
        raise ConfigError("SAMPLES", COMMAND_LINE, "are missing: name a file, or give --canonical")
    if not completions:
        raise InputError(f"{tests} has no solutions")
    # Markdown fences make programs fail, so that a good model looks bad if nobody notices them:
    # https://github.com/evalplus/evalplus/issues/90
    if fenced := sum("\n```" in f"\n{completion.code}" for completion in completions):
        counts = f"{fenced:,} of {len(completions):,}"
        print_note(f"note: completions with Markdown fences, which are not code: {counts}.")
    # Equal programs for the same problem are run once.
    distinct = {(completion.problem, completion.code) for completion in completions}
    with progress.track("running programs", len(distinct)) as advance:
        outcomes = runner.run_programs(
            problems,
            completions,
            allowed=allowed,
            timeout=timeout,
            workers=workers,
            on_outcome=advance,
        )
    document = report.make_document(problems, outcomes, ks=numbers, timeout=timeout)
    return document, report.render_text
