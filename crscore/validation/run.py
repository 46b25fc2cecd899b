"""One validation run, from a study and settings to findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from crscore import config, scorer, stats
from crscore.errors import UnknownThresholdError
from crscore.validation import addressed, findings, measure, study
from crscore.validation.attacks import make
from crscore.validation.attacks import measure as duelling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from crscore.config import Config
    from crscore.encoders.base import Encoder
    from crscore.scorer import Scorer
    from crscore.validation.attacks.measure import AttackReport
    from crscore.validation.findings import Findings
    from crscore.validation.measure import Measurements, Metric
    from crscore.validation.study import Study

RECORDED: Final = study.SOURCE
"""Stands for the study's own claims among the claim generators."""
NO_ATTACK: Final = "no attack was made: no review is rated 4 or 5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a run is asked for beside the settings of the score."""

    claims: str = RECORDED
    """`recorded`, or a claim generator's name with its argument."""
    sources: bool = True
    """Give the generator the whole files where the study has them."""
    resamples: int = 1000
    """Draws of every bootstrap; 0 for no interval."""
    seed: int = 0
    """Of the draws, and of the attacks."""
    attacks: bool = False
    """Attack the score, and count how often an honest review wins."""


class Beside(NamedTuple):
    """Metrics to stand beside the score, on the same rows."""

    metrics: tuple[Metric, ...]
    """With values in the order of the rows."""
    notes: tuple[str, ...] = ()
    """What is missing and why, one sentence each."""


if TYPE_CHECKING:
    Extra = Callable[[Measurements, Encoder], Beside]


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """An encoder that remembers: a run scores the same reviews against several lists of claims."""

    encoder: Encoder
    """What encodes a text met for the first time."""
    vectors: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    """What it made of the texts so far."""

    @property
    def identity(self) -> str:
        """The encoder's own."""
        return self.encoder.identity

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode the texts not met before; as `Encoder.encode` says."""
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if new:
            self.vectors.update(zip(new, self.encoder.encode(new), strict=True))
        if not texts:
            return self.encoder.encode([])
        return np.stack([self.vectors[text] for text in texts])


def run(
    rated: Study, settings: Config, options: Options, *, extra: Sequence[Extra] = ()
) -> Findings:
    """Score a study's reviews and compare the scores with people.

    Args:
        rated: The study.
        settings: Of the score. Without a threshold it is the encoder's own, or, for an encoder
            that has none, found on the study by the paper's procedure.
        options: The rest.
        extra: Each makes metrics to stand beside the score, such as published baselines.

    Returns:
        The findings.

    Raises:
        InputError: No review of the study can be scored.
        DependencyError: A package is missing.
        CRScoreError: A part of the run failed.
    """
    stats.require_scipy()  # before the work, not after it
    encoder = Memory(scorer.make_encoder(settings))
    made = make_scorer(rated, settings, options, encoder)
    measured = measure.measure(
        rated, made, name=metric_name(made, options), sources=options.sources
    )
    judge = addressed.scorer_of_links(made, rated)
    links = addressed.links(rated, judge, sources=options.sources)
    report = _attack(rated, made, options) if options.attacks else None
    notes: tuple[str, ...] = (NO_ATTACK,) if options.attacks and report is None else ()
    for one in extra:
        # The real encoder: it may be able to do more than encode.
        beside = one(measured, encoder.encoder)
        measured, notes = measure.beside(measured, beside.metrics), notes + beside.notes
    return findings.assess(
        rated,
        measured,
        findings.Settings(
            signature=made.parts.signature,
            threshold=made.parts.threshold,
            resamples=options.resamples,
            seed=options.seed,
        ),
        links=links,
        attacks=report,
        notes=notes,
    )


def _attack(rated: Study, made: Scorer, options: Options) -> AttackReport | None:
    attacks = make.attacks(rated, seed=options.seed, sources=options.sources)
    if not attacks:
        return None
    return duelling.measure_attacks(
        rated,
        attacks,
        made,
        sources=options.sources,
        resamples=options.resamples,
        seed=options.seed,
    )


def metric_name(made: Scorer, options: Options) -> str:
    """Name the primary metric: matcher, encoder and claims."""
    claims = options.claims.partition(":")[0]
    matcher = made.parts.matcher.identity.partition("@")[0]
    return "/".join((matcher, made.settings.encoder, claims))


def make_scorer(rated: Study, settings: Config, options: Options, encoder: Encoder) -> Scorer:
    """Make the scorer of a run.

    Args:
        rated: The study, whose own claims may be what is scored against.
        settings: Of the score.
        options: Which claims.
        encoder: What the settings name.

    Returns:
        The scorer; for an encoder without a threshold, with the one that the paper's procedure
        finds on the study.
    """
    generator = study.recorded(rated) if options.claims == RECORDED else None
    if generator is None:
        settings = config.override(settings, {"claims": options.claims})
    try:
        return scorer.Scorer(settings, generator=generator, encoder=encoder)
    except UnknownThresholdError as unknown:
        # Any threshold will do: the procedure looks at similarities alone.
        trial = scorer.Scorer(settings, generator=generator, encoder=encoder, threshold=0.0)
        found = measure.measure(rated, trial, name="trial", sources=options.sources)
        if found.tau_by_procedure is None:
            raise unknown from None
        tau = round(found.tau_by_procedure, 4)
        return scorer.Scorer(settings, generator=generator, encoder=encoder, threshold=tau)
