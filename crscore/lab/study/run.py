"""Validation run, from a study and settings to findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from crscore import scorer
from crscore.claims.base import ClaimGenerator
from crscore.encoders.base import Encoder
from crscore.errors import ConfigError, InputError, UnknownThresholdError
from crscore.lab.study import (
    issues,
    link_classifier,
    measure,
    results,
    saved,
    splits,
    study,
)
from crscore.lab.study.attacks import attack_set, duels
from crscore.lab.study.attacks.attack_set import Attack
from crscore.lab.study.attacks.duels import AttackReport, Duel
from crscore.lab.study.issues import Issues, Variant
from crscore.lab.study.link_classifier import Links
from crscore.lab.study.measure import ExtraMetrics, Measurements
from crscore.lab.study.results import ValidationResult
from crscore.lab.study.splits import Fold, Split
from crscore.lab.study.study import RatedReview, Study, StudyChange
from crscore.lab.study.vector_cache import AnalysisCache, VectorCache
from crscore.matchers.base import Cells, Judgement, Matcher
from crscore.pipeline import Analyzers
from crscore.scorer import Scorer
from crscore.scoring import signature
from crscore.settings import Config, override_settings
from crscore.static_analysis import suite
from crscore.statistics import ranks

Extra = Callable[[Measurements, Encoder], ExtraMetrics]

RECORDED: Final = study.SOURCE
"""Name of the study's own claims among the claim generators."""
NO_ATTACK: Final = "no attack was made: no review is rated 4 or 5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a run in addition to the settings of the score."""

    claims: str = RECORDED
    """`recorded`, or a claim generator's name with its argument; several joined by `+`."""
    sources: bool = True
    """Give the generator the whole files where the study has them."""
    resamples: int = 1000
    """Draws of every bootstrap; 0 for no interval."""
    seed: int = 0
    """Seed of the draws, and of the attacks."""
    attacks: bool = False
    """Attack the score, and count how often honest reviews win."""
    split: Split | None = None
    """Split for training the matcher on each fold; None for the matcher in the settings."""


class Judged(NamedTuple):
    """Scores of a study, or of a fold of it."""

    measured: Measurements
    """Values of every review."""
    links: Links
    """The matcher's judgement of the linked pairs."""
    duels: tuple[Duel, ...]
    """Outcome of the attacks."""


class Trainer(Protocol):
    """Callable that trains a matcher on a study."""

    def __call__(self, study: Study, *, encoder: Encoder, seed: int) -> Matcher:
        """Train a matcher.

        Args:
            study: Training data.
            encoder: Encoder of the run.
            seed: Seed of all draws.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Matcher of a fold, under the identity shared by all folds of a run."""

    matcher: Matcher
    """Matcher trained for the fold."""
    identity: str
    """Identity of the training."""

    @property
    def decision(self) -> float:
        """Decision degree of the fold's matcher."""
        return self.matcher.decision

    def match(self, cells: Cells) -> Judgement:
        """Judge every cell with the fold's matcher."""
        return self.matcher.match(cells)


def run(
    rated: Study,
    settings: Config,
    options: Options,
    *,
    extra: Sequence[Extra] = (),
    trainer: Trainer | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ValidationResult:
    """Score a study's reviews and compare the scores with people.

    Args:
        rated: The study.
        settings: Settings of the score. The default threshold is the encoder's own or, for an
            encoder without one, found on the study by the paper's procedure. With analyzers, their
            findings replace those of the study's own tools.
        options: Other options.
        extra: Functions that compute further metrics, such as published baselines.
        trainer: Trains the matcher of each fold; required with a split, where it replaces the
            matcher in the settings.
        progress: Called with a line for each finished part of a run with a split.

    Returns:
        The result, ready to be rendered.

    Raises:
        ConfigError: There is a split, but no trainer.
        InputError: No review of the study can be scored, or the study cannot be split as requested.
        DependencyError: A package is missing.
        CRScoreError: A part of the run failed.
    """
    ranks.require_scipy()  # before the work begins
    encoder = VectorCache(scorer.make_encoder(settings))
    tools = scorer.make_analyzers(settings)
    analyzers = AnalysisCache(tools)
    attacks: tuple[Attack, ...] = ()
    if options.attacks:
        attacks = attack_set.make_attacks(rated, seed=options.seed, sources=options.sources)
    job = _Job(rated, settings, options, encoder, analyzers, attacks, bool(tools.analyzers))
    made, judged, others = (
        _whole(job) if options.split is None else _folds(job, options.split, trainer, progress)
    )
    analysed = _issues(job, made, judged, others)
    measured, notes = judged.measured, _notes(job, made)
    notes += () if analysed is None else analysed.notes
    for one in extra:
        # The encoder itself, which may have other methods than `encode`.
        more = one(measured, encoder.encoder)
        measured, notes = measure.add_metrics(measured, more.metrics), notes + more.notes
    return results.assess(
        rated,
        measured,
        results.Settings(
            signature=signature.render_signature(
                {**made.parts.signature, "analyzers": analyzers.identity}
            ),
            threshold=made.parts.threshold,
            resamples=options.resamples,
            seed=options.seed,
            split=None if options.split is None else str(options.split),
        ),
        links=judged.links,
        attacks=_report(judged, options),
        issues=analysed,
        notes=notes,
    )


class _Job(NamedTuple):
    rated: Study
    settings: Config
    options: Options
    encoder: VectorCache
    analyzers: AnalysisCache
    attacks: tuple[Attack, ...]
    has_tools: bool

    def scorer(self, matcher: Matcher | None = None) -> Scorer:
        return make_scorer(
            self.rated,
            self.settings,
            self.options,
            self.encoder,
            analyzers=self.analyzers,
            matcher=matcher,
            own_issues=not self.has_tools,
        )

    def judge(self, made: Scorer, fold: Fold | None = None) -> Judged:
        """Score the study, or the part that a fold holds out, which may be empty."""
        sources = self.options.sources
        linker = link_classifier.scorer_of_links(made, self.rated)
        chosen = _everything if fold is None else fold.holds
        name = metric_name(made, self.options)
        attacks = [
            one for one in self.attacks if fold is None or (one.change, one.system) in fold.held
        ]
        return Judged(
            measured=self.measure(made, name, fold, is_part=fold is not None),
            links=link_classifier.links(self.rated, linker, sources=sources, chosen=chosen),
            duels=duels.score_duels(self.rated, attacks, made, sources=sources),
        )

    def others(self, made: Scorer, fold: Fold | None = None) -> tuple[Variant, ...]:
        """Score the same reviews without the tools, and with the study's own issues."""
        if not self.has_tools:
            return ()
        generators = {issues.WITHOUT: made.parts.generator}
        if self.options.claims.partition("+")[0] == RECORDED:
            generators[issues.RECORDED] = study.recorded(self.rated)
        return tuple(
            issues.Variant(
                name, self.measure(_without_tools(made, generator), name, fold, is_part=True)
            )
            for name, generator in generators.items()
        )

    def measure(self, made: Scorer, name: str, fold: Fold | None, *, is_part: bool) -> Measurements:
        return measure.measure(
            self.rated,
            made,
            name=name,
            sources=self.options.sources,
            chosen=_everything if fold is None else fold.holds,
            is_part=is_part,
        )


def _everything(_change: StudyChange, _review: RatedReview) -> bool:
    return True


def _join(parts: Sequence[Judged]) -> Judged:
    """Join the held-out parts: reviews in order, pairs and duels by fold."""
    measured = measure.join([part.measured for part in parts])
    if not measured.rows:
        raise InputError(measure.NOTHING)
    return Judged(
        measured=measured,
        links=link_classifier.join([part.links for part in parts]),
        duels=tuple(duel for part in parts for duel in part.duels),
    )


def _without_tools(made: Scorer, generator: ClaimGenerator) -> Scorer:
    return scorer.Scorer(
        override_settings(made.settings, {"analyzers": suite.NONE}),
        generator=generator,
        encoder=made.parts.encoder,
        matcher=made.parts.matcher,
    )


def _whole(job: _Job) -> tuple[Scorer, Judged, tuple[Variant, ...]]:
    made = job.scorer()
    return made, job.judge(made), job.others(made)


def _folds(
    job: _Job, split: Split, trainer: Trainer | None, progress: Callable[[str], None]
) -> tuple[Scorer, Judged, tuple[Variant, ...]]:
    """Judge each fold with a matcher trained without it; return the last scorer for all."""
    if trainer is None:
        raise ConfigError("split", "options", "needs a trainer: nothing is held out from a rule")
    seed, parts, others = job.options.seed, [], []
    for fold in splits.make_folds(job.rated, split.kind, split.groups, seed=seed):
        learned = trainer(fold.training_part(job.rated), encoder=job.encoder, seed=seed)
        name = learned.identity.partition("@")[0]
        matcher = Fitted(learned, f"{name}@{split}.{seed}")
        made = job.scorer(matcher)
        parts.append(job.judge(made, fold))
        others.append(job.others(made, fold))
        progress(f"trained and judged {split.kind}: {fold.name}")
    joined = tuple(
        issues.Variant(same[0].issues, measure.join([one.measured for one in same]))
        for same in zip(*others, strict=True)
    )
    return made, _join(parts), joined


def _issues(job: _Job, made: Scorer, judged: Judged, others: tuple[Variant, ...]) -> Issues | None:
    if not job.has_tools:
        return None
    without, *rest = others
    return issues.assess(
        issues.analyze_changes(job.rated, made, sources=job.options.sources),
        (without, issues.Variant(issues.TOOLS, judged.measured), *rest),
        made,
        resamples=job.options.resamples,
        seed=job.options.seed,
    )


def _notes(job: _Job, made: Scorer) -> tuple[str, ...]:
    notes = []
    # The identity of a trained matcher depends on its data.
    if job.rated.sha256[:8] in made.parts.matcher.identity:
        notes.append(saved.SEEN)
    if job.options.attacks and not job.attacks:
        notes.append(NO_ATTACK)
    return tuple(notes)


def _report(judged: Judged, options: Options) -> AttackReport | None:
    if not judged.duels:
        return None
    return duels.summarize_duels(judged.duels, resamples=options.resamples, seed=options.seed)


def metric_name(made: Scorer, options: Options) -> str:
    """Return the primary metric's name: matcher, encoder and claims."""
    claims = options.claims.partition(":")[0]
    matcher = made.parts.matcher.identity.partition("@")[0]
    return "/".join((matcher, made.settings.encoder, claims))


def make_scorer(
    rated: Study,
    settings: Config,
    options: Options,
    encoder: Encoder,
    *,
    analyzers: Analyzers | None = None,
    matcher: Matcher | None = None,
    own_issues: bool = True,
) -> Scorer:
    """Make the scorer of a run.

    Args:
        rated: The study, whose own claims may serve as pseudo-references.
        settings: Settings of the score.
        options: Options that choose the claims.
        encoder: Encoder of the settings.
        analyzers: Replacement for the analyzers in the settings.
        matcher: Replacement for the matcher in the settings.
        own_issues: Whether the claims include the findings of the study's own tools.

    Returns:
        The scorer; for an encoder without a threshold, it has the one found on the study by the
        paper's procedure.
    """
    parts: dict[str, Any] = {"encoder": encoder, "analyzers": analyzers}
    first, _, more = options.claims.partition("+")
    if first == RECORDED:
        own = parts["generator"] = study.recorded(rated, issues=own_issues)
        if more:
            rest = override_settings(settings, {"claims": more})
            parts["generator"] = scorer.make_generator(rest, encoder, first=own)
    else:
        settings = override_settings(settings, {"claims": options.claims})
    try:
        return scorer.Scorer(settings, **parts, matcher=matcher)
    except UnknownThresholdError as unknown:
        # Any threshold works: the procedure uses only the similarities.
        trial = scorer.Scorer(settings, **parts, threshold=0.0)
        found = measure.measure(rated, trial, name="trial", sources=options.sources)
        if found.tau_by_procedure is None:
            raise unknown from None
        tau = round(found.tau_by_procedure, 4)
        return scorer.Scorer(settings, **parts, threshold=tau)
