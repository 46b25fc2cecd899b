"""Negative examples: texts made to fool a score, which address nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from crscore.lab.study.attacks import attack_set
from crscore.lab.study.attacks.attack_set import Attack, AttackKind
from crscore.lab.study.attacks.material import Wording
from crscore.lab.study.study import Study
from crscore.lab.training import samples
from crscore.lab.training.samples import Example, Target

EMPTY: Final = frozenset({AttackKind.STUFFING, AttackKind.PASTED})
"""Kinds without any content of a review."""
PADDED: Final = frozenset({AttackKind.PRAISE, AttackKind.BOILERPLATE})
"""Kinds that add something empty to an honest review; the addition is the example."""
WEIGHT: Final = 0.1
"""Weight of a negative example, relative to 1 for a rated review."""
_NOTHING: Final = Target(conciseness=0.0, comprehensiveness=0.0, relevance=0.0, weight=WEIGHT)


def make_negatives(study: Study, honest: Sequence[Example], *, seed: int) -> list[Example]:
    """Make negative examples for the changes of a study.

    They use the training half of the phrases, so that the attacks of an evaluation stay unseen.

    Args:
        study: The training changes.
        honest: The study's own examples; each negative is paired with the same lists.
        seed: Seed of all draws.

    Returns:
        Examples whose scores should be 0.
    """
    by_review: dict[tuple[str, str], list[Example]] = {}
    for example in honest:
        by_review.setdefault((example.change, example.system), []).append(example)
    made = []
    for attack in attack_set.make_attacks(study, seed=seed, wording=Wording.TRAINING):
        own = by_review.get((attack.change, attack.system))
        text = _negative_text(attack, own[0].text) if own else ""
        if own and text:  # some changes have no claims
            linked = replace(_NOTHING, addressed=frozenset())
            made += [
                replace(one, text=text, target=_NOTHING if one.target.addressed is None else linked)
                for one in own
            ]
    return made


def _negative_text(attack: Attack, honest: str) -> str:
    """Return the empty part of an attack; "" where there is none.

    Other kinds are covered by rules, or by the honest examples: the junk systems of a study write
    reviews of other changes.
    """
    if attack.kind in EMPTY:
        return attack.text
    if attack.kind in PADDED:
        own = frozenset(samples.split_sentences(honest))
        return "\n".join(one for one in samples.split_sentences(attack.text) if one not in own)
    return ""
