"""Joins a language model's readings of remarks with the network's readings of the same remarks.

A comment may contain instructions to a language model (prompt injection). The network reads the
same words but cannot follow instructions. So the model's readings are used, but the network's
readings limit the worth that a model may give to a remark.
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
from crscore.usefulness.reader import ACTING, Reader, discount_off_topic, name_level
from crscore.usefulness.reading import ReviewReadings

# These limits put 12 % of 689 real comments below the worth that readers who followed the guide
# gave them, by 0.9 on average. With higher limits, a model that obeys an instruction in a worthless
# comment could overrate the comment more (tests/unit/readers/test_reader_setting.py;
# docs/design/033-readers.md).
MAX_DIFFERENCE: Final = 1.75
"""Maximum by which the model's worth of a remark may exceed the network's; a worth is 1 to 5."""
# Readers gave a worth of 4 or more to only 10 of 280 comments that the network reads as nits.
NIT_WORTH: Final = 3.0
"""Maximum worth of a remark that the network reads as a nit."""
# Without a line as proof, a model cannot refute a remark (docs/design/033-readers.md), so the
# remark keeps some worth.
DOUBTED_WORTH: Final = 2.0
"""Maximum worth of a remark that the model calls wrong without quoting a line of the code."""
# An instruction to the model may be in a language that the network does not read, so the network
# cannot limit the remark's worth. A review with one or two such remarks has a standing of 6.
UNCHECKED_WORTH: Final = 1.75
"""Maximum worth of a remark that only the model read and for which it quoted no line of the code.
It also limits remarks that ask for nothing, that are off topic, or whose comment seems to have
swayed the model, unless the network rates them higher."""
ASKS_FROM: Final = 0.75
"""Minimum importance, from 0 to 4, of a remark that needs an answer by the author of the change."""


def read_reviews(
    reader: Reader,
    reviews: Sequence[tuple[Cells, Floats]],
    by_model: Sequence[ModelReadings],
    texts: Sequence[SplitReview],
) -> list[ReviewReadings]:
    """Read reviews with the network, and join its readings with those of a language model.

    Args:
        reader: The network.
        reviews: The reviews, as for `Reader.read`.
        by_model: The model's readings of each review.
        texts: Each review, split into comments and sentences.

    Returns:
        The readings of each review: the model's, limited by the network's, or the network's alone
        for remarks that the model did not read.
    """
    placed = [
        place_readings(answers.remarks, text.parsed, text.sentences)
        for answers, text in zip(by_model, texts, strict=True)
    ]
    readings = reader.read_undiscounted(reviews, placed)
    return [
        discount_off_topic(join_readings(read, of_model, text.sentences), text.authors)
        for read, of_model, text in zip(readings, placed, texts, strict=True)
    ]


def place_readings(
    remarks: Mapping[int, Sequence[ReadRemark]],
    parsed: Sequence[ParsedComment],
    sentences: Sequence[Sentence],
) -> dict[tuple[int, ...], RemarkReading]:
    """Convert indices in a comment to indices in the review, for a model's remarks.

    Two kinds of readings are left out: those of a comment that lost sentences because the review is
    too long, and those of a remark in another language in a comment that is otherwise English.

    Args:
        remarks: Index of a comment -> its remarks.
        parsed: The comments.
        sentences: All sentences and proposals of the review.

    Returns:
        Indices of the sentences and proposals of a remark in the review -> its reading.
    """
    indices_of: dict[int, list[int]] = {}
    for index, sentence in enumerate(sentences):
        if not sentence.hidden:
            indices_of.setdefault(sentence.comment, []).append(index)
    placed: dict[tuple[int, ...], RemarkReading] = {}
    for comment, of_comment in remarks.items():
        indices = indices_of.get(comment, [])
        if len(indices) != len(parsed[comment].sentences) + len(parsed[comment].proposals):
            continue
        is_foreign = all(sentences[index].unread for index in indices)
        for remark in of_comment:
            in_review = tuple(indices[index] for index in remark.indices)
            # In an English comment, a remark in another language may be an instruction to the
            # model, and the network could not check it.
            if is_foreign or not all(sentences[index].unread for index in in_review):
                placed[in_review] = remark.reading
    return placed


def join_readings(
    read: ReviewReadings,
    placed: Mapping[tuple[int, ...], RemarkReading],
    sentences: Sequence[Sentence],
) -> ReviewReadings:
    """Join a model's readings of remarks with the network's readings of the same remarks.

    Remarks in another language than English are read by the model alone.

    Args:
        read: The network's readings of the remarks in `placed` and of further remarks.
        placed: The model's readings, as `place_readings` returns them.
        sentences: All sentences and proposals of the review.

    Returns:
        The model's readings, limited by the network's, or the network's alone for remarks that the
        model did not read.
    """
    readings = [placed.get(remark.sentences) for remark in read.remarks]
    pairs = [
        _read_alone(remark, reading)
        if reading and all(sentences[index].unread for index in remark.sentences)
        else (remark, reading)
        for remark, reading in zip(read.remarks, readings, strict=True)
    ]
    # An instruction to the model is itself divided into remarks. If the model gives a high
    # worth to one that, according to the network, asks the author of the change for nothing, then
    # the model has probably obeyed the instruction and must not raise any remark of the comment.
    swayed = {
        remark.comment
        for remark, reading in pairs
        if reading and remark.actionable < ACTIONABLE_FROM and reading.worth > _limit_worth(remark)
    }
    visible = [sentence for sentence in sentences if not sentence.hidden]
    foreign, english = (
        {sentence.comment for sentence in visible if sentence.unread is kind}
        for kind in (True, False)
    )
    # In an English comment, a sentence in another language may be an instruction to the model.
    swayed |= foreign & english
    remarks = tuple(
        _join(remark, reading, _limit_worth(remark, is_swayed=remark.comment in swayed))
        if reading
        else remark
        for remark, reading in pairs
    )
    limited = sum(remark.is_limited for remark in remarks)
    note = (
        f"The language model rates {limited:,} of {count_noun(len(pairs), 'remark')} so much "
        "higher than the network does that their worth is limited."
    )
    return replace(read, remarks=remarks, notes=(*read.notes, note) if limited else read.notes)


def _read_alone(remark: Remark, reading: RemarkReading) -> tuple[Remark, RemarkReading]:
    """Return a remark that only the model can read, with the model's reading of it.

    The worth of the remark, and how likely it is about the change, are the model's.
    """
    if reading.line is None:
        reading = replace(reading, worth=min(reading.worth, UNCHECKED_WORTH))
    # The model gives a worth of 1 to empty remarks and to remarks on another change; only the
    # network could distinguish the two. So a remark that is worth 1 is treated as off topic.
    return replace(remark, worth=reading.worth, about=float(reading.worth > 1)), reading


def _limit_worth(remark: Remark, *, is_swayed: bool = False) -> float:
    """Return the highest worth that a model may give to a remark.

    `is_swayed` means that the model seems to have obeyed an instruction in the comment.
    """
    # There is no lower limit, because an instruction in a comment would demand a high worth.
    if is_swayed or remark.actionable < ACTIONABLE_FROM or remark.about < ON_TOPIC:
        return max(UNCHECKED_WORTH, remark.worth)
    limit = remark.worth + MAX_DIFFERENCE
    return min(limit, max(NIT_WORTH, remark.worth)) if remark.level is Importance.NIT else limit


def _join(remark: Remark, reading: RemarkReading, limit: float) -> Remark:
    asks = reading.importance >= ASKS_FROM and reading.stance in ACTING
    receipt = None
    # Without a quoted line of the code there is no proof.
    if reading.line is not None and reading.holds is not Holds.OPEN:
        reason = reading.why.rstrip(".!") or "this line shows whether the remark is right"
        receipt = Receipt(
            verdict=Verdict.REFUTED if reading.holds is Holds.NO else Verdict.CONFIRMED,
            says="",
            # crscore checked that the line exists, but not the model's conclusion from it.
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
