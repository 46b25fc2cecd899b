"""Joins the readings of the same remarks by a model and by the network.

A comment may contain orders to a model; the network, which cannot be ordered, reads the same words.
The model's reading counts, but its worth is limited by the network's.
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

# With these limits, 12 % of 689 real comments are worth less than readers with the guide said, by
# 0.9 on average. With higher ones, a model that obeys gives more to worthless comments with orders
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
"""Maximum worth of a remark that the model alone reads, without a line of the code, and of a text
that, as the network reads it, asks for nothing or is not about the change."""
ASKS_FROM: Final = 0.75
"""Minimum importance, from 0 to 4, of a remark that gives the author something to answer."""


def read_reviews(
    reader: Reader,
    reviews: Sequence[tuple[Cells, Floats]],
    by_model: Sequence[ModelReadings],
    texts: Sequence[SplitReview],
) -> list[ReviewReadings]:
    """Read reviews with their changes, also by a model.

    Args:
        reader: The network.
        reviews: See `Reader.read`.
        by_model: The readings of each by the model.
        texts: The parts of each.

    Returns:
        The readings that count, of each review.
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
            # Otherwise it may be an order to the model in another language, which the network
            # cannot check.
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
        read: The network's readings; remarks whose sentences the model names are divided as there.
        placed: The model's readings.
        sentences: All sentences of the review. Text that the network does not read, because it is
            in another language, is read by the model alone.

    Returns:
        The readings that count.
    """
    readings = [placed.get(remark.sentences) for remark in read.remarks]
    pairs = [
        _read_alone(remark, reading)
        if reading and all(sentences[column].unread for column in remark.sentences)
        else (remark, reading)
        for remark, reading in zip(read.remarks, readings, strict=True)
    ]
    # The model reads the order to itself, too, in which the network as a rule sees no remark.
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
        f"The model values {limited:,} of {count_noun(len(pairs), 'remark')} so far above the "
        "network that the worth is limited."
    )
    return replace(read, remarks=remarks, notes=(*read.notes, note) if limited else read.notes)


def _read_alone(remark: Remark, reading: RemarkReading) -> tuple[Remark, RemarkReading]:
    """Return both readings of a remark that only the model reads, as if the network agreed."""
    if reading.line is None:
        reading = replace(reading, worth=min(reading.worth, UNCHECKED_WORTH))
    # The model's worth of 1 includes remarks on another change; only the network recognizes these.
    return replace(remark, worth=reading.worth, about=float(reading.worth > 1)), reading


def _limit_worth(remark: Remark, *, is_swayed: bool = False) -> float:
    """Return the highest worth that a model, maybe swayed, may give what the network read."""
    # Only upwards: an order in a comment would demand a higher worth.
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
