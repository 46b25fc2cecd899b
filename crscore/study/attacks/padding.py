"""An honest review made longer by text that says nothing new."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crscore.study.attacks.material import (
    Variant,
    is_plain,
    lowered,
    pick,
    raised,
    seen,
    some,
    stop,
    units,
)
from crscore.study.attacks.phrases import BOILERPLATE, PRAISE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from crscore.study.attacks.material import Material

_UNSEEN: Final = frozenset({"interleaved", "section", "whole-twice", "synonyms"})
_REPEATS: Final = (2, 7)
"""How often a sentence is repeated: from the first, below the second."""
# Small changes under which a repeated sentence is still the same sentence.
_SYNONYMS: Final = (
    ("should", "ought to"),
    ("function", "method"),
    ("method", "function"),
    ("parameter", "argument"),
    ("remove", "drop"),
    ("add", "insert"),
    ("change", "modification"),
    ("code", "implementation"),
    ("better", "preferable"),
    ("instead of", "rather than"),
    ("because", "since"),
    ("also", "as well"),
    ("need", "require"),
    ("good", "nice"),
    ("this", "that"),
)


def praises(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Pad an honest review with praise, greetings and thanks.

    Args:
        material: Only `honest` and `wording` count.
        rng: Source of randomness.

    Returns:
        One text for each way of padding; empty without an honest review.
    """
    return _padded(material, PRAISE.of(material.wording), rng)


def boilerplates(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Pad an honest review with advice that fits any change.

    Args:
        material: Only `honest` and `wording` count.
        rng: Source of randomness.

    Returns:
        One text for each way of padding; empty without an honest review.
    """
    return _padded(material, BOILERPLATE.of(material.wording), rng)


def repeats(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Pad an honest review with repeats of its own sentences.

    Args:
        material: Only `honest` and `wording` count.
        rng: Source of randomness.

    Returns:
        One text for each way of repeating; empty when the review has no sentence.
    """
    own = units(material.honest)
    if not own:
        return ()
    honest, times = material.honest.rstrip(), int(rng.integers(*_REPEATS))
    one = pick(own, rng)
    longest = max(own, key=len)
    made = [
        Variant("exact", _after(honest, [stop(one)] * times)),
        Variant("longest", _after(honest, [stop(longest)] * times)),
        Variant("punctuation", _after(honest, [_repunctuated(one, i) for i in range(times)])),
        Variant("case", _after(honest, [_recased(one, i) for i in range(times)])),
        Variant("lead-in", _after(honest, [_led(one, i) for i in range(times)])),
        Variant("synonyms", _after(honest, [_reworded(one, i) for i in range(times)])),
        Variant("before", _before([stop(one)] * times, honest)),
        Variant("paragraphs", "\n\n".join([honest, *[stop(one)] * times])),
        Variant("whole-twice", f"{honest}\n\n{honest}"),
        Variant("whole-often", "\n\n".join([honest] * times)),
    ]
    return seen(made, _UNSEEN, material.wording)


def _padded(
    material: Material, phrases: Sequence[str], rng: np.random.Generator
) -> tuple[Variant, ...]:
    honest = material.honest.strip()
    if not honest:
        return ()
    few, many = some(phrases, 1, 2, rng), some(phrases, 4, 8, rng)
    made = [
        Variant("before", _before(few, honest)),
        Variant("after", _after(honest, few)),
        Variant("around", _after(_before(few[:1], honest), some(phrases, 1, 3, rng))),
        Variant("paragraphs", "\n\n".join([many[0], honest, *many[1:]])),
        Variant("much", _after(honest, many)),
        Variant("bullets", honest + "\n\n" + "\n".join(f"- {phrase}" for phrase in many)),
        Variant("section", f"{honest}\n\n### General remarks\n\n" + " ".join(many)),
    ]
    if is_plain(honest):
        made.append(Variant("interleaved", _interleaved(units(honest), many)))
    return seen(made, _UNSEEN, material.wording)


def _before(phrases: Sequence[str], honest: str) -> str:
    gap = " " if is_plain(honest) else "\n\n"
    return gap.join([" ".join(phrases), honest])


def _after(honest: str, phrases: Sequence[str]) -> str:
    gap = " " if is_plain(honest) else "\n\n"
    return gap.join([stop(honest) if gap == " " else honest, " ".join(phrases)])


def _interleaved(own: Sequence[str], phrases: Sequence[str]) -> str:
    pieces = []
    for index, sentence in enumerate(own):
        pieces += [stop(sentence), phrases[index % len(phrases)]]
    return " ".join(pieces or phrases)


def _repunctuated(sentence: str, index: int) -> str:
    bare = sentence.rstrip(" .!?…")
    return (f"{bare}!", f"{bare}...", f"{bare}?", f"“{bare}”.", f"({bare})", f"{bare} .")[index % 6]


def _recased(sentence: str, index: int) -> str:
    return stop((sentence.upper(), sentence.lower(), sentence.title())[index % 3])


def _led(sentence: str, index: int) -> str:
    leads = ("Again, ", "So ", "As I said, ", "To repeat: ", "Note that ", "In short, ")
    return stop(leads[index % 6] + lowered(sentence))


def _reworded(sentence: str, index: int) -> str:
    """The sentence with some of its words replaced; each index leaves other words alone."""
    text = sentence
    for number, (word, other) in enumerate(_SYNONYMS):
        if (number + index) % 3:
            text = re.sub(rf"\b{word}\b", other, text, flags=re.IGNORECASE)
    return stop(raised(text))
