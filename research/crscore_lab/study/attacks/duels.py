"""Duels between attacks and honest reviews: which scores higher, and how often."""

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
"""Share of duels that the honest review must win, for each kind with this goal."""
ECHO_GOAL: Final = 0.90
"""The same share for echoes, which say nothing false."""
WRONG_FLAG_LIMIT: Final = 0.05
"""Upper bound (exclusive) on the share of honest reviews flagged as a restatement."""
FLAGGED_FROM: Final = 0.5
"""Minimum share of flagged sentences for a review to count as flagged."""
# Two ways to compute the same mean may differ in the last bit, which is not a win.
_TIE: Final = 1e-9


class Scored(NamedTuple):
    """Score of one text."""

    value: float
    """Value of the headline in [0, 1]; relevance where there is no headline."""
    relevance: float
    """Relevance in [0, 1]; 0 where there was nothing to score."""
    is_flagged: bool
    """Whether at least half of the sentences, and at least one, are flagged as restatements."""


class Duel(NamedTuple):
    """Attack and the honest review it competes with."""

    attack: Attack
    attacking: Scored
    """Score of the attack."""
    honest_review: Scored
    """Score of the honest review."""


class KindRow(Struct, frozen=True, kw_only=True):
    """Outcome of the duels with one kind of attack."""

    kind: AttackKind
    """Kind of attack."""
    n: int
    """Number of duels."""
    wins: float
    """Share won by the honest review, in [0, 1]; a tie is not a win."""
    low: float | None
    """Lower end of the 95 % interval of `wins`, by bootstrap over changes; None without draws."""
    high: float | None
    """Upper end of the same interval."""
    wins_relevance: float
    """Share won by relevance alone, in [0, 1]."""
    ties: float
    """Share without a winner, in [0, 1]."""
    median: float
    """Median value of the attacks, in [0, 1]."""
    honest_median: float
    """Median value of the honest reviews of these duels, in [0, 1]."""
    reached: bool
    """Whether the goal of the kind is reached."""


class Attacks(Struct, frozen=True, kw_only=True):
    """Outcome of all kinds of attack."""

    honest: int
    """Number of honest reviews."""
    honest_flagged: float
    """Share of them wrongly flagged as a restatement, in [0, 1]."""
    kinds: tuple[KindRow, ...]
    """Kinds of attack with at least one duel."""


def score_duels(study: Study, attacks: Sequence[Attack], scorer: Scorer) -> tuple[Duel, ...]:
    """Score attacks and the reviews they compete with; each honest review once.

    With a scorer for each fold, pass each the attacks on its held-out changes and join the duels
    before the summary.

    Args:
        study: The study.
        attacks: Attacks made from the study; any subset.
        scorer: Scorer to attack.

    Returns:
        One duel per attack, in order.
    """
    texts = {(change.id, review.system): review.text for change, review in honest_reviews(study)}
    # Many attacks compete with one honest review, which is scored once.
    pairs = list(dict.fromkeys((attack.change, attack.system) for attack in attacks))
    changes = {change.id: change for change in study.changes}
    reviews = [(changes[change_id], texts[change_id, system]) for change_id, system in pairs]
    reviews += [(changes[attack.change], attack.text) for attack in attacks]
    scored = [_scored(result) for result in score_reviews(scorer, reviews)]
    honest_scores = dict(zip(pairs, scored[: len(pairs)], strict=True))
    return tuple(
        Duel(attack, attacking, honest_scores[attack.change, attack.system])
        for attack, attacking in zip(attacks, scored[len(pairs) :], strict=True)
    )


def summarize_duels(duels: Sequence[Duel], **resampling: Unpack[Resampling]) -> Attacks:
    """Summarize duels by kind of attack.

    Args:
        duels: The duels.
        resampling: Number of draws of changes, 0 for no interval, and their seed.

    Returns:
        The outcome; kinds without a duel have no row.

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


def _scored(result: Result) -> Scored:
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
    # Whether the honest review has a higher value, and a higher relevance.
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
