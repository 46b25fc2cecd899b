"""Result of a validation run: the document written by `--format json` and read by every report."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from crscore.reports.fields import Count
from crscore.version import __version__
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study.attacks.duels import Attacks
from crscore_lab.study.attacks.length import LengthEffect, length_effect
from crscore_lab.study.data.saved_runs import SCHEMA, SavedReview
from crscore_lab.study.data.study import Study
from crscore_lab.study.measures import (
    agreement,
    claim_quality,
    correlations,
    link_classifier,
    measurements,
    pairs,
    ranking,
)
from crscore_lab.study.measures.agreement import Agreement
from crscore_lab.study.measures.claim_quality import ClaimQuality
from crscore_lab.study.measures.correlations import Correlation
from crscore_lab.study.measures.issues import Issues
from crscore_lab.study.measures.link_classifier import Classifier, Links
from crscore_lab.study.measures.measurements import Measurements
from crscore_lab.study.measures.pairs import SameDiff
from crscore_lab.study.measures.ranking import Systems

Cosine = Annotated[float, Meta(ge=-1, le=1)]


class Data(Struct, frozen=True, kw_only=True):
    """Data of a run."""

    sha256: str
    """Hash of the unpacked study."""
    changes: Count
    """Changes in the study."""
    reviews: Count
    """Reviews measured, without the ground truth and the excluded changes."""
    systems: tuple[str, ...]
    """Authors of the reviews, sorted."""
    blank_reviews: Count
    """Reviews without a sentence, which count as 0."""
    excluded_changes: tuple[str, ...]
    """Changes left out because they have no pseudo-reference."""
    references_per_change: Annotated[float, Meta(ge=0)]
    """Mean number of counted pseudo-references."""


class MetricName(Struct, frozen=True, kw_only=True):
    """Metric of the run."""

    name: str
    """Name as in every other list."""
    variant: str
    """Method, with its library, list or model; empty where the name is sufficient."""


class ValidationResult(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Result of a run over a study."""

    version: str = __version__
    """Version of crscore that wrote the document."""
    signature: str
    """Everything that determines the scores: the same signature and data give the same scores."""
    metric: str
    """Name of the primary metric: matcher, encoder and claims."""
    data: Data
    """Data that was measured."""
    threshold: Cosine | None
    """Cosine threshold used; null for a matcher that has none."""
    tau_by_procedure: Cosine | None
    """Threshold found by the paper's procedure on this data; null without a sentence by the best
    system."""
    split: str | None
    """Split that held reviews out of training, as for --split; null when nothing was trained."""
    resamples: Count
    """Draws of whole changes for the intervals; 0 for no interval."""
    seed: Count
    """Seed of the draws."""
    metrics: Annotated[tuple[MetricName, ...], Meta(min_length=1)]
    """Every metric, the primary one first."""
    correlations: tuple[Correlation, ...]
    """Correlations by metric, dimension and slice; the primary metric first."""
    pairs: tuple[SameDiff, ...]
    """Pairs of reviews of one change, by metric and dimension."""
    addressed: Classifier | None
    """Pairs of pseudo-reference and review: the matcher against the pairs that people linked; null
    where there are none."""
    systems: Systems
    """Ranking the review systems."""
    claims: tuple[ClaimQuality, ...]
    """Human judgements of the study's own claims; empty where there are none."""
    agreement: tuple[Agreement, ...]
    """Agreement between the annotators."""
    attacks: Attacks | None
    """Outcome of attacks on the score; null where none were made."""
    issues: Issues | None
    """Static analysis of the changes and its effect on the score; null where no tool ran."""
    length: LengthEffect
    """Whether the primary metric rewards length alone."""
    notes: tuple[str, ...]
    """Notes on omitted data, one sentence each."""
    reviews: tuple[SavedReview, ...]
    """Reviews in study order, as required for a comparison of two runs."""


def assess(
    study: Study, measured: Measurements, links: Links, draws: Resampling, **fields: Any
) -> ValidationResult:
    """Compute the result from the values, without further scoring.

    Args:
        study: The data.
        measured: Values of every review; joined, for several folds.
        links: The matcher's judgement of the linked pairs; joined, for several folds.
        draws: Draws of the intervals.
        fields: Fields copied into the result unchanged.

    Raises:
        DependencyError: scipy is not installed.
    """
    # A metric that lacks some reviews is compared only on the rows it has.
    groups = measurements.by_rows(measured)
    return ValidationResult(
        **fields,
        metric=measured.primary.name,
        data=Data(
            sha256=study.sha256,
            changes=len(study.changes),
            reviews=len(measured.rows),
            systems=tuple(sorted(set(measured.systems))),
            blank_reviews=measured.blank,
            excluded_changes=measured.excluded,
            references_per_change=measured.references,
        ),
        tau_by_procedure=measured.tau_by_procedure,
        **draws,
        metrics=tuple(
            MetricName(name=metric.name, variant=metric.variant) for metric in measured.metrics
        ),
        correlations=tuple(
            row for group in groups for row in correlations.correlate(group, **draws)
        ),
        pairs=tuple(row for group in groups for row in pairs.same_diff(group)),
        addressed=link_classifier.classify(links, **draws),
        systems=ranking.join([ranking.rank_systems(group) for group in groups]),
        claims=claim_quality.claim_quality(study),
        agreement=agreement.measure_agreement(study),
        length=length_effect(measured, **draws),
        reviews=tuple(
            SavedReview(
                change=row.change.id,
                system=row.review.system,
                human=row.review.ratings,
                scores=tuple(values),
            )
            for row, values in zip(measured.rows, measured.primary.values.tolist(), strict=True)
        ),
    )
