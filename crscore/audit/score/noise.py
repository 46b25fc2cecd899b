"""Comments that are useless to the author of a change."""

from enum import StrEnum
from typing import Final

from crscore.records import CommentResult, Flag, Kind, Result
from crscore.reports import view
from crscore.usefulness import headline

# The lowest word of the headline's scale, and texts about something else.
_USELESS_WORDS: Final = frozenset({headline.STANDING_WORDS[-1][1], view.OFF_TOPIC})


class Noise(StrEnum):
    """Reason why a comment is useless; of several reasons, the first in this order counts."""

    REPEAT = "repeat"
    """All its posts repeat another one of the same reviewer (`reviewers.repeats`)."""
    RESTATES = "restates"
    """Every sentence only describes the change, by its flag or by the reader of sentences."""
    PRAISE = "praise"
    """Every sentence praises or only describes the change."""
    NOTHING = "nothing"
    """No sentence addresses a point of the change, and the comment is of little use to the author,
    or about something else.
    """


def noise_of(result: Result, item: CommentResult) -> Noise | None:
    """Return why a scored comment is useless; None when it may be useful.

    Hidden sentences do not count. A comment with no other sentence may be a suggestion: None.

    Args:
        result: Result that the comment is part of.
        item: A comment that is not a repeat.
    """
    visible_sentences = [index for index in item.sentences if not result.sentences[index].hidden]
    if not visible_sentences:
        return None
    kinds = {_kind(result, index) for index in visible_sentences}
    if kinds == {Kind.DESCRIPTION}:
        return Noise.RESTATES
    if kinds <= {Kind.DESCRIPTION, Kind.PRAISE}:
        return Noise.PRAISE
    # Without weights for usefulness, only the points count.
    useful = item.usefulness
    is_useful = useful is not None and view.word(useful) not in _USELESS_WORDS
    addresses = any(result.sentence_matches[index].matched for index in visible_sentences)
    return None if addresses or is_useful else Noise.NOTHING


def _kind(result: Result, sentence: int) -> Kind | None:
    if result.sentence_flags[sentence] is Flag.RESTATES:
        return Kind.DESCRIPTION
    judgement = view.reading(result, sentence)
    return None if judgement is None else judgement.kind
