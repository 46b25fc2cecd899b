"""Comments that are useless to the author of a change."""

from enum import StrEnum

from crscore.records import CommentResult, Result, Stance
from crscore.review.language import NOT_READ


class Noise(StrEnum):
    """Reason why a comment is useless; if several apply, the first in this order counts."""

    REPEAT = "repeat"
    """All its posts repeat other posts of the same reviewer (`reviewers.repeats`)."""
    RESTATES = "restates"
    """All remarks only describe the change."""
    PRAISE = "praise"
    """Every remark praises or only describes the change, or there are only headings and thanks."""
    NOTHING = "nothing"
    """No remark has anything for the author to answer."""


def noise_of(result: Result, item: CommentResult) -> Noise | None:
    """Return why a scored comment is useless; None if it may be useful.

    A comment without a visible sentence may be a suggestion, so the result is None. So it is for
    text in another language.

    Args:
        result: Result that contains the comment.
        item: A comment that is not a repeat.
    """
    visible_sentences = [index for index in item.sentences if not result.sentences[index].hidden]
    if not visible_sentences or item.scores.reason == NOT_READ:
        return None
    if item.usefulness is None:
        # Without a usefulness model, only the matched points decide.
        addresses = any(result.sentence_matches[index].matched for index in visible_sentences)
        return None if addresses else Noise.NOTHING
    remarks = [result.remarks[share.remark] for share in item.usefulness.shares]
    if any(remark.is_valuable for remark in remarks):
        return None
    stances = {remark.stance for remark in remarks}
    if stances == {Stance.DESCRIPTION}:
        return Noise.RESTATES
    return Noise.PRAISE if stances <= {Stance.DESCRIPTION, Stance.PRAISE} else Noise.NOTHING
