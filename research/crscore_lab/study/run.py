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

RECORDED: Final = study.SOURCE
"""Name of the study's own claims among the claim generators."""
NO_ATTACK: Final = "no attack was made: no review is rated 4 or 5"

Trainer = Callable[..., Matcher]
"""Trains a matcher on a study, given the `encoder` of the run and the `seed` of all draws."""


class Scores(NamedTuple):
    """Scores of a study, or of a fold of it."""

    measured: Measurements
    """Values of every review."""
    links: Links
    """The matcher's judgement of the linked pairs."""
    duels: tuple[Duel, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FoldMatcher:
    """Matcher of a fold, under the identity shared by all folds of a run."""

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
    **draws: Unpack[Resampling],
) -> ValidationResult:
    """Score a study's reviews and compare the scores with people.

    Args:
        rated: The study.
        settings: Settings of the score. The default threshold is the encoder's own or, for an
            encoder without one, found on the study by the paper's procedure. With analyzers, their
            findings replace the findings of the study's own tools.
        claims: `recorded`, or a claim generator's name with its argument.
        attacks: Whether to attack the score and count how often honest reviews win.
        split: Split for training the matcher on each fold; None for the matcher in the settings.
        extra: Functions that compute further metrics, such as published baselines.
        trainer: Trains the matcher of each fold; required with a split, where it replaces the
            matcher in the settings.
        draws: Draws of every bootstrap, 0 for no interval, and the seed of all draws.

    Returns:
        The result, ready to be rendered.

    Raises:
        ConfigError: There is a split, but no trainer.
        InputError: No review of the study can be scored, or the study cannot be split as requested.
        DependencyError: A package is missing.
        CRScoreError: A part of the run failed.
    """
    require_scipy()  # before the work begins
    if split and trainer is None:
        raise ConfigError("split", "options", "needs a trainer: nothing is held out from a rule")
    encoder = VectorCache(scorer.make_encoder(settings))
    analyzers = scorer.make_analyzers(settings)
    made = attack_set.make_attacks(rated, seed=draws["seed"]) if attacks else ()
    job = _Job(rated, settings, claims, encoder, analyzers, made, bool(analyzers.analyzers))
    study_scorer, scores = _score_folds(job, split, trainer, draws["seed"])
    measured, parts, notes = scores.measured, study_scorer.parts, []
    # The identity of a trained matcher depends on its data.
    if rated.sha256[:8] in parts.matcher.identity:
        notes.append(saved_runs.TRAINED_ON_DATA)
    if attacks and not made:
        notes.append(NO_ATTACK)
    issue_counts, analyses = None, Analysis()
    if job.has_tools:
        found = issues.analyze_changes(rated, study_scorer)
        issue_counts = issues.assess(found, study_scorer)
        notes += issue_counts.notes
        analyses = Analysis(
            tools=tuple(run for it in found for run in it.analysis.tools),
            confined=all(it.analysis.confined for it in found),
        )
    for compute in extra:
        # The encoder itself, which may have other methods than `encode`.
        extra_metrics = compute(measured, encoder.encoder)
        measured = measurements.add_metrics(measured, extra_metrics.metrics)
        notes += extra_metrics.notes
    return results.assess(
        rated,
        measured,
        scores.links,
        draws,
        # Which tools have run is known only after the scoring.
        signature=render_signature({**parts.signature, "analyzers": analyses.identity}),
        threshold=parts.threshold,
        split=None if split is None else str(split),
        attacks=duels.summarize_duels(scores.duels, **draws) if scores.duels else None,
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
    has_tools: bool

    def scorer(self, matcher: Matcher | None) -> Scorer:
        """Make the scorer of the run.

        Args:
            matcher: Replacement for the matcher in the settings.

        Returns:
            The scorer; for an encoder without a threshold, it has the one found on the study by the
            paper's procedure.
        """
        settings = self.settings
        parts: dict[str, Any] = {"encoder": self.encoder, "analyzers": self.analyzers}
        if self.claims == RECORDED:
            # Findings of the tools of this run replace those of the study's own tools.
            parts["generator"] = study.recorded(self.rated, issues=not self.has_tools)
        else:
            settings = override_settings(settings, {"claims": self.claims})
        try:
            return Scorer(settings, **parts, matcher=matcher)
        except ConfigError as error:
            if error.key != "threshold" or settings.threshold is not None:
                raise
            # Any threshold works: the procedure uses only the similarities.
            trial = Scorer(settings, **parts, threshold=0.0)
            measured = measurements.measure(self.rated, trial, name="trial")
            if measured.tau_by_procedure is None:
                raise error from None
            return Scorer(settings, **parts, threshold=round(measured.tau_by_procedure, 4))

    def score(self, study_scorer: Scorer, fold: Fold) -> Scores:
        """Score the part of the study that a fold holds out, which may be empty."""
        attacks = [
            attack for attack in self.attacks if (attack.change, attack.system) in fold.held_out
        ]
        matcher = study_scorer.parts.matcher.identity.partition("@")[0]
        claims = self.claims.partition(":")[0]
        name = f"{matcher}/{study_scorer.settings.encoder}/{claims}"
        link_scorer = link_classifier.make_link_scorer(study_scorer, self.rated)
        return Scores(
            measured=measurements.measure(
                self.rated, study_scorer, name=name, includes=fold.includes
            ),
            links=link_classifier.judge_links(self.rated, link_scorer, includes=fold.includes),
            duels=duels.score_duels(self.rated, attacks, study_scorer),
        )


def _score_folds(
    job: _Job, split: Split | None, trainer: Trainer | None, seed: int
) -> tuple[Scorer, Scores]:
    """Score each fold with a matcher trained without it; return the last scorer for all.

    Without a split, everything is one fold. The parts are joined: reviews in order, pairs and duels
    by fold.
    """
    parts = []
    for fold in splits.make_folds(job.rated, split, seed=seed):
        matcher = None
        if trainer is not None:
            with progress.track(f"training the matcher {fold.name}"):
                trained = trainer(fold.training_part(job.rated), encoder=job.encoder, seed=seed)
            name = trained.identity.partition("@")[0]
            # Each fold has its own weights; the split and the seed determine, and so identify, them
            # all.
            matcher = FoldMatcher(trained, f"{name}@{split}.{seed}")
        study_scorer = job.scorer(matcher)
        parts.append(job.score(study_scorer, fold))
    measured = measurements.join([part.measured for part in parts])
    if not measured.rows:
        raise InputError(measurements.NOT_SCORABLE)
    return study_scorer, Scores(
        measured=measured,
        links=link_classifier.join([part.links for part in parts]),
        duels=tuple(duel for part in parts for duel in part.duels),
    )
