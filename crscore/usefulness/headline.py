"""Headline of a review: the value of its remarks for the author of the change.

    value = sum of worth_i * 0.4 ** i, the most valuable remark first, minus 0.01 per empty remark

The value is reported as its percentile among real reviews.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.records import (
    OFF_TOPIC,
    ON_TOPIC,
    Aspects,
    Diff,
    Flag,
    Importance,
    LineKind,
    Receipt,
    Remark,
    Share,
    Subject,
    Usefulness,
    Verdict,
)
from crscore.scoring.assembly import Rating
from crscore.usefulness.reading import ReviewReadings, TextReading, logit

Floats = npt.NDArray[np.float32]

PARTS: Final = (
    "gives", "importance", "worth", "informative", "relevant", "functional", "about",
)  # fmt: skip
"""Features that make up the worth of a remark; a higher one never lowers it."""
RANK_DISCOUNT: Final = 0.4
"""Weight of a remark relative to the one before it, the most valuable first."""
EMPTY_DEDUCTION: Final = 0.01
"""Deduction from the value for an empty remark."""
MAX_DEDUCTION: Final = 0.25
"""Maximum share of the value that is deducted for empty remarks."""
LEVELS: Final = (
    (0.88, Importance.CRITICAL),
    (0.66, Importance.MAJOR),
    (0.38, Importance.MINOR),
    (0.0, Importance.NIT),
)
"""Minimum importance for each level, highest first; each is as frequent as in ratings by people."""
CHANGE_SIZES: Final = {"up to 5 lines": 5, "6 to 15 lines": 15, "more than 15 lines": math.inf}
"""Name of a size class of changes -> its maximum number of changed lines."""
REVIEWS: Final = "reviews"
"""Comparison set of reviews of several comments."""
PERCENTILE_WORDS: Final = (
    (75, "very useful"),
    (50, "useful"),
    (25, "of some use"),
    (0, "of little use"),
)
"""Minimum percentile for each word, highest first."""


ASPECTS: Final = tuple(field.name for field in fields(Aspects))
_UNREAD: Final = (Flag.HIDDEN, Flag.REPEATS, Flag.NO_SENTENCE, Flag.NOT_ENGLISH)
"""Flags of sentences that give the author nothing."""


def rate(
    read: ReviewReadings,
    flags: Sequence[Flag | None],
    receipts: Sequence[Receipt | None],
    authors: Mapping[str | None, Sequence[int]],
    diff: Diff,
    reference: Mapping[str, Floats],
) -> Rating:
    """Rate the comments on a change singly, by author and all together.

    Args:
        read: The readings of the review.
        flags: The matcher's flag of each sentence.
        receipts: Proof for or against each remark; None without proof.
        authors: Indices of each author's comments, in order of first appearance.
        diff: The change.
        reference: Comparison set -> values of real comments or reviews, ascending.
    """
    readings = list(read.sentences)
    for column, flag in enumerate(flags):
        if flag in _UNREAD:
            readings[column] = replace(readings[column], gives=0.0)
            # A repetition is still about the change; hidden text counts as off topic.
            if flag is not Flag.REPEATS:
                readings[column] = replace(readings[column], about=0.0, subject=Subject.ELSEWHERE)
    remarks = [
        replace(remark, receipt=receipt)
        for remark, receipt in zip(read.remarks, receipts, strict=True)
    ]
    by_comment: dict[int, list[int]] = {}
    for index, remark in enumerate(remarks):
        by_comment.setdefault(remark.comment, []).append(index)
        if all(flags[column] in _UNREAD for column in remark.sentences):
            about = max(readings[column].about for column in remark.sentences)
            remarks[index] = replace(remark, gives=0.0, about=about, worth=0.0)
        elif remark.verdict is Verdict.REFUTED:
            remarks[index] = replace(remark, worth=0.0)

    def rank_together(chosen: Iterable[int]) -> Usefulness | None:
        """Rank some comments; None without a remark."""
        groups = [by_comment[comment] for comment in chosen if comment in by_comment]
        if not groups:
            return None
        # The most valuable remark represents its comment.
        best = [max(group, key=lambda index: (remarks[index].worth, -index)) for group in groups]
        aspects = {name: _mean(getattr(read.aspects[i], name) for i in best) for name in ASPECTS}
        name = reference_of(diff, len(groups))
        return rank(
            {index: remarks[index] for group in groups for index in group},
            _mean(max(remarks[index].about for index in group) for group in groups),
            Aspects(**aspects),
            reference=name,
            values=reference[name],
        )

    count = sum(map(len, authors.values()))
    return Rating(
        readings=tuple(readings),
        flags=tuple(
            flag or (Flag.RESTATES if restates else None)
            for flag, restates in zip(flags, read.restates, strict=True)
        ),
        remarks=tuple(remarks),
        comments=tuple(rank_together([index]) for index in range(count)),
        reviews=tuple(map(rank_together, authors.values())),
        usefulness=rank_together(range(count)),
    )


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def measure_parts(text: TextReading, about: float) -> list[float]:
    """Return the parts of the worth of a remark, one for each of `PARTS`."""
    # Logarithms for features that a remark has or lacks; logits for features of degree.
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
        The share of each remark, the deduction for empty remarks, and the value.
    """
    order = sorted(remarks, key=lambda index: (-remarks[index].worth, index))
    # Divided by the sum of all weights: the value stays within [0, 1].
    shares = tuple(
        Share(remark=index, value=remarks[index].worth * RANK_DISCOUNT**rank * (1 - RANK_DISCOUNT))
        for rank, index in enumerate(order)
    )
    total = math.fsum(share.value for share in shares)
    empty = sum(not remark.is_valuable for remark in remarks.values())
    deduction = min(EMPTY_DEDUCTION * empty, MAX_DEDUCTION * total)
    return shares, deduction, total - deduction


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
    """Rank a review among real reviews.

    Args:
        remarks: Its remarks: index in the result -> remark.
        about: Probability that it is about the change.
        aspects: Estimates of how people would rate it.
        reference: Name of the comparison set.
        values: Values of its reviews, ascending.
    """
    shares, deduction, value = sum_up(remarks)
    # The mean of both sides: a review equal to the value counts half.
    below = (np.searchsorted(values, value) + np.searchsorted(values, value, "right")) / 2
    # Rounded before the word is chosen, so that word and number agree.
    percentile = round(100 * float(below) / max(1, len(values)))
    valuable = [remark for remark in remarks.values() if remark.is_valuable]
    is_on_topic = any(remark.about >= ON_TOPIC for remark in remarks.values())
    word = next(word for threshold, word in PERCENTILE_WORDS if percentile >= threshold)
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
        taken_off=deduction,
        value=value,
        standing=percentile,
        word=word if is_on_topic else OFF_TOPIC,
        against=f"{len(values):,} {subject}",
    )


def log_part(probability: float) -> float:
    """Return the logarithm of a probability, finite for 0."""
    return math.log(probability + 1e-3)
