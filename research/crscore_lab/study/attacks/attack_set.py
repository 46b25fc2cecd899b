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
"""Function that writes the variants of one kind of attack: variant -> text."""

GOOD_RELEVANCE: Final = 4.0
"""Minimum human relevance of an honest review, which must score higher than attacks on it."""
MIN_WORDS: Final = 6
"""Minimum number of words of another change's review: a shorter review, such as "Why this change?",
fits any change."""


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
    """Text that competes with an honest review."""

    change: str
    """Id of the change."""
    system: str
    """Name of the system that wrote the honest review."""
    kind: AttackKind
    """Kind of the attack."""
    text: str
    """The text to score as a review of the change."""


def honest_reviews(study: Study) -> tuple[tuple[StudyChange, RatedReview], ...]:
    """Return the reviews that people rated 4 or 5 for relevance, in study order.

    The original human comments are included. Reviews by junk systems are left out, even if people
    rated one of them high.
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

    For each honest review, up to `variants_per_kind` variants of each kind are chosen at random.
    The choice depends only on the seed, the change, the review and the kind. Adding a review to the
    study changes no other attacks than those of `wrong-change`, which use reviews of other changes.

    Args:
        study: The study.
        seed: Seed of the random choices, at least 0.
        generator: Generator of the claims to echo besides the study's own; None for `structural`.
        wording: Half of the phrases to use. A matcher trained with `TRAINING` has not seen those of
            `TEST`.
        variants_per_kind: Maximum number of variants of each kind for each honest review, at
            least 1.

    Returns:
        The attacks, sorted by honest review in study order, then by kind. The texts for one review
        are distinct, not blank and not equal to the review.
    """
    writer = generator or plugins.create("claims", "structural")
    reviews = honest_reviews(study)
    # Made once for each change, because the honest reviews of a change share its claims.
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
        Variant -> text. With the wording `TRAINING`, variants reserved for the test are left out.
    """
    texts = _MAKERS[kind](material, rng)
    if material.wording is Wording.TEST:
        return texts
    # The variants of an echo are named after the source of the text, such as `recorded-few`; `few`
    # is the name in `unseen`.
    return {
        name: text
        for name, text in texts.items()
        if not {name, name.partition("-")[2]} & PHRASES.unseen
    }


def seeded_rng(seed: int, *names: str) -> np.random.Generator:
    """Return a random generator that depends only on the seed and the names."""
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
            # Two variants, also of different kinds, may have the same text.
            if len(chosen_attacks) < variants_per_kind and variants[index].text not in attacks:
                chosen_attacks.setdefault(variants[index].text, variants[index])
        attacks |= chosen_attacks
    return list(attacks.values())


def _foreign_reviews(
    change: StudyChange, reviews: Sequence[tuple[StudyChange, RatedReview]]
) -> tuple[str, ...]:
    """Return honest reviews of other changes in the same language or, if none, in any language."""
    foreign = [
        (reviewed_change.language, review.text)
        for reviewed_change, review in reviews
        if reviewed_change.id != change.id and len(review.text.split()) >= MIN_WORDS
    ]
    same_language = [text for language, text in foreign if language == change.language]
    return tuple(dict.fromkeys(same_language or [text for _, text in foreign]))
