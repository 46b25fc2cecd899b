"""Scores samples by several metrics, as one document."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from crscore.code.metrics.measurement import measure
from crscore.code.samples import Sample
from crscore.reports import console, view
from crscore.reports.blocks import Block, Line, Paragraph, Run, Table
from crscore.reports.fields import Count, Share
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:code:1"
SHOWN_SAMPLES: Final = 20
"""Maximum number of samples whose scores are shown one by one."""


class MetricScores(Struct, frozen=True, kw_only=True):
    """Scores of all samples by one metric."""

    metric: str
    """Name of the metric, with the options that were given."""
    identity: str
    """Name, variant and version; metrics with the same identity give the same scores."""
    score: Share
    """Score of all samples together."""
    samples: tuple[Share, ...]
    """Score of each sample, in order."""


class Skipped(Struct, frozen=True, kw_only=True):
    """Metric that was not computed."""

    metric: str
    reason: str


class CodeScores(Struct, frozen=True, kw_only=True):
    """Document of `crscore code`."""

    schema: Literal["urn:crscore:code:1"] = SCHEMA
    version: str = __version__
    samples: Count
    """Number of samples."""
    ids: tuple[str | None, ...]
    """Id of each sample; null for a sample without an id."""
    metrics: tuple[MetricScores, ...]
    skipped: tuple[Skipped, ...]
    """Metrics that do not apply, or whose package is not installed."""


def score_samples(
    samples: Sequence[Sample], specs: Sequence[str] | None = None, *, preset: str | None = None
) -> CodeScores:
    """Score samples by several metrics.

    Args:
        samples: At least one sample.
        specs: Metrics, as for `measurement.make_metrics`; None for all that apply.
        preset: Preset, which is used by the metrics that have presets.

    Raises:
        CRScoreError: The errors of `measurement.measure`.
    """
    measurements, skipped = measure(samples, specs, preset=preset)
    return CodeScores(
        samples=len(samples),
        ids=tuple(sample.id for sample in samples),
        metrics=tuple(
            MetricScores(
                metric=measurement.name,
                identity=measurement.metric.identity,
                score=_bound(measurement.corpus_score),
                samples=tuple(map(_bound, measurement.sentence_scores)),
            )
            for measurement in measurements
        ),
        skipped=tuple(Skipped(metric=name, reason=reason) for name, reason in skipped.items()),
    )


def _bound(score: float) -> float:
    """Limit a score to [0, 1]."""
    # Rounding errors can put a score slightly outside of the range.
    return min(1.0, max(0.0, score))


def render_text(scores: CodeScores, *, color: bool = False, width: int = 80) -> str:
    """Render scores from 0 to 100 for a terminal.

    If there are more than `SHOWN_SAMPLES` samples, only the score of all samples is shown.
    """
    names = [(name or str(number))[:24] for number, name in enumerate(scores.ids, 1)]
    names = names if 1 < scores.samples <= SHOWN_SAMPLES else []
    rows: tuple[tuple[Line, ...], ...] = tuple(
        (
            (Run(row.metric),),
            f"{100 * row.score:.2f}",
            *(f"{100 * score:.1f}" for score in row.samples[: len(names)]),
        )
        for row in scores.metrics
    )
    notes = (
        f"Scores from 0 to 100, for {view.count_noun(scores.samples, 'sample')}.",
        *(f"{skipped.metric}: not computed: {skipped.reason}" for skipped in scores.skipped),
        f"crscore {scores.version}",
        *(row.identity for row in scores.metrics),
    )
    blocks: list[Block] = [Table("Scores", ("Metric", "Score", *names), rows)]
    blocks += (Paragraph((Run(note),), "dim") for note in notes)
    return console.render_blocks(blocks, color=color, width=width, wide_tables=True)
