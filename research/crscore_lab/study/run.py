"""Validation run, from a study and settings to a result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Unpack

from crscore import progress, scorer
from crscore.errors import ConfigError, InputError
from crscore.matchers.base import Cells, Judgement, Matcher
from crscore.records import Analysis
from crscore.scorer import Scorer
from crscore.scoring.assembly import render_signature
from crscore.settings import Config, override_settings
from crscore.static_analysis.suite import Suite
from crscore.statistics.ranks import require_scipy
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study import results
from crscore_lab.study.attacks import attack_set, duels
from crscore_lab.study.attacks.attack_set import Attack
from crscore_lab.study.attacks.duels import Duel
from crscore_lab.study.caches import VectorCache
from crscore_lab.study.data import saved_runs, splits, study
from crscore_lab.study.data.splits import Fold, Split
from crscore_lab.study.data.study import Study
from crscore_lab.study.measures import issues, link_classifier, measurements
from crscore_lab.study.measures.link_classifier import Links
from crscore_lab.study.measures.measurements import Extra, Measurements
from crscore_lab.study.results import ValidationResult

RECORDED: Final = study.RECORDED
"""Name of the claim generator that returns the claims stored in the study."""
NO_ATTACK: Final = "no attack was made: no review is rated 4 or 5"

Trainer = Callable[..., Matcher]
"""Function of a study, and the keywords `encoder` and `seed`, that returns a trained matcher."""


class Scores(NamedTuple):
    """Scores of a study, or of one fold of the study."""

    measured: Measurements
    """Values of every metric for every review."""
    links: Links
    """The matcher's judgement of pairs of a pseudo-reference and a review."""
    duels: tuple[Duel, ...]
    """Scores of attacks and of the honest reviews that each competes with."""


@dataclass(frozen=True, slots=True, eq=False)
class FoldMatcher:
    """Matcher of one fold, with an identity that all folds of a run share."""

    matcher: Matcher
    identity: str

    def match(self, cells: Cells) -> Judgement:
        """Judge every cell with the fold's matcher."""
        return self.matcher.match(cells)


def run(
    rated: Study,
    settings: Config,
    *,
    claims: str = RECORDED,
    attacks: bool = False,
    split: Split | None = None,
    extra: Sequence[Extra] = (),
    trainer: Trainer | None = None,
    **resampling: Unpack[Resampling],
) -> ValidationResult:
    """Score a study's reviews and compare the scores with human ratings.

    Args:
        rated: The study.
        settings: Settings of the score. If they set no threshold, the encoder's default is used;
            for an encoder without a default, the paper's procedure finds a threshold on the study.
            If they choose analyzers, the findings of these replace those stored in the study.
        claims: `recorded`, or a claim generator's name with its argument.
        attacks: Whether to attack the score and count how often honest reviews win.
        split: How to divide the study into folds; a matcher is trained for each. None to score all
            reviews with the matcher of the settings.
        extra: Functions that compute further metrics, such as published baselines.
        trainer: Function that trains the matcher of each fold; required if there is a split.
        resampling: `resamples`, the number of resamples of each bootstrap, or 0 for no interval;
            and `seed`, the seed of the bootstraps, the attacks, the folds and the training.

    Returns:
        The result, which `report.render` renders.

    Raises:
        ConfigError: There is a split but no trainer, or a setting is invalid.
        InputError: No review of the study can be scored, or the study cannot be split as requested.
        DependencyError: A package is missing.
        CRScoreError: A part of the run failed.
    """
    require_scipy()  # Checked here, because the scoring before the first correlation takes long.
    if split and trainer is None:
        raise ConfigError("split", "options", "needs a trainer: no matcher is trained without one")
    encoder = VectorCache(scorer.make_encoder(settings))
    analyzers = scorer.make_analyzers(settings)
    seed = resampling["seed"]
    attack_list = attack_set.make_attacks(rated, seed=seed) if attacks else ()
    job = _Job(rated, settings, claims, encoder, analyzers, attack_list)
    study_scorer, scores = _score_folds(job, split, trainer, seed)
    measured, parts, notes = scores.measured, study_scorer.parts, []
    # The identity of a trained matcher contains the hash of the study that it was trained on.
    if rated.sha256[:8] in parts.matcher.identity:
        notes.append(saved_runs.TRAINED_ON_DATA)
    if attacks and not attack_list:
        notes.append(NO_ATTACK)
    issue_counts, analyses = None, Analysis()
    if analyzers.analyzers:
        found = issues.analyze_changes(rated, study_scorer)
        issue_counts = issues.count_findings(found, study_scorer)
        notes += issue_counts.notes
        analyses = Analysis(
            tools=tuple(run for it in found for run in it.analysis.tools),
            confined=all(it.analysis.confined for it in found),
        )
    for compute in extra:
        # Not the cache: a metric may call a method of the encoder that the cache does not have.
        extra_metrics = compute(measured, encoder.encoder)
        measured = measurements.add_metrics(measured, extra_metrics.metrics)
        notes += extra_metrics.notes
    return results.compute_result(
        rated,
        measured,
        scores.links,
        resampling,
        # The scorer's own signature names no tools: which of them ran is known after the scoring.
        signature=render_signature({**parts.signature, "analyzers": analyses.identity}),
        threshold=parts.threshold,
        split=None if split is None else str(split),
        attacks=duels.summarize_duels(scores.duels, **resampling) if scores.duels else None,
        issues=issue_counts,
        notes=tuple(notes),
    )


class _Job(NamedTuple):
    rated: Study
    settings: Config
    claims: str
    encoder: VectorCache
    analyzers: Suite
    attacks: tuple[Attack, ...]

    def make_scorer(self, matcher: Matcher | None) -> Scorer:
        """Make the scorer of the run.

        Args:
            matcher: Replacement for the matcher in the settings; None to keep that matcher.

        Returns:
            The scorer. If neither the settings nor the encoder have a threshold, the paper's
            procedure finds one on the study.
        """
        settings = self.settings
        parts: dict[str, Any] = {"encoder": self.encoder, "analyzers": self.analyzers}
        if self.claims == RECORDED:
            # If tools run, their findings replace those stored in the study.
            parts["generator"] = study.recorded(self.rated, issues=not self.analyzers.analyzers)
        else:
            settings = override_settings(settings, {"claims": self.claims})
        try:
            return Scorer(settings, **parts, matcher=matcher)
        except ConfigError as error:
            if error.key != "threshold" or settings.threshold is not None:
                raise
            # The procedure uses only the cosines, so this trial can have any threshold.
            trial = Scorer(settings, **parts, threshold=0.0)
            measured = measurements.measure(self.rated, trial, name="trial")
            if measured.tau_by_procedure is None:
                raise error from None
            return Scorer(settings, **parts, threshold=round(measured.tau_by_procedure, 4))

    def score(self, study_scorer: Scorer, fold: Fold) -> Scores:
        """Score the reviews that a fold holds out; there may be none."""
        attacks = [
            attack for attack in self.attacks if (attack.change, attack.system) in fold.held_out
        ]
        matcher = study_scorer.parts.matcher.identity.partition("@")[0]
        claims = self.claims.partition(":")[0]
        name = f"{matcher}/{study_scorer.settings.encoder}/{claims}"
        link_scorer = link_classifier.make_link_scorer(study_scorer, self.rated)
        return Scores(
            measured=measurements.measure(
                self.rated, study_scorer, name=name, includes=fold.holds_out
            ),
            links=link_classifier.judge_links(self.rated, link_scorer, includes=fold.holds_out),
            duels=duels.score_duels(self.rated, attacks, study_scorer),
        )


def _score_folds(
    job: _Job, split: Split | None, trainer: Trainer | None, seed: int
) -> tuple[Scorer, Scores]:
    """Score the held-out reviews of each fold with a matcher trained on its other reviews.

    Without a split, one fold holds out all reviews.

    Returns:
        The scorer of the last fold, which represents all, as they differ only in the trained
        weights; and the scores of all folds, joined: reviews in study order, pairs and duels in
        fold order.
    """
    fold_scores = []
    for fold in splits.make_folds(job.rated, split, seed=seed):
        matcher = None
        if trainer is not None:
            with progress.track(f"training the matcher {fold.name}"):
                trained = trainer(fold.training_part(job.rated), encoder=job.encoder, seed=seed)
            name = trained.identity.partition("@")[0]
            # The split and the seed identify the weights of all folds, because they determine them.
            matcher = FoldMatcher(trained, f"{name}@{split}.{seed}")
        study_scorer = job.make_scorer(matcher)
        fold_scores.append(job.score(study_scorer, fold))
    measured = measurements.join([scores.measured for scores in fold_scores])
    if not measured.rows:
        raise InputError(measurements.NOT_SCORABLE)
    return study_scorer, Scores(
        measured=measured,
        links=link_classifier.join([scores.links for scores in fold_scores]),
        duels=tuple(duel for scores in fold_scores for duel in scores.duels),
    )
