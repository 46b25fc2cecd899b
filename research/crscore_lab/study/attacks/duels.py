"""Duels between attacks and honest reviews: how often the honest review scores higher."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple, Unpack

import numpy as np
from msgspec import Struct

from crscore.errors import InputError
from crscore.records import Flag, Result
from crscore.scorer import Scorer
from crscore_lab.statistics.resampled import Resampling, interval, ratio
from crscore_lab.study.attacks.attack_set import Attack, AttackKind, honest_reviews
from crscore_lab.study.data.study import Study
from crscore_lab.study.measures.measurements import score_reviews

WIN_GOAL: Final = 0.95
"""Minimum share of duels that honest reviews must win, for each kind of attack but echoes."""
ECHO_GOAL: Final = 0.90
"""Minimum share of duels with echoes that honest reviews must win; echoes say nothing false."""
WRONG_FLAG_LIMIT: Final = 0.05
"""Limit that the share of honest reviews flagged as a restatement must stay below."""
FLAGGED_FROM: Final = 0.5
"""Minimum share of flagged sentences for a review to count as flagged."""
# Scores that differ by less are equal: two computations of the same mean may differ by a rounding
# error.
_TIE: Final = 1e-9


class Scored(NamedTuple):
    """Score of one text."""

    value: float
    """Value of the headline in [0, 1]; the relevance if there is no headline."""
    relevance: float
    """Relevance in [0, 1]; 0 if there was nothing to score."""
    is_flagged: bool
    """Whether at least half of the sentences, and at least one, are flagged as restatements."""


class Duel(NamedTuple):
    """Attack, with its score and that of the honest review it competes with."""

    attack: Attack
    attacking: Scored
    """Score of the attack."""
    honest_review: Scored
    """Score of the honest review."""


class KindRow(Struct, frozen=True, kw_only=True):
    """Results of the duels with one kind of attack."""

    kind: AttackKind
    """Kind of attack."""
    n: int
    """Number of duels."""
    wins: float
    """Share of duels that the honest review wins, in [0, 1]; a tie is not a win."""
    low: float | None
    """Lower end of the 95 % interval of `wins` from a bootstrap of the changes; None without
    resamples."""
    high: float | None
    """Upper end of the same interval; None without resamples."""
    wins_relevance: float
    """Share of duels that the honest review would win by relevance instead of the headline, in
    [0, 1]."""
    ties: float
    """Share of duels with equal values, in [0, 1]."""
    median: float
    """Median value of the attacks, in [0, 1]."""
    honest_median: float
    """Median value of the honest reviews of these duels, in [0, 1]."""
    reached: bool
    """Whether `wins` reaches the goal: 0.95, or 0.9 for echoes."""


class Attacks(Struct, frozen=True, kw_only=True):
    """Results of all attacks."""

    honest: int
    """Number of honest reviews."""
    honest_flagged: float
    """Share of the honest reviews that are wrongly flagged as a restatement, in [0, 1]."""
    kinds: tuple[KindRow, ...]
    """Results of each kind of attack with at least one duel."""


def score_duels(study: Study, attacks: Sequence[Attack], scorer: Scorer) -> tuple[Duel, ...]:
    """Score attacks, and the honest reviews that they compete with.

    Args:
        study: The study that the attacks were made from.
        attacks: Its attacks, or for a fold's scorer those made from the held-out reviews.
        scorer: Scorer to attack.

    Returns:
        One duel for each attack, in the same order.
    """
    texts = {(change.id, review.system): review.text for change, review in honest_reviews(study)}
    # Each honest review is scored once, although many attacks compete with it.
    pairs = list(dict.fromkeys((attack.change, attack.system) for attack in attacks))
    changes = {change.id: change for change in study.changes}
    reviews = [(changes[change_id], texts[change_id, system]) for change_id, system in pairs]
    reviews += [(changes[attack.change], attack.text) for attack in attacks]
    scored = [_read_score(result) for result in score_reviews(scorer, reviews)]
    honest_scores = dict(zip(pairs, scored[: len(pairs)], strict=True))
    return tuple(
        Duel(attack, attacking, honest_scores[attack.change, attack.system])
        for attack, attacking in zip(attacks, scored[len(pairs) :], strict=True)
    )


def summarize_duels(duels: Sequence[Duel], **resampling: Unpack[Resampling]) -> Attacks:
    """Summarize duels by kind of attack.

    Args:
        duels: The duels.
        resampling: Number of bootstrap resamples of the changes, 0 for no interval, and their seed.

    Returns:
        The results; kinds without a duel have no row.

    Raises:
        InputError: There is no duel.
    """
    if not duels:
        raise InputError("no attack to measure: the study has no review that people rated 4 or 5")
    by_kind = {kind: [duel for duel in duels if duel.attack.kind is kind] for kind in AttackKind}
    kinds = tuple(
        _kind_row(kind, of_kind, **resampling) for kind, of_kind in by_kind.items() if of_kind
    )
    reviews = {(duel.attack.change, duel.attack.system): duel.honest_review for duel in duels}
    return Attacks(
        honest=len(reviews),
        honest_flagged=float(np.mean([review.is_flagged for review in reviews.values()])),
        kinds=kinds,
    )


def _read_score(result: Result) -> Scored:
    relevance = result.relevance or 0.0
    restating = sum(flag is Flag.RESTATES for flag in result.sentence_flags)
    return Scored(
        value=result.usefulness.value if result.usefulness else relevance,
        relevance=relevance,
        is_flagged=restating > 0 and restating >= FLAGGED_FROM * len(result.sentences),
    )


def _kind_row(kind: AttackKind, duels: Sequence[Duel], **resampling: Unpack[Resampling]) -> KindRow:
    honest = np.array([duel.honest_review[:2] for duel in duels], dtype=np.float64)
    attacking = np.array([duel.attacking[:2] for duel in duels], dtype=np.float64)
    # One column for the value, and one for the relevance.
    won, won_by_relevance = (honest > attacking + _TIE).astype(np.float64).T
    changes = [duel.attack.change for duel in duels]
    low, high = interval(partial(ratio, won, np.ones_like(won)), changes, **resampling)
    return KindRow(
        kind=kind,
        n=len(duels),
        wins=float(won.mean()),
        low=low,
        high=high,
        wins_relevance=float(won_by_relevance.mean()),
        ties=float((np.abs(honest - attacking)[:, 0] <= _TIE).mean()),
        median=float(np.median(attacking[:, 0])),
        honest_median=float(np.median(honest[:, 0])),
        reached=bool(won.mean() >= (ECHO_GOAL if kind is AttackKind.ECHO else WIN_GOAL)),
    )
