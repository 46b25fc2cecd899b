"""Scores of samples by several metrics, as one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta, Struct
from rich.table import Table
from rich.text import Text

from crscore.code import metrics
from crscore.errors import DependencyError
from crscore.reports import console, escape, view
from crscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from crscore.code.metrics.base import Metric
    from crscore.code.samples import Sample

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


def make_metrics(specs: Sequence[str]) -> dict[str, Metric]:
    """Make metrics from NAME or NAME:OPTION=VALUE:OPTION=VALUE.

    Raises:
        ConfigError: An option is unknown or has a wrong value.
        UnknownPluginError: No such metric.
    """
    made = {}
    for spec in specs:
        name, *options = spec.split(":")
        made[spec] = metrics.make(name, **dict(one.partition("=")[::2] for one in options))
    return made


def score_samples(samples: Sequence[Sample], specs: Sequence[str] | None = None) -> CodeScores:
    """Score samples by several metrics.

    Args:
        samples: At least one sample.
        specs: Metrics as `make_metrics` takes them; all that apply when None. Of those asked for
            by name, each must apply.

    Raises:
        ConfigError: As `make_metrics`.
        DependencyError: A metric that was asked for needs a package that is not installed.
        InputError: A metric that was asked for does not apply.
        UnknownPluginError: As `make_metrics`.
    """
    found: list[MetricScores] = []
    skipped: list[Skipped] = []
    for spec, metric in make_metrics(metrics.names() if specs is None else specs).items():
        reason = metric.inapplicable(samples)
        if specs is None and reason is not None:
            skipped.append(Skipped(metric=spec, reason=reason))
            continue
        try:
            statistics = metric.statistics(samples)
        except DependencyError as exc:
            if specs is not None:
                raise
            skipped.append(Skipped(metric=spec, reason=str(exc)))
            continue
        whole = float(metric.corpus_scores(statistics.sum(axis=0, keepdims=True))[0])
        each = metric.sentence_scores(statistics).tolist()
        found.append(
            MetricScores(
                metric=spec,
                identity=metric.identity,
                score=_bound(whole),
                samples=tuple(map(_bound, each)),
            )
        )
    return CodeScores(
        samples=len(samples),
        ids=tuple(sample.id for sample in samples),
        metrics=tuple(found),
        skipped=tuple(skipped),
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
    yield Text(f"From 0 to 100, over {view.many(found.samples, 'sample')}.", style="dim")
    for other in found.skipped:
        yield Text(f"{other.metric}: not computed: {other.reason}", style="dim", overflow="fold")
    yield Text(f"crscore {found.version}", style="dim")
    for one in found.metrics:
        yield Text(f"  {one.identity}", style="dim", overflow="fold")


def _bound(value: float) -> float:
    """Return a score without the last digits by which rounding may leave [0, 1]."""
    return min(1.0, max(0.0, value))
