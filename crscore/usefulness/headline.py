"""Computes the headline of a review: the value of its remarks for the author of the change.

    value = 0.4 * (the sum of gain_i * 0.6 ** i) * (1 - deduction)

where i counts from 0 for the most valuable remark, the gain of a remark is ((worth - 1) / 4) ** 3,
and the deduction is 5 % for each empty remark, but at most 25 %. The value is reported as its
percentile among real reviews (the standing).

Two readers who follow the same guide agree about a comment, but the network agrees with them only
in part. So each percentile has an interval, which shows how far the network's percentiles were from
those of the readers on texts that the network had not seen.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.records import (
    ACTIONABLE_FROM,
    LEAST_WORTH,
    MAX_IMPORTANCE,
    MAX_WORTH,
    OFF_TOPIC,
    ON_TOPIC,
    Aspects,
    Flag,
    Receipt,
    Remark,
    Share,
    Subject,
    Usefulness,
    Verdict,
)
from crscore.scoring.assembly import Rating
from crscore.usefulness.model import Scale, Weights
from crscore.usefulness.reading import Authors, ReviewReadings

Floats = npt.NDArray[np.float32]

# With 0.5 to 0.8, a reader who knew what each comment is worth preferred the review with the higher
# value in 94 to 95 % of 180 pairs of real reviews (docs/design/010-usefulness.md). With a lower
# weight, a fourth point would hardly count; with a higher weight, fewer nits would outweigh a bug.
RANK_DISCOUNT: Final = 0.6
"""Weight of a remark, relative to the next more valuable remark."""
# With this exponent, three nits do not outweigh a bug.
GAIN_POWER: Final = 3
"""Exponent in the gain of a remark."""
EMPTY_DEDUCTION: Final = 0.05
"""Share of the value that is deducted for each remark that is not `Remark.is_valuable`."""
MAX_DEDUCTION: Final = 0.25
"""Maximum share of the value that is deducted for empty remarks."""
REVIEWS: Final = "reviews"
COMMENTS: Final = "comments"
KINDS: Final = (REVIEWS, COMMENTS)
"""Kinds of texts; a text is compared with real texts of the same kind."""
PEOPLE: Final = "people"
BOTS: Final = "bots"
# The mean of two tables, which were measured on recorded answers of a large model to 250 and 348
# comments that other readers had judged (`python benchmarks/readers.py DATA --answers FILE`), with
# the ends of the intervals adjusted so that they ascend. The first table's intervals covered 76 %
# of the standings of the second.
GUIDE_SPREAD: Final = np.array(
    [[7, 3, 18, 68], [18, 8, 36, 71], [33, 19, 45, 79], [61, 40, 72, 93], [80, 50, 80, 97]],
    dtype=np.float32,
)
"""Table of `Scale.spread` for a language model that reads with the guide."""
MAX_SAME_WORDS: Final = 2
"""Maximum number of remarks by one author that count if they differ only in names. Further remarks
with the same words are flagged as repetitions."""
MIN_SAME_WORDS: Final = 4
"""Minimum number of words of such a remark."""
PERCENTILE_WORDS: Final = (
    (75, "very useful"),
    (50, "useful"),
    (25, "of some use"),
    (0, "of little use"),
)
"""Minimum middle of the interval (see `interval_of`) for each verbal rating, highest first."""
ASPECTS: Final = Aspects.__struct_fields__
_EMPTY: Final = (Flag.HIDDEN, Flag.REPEATS, Flag.NO_SENTENCE, Flag.NOT_ENGLISH)
"""Flags of sentences that give the author of the change nothing."""


def rate(
    read: ReviewReadings,
    flags: Sequence[Flag | None],
    receipts: Sequence[Receipt | None],
    authors: Authors,
    weights: Weights,
) -> Rating:
    """Rate the comments on a change: each comment, those of each author, and all together.

    Args:
        read: The readings of the review.
        flags: The matcher's flag of each sentence.
        receipts: For each remark, the proof from the code that confirms or refutes the remark, or
            None. A proof from the code replaces a language model's.
        authors: The comments of each author.
        weights: The learned weights, with the values of real comments and reviews.
    """
    # Text in another language is not flagged if a language model has read it.
    by_model = {at for remark in read.remarks if remark.reading for at in remark.sentences}
    flags = [
        None if flag is Flag.NOT_ENGLISH and index in by_model else flag
        for index, flag in enumerate(flags)
    ]
    for index in _find_repetitions(read, authors):
        flags[index] = flags[index] or Flag.REPEATS
    readings = list(read.sentences)
    for index, flag in enumerate(flags):
        if flag in _EMPTY:
            readings[index] = replace(readings[index], actionable=0.0)
            # A repetition is still about the change; text with another of these flags is not.
            if flag is not Flag.REPEATS:
                readings[index] = replace(readings[index], about=0.0, subject=Subject.ELSEWHERE)
    remarks = [
        replace(remark, receipt=receipt or remark.receipt)
        for remark, receipt in zip(read.remarks, receipts, strict=True)
    ]
    by_comment: dict[int, list[int]] = {}
    for index, remark in enumerate(remarks):
        by_comment.setdefault(remark.comment, []).append(index)
        if all(flags[at] in _EMPTY for at in remark.sentences):
            about = max(readings[at].about for at in remark.sentences)
            remarks[index] = replace(remark, actionable=0.0, about=about, worth=LEAST_WORTH)
        # The code proves that the remark is wrong (docs/design/028-verdicts.md).
        elif remark.verdict is Verdict.REFUTED:
            remarks[index] = replace(remark, worth=LEAST_WORTH)
    scale = _choose_scale(remarks, weights)

    def rank_together(comments: Iterable[int], kind: str = REVIEWS) -> Usefulness | None:
        """Rank some comments as one text; return None if they have no remark."""
        groups = [by_comment[comment] for comment in comments if comment in by_comment]
        if not groups:
            return None
        # The most valuable remark represents its comment.
        best = [max(group, key=lambda index: (remarks[index].worth, -index)) for group in groups]
        aspects = {name: _mean(getattr(read.aspects[i], name) for i in best) for name in ASPECTS}
        return rank(
            {index: remarks[index] for group in groups for index in group},
            _mean(max(remarks[index].about for index in group) for group in groups),
            Aspects(**aspects),
            kind=kind,
            scale=scale,
        )

    count = sum(map(len, authors.values()))
    return Rating(
        readings=tuple(readings),
        flags=tuple(
            flag or (Flag.RESTATES if restates else None)
            for flag, restates in zip(flags, read.restates, strict=True)
        ),
        remarks=tuple(remarks),
        comments=tuple(rank_together([index], COMMENTS) for index in range(count)),
        reviews=tuple(map(rank_together, authors.values())),
        usefulness=rank_together(range(count)),
    )


def _find_repetitions(read: ReviewReadings, authors: Authors) -> Iterator[int]:
    """Yield the sentences of remarks whose author has made them before, but with other names."""
    for comments in map(frozenset, authors.values()):
        counts: Counter[str] = Counter()
        for remark, text in zip(read.remarks, read.masked, strict=True):
            # "`a` -> `b`" has no words that could be the same.
            if remark.comment in comments and len(text.split()) >= MIN_SAME_WORDS:
                if counts[text] >= MAX_SAME_WORDS:
                    yield from remark.sentences
                counts[text] += 1


def _choose_scale(remarks: Sequence[Remark], weights: Weights) -> Scale:
    """Return the scale of a language model if it read any remark, or else the network's."""
    # The network hardly ever gives a remark a worth of 4 or more, so many of a model's values would
    # be above all values of the network's scale.
    if not any(remark.reading for remark in remarks):
        return weights.scale
    # The readers who gave these values followed an older version of the model's guide
    # (MODEL_CARD.md).
    return Scale(values=weights.guide, spread=dict.fromkeys(weights.scale.spread, GUIDE_SPREAD))


def rank(
    remarks: Mapping[int, Remark], about: float, aspects: Aspects, *, kind: str, scale: Scale
) -> Usefulness:
    """Rank a review among real reviews, or a comment among real comments.

    Args:
        remarks: Index in the result -> remark of the review or comment.
        about: Probability that the review or comment is about the change.
        aspects: Estimates of how people would rate the review or comment.
        kind: `REVIEWS` or `COMMENTS`.
        scale: Values of real texts.
    """
    shares, deduction, value = sum_up(remarks)
    people, bots = scale.values[kind, PEOPLE], scale.values[kind, BOTS]
    standing = percentile(np.sort(np.concatenate([people, bots])), value)
    low, middle, high = interval_of(scale.spread[kind], standing)
    # A text with a value of 0 may deserve a higher standing only if a remark in it asks for
    # something and is not refuted.
    if not value and all(
        remark.actionable < ACTIONABLE_FROM or remark.verdict is Verdict.REFUTED
        for remark in remarks.values()
    ):
        high = standing
    valuable = [remark for remark in remarks.values() if remark.is_valuable]
    is_on_topic = any(remark.about >= ON_TOPIC for remark in remarks.values())
    word = next(word for threshold, word in PERCENTILE_WORDS if middle >= threshold)
    return Usefulness(
        about=about,
        importance=max((remark.importance for remark in valuable), default=0.0) / MAX_IMPORTANCE,
        aspects=aspects,
        shares=shares,
        taken_off=deduction,
        value=value,
        standing=standing,
        # The interval is of the standing by readers, so the network's standing may be outside it.
        low=min(low, standing),
        high=max(high, standing),
        among_bots=percentile(bots, value),
        word=word if is_on_topic else OFF_TOPIC,
        against=f"{len(people) + len(bots):,} {kind} by people and bots",
    )


def sum_up(remarks: Mapping[int, Remark]) -> tuple[tuple[Share, ...], float, float]:
    """Add up what the remarks of a review contribute to its value.

    Args:
        remarks: Index in the result -> remark.

    Returns:
        The share of each remark, the most valuable first; the deduction for empty remarks; and the
        value.
    """
    order = sorted(remarks, key=lambda index: (-remarks[index].worth, index))
    shares = tuple(
        Share(remark=index, value=value)
        for index, value in zip(order, gains(remarks[at].worth for at in order), strict=True)
    )
    total = math.fsum(share.value for share in shares)
    empty = sum(not remark.is_valuable for remark in remarks.values())
    deduction = min(EMPTY_DEDUCTION * empty, MAX_DEDUCTION) * total
    return shares, deduction, total - deduction


def gains(worths: Iterable[float]) -> list[float]:
    """Return what each remark adds to the value of a review, the most valuable first.

    The weights of all ranks add up to 1, so that the value of a review is in [0, 1].

    Args:
        worths: Worth of each remark, 1 to 5, in any order.
    """
    shares = [
        (worth - LEAST_WORTH) / (MAX_WORTH - LEAST_WORTH) for worth in sorted(worths, reverse=True)
    ]
    weights = [RANK_DISCOUNT**rank * (1 - RANK_DISCOUNT) for rank in range(len(shares))]
    return [share**GAIN_POWER * weight for share, weight in zip(shares, weights, strict=True)]


def percentile(values: Floats, value: float) -> int:
    """Return the percentage of ascending values below a value; an equal value counts half."""
    # Rounded to the precision of the values, because otherwise equal values would not be found.
    rounded = np.float32(value)
    below = (np.searchsorted(values, rounded) + np.searchsorted(values, rounded, "right")) / 2
    return round(100 * float(below) / max(1, len(values)))


# The intervals covered the readers' standings of 82 % of held-out comments and 80 % of held-out
# reviews (docs/design/010-usefulness.md).
def interval_of(spread: Floats, standing: int) -> tuple[int, int, int]:
    """Return the interval that contains, for 80 % of texts, the standing that readers give.

    Args:
        spread: Table of `Scale.spread`.
        standing: Standing that the network or model of this table gives to a text, 0 to 100.

    Returns:
        Lower end, middle and upper end, each 0 to 100.
    """
    knots, *quantiles = spread.T
    low, middle, high = (round(float(np.interp(standing, knots, row))) for row in quantiles)
    return low, middle, high


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def value_of(worths: Iterable[float]) -> float:
    """Return the value of remarks, given the worth of each, 1 to 5, without any deduction."""
    return math.fsum(gains(worths))
