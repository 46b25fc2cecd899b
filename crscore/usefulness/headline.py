"""Headline of a review: a value for being about the change and for being worth reading.

The value is reported as its standing among real comments.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.records import Aspects, Diff, LineKind, Usefulness
from crscore.usefulness.reading import SentenceReading

Floats = npt.NDArray[np.float32]

CHANGE_SIZES: Final = {"up to 5 lines": 5, "6 to 15 lines": 15, "more than 15 lines": math.inf}
"""Name of a size class of changes -> its maximum number of changed lines."""
TOPICAL_SENTENCE_VALUE: Final = 0.05
"""Value of a sentence that is on topic but not actionable, where an actionable one has 1."""
DESCRIPTIVE_COMMENT_VALUE: Final = 0.1
"""Value of a comment that only describes, where one that reviews has 1."""
STANDING_WORDS: Final = (
    (75, "very useful"),
    (50, "useful"),
    (25, "of some use"),
    (0, "of little use"),
)
"""Minimum standing for each word, highest first."""


def join_parts(
    about: float, readings: Sequence[SentenceReading], degrees: Sequence[float], aspects: Aspects
) -> tuple[float, float]:
    """Combine the parts of a comment's usefulness.

    Args:
        about: Probability that the comment is about the change.
        readings: Its sentences and proposals, at least one.
        degrees: For each of them, how far it addresses its best pseudo-reference, in [0, 1].
        aspects: How people would rate it.

    Returns:
        Its substance and its value, each in [0, 1].
    """
    substances = np.array([item.substance for item in readings])
    abouts = np.array([item.about for item in readings])
    # The geometric mean is low as soon as one of the three is.
    rated = (aspects.informative * aspects.relevant * aspects.acted_on) ** (1 / 3)
    substance = (float(substances.mean()) + float(substances.max())) / 2 * rated * aspects.reviewing
    # The root, because a sentence may refer to names elsewhere in its comment.
    on_topic = np.sqrt(abouts * about) * np.array(degrees)
    # The mean rather than the sum, so that padding lowers the value.
    value = ((substances + TOPICAL_SENTENCE_VALUE) * on_topic).mean() * (
        aspects.reviewing + DESCRIPTIVE_COMMENT_VALUE
    )
    return substance, float(value) / (
        (1 + TOPICAL_SENTENCE_VALUE) * (1 + DESCRIPTIVE_COMMENT_VALUE)
    )


def size_of(diff: Diff) -> str:
    """Return the name of a change's size class."""
    changed = len(diff.lines(LineKind.ADDED, LineKind.REMOVED))
    return next(name for name, max_lines in CHANGE_SIZES.items() if changed <= max_lines)


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
    # The mean of both sides: a comment equal to the value counts half.
    below = (np.searchsorted(values, value) + np.searchsorted(values, value, "right")) / 2
    # Rounded before the word is chosen, so that word and number agree.
    standing = round(100 * float(below) / max(1, len(values)))
    return Usefulness(
        about=about,
        substance=substance,
        aspects=aspects,
        value=value,
        standing=standing,
        word=next(word for threshold, word in STANDING_WORDS if standing >= threshold),
        against=f"{len(values):,} review comments by people on changes of {size}",
    )
