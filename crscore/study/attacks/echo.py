"""The pseudo-references handed in as a review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.study.attacks.material import Bank, Variant, lowered, pick, seen, shuffled, stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from crscore.study.attacks.material import Material, Wording

_LEAD: Final = Bank(
    training=("Review:", "My comments:", "Things I noticed:", "Feedback on this change:"),
    test=("Observations:", "Points to address:", "My notes on the patch:", "Remarks:"),
)
_JOIN: Final = Bank(training=("; ", " and ", ", and "), test=("; also, ", ", while ", " - "))
_UNSEEN: Final = frozenset({"lower-case", "joined", "few", "noticed"})


def echoes(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Repeat the pseudo-references: the study's own and the structural ones.

    Args:
        material: The change; only `recorded`, `structural` and `wording` count.
        rng: Source of randomness.

    Returns:
        For each of the two sets that is not empty, one text for each way of writing it. The
        names start with `recorded-` or `structural-`.
    """
    made = []
    for source, texts in (("recorded", material.recorded), ("structural", material.structural)):
        if texts:
            ways = seen(_ways(texts, material.wording, rng), _UNSEEN, material.wording)
            made += [Variant(f"{source}-{name}", text) for name, text in ways]
    return tuple(made)


def _ways(texts: Sequence[str], wording: Wording, rng: np.random.Generator) -> tuple[Variant, ...]:
    mixed = shuffled(texts, rng)
    join = pick(_JOIN.of(wording), rng)
    few = mixed[: max(1, len(mixed) // 3)]
    return (
        Variant("as-given", "\n".join(texts)),
        Variant("paragraph", " ".join(map(stop, texts))),
        Variant("shuffled", " ".join(map(stop, mixed))),
        Variant("bullets", "\n".join(f"- {text}" for text in texts)),
        Variant(
            "numbered",
            "\n".join([pick(_LEAD.of(wording), rng), ""])
            + "\n"
            + "\n".join(f"{number}. {text}" for number, text in enumerate(mixed, 1)),
        ),
        Variant("few", " ".join(map(stop, few))),
        Variant("joined", stop(join.join(lowered(text.rstrip(".")) for text in mixed[:4]))),
        Variant("noticed", " ".join(f"I notice that {lowered(stop(text))}" for text in mixed)),
        Variant("lower-case", " ".join(stop(text.lower()) for text in texts)),
    )
