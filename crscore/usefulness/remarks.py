"""Division of a comment into remarks: the sentences, proposals and code that make one point.

Headings, lead-ins, greetings and sign-offs belong to none. A reason, a consequence or a proposal of
code belongs to the remark before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.records import Sentence
from crscore.text.code_spans import code_names
from crscore.usefulness.reading import GIVES_FROM, TextReading

Floats = npt.NDArray[np.float32]

SAME_POINT_COSINE: Final = 0.45
"""Cosine from which a sentence goes on about the point of the remark before it."""
MAX_LEAD_IN_WORDS: Final = 14
"""Most words of a lead-in ("A few comments:") or a greeting."""
# "This breaks ...", "Otherwise ...", "e.g. ...": goes on about what was just said.
_GOES_ON: Final = re.compile(
    r"(?:this|that|these|those|it|its|they|so|then|thus|hence|otherwise|because|since|which|instead"
    r"|therefore|as a result|for example|for instance|e\.g|i\.e|in that case|same (?:here|for))\b",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"\W*(?:hi|hello|hey|dear|good (?:morning|day|evening)|thanks|thank you|many thanks|cheers|regards"
    r"|(?:best|kind|warm) (?:regards|wishes)|best|sincerely|happy (?:to|coding|new)|let me know"
    r"|looking forward|hope (?:this|that|it)|feel free|please let me know|keep up|have a (?:good|nice"
    r"|great)|great (?:work|job)|nice (?:work|job)|good (?:work|job)|well done|i (?:hope|have reviewed"
    r"|went through|took a look|had a look)|overall|that's all|that is all|no rush|take care)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Group:
    """Columns that make one remark."""

    columns: list[int] = field(default_factory=list)
    gives: bool = False


def divide(
    columns: Sequence[int],
    sentences: Sequence[Sentence],
    vectors: Floats,
    readings: Sequence[TextReading],
) -> list[list[int]]:
    """Divide one comment into remarks.

    Args:
        columns: Its visible sentences and proposals, in the order of the comment.
        sentences: All S sentences.
        vectors: Their unit vectors, shape (S, D).
        readings: Their readings.

    Returns:
        The columns of each remark. Columns that belong to none are in no list.
    """
    remarks: list[Group] = []
    block = -1
    is_alone = len(columns) == 1
    ordered = sorted(columns, key=lambda at: (sentences[at].position.block, at))
    under_heading = False
    for column in ordered:
        sentence = sentences[column]
        if not is_alone and is_frame(sentence, readings[column]):
            under_heading |= sentence.position.is_heading
            continue
        gives = readings[column].gives >= GIVES_FROM or sentence.proposal
        starts_block = sentence.position.block != block
        block = sentence.position.block
        last = remarks[-1] if remarks else None
        if last is None or _begins(
            sentence,
            column,
            last,
            vectors,
            sentences,
            gives=gives,
            starts_block=starts_block,
            under_heading=under_heading,
        ):
            remarks.append(Group())
        under_heading = False
        remarks[-1].columns.append(column)
        remarks[-1].gives |= gives
    return [sorted(remark.columns) for remark in remarks]


def _begins(
    sentence: Sentence,
    column: int,
    last: Group,
    vectors: Floats,
    sentences: Sequence[Sentence],
    *,
    gives: bool,
    starts_block: bool,
    under_heading: bool,
) -> bool:
    """Return whether a sentence begins a new remark."""
    if sentence.proposal:
        return False
    if under_heading:
        return True
    if _GOES_ON.match(sentence.text):
        return False
    if starts_block:
        # A paragraph that gives nothing explains the point before it.
        return gives or not last.gives
    if not (gives and last.gives):
        return False
    names = code_names(sentence.text)
    if any(names & code_names(sentences[at].text) for at in last.columns):
        return False
    return float((vectors[last.columns] @ vectors[column]).max()) < SAME_POINT_COSINE


def is_frame(sentence: Sentence, reading: TextReading) -> bool:
    """Return whether a sentence only frames remarks: a heading, a lead-in, a greeting."""
    if sentence.proposal:
        return False
    if sentence.position.is_heading:
        return True
    if len(sentence.text.split()) > MAX_LEAD_IN_WORDS:
        return False
    return sentence.text.endswith(":") or (
        reading.gives < GIVES_FROM and _POLITE.match(sentence.text) is not None
    )
