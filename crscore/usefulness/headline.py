"""Headline of a review: the value of its remarks for the author of the change.

    value = 0.4 times the sum of gain_i * 0.6 ** i, the most valuable first, minus 5 % per empty one

with the gain ((worth - 1) / 4) ** 3. The value is reported as its percentile among real reviews.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.records import (
    LEAST_WORTH,
    MAX_IMPORTANCE,
    MAX_WORTH,
    OFF_TOPIC,
    ON_TOPIC,
    Aspects,
    Flag,
    Importance,
    Receipt,
    Remark,
    Share,
    Subject,
    Usefulness,
    Verdict,
)
from crscore.scoring.assembly import Rating
from crscore.usefulness.reading import ReviewReadings, logit, sigmoid
from crscore.usefulness.scale import BOTS, PEOPLE, Scale, gains, percentile

Floats = npt.NDArray[np.float32]

EMPTY_DEDUCTION: Final = 0.05
"""Share of the value that is deducted for an empty remark."""
MAX_DEDUCTION: Final = 0.25
"""Maximum share of the value that is deducted for empty remarks."""
SURELY_ABOUT: Final = 0.7
"""Minimum probability of being about the change for the whole worth of a remark to count."""
DOUBT: Final = 0.5
"""Share of the mean log-odds of an author's other remarks that lowers those of one: with 1, a
review that is rephrased as questions moves farther."""
MAX_DOUBT: Final = 4.0
"""Maximum log-odds of one of these other remarks."""
# Each level is as frequent as in ratings by people.
LEVELS: Final = (
    (0.88, Importance.CRITICAL),
    (0.66, Importance.MAJOR),
    (0.38, Importance.MINOR),
    (0.0, Importance.NIT),
)
"""Minimum importance for each level, highest first."""
REVIEWS: Final = "reviews"
COMMENTS: Final = "comments"
KINDS: Final = (REVIEWS, COMMENTS)
"""Kinds of texts that are compared with each other."""
PERCENTILE_WORDS: Final = (
    (75, "very useful"),
    (50, "useful"),
    (25, "of some use"),
    (0, "of little use"),
)
"""Minimum percentile for each word, highest first."""


ASPECTS: Final = Aspects.__struct_fields__
_UNREAD: Final = (Flag.HIDDEN, Flag.REPEATS, Flag.NO_SENTENCE, Flag.NOT_ENGLISH)
"""Flags of sentences that give the author nothing."""


def rate(
    read: ReviewReadings,
    flags: Sequence[Flag | None],
    receipts: Sequence[Receipt | None],
    authors: Mapping[str | None, Sequence[int]],
    scale: Scale,
) -> Rating:
    """Rate the comments on a change singly, by author and all together.

    Args:
        read: The readings of the review.
        flags: The matcher's flag of each sentence.
        receipts: Proof for or against each remark by the code, which counts before a model's; None
            without proof.
        authors: Indices of each author's comments, in order of first appearance.
        scale: Values of real comments and reviews.
    """
    # What the network does not read may have been read by a language model.
    by_model = {at for remark in read.remarks if remark.reading for at in remark.sentences}
    flags = [
        None if flag is Flag.NOT_ENGLISH and column in by_model else flag
        for column, flag in enumerate(flags)
    ]
    readings = list(read.sentences)
    for column, flag in enumerate(flags):
        if flag in _UNREAD:
            readings[column] = replace(readings[column], gives=0.0)
            # A repetition is still about the change; hidden text counts as off topic.
            if flag is not Flag.REPEATS:
                readings[column] = replace(readings[column], about=0.0, subject=Subject.ELSEWHERE)
    remarks = [
        replace(remark, receipt=receipt or remark.receipt)
        for remark, receipt in zip(_doubt_remarks(read.remarks, authors), receipts, strict=True)
    ]
    by_comment: dict[int, list[int]] = {}
    for index, remark in enumerate(remarks):
        by_comment.setdefault(remark.comment, []).append(index)
        if all(flags[column] in _UNREAD for column in remark.sentences):
            about = max(readings[column].about for column in remark.sentences)
            remarks[index] = replace(remark, gives=0.0, about=about, worth=LEAST_WORTH)
        # The code proves that it is wrong (docs/design/028-verdicts.md).
        elif remark.verdict is Verdict.REFUTED:
            remarks[index] = replace(remark, worth=LEAST_WORTH)

    def rank_together(comments: Iterable[int], kind: str = REVIEWS) -> Usefulness | None:
        """Rank some comments; None without a remark."""
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


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def weigh_worth(expected: float, about: float) -> float:
    """Return the worth of a remark, 1 to 5.

    Args:
        expected: Its expected worth if it is about the change, as a share of the scale, in [0, 1].
        about: Probability that it is.
    """
    return LEAST_WORTH + (MAX_WORTH - LEAST_WORTH) * expected * trust(about)


def trust(about: float) -> float:
    """Return the share of the worth that counts, in [0, 1], for a probability to be on topic."""
    return min(1.0, about / SURELY_ABOUT) if about >= ON_TOPIC else 0.0


def doubt(abouts: Sequence[float]) -> list[float]:
    """Lower the probabilities of an author's remarks whose other remarks are about something else.

    A remark about another change may share words with this one by chance; its neighbours rarely all
    do. They never raise it: true remarks may not carry one that is not on topic.

    Args:
        abouts: Probability that each of an author's remarks is about the change.
    """
    # Of real reviews on another change of the same repository, 28 % of the worth counts instead of
    # 35 %, on their own 82 % as before (`python benchmarks/usefulness.py DATA`).
    logits = [max(-MAX_DOUBT, min(MAX_DOUBT, logit(about))) for about in abouts]
    neighbours = max(1, len(logits) - 1)
    means = [DOUBT * (math.fsum(logits) - value) / neighbours for value in logits]
    return [
        min(about, sigmoid(logit(about) + mean)) if mean < 0 else about
        for about, mean in zip(abouts, means, strict=True)
    ]


def _doubt_remarks(
    remarks: Sequence[Remark], authors: Mapping[str | None, Sequence[int]]
) -> Iterator[Remark]:
    abouts = [remark.about for remark in remarks]
    for comments in map(frozenset, authors.values()):
        of_author = [at for at, remark in enumerate(remarks) if remark.comment in comments]
        for at, about in zip(of_author, doubt([abouts[at] for at in of_author]), strict=True):
            abouts[at] = about
    for remark, about in zip(remarks, abouts, strict=True):
        # A language model has judged by the code whether its remark is on topic.
        if remark.reading is None and about < remark.about:
            counted = trust(remark.about)
            share = trust(about) / counted if counted else 0.0
            worth = LEAST_WORTH + (remark.worth - LEAST_WORTH) * share
            yield replace(remark, about=about, worth=worth)
        else:
            yield remark


def name_level(importance: float) -> Importance:
    """Return the level of an importance."""
    return next(level for threshold, level in LEVELS if importance >= threshold)


def value_of(worths: Iterable[float]) -> float:
    """Return the value of remarks by their worth, 1 to 5, without a deduction."""
    return math.fsum(gains(worths))


def sum_up(remarks: Mapping[int, Remark]) -> tuple[tuple[Share, ...], float, float]:
    """Join the remarks of a review.

    Args:
        remarks: Index in the result -> remark.

    Returns:
        The share of each remark, the deduction for empty remarks, and the value.
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


def rank(
    remarks: Mapping[int, Remark], about: float, aspects: Aspects, *, kind: str, scale: Scale
) -> Usefulness:
    """Rank a review among real reviews, or a comment among real comments.

    Args:
        remarks: Its remarks: index in the result -> remark.
        about: Probability that it is about the change.
        aspects: Estimates of how people would rate it.
        kind: `REVIEWS` or `COMMENTS`.
        scale: Values of real texts.
    """
    shares, deduction, value = sum_up(remarks)
    people, bots = scale.values[kind, PEOPLE], scale.values[kind, BOTS]
    standing = percentile(np.sort(np.concatenate([people, bots])), value)
    low, middle, high = scale.interval(kind, standing)
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
        # The interval is of the standing by readers, which may be far from the network's.
        low=min(low, standing),
        high=max(high, standing),
        among_bots=percentile(bots, value),
        word=word if is_on_topic else OFF_TOPIC,
        against=f"{len(people) + len(bots):,} {kind} by people and bots",
    )
