"""Joins the readings of the same remarks by a model and by the network.

A comment may contain orders to a model; the network, which follows no orders, reads the same words.
The model's reading is used, but the network's reading limits how high its worth can be.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from crscore.encoders.base import Floats
from crscore.readers.readings import ModelReadings, ReadRemark
from crscore.records import (
    ACTIONABLE_FROM,
    MAX_IMPORTANCE,
    ON_TOPIC,
    Holds,
    Importance,
    ParsedComment,
    Receipt,
    Remark,
    RemarkReading,
    Sentence,
    Verdict,
)
from crscore.review.read import SplitReview
from crscore.scoring.cells import Cells
from crscore.text import count_noun
from crscore.usefulness.reader import ACTING, Reader, doubt_remarks, name_level
from crscore.usefulness.reading import ReviewReadings

# These limits lower 12 % of 689 real comments below what readers with the guide gave, by 0.9 on
# average. With higher limits, a model that obeys an order in a worthless comment raises it more
# (tests/unit/readers/test_reader_setting.py; docs/design/033-readers.md).
MAX_DIFFERENCE: Final = 1.75
"""Maximum difference between two readings of a worth, from 1 to 5, that their errors explain."""
# Readers gave 4 and more to 10 of 280 comments that the network reads as nits.
NIT_WORTH: Final = 3.0
"""Maximum worth of a remark that the network reads as a nit."""
# A model alone cannot refute a remark (docs/design/033-readers.md), so some worth is left.
DOUBTED_WORTH: Final = 2.0
"""Maximum worth of a remark that the model calls wrong without a line of the code."""
# An order to the model could be in a language that the network does not read, so nothing else
# limits it. One or two remarks of this worth have a standing of 6.
UNCHECKED_WORTH: Final = 1.75
"""Maximum worth of a remark that only the model read and for which it quoted no line of the code.
Also the maximum for a text that the network reads as asking for nothing or as off topic."""
ASKS_FROM: Final = 0.75
"""Minimum importance, from 0 to 4, of a remark that gives the author something to answer."""


def read_reviews(
    reader: Reader,
    reviews: Sequence[tuple[Cells, Floats]],
    by_model: Sequence[ModelReadings],
    texts: Sequence[SplitReview],
) -> list[ReviewReadings]:
    """Read reviews by the network, and join the readings with those that a model made.

    Args:
        reader: The network.
        reviews: See `Reader.read`.
        by_model: The model's readings of each review.
        texts: Each review, split into comments and sentences.

    Returns:
        For each review, the model's readings, limited by the network's; the network's readings of
        the remarks that the model did not read.
    """
    placed = [
        place_readings(answers.remarks, text.parsed, text.sentences)
        for answers, text in zip(by_model, texts, strict=True)
    ]
    readings = reader.read_divided(reviews, placed)
    return [
        doubt_remarks(join_readings(read, of_model, text.sentences), text.authors)
        for read, of_model, text in zip(readings, placed, texts, strict=True)
    ]


def place_readings(
    remarks: Mapping[int, Sequence[ReadRemark]],
    parsed: Sequence[ParsedComment],
    sentences: Sequence[Sentence],
) -> dict[tuple[int, ...], RemarkReading]:
    """Find the sentences of a model's remarks in a review.

    Args:
        remarks: Index of a comment -> its remarks.
        parsed: The comments.
        sentences: All sentences of the review. There is no reading for a comment that lost
            sentences because the review is too long, nor for text in another language in a comment
            that the network reads.

    Returns:
        Sentences of a remark -> its reading.
    """
    columns_of: dict[int, list[int]] = {}
    for column, sentence in enumerate(sentences):
        if not sentence.hidden:
            columns_of.setdefault(sentence.comment, []).append(column)
    placed: dict[tuple[int, ...], RemarkReading] = {}
    for comment, of_comment in remarks.items():
        columns = columns_of.get(comment, [])
        if len(columns) != len(parsed[comment].sentences) + len(parsed[comment].proposals):
            continue
        is_foreign = all(sentences[column].unread for column in columns)
        for remark in of_comment:
            remark_columns = tuple(columns[at] for at in remark.columns)
            # A remark in another language inside an English comment may be an order to the model,
            # which the network cannot check.
            if is_foreign or not all(sentences[column].unread for column in remark_columns):
                placed[remark_columns] = remark.reading
    return placed


def join_readings(
    read: ReviewReadings,
    placed: Mapping[tuple[int, ...], RemarkReading],
    sentences: Sequence[Sentence],
) -> ReviewReadings:
    """Join a model's readings with the network's of the same remarks.

    Args:
        read: The network's readings, divided into the same remarks as `placed` where it has any.
        placed: The model's readings.
        sentences: All sentences of the review. Text that the network does not read, because it is
            in another language, is read by the model alone.

    Returns:
        The model's readings, limited by the network's; the network's where the model has none.
    """
    readings = [placed.get(remark.sentences) for remark in read.remarks]
    pairs = [
        _read_alone(remark, reading)
        if reading and all(sentences[column].unread for column in remark.sentences)
        else (remark, reading)
        for remark, reading in zip(read.remarks, readings, strict=True)
    ]
    # An order to the model is also a text of the comment. If the model gives it a high worth, but
    # the network reads it as no remark, then the order has swayed the model.
    swayed = {
        remark.comment
        for remark, reading in pairs
        if reading and remark.actionable < ACTIONABLE_FROM and reading.worth > _limit_worth(remark)
    }
    visible = [sentence for sentence in sentences if not sentence.hidden]
    unread, english = (
        {sentence.comment for sentence in visible if sentence.unread is kind}
        for kind in (True, False)
    )
    swayed |= unread & english
    remarks = tuple(
        _join(remark, reading, _limit_worth(remark, is_swayed=remark.comment in swayed))
        if reading
        else remark
        for remark, reading in pairs
    )
    limited = sum(remark.is_limited for remark in remarks)
    note = (
        f"The language model values {limited:,} of {count_noun(len(pairs), 'remark')} so far above "
        "the network that their worth is limited."
    )
    return replace(read, remarks=remarks, notes=(*read.notes, note) if limited else read.notes)


def _read_alone(remark: Remark, reading: RemarkReading) -> tuple[Remark, RemarkReading]:
    """Return both readings of a remark that only the model reads, as if the network agreed."""
    if reading.line is None:
        reading = replace(reading, worth=min(reading.worth, UNCHECKED_WORTH))
    # The model's worth of 1 includes remarks on another change; only the network recognizes these.
    return replace(remark, worth=reading.worth, about=float(reading.worth > 1)), reading


def _limit_worth(remark: Remark, *, is_swayed: bool = False) -> float:
    """Return the highest worth that a model, perhaps swayed by an order, may give to a remark."""
    # Only a higher worth is limited, because an order in a comment would demand one.
    if is_swayed or remark.actionable < ACTIONABLE_FROM or remark.about < ON_TOPIC:
        return max(UNCHECKED_WORTH, remark.worth)
    limit = remark.worth + MAX_DIFFERENCE
    return min(limit, max(NIT_WORTH, remark.worth)) if remark.level is Importance.NIT else limit


def _join(remark: Remark, reading: RemarkReading, limit: float) -> Remark:
    asks = reading.importance >= ASKS_FROM and reading.stance in ACTING
    receipt = None
    # Only a quoted line of the code is a proof.
    if reading.line is not None and reading.holds is not Holds.OPEN:
        reason = reading.why.rstrip(".!") or "this line decides it"
        receipt = Receipt(
            verdict=Verdict.REFUTED if reading.holds is Holds.NO else Verdict.CONFIRMED,
            says="",
            # Readers must know that the line was looked up, but what it means was not checked.
            fact=f"{reason}, as a language model reads it.",
            lines=(reading.line,),
        )
    return replace(
        remark,
        stance=reading.stance,
        actionable=float(asks),
        importance=reading.importance,
        level=name_level(reading.importance / MAX_IMPORTANCE),
        worth=min(reading.worth, limit, DOUBTED_WORTH if reading.is_doubt else limit),
        specific=reading.specific,
        acts=reading.acts,
        reading=reading,
        receipt=receipt,
    )
