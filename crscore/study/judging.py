"""Scoring everything that a run judges: reviews, links between them and claims, attacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crscore.errors import InputError
from crscore.study import link_classifier, measure
from crscore.study.attacks import duels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.encoders.base import Encoder
    from crscore.matchers.base import Cells, Judgement, Matcher
    from crscore.scorer import Scorer
    from crscore.study.attacks.attack_set import Attack
    from crscore.study.attacks.duels import Duel
    from crscore.study.link_classifier import Links
    from crscore.study.measure import Measurements
    from crscore.study.splits import Fold
    from crscore.study.study import RatedReview, Study, StudyChange


class Judged(NamedTuple):
    """What a scorer made of a study, or of a fold of it."""

    measured: Measurements
    """Every review's values."""
    links: Links
    """Its judgement of what people linked."""
    duels: tuple[Duel, ...]
    """What became of the attacks."""


class Trainer(Protocol):
    """Learns a matcher from a study."""

    def __call__(self, study: Study, *, encoder: Encoder, seed: int) -> Matcher:
        """Learn.

        Args:
            study: What may be learned from.
            encoder: The run's.
            seed: Of all draws.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A fold's matcher under the name that all folds of a run share."""

    matcher: Matcher
    """What was learned for the fold."""
    identity: str
    """Names how it was learned."""

    @property
    def decision(self) -> float:
        """The fold's own."""
        return self.matcher.decision

    def match(self, cells: Cells) -> Judgement:
        """Judge every cell, as the fold's matcher does."""
        return self.matcher.match(cells)


def judge(
    study: Study,
    scorer: Scorer,
    *,
    name: str,
    sources: bool,
    attacks: Sequence[Attack],
    fold: Fold | None = None,
) -> Judged:
    """Score a study, or the part that a fold holds out.

    Args:
        study: The study.
        scorer: What to score with.
        name: What to call the metric.
        sources: Give the generator the whole files where the study has them.
        attacks: On the study's honest reviews.
        fold: Whose scorer it is; None for one that learned nothing of the study.

    Returns:
        The values; of a fold that holds out no review that can be scored, without rows.

    Raises:
        InputError: There is no fold, and no review of the study can be scored.
    """

    def chosen(change: StudyChange, review: RatedReview) -> bool:
        return fold is None or fold.holds(change, review)

    linker = link_classifier.scorer_of_links(scorer, study)
    mine = [one for one in attacks if fold is None or (one.change, one.system) in fold.held]
    return Judged(
        measured=measure.measure(
            study, scorer, name=name, sources=sources, chosen=chosen, is_part=fold is not None
        ),
        links=link_classifier.links(study, linker, sources=sources, chosen=chosen),
        duels=duels.score_duels(study, mine, scorer, sources=sources),
    )


def join(parts: Sequence[Judged]) -> Judged:
    """Put what several folds held out together.

    Args:
        parts: What each fold's own scorer made of it.

    Returns:
        The whole study: reviews in its order, pairs and duels fold by fold.

    Raises:
        InputError: No review of the study can be scored.
    """
    measured = measure.join([part.measured for part in parts])
    if not measured.rows:
        raise InputError(measure.NOTHING)
    return Judged(
        measured=measured,
        links=link_classifier.join([part.links for part in parts]),
        duels=tuple(duel for part in parts for duel in part.duels),
    )
