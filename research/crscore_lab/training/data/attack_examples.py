"""Makes negative examples: texts that address nothing and were made to fool a score."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from crscore_lab.study.attacks import attack_set
from crscore_lab.study.attacks.attack_set import Attack, AttackKind
from crscore_lab.study.attacks.material import Wording, split_sentences
from crscore_lab.study.data.study import Study
from crscore_lab.training.data.study_examples import Example, Target

EMPTY: Final = frozenset({AttackKind.STUFFING, AttackKind.PASTED})
"""Kinds of attacks without review content."""
PADDED: Final = frozenset({AttackKind.PRAISE, AttackKind.BOILERPLATE})
"""Kinds of attacks that add something empty to an honest review; the addition is the example."""
WEIGHT: Final = 0.1
"""Weight of a negative example, relative to 1 for a rated review."""
_ZERO: Final = Target(scores=(0.0, 0.0, 0.0), weight=WEIGHT)


def make_negatives(study: Study, rated: Sequence[Example], *, seed: int) -> list[Example]:
    """Make negative examples for the changes of a study.

    The attacks use the training half of the phrases, so that those of an evaluation stay unseen.

    Args:
        study: The training changes.
        rated: Examples of the study's reviews. A negative example gets their pseudo-references.
        seed: Seed of all random choices.

    Returns:
        Examples whose scores should be 0.
    """
    by_review: dict[tuple[str, str], list[Example]] = {}
    for example in rated:
        by_review.setdefault((example.change, example.system), []).append(example)
    negatives: list[Example] = []
    for attack in attack_set.make_attacks(study, seed=seed, wording=Wording.TRAINING):
        originals = by_review.get((attack.change, attack.system), ())  # some changes have no claims
        text = _negative_text(attack, originals[0].text) if originals else ""
        if text:
            negatives += [
                replace(
                    example,
                    text=text,
                    target=replace(
                        # If the data says what a review addresses, a negative addresses nothing.
                        _ZERO,
                        addressed=None if example.target.addressed is None else frozenset(),
                    ),
                )
                for example in originals
            ]
    return negatives


def _negative_text(attack: Attack, honest_text: str) -> str:
    """Return the empty part of an attack; "" if the attack is of another kind.

    Other kinds are covered by rules, or by the rated examples, because the junk systems of a study
    write reviews of other changes.
    """
    if attack.kind in EMPTY:
        return attack.text
    return "\n".join(added_sentences(attack, honest_text)) if attack.kind in PADDED else ""


def added_sentences(attack: Attack, honest_text: str) -> list[str]:
    """Return the sentences of an attack that the honest review does not have."""
    original_sentences = frozenset(split_sentences(honest_text))
    return [
        sentence for sentence in split_sentences(attack.text) if sentence not in original_sentences
    ]
