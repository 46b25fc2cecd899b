"""All that one validation run found, from the values of a study's reviews."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crscore.study import (
    agreement,
    claim_quality,
    correlate,
    error_analysis,
    levels,
    measure,
    pairs,
    systems,
)
from crscore.study import link_classifier as classifier
from crscore.study.attacks.length import length_effect

if TYPE_CHECKING:
    from crscore.study.agreement import Agreement
    from crscore.study.attacks.duels import AttackReport
    from crscore.study.attacks.length import LengthEffect
    from crscore.study.claim_quality import ClaimQuality
    from crscore.study.correlate import Correlation
    from crscore.study.error_analysis import Misjudged
    from crscore.study.issues import Issues
    from crscore.study.levels import Sensitivity, Step
    from crscore.study.link_classifier import Classifier, Links
    from crscore.study.measure import Measurements
    from crscore.study.pairs import SameDiff
    from crscore.study.study import Study
    from crscore.study.systems import Systems


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a run was made."""

    signature: str
    """How the score was made: same signature, same score."""
    threshold: float | None
    """The matcher's cosine threshold; None when it has none."""
    resamples: int
    """Draws of every bootstrap; 0 for no interval."""
    seed: int
    """Of the draws."""
    split: str | None = None
    """How changes were held out from what was trained; None when nothing was trained here."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Findings:
    """What a validation run found; a report computes nothing."""

    study: Study
    """The data."""
    measured: Measurements
    """Every review's values."""
    settings: Settings
    """How the run was made."""
    correlations: tuple[Correlation, ...]
    """Every metric, dimension and slice; the primary metric first."""
    same_diff: tuple[SameDiff, ...]
    """Every metric, dimension and slice; the primary metric first."""
    addressed: Classifier | None
    """The matcher against what people linked; None where they linked nothing."""
    systems: Systems
    """Every metric and dimension."""
    levels: tuple[Sensitivity, ...]
    """Every metric and dimension; the primary metric first."""
    sweep: tuple[Step, ...]
    """The published rule at other thresholds."""
    claims: tuple[ClaimQuality, ...]
    """What people said of the study's own claims; empty where they did not."""
    agreement: tuple[Agreement, ...]
    """How far people agree with each other."""
    errors: Misjudged
    """Where the primary metric's relevance is farthest from people's."""
    length: LengthEffect
    """Whether the primary metric pays for length alone."""
    attacks: AttackReport | None = None
    """What became of attacks on the score; None where none were made."""
    issues: Issues | None = None
    """What static analysis says and does; None where no tool was to look."""
    notes: tuple[str, ...] = ()
    """What was left out on the way, one sentence each."""


def assess(
    study: Study,
    measured: Measurements,
    settings: Settings,
    *,
    links: Links,
    attacks: AttackReport | None = None,
    issues: Issues | None = None,
    notes: tuple[str, ...] = (),
) -> Findings:
    """Compute everything from the values; nothing is scored here.

    Args:
        study: The data.
        measured: Every review's values; of several folds, joined.
        settings: How they were made.
        links: The matcher's judgement of what people linked; of several folds, joined.
        attacks: What became of attacks on the score.
        issues: What static analysis says and does.
        notes: What was left out on the way.

    Returns:
        The findings.

    Raises:
        DependencyError: scipy is not installed.
    """
    draw = {"resamples": settings.resamples, "seed": settings.seed}
    each = measure.by_rows(measured)
    return Findings(
        study=study,
        measured=measured,
        settings=settings,
        correlations=tuple(row for one in each for row in correlate.correlations(one, **draw)),
        same_diff=tuple(row for one in each for row in pairs.same_diff(one, **draw)),
        addressed=classifier.classify(links, **draw),
        systems=systems.join([systems.systems(one) for one in each]),
        levels=tuple(row for one in each for row in levels.sensitivity(one)),
        sweep=levels.sweep(
            measured, also=[] if settings.threshold is None else [settings.threshold]
        ),
        claims=claim_quality.claim_quality(study),
        agreement=agreement.agreement(study),
        errors=error_analysis.misjudged(measured),
        length=length_effect(measured, **draw),
        attacks=attacks,
        issues=issues,
        notes=notes,
    )
