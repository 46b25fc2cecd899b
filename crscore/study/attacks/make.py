"""The attack set: for every honest review of a study, texts that ought to lose against it."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from crscore import plugins
from crscore.diff import parse
from crscore.study.attacks import (
    contrary,
    echo,
    hidden,
    injection,
    material,
    padding,
    restating,
    stuffing,
)
from crscore.study.attacks.material import Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crscore.claims.base import ClaimGenerator
    from crscore.records import PseudoReference
    from crscore.study.attacks.material import Material, Variant
    from crscore.study.study import RatedReview, Study, StudyChange

    Maker = Callable[[Material, np.random.Generator], tuple[Variant, ...]]

GOOD: Final = 4.0
"""Human relevance from which a review is honest and good: it must outscore its attacks."""
DRAWN: Final = 2
"""Variants of each kind that an honest review meets."""
SHORTEST: Final = 6
"""Words in another change's review; a shorter one ("Why this change?") fits any change."""
# As `correlate.JUNK_SYSTEMS`: what they wrote is no review, even where it was rated high.
_JUNK: Final = frozenset({"lstm", "knn"})


class AttackKind(StrEnum):
    """What an attack does."""

    STUFFING = "keyword-stuffing"
    PASTED = "pasted-diff"
    RESTATEMENT = "restatement"
    ECHO = "echo"
    PRAISE = "padded-praise"
    BOILERPLATE = "padded-boilerplate"
    REPEAT = "padded-repeat"
    WRONG_CHANGE = "wrong-change"
    INJECTION = "injection"
    HIDDEN = "hidden"
    NEGATION = "negation"
    DISGUISED = "disguised"


MAKERS: Final[Mapping[AttackKind, Maker]] = {
    AttackKind.STUFFING: stuffing.stuffings,
    AttackKind.PASTED: stuffing.pasted_diffs,
    AttackKind.RESTATEMENT: restating.restatements,
    AttackKind.ECHO: echo.echoes,
    AttackKind.PRAISE: padding.praises,
    AttackKind.BOILERPLATE: padding.boilerplates,
    AttackKind.REPEAT: padding.repeats,
    AttackKind.WRONG_CHANGE: contrary.wrong_changes,
    AttackKind.INJECTION: injection.injections,
    AttackKind.HIDDEN: hidden.hiddens,
    AttackKind.NEGATION: contrary.negations,
    AttackKind.DISGUISED: contrary.disguises,
}
"""Each kind's maker: material and randomness -> every variant the material allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One text that competes with an honest review."""

    change: str
    """The change's id."""
    system: str
    """Who wrote the honest review."""
    kind: AttackKind
    """What it does."""
    variant: str
    """How it was made."""
    text: str
    """The text to score as a review of the change."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


class Honest(NamedTuple):
    """A review that people rated relevant."""

    change: StudyChange
    """What it is about."""
    review: RatedReview
    """The review."""


def honest_reviews(study: Study) -> tuple[Honest, ...]:
    """The reviews that people rated 4 or 5 for relevance, in the order of the study.

    The original human comments are among them; those of the junk systems are not.
    """
    return tuple(
        Honest(change, review)
        for change in study.changes
        for review in change.reviews
        if review.ratings[2] >= GOOD and review.system not in _JUNK and review.text.strip()
    )


def attacks(
    study: Study,
    *,
    seed: int,
    generator: ClaimGenerator | None = None,
    sources: bool = True,
    wording: Wording = Wording.TEST,
    drawn: int = DRAWN,
) -> tuple[Attack, ...]:
    """Make the attack set of a study.

    Each honest review meets `drawn` variants of each kind. The draw depends on the seed, the
    change, the review and the kind alone: other reviews of the study change only the attacks
    that borrow them (`wrong-change` and `disguised`).

    Args:
        study: The study.
        seed: Of all draws, from 0.
        generator: Writes the structural claims that are restated and echoed; `structural`
            when None.
        sources: Give the generator the whole files where the study has them.
        wording: Which half of the templates to use; `TRAINING` keeps `TEST` unseen.
        drawn: Variants of each kind for each honest review, from 1.

    Returns:
        The attacks, by honest review in the order of the study, then by kind; no text twice
        for one review, none blank and none equal to the honest text.
    """
    writer = generator or plugins.create("claims", "structural")
    honest = honest_reviews(study)
    wanted = {change.id: change for change, _ in honest}
    materials = {
        name: material_of(change, writer, sources=sources, wording=wording)
        for name, change in wanted.items()
    }
    made: list[Attack] = []
    for one in honest:
        whole = replace(
            materials[one.change.id],
            honest=one.review.text,
            strangers=_strangers(one.change, honest),
        )
        made += _against(one, whole, seed=seed, drawn=drawn)
    return tuple(made)


def material_of(
    change: StudyChange,
    generator: ClaimGenerator,
    *,
    sources: bool = True,
    wording: Wording = Wording.TEST,
) -> Material:
    """Gather what the makers need for one change, without an honest review.

    Args:
        change: The change.
        generator: Writes the structural claims.
        sources: Give it the whole files where the study has them.
        wording: Which half of the templates to use.

    Returns:
        The material; `dataclasses.replace` puts in `honest` and `strangers`.
    """
    parsed = parse.parse_diff(change.patch, source=change.id, language=change.language)
    if sources:
        parsed = parse.with_sources(parsed, {"": (change.old_source, change.new_source)})
    claims: Sequence[PseudoReference] = generator.generate([parsed])[0].references
    return material.make_material(change, parsed, claims, wording=wording)


def generator_for(seed: int, *names: str) -> np.random.Generator:
    """Randomness that depends on the seed and the names alone."""
    digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype=np.uint32).tolist()])


def _against(one: Honest, whole: Material, *, seed: int, drawn: int) -> list[Attack]:
    found: dict[str, Attack] = {}
    for kind, maker in MAKERS.items():
        rng = generator_for(seed, one.change.id, one.review.system, one.review.text, kind)
        variants = [
            variant
            for variant in maker(whole, rng)
            if variant.text.strip() and variant.text.strip() != one.review.text.strip()
        ]
        taken = 0
        for index in rng.permutation(len(variants)):
            name, text = variants[int(index)]
            if taken < drawn and text not in found:
                taken += 1
                found[text] = Attack(
                    change=one.change.id,
                    system=one.review.system,
                    kind=kind,
                    variant=name,
                    text=text,
                )
    return list(found.values())


def _strangers(change: StudyChange, honest: Sequence[Honest]) -> tuple[str, ...]:
    """Good reviews of other changes, in the same language if there are any."""
    others = [
        one
        for one in honest
        if one.change.id != change.id and len(one.review.text.split()) >= SHORTEST
    ]
    same = [one for one in others if one.change.language == change.language]
    return tuple(dict.fromkeys(one.review.text for one in same or others))
