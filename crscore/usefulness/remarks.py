"""Divides comments into remarks: the sentences, proposals and code that make one point.

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

# With this value, `_REFERS_BACK` and `_ADDS`, 84 % of 3,000 real comments have as many remarks as
# readers counted points. Without `_ADDS`, 82 % have as many. With 0.45, and if `_REFERS_BACK`
# matched only a pronoun as the first word, 77 % have as many (docs/design/010-usefulness.md).
SAME_POINT_COSINE: Final = 0.35
"""Minimum cosine with a sentence of the previous remark for a sentence that continues its point."""
# Limited, so that the time is linear in the number of sentences of a paragraph.
MAX_COMPARED: Final = 8
"""Maximum number of sentences at the end of a remark that the next sentence is compared with."""
MAX_LEAD_IN_WORDS: Final = 14
"""Maximum number of words of a lead-in ("A few comments:") or a greeting."""
# "This breaks ...", "Could it ...", "Otherwise ...": continues the point of the previous sentence.
_REFERS_BACK: Final = re.compile(
    r"(?:\w+ ){0,2}?(?:this|that|these|those|it|its|they|so|then|thus|hence|otherwise|because|since"
    r"|which|instead|therefore|as a result|for example|for instance|e\.g|i\.e|in that case"
    r"|same (?:here|for))\b",
    re.IGNORECASE,
)
# "Also, ...", "And the ...": begins another point.
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
    known_remarks: Iterable[tuple[int, ...]],
) -> list[tuple[tuple[int, ...], str]]:
    """Divide the comments of a review into remarks.

    Args:
        sentences: All S sentences and proposals of the review. Hidden ones are left out, and so are
            those in other languages, unless they are in `known_remarks`.
        vectors: Unit vectors of the sentences, shape (S, D).
        readings: Readings of the sentences.
        known_remarks: Indices of the sentences of each remark that a language model has found. The
            other sentences of a comment with such remarks are divided as well, but only the remarks
            that give the author something to answer are asking.

    Returns:
        For each remark, the indices of its sentences and proposals, and its text; in the order of
        the comments.
    """
    visible: dict[int, list[int]] = {}
    for index, sentence in enumerate(sentences):
        if not (sentence.hidden or sentence.unread):
            visible.setdefault(sentence.comment, []).append(index)
    fixed_in: dict[int, list[tuple[int, ...]]] = {}
    for remark_indices in known_remarks:
        fixed_in.setdefault(sentences[remark_indices[0]].comment, []).append(remark_indices)
    remarks: list[Sequence[int]] = []
    for comment in sorted({*visible, *fixed_in}):
        fixed = fixed_in.get(comment, ())
        free = [
            index
            for index in visible.get(comment, ())
            if not any(index in remark for remark in fixed)
        ]
        of_comment: list[Sequence[int]] = [*divide_comment(free, sentences, vectors, readings)]
        if fixed:
            actionable = {at for at in free if readings[at].actionable >= ACTIONABLE_FROM}
            asking = [remark for remark in of_comment if not actionable.isdisjoint(remark)]
            of_comment = sorted([*fixed, *asking], key=min)
        remarks += of_comment
    return [(tuple(remark), _join(remark, sentences)) for remark in remarks]


def divide_comment(
    indices: Sequence[int],
    sentences: Sequence[Sentence],
    vectors: Floats,
    readings: Sequence[TextReading],
) -> list[list[int]]:
    """Divide one comment into remarks.

    Args:
        indices: Indices of the comment's visible sentences and proposals, in the order of the
            comment.
        sentences: All S sentences and proposals of the review.
        vectors: Unit vectors of the sentences, shape (S, D).
        readings: Readings of the sentences.

    Returns:
        The indices of the sentences and proposals of each remark. There is at least one remark,
        unless `indices` is empty. Headings, greetings and the like belong to no remark.
    """
    remarks: list[list[int]] = []
    # The names in the code spans of the last remark, and whether the remark is actionable.
    last_names, was_actionable = set[str](), False
    remark_indices = _find_remark_sentences(indices, sentences, readings)
    block, under_heading = -1, False
    actionable_blocks = {
        sentences[index].position.block
        for index in remark_indices
        if readings[index].actionable >= ACTIONABLE_FROM and not sentences[index].proposal
    }
    for index in sorted(indices, key=lambda at: (sentences[at].position.block, at)):
        sentence = sentences[index]
        if index not in remark_indices:
            under_heading |= sentence.position.is_heading
            continue
        is_actionable = readings[index].actionable >= ACTIONABLE_FROM or sentence.proposal
        names = code_names(sentence.text)
        starts_block = sentence.position.block != block
        if not remarks:
            begins = True
        # A proposal begins no remark, not even under a heading, because the heading may be the
        # title of a folded suggestion ("Committable suggestion").
        elif sentence.proposal or under_heading or _REFERS_BACK.match(sentence.text):
            begins = under_heading and not sentence.proposal
        elif starts_block:
            # A paragraph that is not actionable explains the point before it.
            begins = sentence.position.block in actionable_blocks or not was_actionable
        else:
            last = remarks[-1]
            cosines = vectors[last[-MAX_COMPARED:]] @ vectors[index]
            is_near = bool(names & last_names) or float(cosines.max()) >= SAME_POINT_COSINE
            begins = is_actionable and was_actionable and not is_near
            if begins and readings[last[-1]].stance is Stance.PROBLEM:
                # A request right after a problem asks for the remedy of the problem.
                asks = readings[index].stance in (Stance.REQUEST, Stance.PROPOSAL)
                begins = not asks or _ADDS.match(sentence.text) is not None
        if begins:
            remarks.append([])
            last_names, was_actionable = set(), False
        remarks[-1].append(index)
        last_names |= names
        was_actionable |= is_actionable
        block, under_heading = sentence.position.block, False
    return [sorted(remark) for remark in remarks]


def _find_remark_sentences(
    indices: Sequence[int], sentences: Sequence[Sentence], readings: Sequence[TextReading]
) -> set[int]:
    """Return the indices of the sentences that belong to remarks.

    If all sentences of a comment only frame remarks (`is_frame`), the actionable ones belong to
    remarks. If no sentence is actionable, all sentences but the headings do, or else the headings.
    """
    return (
        {index for index in indices if not is_frame(sentences[index], readings[index])}
        or {index for index in indices if readings[index].actionable >= ACTIONABLE_FROM}
        or {index for index in indices if not sentences[index].position.is_heading}
        or set(indices)
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
    # "Please use the following:" is a lead-in, but "Please use a set here:" is a point.
    return leads_in and _ANNOUNCES.search(sentence.text) is not None


def _join(indices: Sequence[int], sentences: Sequence[Sentence]) -> str:
    """Return the text of a remark: its sentences or, if there are none, its proposals."""
    texts = [sentences[index].text for index in indices if not sentences[index].proposal]
    texts = texts or [sentences[index].text for index in indices]
    # Repetitions are left out, because the network would read a repeated point as more important.
    return " ".join(compress(texts, map(operator.not_, find_repeats(texts))))
