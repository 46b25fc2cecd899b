"""Result of a validation run: the document that `--format json` writes and reports show."""

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
    """The study that a run scored."""

    sha256: str
    """Hash of the study file after decompression."""
    changes: Count
    """Number of changes in the study."""
    reviews: Count
    """Number of scored reviews, without those of the ground truth and of excluded changes."""
    systems: tuple[str, ...]
    """Names of the systems that wrote the reviews, sorted."""
    blank_reviews: Count
    """Number of reviews without a sentence, whose score is 0."""
    excluded_changes: tuple[str, ...]
    """Ids of the changes left out because they have no pseudo-reference."""
    references_per_change: Annotated[float, Meta(ge=0)]
    """Mean number of pseudo-references of a change that count in the score."""


class MetricName(Struct, frozen=True, kw_only=True):
    """Name of a metric, and how it was computed."""

    name: str
    """Name of the metric in all other lists."""
    variant: str
    """Method, with the library, word list or model used; empty if the name says enough."""


class ValidationResult(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Result of scoring a study."""

    version: str = __version__
    """Version of crscore that wrote the document."""
    signature: str
    """Everything that determines the scores: the same signature and data give the same scores."""
    metric: str
    """Name of the primary metric: its matcher, encoder and claim generator."""
    data: Data
    """The study that was scored."""
    threshold: Cosine | None
    """Cosine threshold used; null for a matcher that has none."""
    tau_by_procedure: Cosine | None
    """Threshold that the paper's procedure finds on this study; null if the best system wrote no
    sentence."""
    split: str | None
    """Split that held reviews out of training, in the form of --split; null if no matcher was
    trained."""
    resamples: Count
    """Number of bootstrap resamples of the changes for the intervals; 0 for no interval."""
    seed: Count
    """Seed of the bootstraps, the attacks, the folds and the training."""
    metrics: Annotated[tuple[MetricName, ...], Meta(min_length=1)]
    """All metrics; the primary metric is the first."""
    correlations: tuple[Correlation, ...]
    """Correlations with people by metric, dimension and slice; the primary metric is the first."""
    pairs: tuple[SameDiff, ...]
    """How often each metric orders two reviews of one change as people do, by dimension."""
    addressed: Classifier | None
    """How well the matcher finds the pairs of a pseudo-reference and a review that people linked;
    null if people linked none."""
    systems: Systems
    """Rankings of the review systems by metrics and by people."""
    claims: tuple[ClaimQuality, ...]
    """Human judgements of the claims stored in the study; empty if there are none."""
    agreement: tuple[Agreement, ...]
    """Agreement between the annotators."""
    attacks: Attacks | None
    """Results of attacks on the score; null if no attack was made."""
    issues: Issues | None
    """Findings of static analysis in the changes; null if no tool was chosen."""
    length: LengthEffect
    """Whether the primary metric rewards length alone."""
    notes: tuple[str, ...]
    """Limits of the result, such as omitted data, one sentence each."""
    reviews: tuple[SavedReview, ...]
    """Ratings and scores of the reviews in study order, for the comparison of two runs."""


def compute_result(
    study: Study, measured: Measurements, links: Links, resampling: Resampling, **fields: Any
) -> ValidationResult:
    """Compute the statistics of a result from the scores.

    Args:
        study: The study.
        measured: Values of every metric for every review, of all folds.
        links: The matcher's judgement of pairs of a pseudo-reference and a review, of all folds.
        resampling: Number of bootstrap resamples and their seed.
        fields: Fields of the result that are not computed here.

    Raises:
        DependencyError: scipy is not installed.
    """
    # A metric without a value for some reviews is compared on the others alone.
    groups = measurements.split_by_rows(measured)
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
        **resampling,
        metrics=tuple(
            MetricName(name=metric.name, variant=metric.variant) for metric in measured.metrics
        ),
        correlations=tuple(
            row for group in groups for row in correlations.correlate(group, **resampling)
        ),
        pairs=tuple(row for group in groups for row in pairs.compare_pairs(group)),
        addressed=link_classifier.classify(links, **resampling),
        systems=ranking.join([ranking.rank_systems(group) for group in groups]),
        claims=claim_quality.claim_quality(study),
        agreement=agreement.measure_agreement(study),
        length=length_effect(measured, **resampling),
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
