"""The headline: is it about this change, and is it worth reading?

The two are joined to one value, reported as its standing among real comments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.records import Aspects, Diff, LineKind, Usefulness
from crscore.usefulness.reading import SentenceReading

Floats = npt.NDArray[np.float32]

SIZES: Final = {"up to 5 lines": 5, "6 to 15 lines": 15, "more than 15 lines": math.inf}
"""Sizes of changes, by changed lines: their name, and the largest."""
DESCRIBED: Final = 0.05
"""What a sentence on topic without anything to act on is worth, beside 1 for one with it."""
DESCRIBING: Final = 0.1
"""The same for a comment that only describes."""
WORDS: Final = ((75, "very useful"), (50, "useful"), (25, "of some use"), (0, "of little use"))
"""The least standing of each word."""


def join_parts(
    about: float, readings: Sequence[SentenceReading], degrees: Sequence[float], aspects: Aspects
) -> tuple[float, float]:
    """Join the parts of a comment's usefulness.

    Args:
        about: Probability that the comment is about the change.
        readings: Its sentences and proposals, at least one.
        degrees: For each of them, how far it addresses its best pseudo-reference, in [0, 1].
        aspects: How people would rate it.

    Returns:
        Its substance and its value, each in [0, 1].
    """
    acts = np.array([item.substance for item in readings])
    abouts = np.array([item.about for item in readings])
    # The geometric mean is low as soon as one of the three is.
    rated = (aspects.informative * aspects.relevant * aspects.acted_on) ** (1 / 3)
    substance = (float(acts.mean()) + float(acts.max())) / 2 * rated * aspects.reviewing
    # The root: a sentence may refer to what the rest of its comment names.
    on_topic = np.sqrt(abouts * about) * np.array(degrees)
    # The mean, not the sum: padding has to cost something.
    value = ((acts + DESCRIBED) * on_topic).mean() * (aspects.reviewing + DESCRIBING)
    return substance, float(value) / ((1 + DESCRIBED) * (1 + DESCRIBING))


def size_of(diff: Diff) -> str:
    """Return the size of a change."""
    changed = len(diff.lines(LineKind.ADDED, LineKind.REMOVED))
    return next(name for name, max_lines in SIZES.items() if changed <= max_lines)


def rank(
    about: float,
    substance: float,
    value: float,
    aspects: Aspects,
    *,
    size: str,
    reference: Mapping[str, Floats],
) -> Usefulness:
    """Place a value among those of real comments on changes of the same size."""
    values = reference[size]
    below = (np.searchsorted(values, value) + np.searchsorted(values, value, "right")) / 2
    # Rounded before the word is chosen, so that word and number agree.
    standing = round(100 * float(below) / max(1, len(values)))
    return Usefulness(
        about=about,
        substance=substance,
        aspects=aspects,
        value=value,
        standing=standing,
        word=next(word for threshold, word in WORDS if standing >= threshold),
        against=f"{len(values):,} review comments by people on changes of {size}",
    )
