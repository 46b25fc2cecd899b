"""Attack set: for each honest review of a study, texts that should score lower."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from crscore import plugins
from crscore.claims.base import ClaimGenerator
from crscore_lab.study.attacks import variants
from crscore_lab.study.attacks.material import PHRASES, Material, Wording, make_material
from crscore_lab.study.data.study import RatedReview, Study, StudyChange, junk_systems

Maker = Callable[[Material, np.random.Generator], dict[str, str]]

GOOD_RELEVANCE: Final = 4.0
"""Minimum human relevance of a good, honest review, which must outscore its attacks."""
SHORTEST: Final = 6
"""Minimum words of another change's review; a shorter one ("Why this change?") fits any change."""


class AttackKind(StrEnum):
    """Kind of attack."""

    STUFFING = "keyword-stuffing"
    PASTED = "pasted-diff"
    ECHO = "echo"
    PRAISE = "padded-praise"
    BOILERPLATE = "padded-boilerplate"
    REPEAT = "padded-repeat"
    WRONG_CHANGE = "wrong-change"
    INJECTION = "injection"
    HIDDEN = "hidden"


_MAKERS: Final[Mapping[AttackKind, Maker]] = {
    AttackKind.STUFFING: variants.stuff_names,
    AttackKind.PASTED: variants.paste_diff,
    AttackKind.ECHO: variants.echo_claims,
    AttackKind.PRAISE: variants.pad_with_praise,
    AttackKind.BOILERPLATE: variants.pad_with_advice,
    AttackKind.REPEAT: variants.repeat_sentences,
    AttackKind.WRONG_CHANGE: variants.borrow_review,
    AttackKind.INJECTION: variants.inject_instructions,
    AttackKind.HIDDEN: variants.hide_text,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One text that competes with an honest review."""

    change: str
    """The change's id."""
    system: str
    """Author of the honest review."""
    kind: AttackKind
    """Kind of the attack."""
    text: str
    """The text to score as a review of the change."""


def honest_reviews(study: Study) -> tuple[tuple[StudyChange, RatedReview], ...]:
    """Return the reviews that people rated 4 or 5 for relevance, in study order.

    The original human comments are included. Reviews by junk systems are not: their output does not
    count as a review, even where it was rated high.
    """
    rated = [(change, review) for change in study.changes for review in change.reviews]
    junk = junk_systems(
        [review.system for _, review in rated], [review.relevance for _, review in rated]
    )
    return tuple(
        (change, review)
        for change, review in rated
        if review.relevance >= GOOD_RELEVANCE and review.system not in junk and review.text.strip()
    )


def make_attacks(
    study: Study,
    *,
    seed: int,
    generator: ClaimGenerator | None = None,
    wording: Wording = Wording.TEST,
    variants_per_kind: int = 2,
) -> tuple[Attack, ...]:
    """Make the attack set of a study.

    Each honest review gets `variants_per_kind` variants of each kind. The draw depends only on the
    seed, the change, the review and the kind; other reviews of the study change only the attacks
    of `wrong-change`, which borrows them.

    Args:
        study: The study.
        seed: Seed of all draws, at least 0.
        generator: Generator of the structural claims to echo; None for `structural`.
        wording: Which half of the phrases to use; `TRAINING` keeps `TEST` unseen.
        variants_per_kind: Number of variants of each kind for each honest review, at least 1.

    Returns:
        The attacks, by honest review in study order, then by kind. The texts of one review are
        distinct, not blank and not equal to the honest text.
    """
    writer = generator or plugins.create("claims", "structural")
    reviews = honest_reviews(study)
    # By change, because several honest reviews share the claims of their change.
    materials = {
        change.id: make_material(change, writer, wording=wording)
        for change in {change.id: change for change, _ in reviews}.values()
    }
    attacks: list[Attack] = []
    for change, review in reviews:
        material = replace(
            materials[change.id],
            honest_review=review.text,
            foreign_reviews=_foreign_reviews(change, reviews),
        )
        attacks += _attack_review(change, review, material, seed, variants_per_kind)
    return tuple(attacks)


def make_variants(kind: AttackKind, material: Material, rng: np.random.Generator) -> dict[str, str]:
    """Write every variant of a kind of attack.

    Args:
        kind: The kind.
        material: Material of the attack.
        rng: Source of randomness.

    Returns:
        Variant -> text; in the training wording, without the forms reserved for the test.
    """
    texts = _MAKERS[kind](material, rng)
    if material.wording is Wording.TEST:
        return texts
    # A name may start with the source of the echoed text: `recorded-few`.
    return {
        name: text
        for name, text in texts.items()
        if not {name, name.partition("-")[2]} & PHRASES.unseen
    }


def seeded_rng(seed: int, *names: str) -> np.random.Generator:
    """Return a generator that depends only on the seed and the names."""
    # The separator distinguishes ("a", "bc") from ("ab", "c").
    digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype=np.uint32).tolist()])


def _attack_review(
    change: StudyChange, review: RatedReview, material: Material, seed: int, variants_per_kind: int
) -> list[Attack]:
    attacks: dict[str, Attack] = {}
    for kind in AttackKind:
        rng = seeded_rng(seed, change.id, review.system, review.text, kind)
        variants = [
            Attack(change=change.id, system=review.system, kind=kind, text=text)
            for text in make_variants(kind, material, rng).values()
            if text.strip() not in {"", review.text.strip()}
        ]
        chosen_attacks: dict[str, Attack] = {}
        for index in rng.permutation(len(variants)):
            # Variants, even of different kinds, may produce the same text.
            if len(chosen_attacks) < variants_per_kind and variants[index].text not in attacks:
                chosen_attacks.setdefault(variants[index].text, variants[index])
        attacks |= chosen_attacks
    return list(attacks.values())


def _foreign_reviews(
    change: StudyChange, reviews: Sequence[tuple[StudyChange, RatedReview]]
) -> tuple[str, ...]:
    """Return good reviews of other changes, in the same language where there are any."""
    foreign = [
        (reviewed_change.language, review.text)
        for reviewed_change, review in reviews
        if reviewed_change.id != change.id and len(review.text.split()) >= SHORTEST
    ]
    same_language = [text for language, text in foreign if language == change.language]
    return tuple(dict.fromkeys(same_language or [text for _, text in foreign]))
