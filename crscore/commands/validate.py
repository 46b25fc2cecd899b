"""`crscore validate`: how well the score agrees with people, and which of two runs does better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from crscore import io
from crscore.commands import _judge, _settings, _split
from crscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.settings import Config
    from crscore.study.results import ValidationResult
    from crscore.study.run import Options

OF_A_COMPARISON: Final = frozenset({"paths", "report", "target", "resamples", "seed"})
"""The parameters that a comparison of two results knows."""
HARMLESS: Final = frozenset({"offline", "verbose"})
"""What any command does without being told."""


# Findings of tools change the score, and a study brings findings of its own: here tools look when
# the command line says so, whatever environment and settings file say.
@click.command(
    name="validate",
    cls=_split.Command,
    context_settings={"default_map": {"analyzers": "none"}},
)
@click.argument("paths", metavar="DATA | A.json B.json", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--claims",
    default="recorded",
    show_default=True,
    metavar="NAME",
    help="recorded (the data's own claims and findings), or a claim generator.",
)
@click.option(
    "--threshold",
    type=float,
    help="Cosine cut-off of the matcher published, and chooses it (default: the encoder's own).",
)
@click.option(
    "--format",
    "report",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@click.option("-o", "--output", "target", metavar="FILE", help="Write here, not to stdout.")
@click.option(
    "--baselines/--no-baselines",
    default=True,
    show_default=True,
    help="Show the published baselines beside the score.",
)
@click.option(
    "--beside",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Show the metrics of FILE, such as a judge's, beside the score; may be repeated.",
)
@click.option(
    _judge.FLAG,
    "judges",
    multiple=True,
    metavar=_judge.METAVAR,
    help="Let a language model rate the reviews, too, and show it beside the score; changes and "
    "reviews are sent to it. May be repeated.",
)
@click.option(
    "--attacks/--no-attacks",
    default=True,
    show_default=True,
    help="Attack the score with texts made to fool it.",
)
@click.option(
    _split.FLAG,
    "held_out",
    metavar=_split.METAVAR,
    help="Train the matcher anew for each part of the data, on what is not in it.",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    metavar="K",
    help="Groups of changes (default: 10; 5 where systems are left out).",
)
@click.option(
    "--import-crscore",
    "imported",
    nargs=2,
    metavar="CLONE OUT",
    type=click.Path(path_type=Path),
    help="Turn a clone of atharva-naik/CRScore into a file to validate on, and stop.",
)
@click.option(
    "--resamples", type=click.IntRange(0), default=1000, show_default=True, help="Of the bootstrap."
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of all that is drawn: bootstrap, attacks, folds, training.",
)
@click.option(
    "--sources/--no-sources", default=True, show_default=True, help="Use the data's whole files."
)
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr which part is done.")
@_settings.model_options
@_settings.shared_options
def command(
    paths: tuple[Path, ...],
    *,
    config_file: Path | None,
    claims: str,
    report: str,
    target: str | None,
    baselines: bool,
    files: tuple[Path, ...],
    judges: tuple[str, ...],
    attacks: bool,
    held_out: str | None,
    folds: int | None,
    imported: tuple[Path, Path] | None,
    resamples: int,
    seed: int,
    sources: bool,
    verbose: bool,
    **flags: Any,
) -> int:
    """Correlate the score with the human ratings in DATA, or compare two such runs.

    DATA is JSON Lines, plain or gzip, one change a line with its rated reviews. A.json and
    B.json are what two runs wrote with --format json -o: the answer says which agrees better
    with people, by how much, and how many changes it takes to see that.

    No analyzer looks at the changes unless --analyzers names some: then what they find counts
    instead of what the data's own tools said, and the report tells what that does.
    """
    io.check_output(target)
    split = _split.choose_split(held_out, folds)
    if imported is not None:
        if paths or target:
            raise click.UsageError("--import-crscore takes CLONE and OUT alone")
        _only(frozenset({"imported"}), "an import")
        return _import(*imported)
    if len(paths) == 2:
        _only(OF_A_COMPARISON, "a comparison of two results")
        text = _comparison(*paths, report=report, resamples=resamples, seed=seed)
    elif len(paths) == 1:
        from crscore.study import run  # noqa: PLC0415  (after --help and wrong options)

        options = run.Options(
            claims=claims,
            sources=sources,
            resamples=resamples,
            seed=seed,
            attacks=attacks,
            split=split,
        )
        others = _Beside(baselines, files, _judge.named(judges))
        settings = _settings.settings(config_file, flags)
        found = _run(paths[0], settings, options, others, verbose=verbose)
        text = _rendered(found, report)
    else:
        raise click.UsageError(f"give one study or two results of validate, not {len(paths)} files")
    io.write_text(text, target)
    return 0


def _only(known: frozenset[str], what: str) -> None:
    """Refuse options that would change nothing: who gives one expects something of it."""
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        source = context.get_parameter_source(name)
        if source is click.core.ParameterSource.COMMANDLINE and name not in known | HARMLESS:
            raise click.UsageError(f"{option.opts[0]} says nothing about {what}; leave it out")


class _Beside(NamedTuple):
    """What is to stand beside the score."""

    baselines: bool
    files: Sequence[Path]
    judges: Sequence[_judge.Named]


def _run(
    data: Path, settings: Config, options: Options, others: _Beside, *, verbose: bool
) -> ValidationResult:
    from crscore.study import extra_metrics, run, saved, study  # noqa: PLC0415

    if saved.is_run(data):
        raise InputError(f"{data} is a result of validate, no study; give two to compare them")
    trainer = None if options.split is None else _split.trainer(settings)
    rated = study.read_study(data)
    extra = [extra_metrics.baselines()] if others.baselines else []
    extra += [extra_metrics.from_files(others.files)] if others.files else []

    def tell(done: str) -> None:
        if verbose:
            click.echo(f"crscore: {done}", err=True)

    extra += _judge.ask(others.judges, rated, settings, tell=tell)
    return run.run(rated, settings, options, extra=extra, trainer=trainer, tell=tell)


def _rendered(found: ValidationResult, report: str) -> str:
    from crscore.study import layout, result_report, results  # noqa: PLC0415

    if report == "json":
        return results.to_json(found)
    made = result_report.result_report(found)
    return layout.to_html(made) if report == "html" else layout.to_text(made)


def _comparison(first: Path, second: Path, *, report: str, resamples: int, seed: int) -> str:
    from crscore.study import compare, comparison_report, layout, results, saved  # noqa: PLC0415

    found = compare.compare(
        saved.read_saved_run(first), saved.read_saved_run(second), resamples=resamples, seed=seed
    )
    if report == "json":
        return results.to_json(found)
    made = comparison_report.comparison_report(found)
    return layout.to_html(made) if report == "html" else layout.to_text(made)


def _import(clone: Path, out: Path) -> int:
    from crscore.study import importer  # noqa: PLC0415

    io.check_output(str(out))  # before the work
    made = importer.convert(clone)
    importer.write_study(made.rows, out)
    for note in made.notes:
        click.echo(f"crscore: note: {note}", err=True)
    reviews = sum(len(row["reviews"]) for row in made.rows)
    click.echo(f"{out}: {len(made.rows):,} changes with {reviews:,} reviews")
    return 0
