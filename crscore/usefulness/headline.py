"""Headline of a review: the value of its remarks for the author of the change.

    value = sum of worth_i * 0.4 ** i, the most valuable remark first, less 0.01 for each empty one

The value is reported as its standing among real reviews.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.records import (
    OFF_TOPIC,
    ON_TOPIC,
    Aspects,
    Diff,
    Importance,
    LineKind,
    Remark,
    Share,
    Usefulness,
)
from crscore.usefulness.reading import TextReading, logit

Floats = npt.NDArray[np.float32]

PARTS: Final = (
    "gives", "importance", "worth", "informative", "relevant", "functional", "about",
)  # fmt: skip
"""Parts of the worth of a remark; none of them lowers it."""
LATER: Final = 0.4
"""Weight of a remark relative to the one before it, the most valuable first."""
EMPTY_PRICE: Final = 0.01
"""Deduction from the value for an empty remark."""
MAX_PRICE: Final = 0.25
"""Share of the value that empty remarks can take off."""
LEVELS: Final = (
    (0.88, Importance.CRITICAL),
    (0.66, Importance.MAJOR),
    (0.38, Importance.MINOR),
    (0.0, Importance.NIT),
)
"""Minimum importance for each level, highest first: as often as readers gave it."""
CHANGE_SIZES: Final = {"up to 5 lines": 5, "6 to 15 lines": 15, "more than 15 lines": math.inf}
"""Name of a size class of changes -> its maximum number of changed lines."""
REVIEWS: Final = "reviews"
"""Comparison set of reviews of several comments."""
STANDING_WORDS: Final = (
    (75, "very useful"),
    (50, "useful"),
    (25, "of some use"),
    (0, "of little use"),
)
"""Minimum standing for each word, highest first."""


def measure_parts(text: TextReading, about: float) -> list[float]:
    """Return the parts of the worth of a remark, one for each of `PARTS`."""
    # Logarithms of what a remark has or lacks; logits of what it has more or less of.
    return [
        log_part(text.gives),
        logit(text.importance),
        logit(text.worth),
        log_part(text.informative),
        log_part(text.relevant),
        logit(text.functional),
        log_part(about),
    ]


def join_parts(parts: Sequence[float], weights: Floats) -> float:
    """Return the worth of a remark, in [0, 1]."""
    return 1 / (1 + math.exp(-float(np.dot(weights[:-1], parts) + weights[-1])))


def name_level(importance: float) -> Importance:
    """Return the level of an importance."""
    return next(level for threshold, level in LEVELS if importance >= threshold)


def sum_up(remarks: Mapping[int, Remark]) -> tuple[tuple[Share, ...], float, float]:
    """Join the remarks of a review.

    Args:
        remarks: Index in the result -> remark.

    Returns:
        The share of each, the price of the empty ones, and the value.
    """
    order = sorted(remarks, key=lambda index: (-remarks[index].worth, index))
    # Divided by the sum of all weights: the value stays within [0, 1].
    shares = tuple(
        Share(remark=index, value=remarks[index].worth * LATER**rank * (1 - LATER))
        for rank, index in enumerate(order)
    )
    total = math.fsum(share.value for share in shares)
    empty = sum(not remark.is_valuable for remark in remarks.values())
    price = min(EMPTY_PRICE * empty, MAX_PRICE * total)
    return shares, price, total - price


def reference_of(diff: Diff, comments: int) -> str:
    """Return the comparison set of a text: comments on changes of its size, or reviews."""
    if comments > 1:
        return REVIEWS
    changed = len(diff.lines(LineKind.ADDED, LineKind.REMOVED))
    return next(name for name, max_lines in CHANGE_SIZES.items() if changed <= max_lines)


def rank(
    remarks: Mapping[int, Remark],
    about: float,
    aspects: Aspects,
    *,
    reference: str,
    values: Floats,
) -> Usefulness:
    """Place a review among real ones.

    Args:
        remarks: Its remarks: index in the result -> remark.
        about: Probability that it is about the change.
        aspects: How people would rate it.
        reference: Name of the comparison set.
        values: Its values, ascending.
    """
    shares, price, value = sum_up(remarks)
    # The mean of both sides: a review equal to the value counts half.
    below = (np.searchsorted(values, value) + np.searchsorted(values, value, "right")) / 2
    # Rounded before the word is chosen, so that word and number agree.
    standing = round(100 * float(below) / max(1, len(values)))
    valuable = [remark for remark in remarks.values() if remark.is_valuable]
    is_on_topic = any(remark.about >= ON_TOPIC for remark in remarks.values())
    word = next(word for threshold, word in STANDING_WORDS if standing >= threshold)
    subject = (
        "reviews of several comments by people"
        if reference == REVIEWS
        else f"review comments by people on changes of {reference}"
    )
    return Usefulness(
        about=about,
        importance=max((remark.importance for remark in valuable), default=0.0),
        aspects=aspects,
        shares=shares,
        taken_off=price,
        value=value,
        standing=standing,
        word=word if is_on_topic else OFF_TOPIC,
        against=f"{len(values):,} {subject}",
    )


def log_part(probability: float) -> float:
    """Return a part that is the logarithm of what a remark has."""
    return math.log(probability + 1e-3)
