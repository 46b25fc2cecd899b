"""`crscore code`: judge code beside references, or by running it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from crscore import io, progress
from crscore.commands._terminal import CommandGroup, terminal_style
from crscore.errors import ConfigError, InputError

if TYPE_CHECKING:
    from crscore.reports import layout

DEFAULT: Final = "score"
_PATH: Final = click.Path(path_type=Path)
_Written = tuple[msgspec.Struct, Callable[..., str]]
"""Document, and the function that renders it as text: it takes `color` and `width`, too."""


class _Commands(CommandGroup):
    """Group whose default command is `score`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Convert `crscore code A B` to `crscore code score A B`."""
        if args and args[0] not in {"--help", "-h", *self.list_commands(ctx)}:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.group(
    name="code",
    cls=_Commands,
    examples=("crscore code candidate.py reference.py   # the same as crscore code score ...",),
)
def command() -> None:
    """Evaluate code by comparison with references or by its tests."""


def _document_command(function: Callable[..., _Written]) -> Callable[..., int]:
    """Add the options of a command that writes a document, which the function returns."""

    @click.option(
        "-o", "--output", "target", metavar="FILE", help="Write to this file instead of stdout."
    )
    @click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
    @functools.wraps(function)
    def write(*, form: str, target: str | None, **options: Any) -> int:
        # Before the work, which would be lost.
        io.check_output(target)
        document, render = function(**options)
        if form == "json":
            content = msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
        else:
            content = render(document, **terminal_style(to_terminal=target is None))
        io.write_text(content, target)
        return 0

    return write


def _as_report(lay_out: Callable[[Any], layout.Report]) -> Callable[..., str]:
    """Return the text renderer of a document that has a layout."""
    from crscore.reports import layout  # noqa: PLC0415

    return lambda document, **_: layout.to_text(lay_out(document))


def _split(_context: object, _option: object, names: str | None) -> list[str] | None:
    return None if names is None else names.split(",")


_metrics = click.option(
    "--metrics", metavar="NAMES", callback=_split,
    help="Comma-separated metrics, each NAME or NAME:OPTION=VALUE (default: all that apply).",
)  # fmt: skip
_preset = click.option(
    "--preset", metavar="NAME", help="Preset for the metrics that have it: out-of-the-bleu."
)
_seed = click.option("--seed", type=click.IntRange(0), default=42, show_default=True)


def _resamples(default: int) -> Callable[..., Any]:
    return click.option(
        "--resamples", type=click.IntRange(1), default=default, show_default=True,
        help="Number of bootstrap resamples.",
    )  # fmt: skip


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
@click.option("--language", metavar="NAME", help="Language of code without a known file name.")
@_document_command
def score(
    *,
    candidates: Path,
    references: tuple[Path, ...],
    metrics: list[str] | None,
    preset: str | None,
    context: str,
    language: str | None,
) -> _Written:
    """Compare code with references by published metrics.

    CANDIDATE and REFERENCE are files of code, folders of files with the same names, or JSON Lines
    of {candidate, references, context, language, id}; several references may be given. Start with
    meteor or chrf: by default, codebertscore runs on MiniLM, an encoder of English.
    """
    from crscore.code import samples, scores  # noqa: PLC0415  (after --help and wrong options)

    read = samples.read_samples(candidates, references, context=context, language=language)
    return scores.score_samples(read, metrics, preset=preset), scores.render_text


@command.command("compare", examples=("crscore code compare a.jsonl b.jsonl",))
@click.argument("first", metavar="A", type=_PATH)
@click.argument("second", metavar="B", type=_PATH)
@_metrics
@_preset
@click.option("--language", metavar="NAME", help="Language of samples that do not name one.")
@_resamples(1_000)
@_seed
@_document_command
def compare(*, first: Path, second: Path, language: str | None, **options: Any) -> _Written:
    """Compare the code of two systems, samples A and B, with a paired bootstrap.

    A and B have the formats that `crscore code score` reads, with references. For each metric, the
    report shows which system is better, corrected for the number of metrics, and whether people
    would agree.
    """
    from crscore.code.samples import read_samples  # noqa: PLC0415  (after --help)
    from crscore.lab.code import comparison  # noqa: PLC0415

    document = comparison.compare(
        read_samples(first, language=language),
        read_samples(second, language=language),
        # files of the same name in two folders
        labels=(first.name, second.name) if first.name != second.name else ("A", "B"),
        **options,
    )
    return document, _as_report(comparison.comparison_report)


@command.command("study", examples=("crscore code study graded.jsonl --tables",))
@click.argument("data", type=_PATH)
@_metrics
@_preset
@click.option(
    "--grades", type=click.Choice(("mean", "aggregated", "mmsr")), default="mean",
    show_default=True, help="How to combine the grades of several people.",
)  # fmt: skip
@click.option(
    "--all-completions", is_flag=True, help="Include programs of all numbers, not only 1 to 99."
)
@click.option("--tables", is_flag=True, help='Show tables 2 to 4 of "Out of the BLEU".')
@click.option(
    "--bins", type=click.Choice(("conala", "hearthstone")), default="conala", show_default=True,
    help="Bins of differences in --tables: the paper's for this data set.",
)  # fmt: skip
@_resamples(500)
@_seed
@_document_command
def study(
    *,
    data: Path,
    grades: Any,
    all_completions: bool,
    tables: bool,
    bins: str,
    resamples: int,
    seed: int,
    **options: Any,
) -> _Written:
    """Correlate metrics with the grades of people, or the tests of programs, in DATA.

    Kendall's tau is within a problem, Pearson and Spearman over all. A constant answer, the length
    and the similarity of characters are the baselines.
    """
    from crscore.lab.code import correlation, graded, out_of_the_bleu  # noqa: PLC0415

    if tables:
        # The paper's tables are of aggregated grades, and "mean" is the option's default.
        people = graded.read_graded(data, grades="aggregated" if grades == "mean" else grades)
        bounds = out_of_the_bleu.BINS[bins]
        document = out_of_the_bleu.make_tables(people, bins=bounds, resamples=resamples, seed=seed)
        return document, _as_report(out_of_the_bleu.tables_report)
    read = graded.read_graded(data, grades=grades, all_completions=all_completions)
    agreement = correlation.correlate(read, resamples=resamples, seed=seed, **options)
    return agreement, _as_report(correlation.study_report)


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
    help="Maximum seconds for the tests of a program.",
)  # fmt: skip
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Programs run at a time (default: the number of cores).",
)
@click.option("--canonical", is_flag=True, help="Judge the reference solutions in the tests' file.")
@click.option(
    "--results", metavar="FILE", type=_PATH,
    help="Append each result to this file; the results of an interrupted run are reused.",
)  # fmt: skip
@click.option(
    "--allow-code-execution", "allowed", is_flag=True,
    help="Allow running the programs, which may be unreviewed; required.",
)  # fmt: skip
@_document_command
def run(
    *,
    samples: Path | None,
    tests: Path,
    ks: str,
    timeout: float,
    workers: int | None,
    canonical: bool,
    results: Path | None,
    allowed: bool,
) -> _Written:
    """Run SAMPLES with their tests in a sandbox and estimate pass@k.

    SAMPLES is JSON Lines of {task_id, completion}; without it, the completions that the tests'
    file has are judged. Python, Java, JavaScript and C++ are run, where they are installed.
    """
    from crscore.code.execution import programs, report, runner  # noqa: PLC0415

    numbers = _numbers(ks)
    problems, completions = programs.read_problems(tests)
    if canonical:
        completions = programs.solutions(problems)
    elif samples is not None:
        completions = programs.read_completions(samples, tuple(problems))
    if not completions:
        raise InputError(f"{tests} has no completions; name a file of samples")
    # Equal programs for a problem are run once.
    distinct = {(completion.problem, completion.code) for completion in completions}
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
    document = report.make_document(problems, outcomes, ks=numbers, timeout=timeout)
    return document, report.render_text


def _numbers(text: str) -> list[int]:
    try:
        numbers = [int(number) for number in text.split(",")]
    except ValueError:
        # rejected below, with the message for every wrong number
        numbers = [0]
    if min(numbers) < 1:
        raise ConfigError("--k", "command line", f"expected numbers from 1 on, not {text}")
    return numbers
