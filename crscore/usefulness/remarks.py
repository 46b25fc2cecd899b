"""Division of a comment into remarks: the sentences, proposals and code that make one point.

Headings, lead-ins, greetings and sign-offs belong to no remark. A reason, a consequence or a
proposal of code belongs to the remark before it.
"""

import operator
import re
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.matchers.guards import find_repeats
from crscore.records import ACTIONABLE_FROM, Sentence, Stance
from crscore.text import code_names
from crscore.usefulness.reading import TextReading

Floats = npt.NDArray[np.float32]

# With this value, `_GOES_ON` and `_ADDS`, 84 % of 3,000 real comments have as many remarks as
# readers counted points. Without `_ADDS`, 82 % have; with 0.45 and a pronoun as the first word,
# only 77 % (docs/design/010-usefulness.md).
SAME_POINT_COSINE: Final = 0.35
"""Minimum cosine of a sentence that continues the point of the remark before it."""
# A limit, so that the time is linear in the sentences of a paragraph.
MAX_COMPARED: Final = 8
"""Maximum number of last sentences of a remark that the next sentence is compared with."""
MAX_LEAD_IN_WORDS: Final = 14
"""Maximum number of words of a lead-in ("A few comments:") or a greeting."""
# "This breaks ...", "Could it ...", "Otherwise ...": continues the point of the sentence before.
_GOES_ON: Final = re.compile(
    r"(?:\w+ ){0,2}?(?:this|that|these|those|it|its|they|so|then|thus|hence|otherwise|because|since"
    r"|which|instead|therefore|as a result|for example|for instance|e\.g|i\.e|in that case"
    r"|same (?:here|for))\b",
    re.IGNORECASE,
)
_ADDS: Final = re.compile(
    r"\W*(?:also|and|additionally|furthermore|moreover|second|secondly|finally|lastly|separately"
    r"|besides|another|while)\b",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"\W*(?:hi|hello|hey|dear|good (?:morning|day|evening)|thanks|thank you|many thanks|cheers"
    r"|(?:(?:best|kind|warm) )?regards|(?:best|kind|warm) wishes|best|sincerely"
    r"|happy (?:to|coding|new)|(?:please )?let me know|looking forward|hope (?:this|that|it)"
    r"|feel free|keep up|have a (?:good|nice|great)|(?:great|nice|good) (?:work|job)|well done"
    r"|i (?:hope|have reviewed|went through|took a look|had a look)|overall|that's all"
    r"|that is all|no rush|take care)\b",
    re.IGNORECASE,
)
_ANNOUNCES: Final = re.compile(r"\b(?:following|below)\b", re.IGNORECASE)


def divide(
    sentences: Sequence[Sentence],
    vectors: Floats,
    readings: Sequence[TextReading],
    divided: Iterable[tuple[int, ...]],
) -> list[tuple[tuple[int, ...], str]]:
    """Divide the comments of a review into remarks.

    Args:
        sentences: All S sentences and proposals; those that are hidden or unread are left out.
        vectors: Their unit vectors, shape (S, D).
        readings: Their readings.
        divided: The sentences of each remark that is known; the rest of such a comment is a remark
            only where it gives the author something to answer.

    Returns:
        The sentences of each remark and its text, in the order of the comments.
    """
    visible: dict[int, list[int]] = {}
    for column, sentence in enumerate(sentences):
        if not (sentence.hidden or sentence.unread):
            visible.setdefault(sentence.comment, []).append(column)
    fixed_in: dict[int, list[tuple[int, ...]]] = {}
    for remark_columns in divided:
        fixed_in.setdefault(sentences[remark_columns[0]].comment, []).append(remark_columns)
    remarks: list[Sequence[int]] = []
    for comment in sorted({*visible, *fixed_in}):
        fixed = fixed_in.get(comment, ())
        rest = [
            column
            for column in visible.get(comment, ())
            if not any(column in remark for remark in fixed)
        ]
        of_comment: list[Sequence[int]] = [*divide_comment(rest, sentences, vectors, readings)]
        if fixed:
            actionable = {at for at in rest if readings[at].actionable >= ACTIONABLE_FROM}
            of_rest = [remark for remark in of_comment if not actionable.isdisjoint(remark)]
            of_comment = sorted([*fixed, *of_rest], key=min)
        remarks += of_comment
    return [(tuple(remark), _join(remark, sentences)) for remark in remarks]


def divide_comment(
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
        The columns of each remark, at least one unless there are none. Columns of no remark are in
        no list.
    """
    remarks: list[list[int]] = []
    # Of the last remark: names in its code spans, and whether it is actionable.
    last_names, was_actionable = set[str](), False
    remark_columns = _remark_columns(columns, sentences, readings)
    block, under_heading = -1, False
    actionable_blocks = {
        sentences[column].position.block
        for column in remark_columns
        if readings[column].actionable >= ACTIONABLE_FROM and not sentences[column].proposal
    }
    for column in sorted(columns, key=lambda at: (sentences[at].position.block, at)):
        sentence = sentences[column]
        if column not in remark_columns:
            under_heading |= sentence.position.is_heading
            continue
        is_actionable = readings[column].actionable >= ACTIONABLE_FROM or sentence.proposal
        names = code_names(sentence.text)
        starts_block = sentence.position.block != block
        if not remarks:
            begins = True
        # The title above a folded suggestion ("Committable suggestion") begins no remark.
        elif sentence.proposal or under_heading or _GOES_ON.match(sentence.text):
            begins = under_heading and not sentence.proposal
        elif starts_block:
            # A paragraph without a point of its own explains the point before it.
            begins = sentence.position.block in actionable_blocks or not was_actionable
        else:
            last = remarks[-1]
            cosines = vectors[last[-MAX_COMPARED:]] @ vectors[column]
            is_near = bool(names & last_names) or float(cosines.max()) >= SAME_POINT_COSINE
            begins = is_actionable and was_actionable and not is_near
            if begins and readings[last[-1]].stance is Stance.PROBLEM:
                # A request after a problem is its remedy.
                asks = readings[column].stance in (Stance.REQUEST, Stance.PROPOSAL)
                begins = not asks or _ADDS.match(sentence.text) is not None
        if begins:
            remarks.append([])
            last_names, was_actionable = set(), False
        remarks[-1].append(column)
        last_names |= names
        was_actionable |= is_actionable
        block, under_heading = sentence.position.block, False
    return [sorted(remark) for remark in remarks]


def _remark_columns(
    columns: Sequence[int], sentences: Sequence[Sentence], readings: Sequence[TextReading]
) -> set[int]:
    """Return the columns that belong to remarks.

    If all sentences of a comment are frames (`is_frame`), those that are actionable belong to
    remarks; if none is, all but the headings.
    """
    return (
        {column for column in columns if not is_frame(sentences[column], readings[column])}
        or {column for column in columns if readings[column].actionable >= ACTIONABLE_FROM}
        or {column for column in columns if not sentences[column].position.is_heading}
        or set(columns)
    )


def is_frame(sentence: Sentence, reading: TextReading) -> bool:
    """Return whether a sentence only frames remarks: a heading, a lead-in, a greeting."""
    if sentence.proposal or sentence.position.is_heading:
        return not sentence.proposal
    if len(sentence.text.split()) > MAX_LEAD_IN_WORDS:
        return False
    leads_in = sentence.text.endswith(":")
    if reading.actionable < ACTIONABLE_FROM:
        is_praise = reading.stance is Stance.PRAISE
        return leads_in or is_praise or _POLITE.match(sentence.text) is not None
    # "Please use a set here:" is a separate point.
    return leads_in and _ANNOUNCES.search(sentence.text) is not None


def _join(columns: Sequence[int], sentences: Sequence[Sentence]) -> str:
    """Return the text of a remark: its sentences or, without any, its proposals, each once."""
    texts = [sentences[column].text for column in columns if not sentences[column].proposal]
    texts = texts or [sentences[column].text for column in columns]
    # A repeated point would be read as a more important one.
    return " ".join(compress(texts, map(operator.not_, find_repeats(texts))))
