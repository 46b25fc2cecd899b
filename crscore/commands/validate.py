"""`crscore validate`: how well the score agrees with people, and which of two runs does better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore import output
from crscore.commands import _settings
from crscore.errors import InputError

if TYPE_CHECKING:
    from crscore.config import Config
    from crscore.validation.run import Options


@click.command(name="validate")
@click.argument("paths", metavar="DATA | A.json B.json", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--claims",
    default="recorded",
    show_default=True,
    metavar="NAME",
    help="recorded (the data's own claims and findings), or a claim generator.",
)
@click.option("--threshold", type=float, help="Cosine cut-off (default: the encoder's own).")
@click.option(
    "--format",
    "report",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@click.option("-o", "--output", "target", metavar="FILE", help="Write here, not to stdout.")
@click.option(
    "--resamples", type=click.IntRange(0), default=1000, show_default=True, help="Of the bootstrap."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap."
)
@click.option(
    "--sources/--no-sources", default=True, show_default=True, help="Use the data's whole files."
)
@_settings.shared_options
def command(
    paths: tuple[Path, ...],
    *,
    config_file: Path | None,
    claims: str,
    report: str,
    target: str | None,
    resamples: int,
    seed: int,
    sources: bool,
    **flags: Any,
) -> int:
    """Correlate the score with the human ratings in DATA, or compare two such runs.

    DATA is JSON Lines, plain or gzip, one change a line with its rated reviews. A.json and
    B.json are what two runs wrote with --format json -o: the answer says which agrees better
    with people, by how much, and how many changes it takes to see that.
    """
    output.check(target)
    if len(paths) == 2:
        text = _comparison(*paths, report=report, resamples=resamples, seed=seed)
    elif len(paths) == 1:
        from crscore.validation import run  # noqa: PLC0415  (after --help and wrong options)

        options = run.Options(claims=claims, sources=sources, resamples=resamples, seed=seed)
        text = _run(paths[0], _settings.settings(config_file, flags), options, report=report)
    else:
        raise click.UsageError(f"give one study or two results of validate, not {len(paths)} files")
    output.write(text, target)
    return 0


def _run(data: Path, settings: Config, options: Options, *, report: str) -> str:
    from crscore.validation import render, run, saved, study, text  # noqa: PLC0415

    if saved.is_run(data):
        raise InputError(f"{data} is a result of validate, no study; give two to compare them")
    found = run.run(study.read(data), settings, options)
    return render.to_json(found) if report == "json" else text.to_text(found)


def _comparison(first: Path, second: Path, *, report: str, resamples: int, seed: int) -> str:
    from crscore.validation import compare, render, saved, versus  # noqa: PLC0415

    found = compare.compare(saved.read(first), saved.read(second), resamples=resamples, seed=seed)
    return render.comparison_to_json(found) if report == "json" else versus.to_text(found)
