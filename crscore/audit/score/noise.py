"""Comments that are useless to the author of a change."""

from enum import StrEnum

from crscore.records import CommentResult, Result, Stance


class Noise(StrEnum):
    """Reason why a comment is useless; of several reasons, the first in this order counts."""

    REPEAT = "repeat"
    """All its posts repeat another one of the same reviewer (`reviewers.repeats`)."""
    RESTATES = "restates"
    """Every remark only describes the change."""
    PRAISE = "praise"
    """Every remark praises or only describes the change, or there are only headings and thanks."""
    NOTHING = "nothing"
    """No remark gives its author anything to answer about the change."""


def noise_of(result: Result, item: CommentResult) -> Noise | None:
    """Return why a scored comment is useless; None when it may be useful.

    A comment without a visible sentence may be a suggestion: None.

    Args:
        result: Result that the comment is part of.
        item: A comment that is not a repeat.
    """
    visible_sentences = [index for index in item.sentences if not result.sentences[index].hidden]
    if not visible_sentences:
        return None
    if item.usefulness is None:
        # Without weights for usefulness, only the points count.
        addresses = any(result.sentence_matches[index].matched for index in visible_sentences)
        return None if addresses else Noise.NOTHING
    remarks = [result.remarks[share.remark] for share in item.usefulness.shares]
    if any(remark.is_valuable for remark in remarks):
        return None
    stances = {remark.stance for remark in remarks}
    if stances == {Stance.DESCRIPTION}:
        return Noise.RESTATES
    return Noise.PRAISE if stances <= {Stance.DESCRIPTION, Stance.PRAISE} else Noise.NOTHING
