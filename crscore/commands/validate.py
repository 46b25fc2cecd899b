"""`crscore validate DATA`: how well the score agrees with people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore import config, output, stats
from crscore.commands import _settings
from crscore.errors import UnknownThresholdError
from crscore.validation import correlate, measure, render, study

if TYPE_CHECKING:
    from crscore.claims.base import ClaimGenerator
    from crscore.config import Config


@click.command(name="validate")
@click.argument("data", type=click.Path(path_type=Path))
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
    data: Path,
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
    """Correlate the score with the human ratings in DATA.

    DATA is JSON Lines, plain or gzip, one change a line with its rated reviews.
    """
    from crscore.scorer import Scorer  # noqa: PLC0415  (after --help and wrong options)

    output.check(target)
    recorded = claims == study.SOURCE
    if not recorded:
        flags["claims"] = claims
    settings = _settings.settings(config_file, flags)
    rated = study.read(data)
    stats.require_scipy()
    generator = study.recorded(rated) if recorded else None
    if settings.threshold is None:
        settings = _with_threshold(settings, rated, generator, sources=sources)
    scorer = Scorer(settings, generator=generator)
    name = "/".join((settings.matcher, settings.encoder, claims.partition(":")[0]))
    measured = measure.measure(rated, scorer, name=name, sources=sources)
    found = render.Run(
        study=rated,
        measured=measured,
        correlations=correlate.correlations(measured, resamples=resamples, seed=seed),
        threshold=scorer.parts.threshold,
        signature=scorer.parts.signature,
        resamples=resamples,
        seed=seed,
    )
    text = render.to_json(found) if report == "json" else render.to_text(found)
    output.write(text, target)
    return 0


def _with_threshold(
    settings: Config, rated: study.Study, generator: ClaimGenerator | None, *, sources: bool
) -> Config:
    """Find the threshold of an encoder nobody calibrated, by the paper's procedure."""
    from crscore.scorer import Scorer  # noqa: PLC0415

    try:
        Scorer(settings, generator=generator)
    except UnknownThresholdError as unknown:
        # Any threshold will do: the procedure looks at similarities alone.
        trial = Scorer(settings, generator=generator, threshold=0.0)
        tau = measure.measure(rated, trial, name="trial", sources=sources).tau_by_procedure
        if tau is None:
            raise unknown from None
        return config.override(settings, {"threshold": round(tau, 4)})
    return settings
