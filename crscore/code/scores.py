"""Scores of samples by several metrics, as one document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from crscore.code.measure import Measurement, measure
from crscore.code.samples import Sample
from crscore.reports import console, escape, view
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:code:1"
SHOWN_SAMPLES: Final = 20
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]


class MetricScores(Struct, frozen=True, kw_only=True):
    """One metric."""

    metric: str
    """Name, with the options that were given."""
    identity: str
    """Name, variant and version: the same identity gives the same scores."""
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
    """Name of each sample; null for one without."""
    metrics: tuple[MetricScores, ...]
    skipped: tuple[Skipped, ...]
    """Metrics that do not apply, or whose package is not installed."""


def score_samples(
    samples: Sequence[Sample], specs: Sequence[str] | None = None, *, preset: str | None = None
) -> CodeScores:
    """Score samples by several metrics.

    Args:
        samples: At least one sample.
        specs: Metrics, see `measure.make_metrics`; all that apply when None.
        preset: Preset of the metrics that have one.

    Raises:
        CRScoreError: As `measure.measure`.
    """
    measured = measure(samples, specs, preset=preset)
    return CodeScores(
        samples=len(samples),
        ids=tuple(sample.id for sample in samples),
        metrics=tuple(map(_scores, measured.measurements)),
        skipped=tuple(Skipped(metric=name, reason=why) for name, why in measured.skipped),
    )


def _scores(one: Measurement) -> MetricScores:
    totals = one.statistics.sum(axis=0, keepdims=True)
    return MetricScores(
        metric=one.name,
        identity=one.metric.identity,
        score=_bound(float(one.metric.corpus_scores(totals)[0])),
        samples=tuple(map(_bound, one.metric.sentence_scores(one.statistics).tolist())),
    )


def render_text(found: CodeScores, *, color: bool = False, width: int = 80) -> str:
    """Write scores for a terminal, 0 to 100; of many samples only all together."""
    return console.print_blocks(_blocks(found), color=color, width=width)


def _blocks(found: CodeScores) -> Iterator[RenderableType]:
    few = 1 < found.samples <= SHOWN_SAMPLES
    table = Table(box=None, pad_edge=False)
    table.add_column("Metric")
    table.add_column("Score", justify="right")
    if few:
        for at, name in enumerate(found.ids):
            table.add_column(escape.one_line(name or str(at + 1))[:24], justify="right")
    for one in found.metrics:
        each = [f"{100 * value:.1f}" for value in one.samples] if few else []
        table.add_row(escape.one_line(one.metric), f"{100 * one.score:.2f}", *each)
    yield table
    yield ""
    yield Text(f"From 0 to 100, over {view.count_noun(found.samples, 'sample')}.", style="dim")
    for other in found.skipped:
        yield Text(f"{other.metric}: not computed: {other.reason}", style="dim", overflow="fold")
    yield Text(f"crscore {found.version}", style="dim")
    for one in found.metrics:
        yield Text(f"  {one.identity}", style="dim", overflow="fold")


def _bound(value: float) -> float:
    """Return a score without the last digits by which rounding may leave [0, 1]."""
    return min(1.0, max(0.0, value))
