"""`crscore code`: judge code beside references, or by running it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from crscore import io, progress
from crscore.commands._terminal import CommandGroup, terminal_style
from crscore.errors import ConfigError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.reports import layout

DEFAULT: Final = "score"
_PATH: Final = click.Path(path_type=Path)


class _Commands(CommandGroup):
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
    examples=("crscore code candidate.py reference.py   # the same as crscore code score ...",),
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
        content = text(found, **terminal_style(to_terminal=target is None))
    io.write_text(content, target)


def _write_report(
    found: msgspec.Struct, report: layout.Report, form: str, target: str | None
) -> None:
    """Write the document of a study, as text by its layout, or as JSON."""
    from crscore.reports import layout  # noqa: PLC0415

    _write(found, lambda *_, **__: layout.to_text(report), form, target)


_metrics = click.option(
    "--metrics", "names", metavar="NAMES",
    help="Separated by commas, each NAME or NAME:OPTION=VALUE (default: all that apply).",
)  # fmt: skip


_preset = click.option(
    "--preset", metavar="NAME", help="Preset of the metrics that have one: out-of-the-bleu."
)


@command.command(
    DEFAULT,
    examples=(
        "crscore code candidate.py reference.py",
        "crscore code samples.jsonl references.jsonl --metrics chrf,codebleu",
    ),
)
@click.argument("candidates", metavar="CANDIDATE", type=_PATH)
@click.argument("references", metavar="REFERENCE...", type=_PATH, nargs=-1)
@_metrics
@_preset
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
    preset: str | None,
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
    found = scores.score_samples(read, None if names is None else names.split(","), preset=preset)
    _write(found, scores.render_text, form, target)
    return 0


_seed = click.option("--seed", type=click.IntRange(0), default=42, show_default=True)


def _resamples(default: int) -> Callable[..., Any]:
    return click.option(
        "--resamples", type=click.IntRange(1), default=default, show_default=True,
        help="Draws of the bootstrap.",
    )  # fmt: skip


@command.command("compare", examples=("crscore code compare a.jsonl b.jsonl",))
@click.argument("first", metavar="A", type=_PATH)
@click.argument("second", metavar="B", type=_PATH)
@_metrics
@_preset
@click.option("--two-sided", is_flag=True, help="Ask for 0.975 of the resamples, not 0.95.")
@click.option("--language", metavar="NAME", help="Language of samples that name none.")
@_resamples(1_000)
@_seed
@_document
def compare(
    first: Path,
    second: Path,
    *,
    names: str | None,
    preset: str | None,
    two_sided: bool,
    language: str | None,
    resamples: int,
    seed: int,
    form: str,
    target: str | None,
) -> int:
    """Compare the code of two systems, samples A and B, by a paired bootstrap.

    A and B are what `crscore code score` takes with references in it. The report says of each
    metric which is better, and whether people would agree with such a difference.
    """
    from crscore.code import samples  # noqa: PLC0415  (after --help and wrong options)
    from crscore.lab.study.code import compare  # noqa: PLC0415

    io.check_output(target)
    found = compare.compare(
        samples.read_samples(first, language=language),
        samples.read_samples(second, language=language),
        None if names is None else names.split(","),
        labels=(first.name, second.name) if first.name != second.name else ("A", "B"),
        preset=preset,
        two_sided=two_sided,
        resamples=resamples,
        seed=seed,
    )
    _write_report(found, compare.comparison_report(found), form, target)
    return 0


@command.command("study", examples=("crscore code study graded.jsonl --tables",))
@click.argument("data", type=_PATH)
@_metrics
@_preset
@click.option(
    "--grades", type=click.Choice(("mean", "aggregated", "mmsr")), default="mean",
    show_default=True, help="How the grades of several people become one.",
)  # fmt: skip
@click.option("--all-completions", is_flag=True, help="Programs of any number, not only 1 to 99.")
@click.option("--tables", is_flag=True, help='Tables 2 to 4 of "Out of the BLEU".')
@_resamples(500)
@_seed
@_document
def study(
    data: Path,
    *,
    names: str | None,
    preset: str | None,
    grades: Any,
    all_completions: bool,
    tables: bool,
    resamples: int,
    seed: int,
    form: str,
    target: str | None,
) -> int:
    """Correlate metrics with the grades of people, or the tests of programs, in DATA.

    Kendall's tau is within a problem, Pearson and Spearman over all; each metric stands beside a
    constant answer, the length, and the similarity of characters.
    """
    from crscore.lab.study.code import graded, out_of_the_bleu  # noqa: PLC0415
    from crscore.lab.study.code import study as studies  # noqa: PLC0415

    io.check_output(target)
    if tables:
        aggregated: Any = grades if grades != "mean" else "aggregated"
        made = out_of_the_bleu.tables(
            graded.read_graded(data, grades=aggregated), resamples=resamples, seed=seed
        )
        _write_report(made, out_of_the_bleu.tables_report(made), form, target)
        return 0
    read = graded.read_graded(data, grades=grades, all_completions=all_completions)
    listed = None if names is None else names.split(",")
    found = studies.study(read, listed, preset=preset, resamples=resamples, seed=seed)
    _write_report(found, studies.study_report(found), form, target)
    return 0


@command.command(
    "run",
    examples=("crscore code run samples.jsonl --tests problems.jsonl --allow-code-execution",),
)
@click.argument("samples", type=_PATH, required=False)
@click.option(
    "--tests", metavar="FILE", type=_PATH, required=True,
    help="Problems with their tests, as JSON Lines: HumanEval's, or graded programs.",
)  # fmt: skip
@click.option("--k", "ks", default="1,10,100", show_default=True, metavar="NUMBERS", help="pass@k.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=3.0, show_default=True,
    help="Seconds that the tests of a program may take.",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(1), help="Programs at once (default: the cores).")
@click.option("--canonical", is_flag=True, help="Judge the solutions that the tests' file has.")
@click.option(
    "--results", metavar="FILE", type=_PATH,
    help="Append each result here; those that it has from an interrupted run are kept.",
)  # fmt: skip
@click.option(
    "--allow-code-execution", "allowed", is_flag=True,
    help="Run the programs, which nobody may have read; without this option, nothing runs.",
)  # fmt: skip
@_document
def run(
    samples: Path | None,
    *,
    tests: Path,
    ks: str,
    timeout: float,
    workers: int | None,
    canonical: bool,
    results: Path | None,
    allowed: bool,
    form: str,
    target: str | None,
) -> int:
    """Run SAMPLES with their tests in a sandbox and estimate pass@k.

    SAMPLES is JSON Lines of {task_id, completion}; without it, the completions that the tests'
    file has are judged. Python, Java, JavaScript and C++ are run, where they are installed.
    """
    from crscore.code.execution import programs, report, runner  # noqa: PLC0415

    io.check_output(target)
    numbers = _numbers(ks)
    problems, completions = programs.read_problems(tests)
    if canonical:
        completions = programs.solutions(problems)
    elif samples is not None:
        completions = programs.read_completions(samples, tuple(problems))
    if not completions:
        raise InputError(f"{tests} has no completions; name a file of samples")
    distinct = {(one.problem, one.code) for one in completions}
    with progress.track("running programs", len(distinct)) as advance:
        outcomes = runner.run_programs(
            problems,
            completions,
            allowed=allowed,
            timeout=timeout,
            workers=workers,
            results=results,
            on_outcome=advance,
        )
    found = report.make_document(problems, outcomes, ks=numbers, timeout=timeout)
    _write(found, report.render_text, form, target)
    return 0


def _numbers(text: str) -> list[int]:
    try:
        found = [int(one) for one in text.split(",")]
    except ValueError:
        found = [0]
    if min(found) < 1:
        raise ConfigError("--k", "command line", f"expected numbers from 1 on, not {text}")
    return found
