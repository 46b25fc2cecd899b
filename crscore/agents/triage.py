"""Decides what to do with each remark of a review.

An author's agent uses the decisions to answer a review, and a bot to filter its drafts. Each remark
gets an action (fix, answer or skip) and a reason, based on its reading (stance, importance and
worth) and on its verdict. If two remarks make the same point, one is a duplicate: a draft if the
other one is already posted, otherwise the less valuable one. Text that is not in English is not
read: unless it repeats another text, its action is "answer", and it is posted if it is a draft.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from crscore.errors import ConfigError
from crscore.records import (
    ACTIONABLE_FROM,
    LEAST_WORTH,
    ON_TOPIC,
    Comment,
    CommentResult,
    Importance,
    LineSpan,
    Receipt,
    Remark,
    Result,
    Side,
    Stance,
    Verdict,
)
from crscore.review.read import NOT_READ
from crscore.usefulness.reader import trust

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from crscore.records import Diff
    from crscore.scorer import Scorer

SCHEMA: Final = "urn:crscore:triage:1"
# The value was chosen on half of the pull requests of a study, so that 90 % of the findings that
# name a known problem are posted. On the other half, 89 % of these findings were posted, and 19 %
# of all other findings were not (`benchmarks/triage.py`).
MIN_WORTH: Final = 2.5
"""Minimum `draft_worth`, from 1 to 5, of a remark that should be posted."""
SAME_POINT: Final = 0.7
"""Minimum cosine similarity of two remarks that make the same point, unless they are in different
places (`_are_apart`)."""


class Action(StrEnum):
    """Recommended action for a remark."""

    FIX = "fix"
    ANSWER = "answer"
    SKIP = "skip"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Lines or file that a remark is attached to, or that it refers to."""

    path: str
    """Path of the file."""
    line: int | None
    """Last line, 1-based; null for the entire file."""
    start_line: int | None
    """First line, 1-based; null for a single line."""
    side: Side
    """Version of the file in which the lines are numbered."""


class Triaged(msgspec.Struct, frozen=True, kw_only=True):
    """Remark with its action and the reason."""

    index: int
    """Index of the remark, from 0."""
    comment: int
    """Index of its comment, from 0: first the comments of the review, then the posted comments."""
    id: str | None
    """Id of the comment on the host; null if unknown."""
    author: str | None
    """Login of the author of the comment; null if unknown."""
    text: str
    """Text of the sentences of the remark."""
    action: Action
    """Action to take."""
    reason: str
    """Reason for the action, one clause."""
    stance: Stance | None
    """What the remark asks of the author of the change. This field and the next three are null if
    the remark was not read."""
    importance: Importance | None
    """Harm of merging the change as it is, if the remark is right."""
    worth: float | None
    """How glad the author of the change should be to get the remark: an expected value, 1 to 5."""
    draft_worth: float | None
    """Worth, 1 to 5, on the assumption that the remark is about the change, as the author of a
    draft means it to be; decides `post`."""
    verdict: Verdict
    """Whether the remark's statements about the code are true."""
    receipt: Receipt | None
    """Proof of the verdict; null for an undecided remark."""
    duplicate_of: int | None
    """Index of the remark that makes the same point and is already posted or more valuable; null if
    there is none."""
    suggestion_applies: bool | None
    """Whether all suggestion blocks of the comment can be applied; null if the comment has none, or
    if it is unknown."""
    place: Place | None
    """Location of the remark; null for a remark on the entire change."""
    post: bool
    """Whether to post the remark: it belongs to the review, is no duplicate, and either was not
    read, or is not refuted and has a `draft_worth` of at least 2.5."""


class Triage(msgspec.Struct, frozen=True, kw_only=True):
    """Decisions about all remarks of a review."""

    remarks: tuple[Triaged, ...]
    """Remarks in the order of the comments, then the texts that were not read."""
    signature: str
    """Signature of the score. Equal inputs with equal signatures have equal decisions."""
    notes: tuple[str, ...]
    """Notes on parts that were left out or repaired, one sentence each."""
    schema: Literal["urn:crscore:triage:1"] = SCHEMA
    """Name of this schema; a breaking change gets a new number."""


def triage(
    scorer: Scorer, diff: Diff, comments: Sequence[Comment], *, posted: Sequence[Comment] = ()
) -> Triage:
    """Choose an action for each remark of a review.

    Args:
        scorer: Scorer whose encoder has weights for remarks.
        diff: The change.
        comments: The review's comments.
        posted: Comments that others have already posted. Their remarks get an action, too, and
            remarks of the review that repeat them are not to be posted.

    Raises:
        ConfigError: There are no weights for the scorer's encoder, so no remark can be read.
        CRScoreError: The review could not be scored.
    """
    reader = scorer.parts.reader
    if reader is None:
        raise ConfigError("encoder", "settings", "triage needs minilm to read the remarks")
    result = scorer.score(diff, (*comments, *posted))
    texts = [
        " ".join(result.sentences[index].text for index in remark.sentences)
        for remark in result.remarks
    ]
    # Comments with an index below this number belong to the review; the others are posted.
    drafts = len(comments)
    duplicates = _find_duplicates(result, scorer.parts.encoder.encode(texts), drafts=drafts)
    decided = (
        _decide(index, text, duplicates.get(index), result, drafts=drafts)
        for index, text in enumerate(texts)
    )
    return Triage(
        remarks=(*decided, *_list_unread(result, drafts=drafts)),
        signature=result.signature,
        notes=result.notes,
    )


def _decide(
    index: int, text: str, duplicate_of: int | None, result: Result, *, drafts: int
) -> Triaged:
    remark = result.remarks[index]
    # `worth` is lower if it is doubtful whether the remark is about the change. A draft is assumed
    # to be about the change, so the doubt is removed.
    share = trust(remark.about)
    draft_worth = LEAST_WORTH + (remark.worth - LEAST_WORTH) / share if share else remark.worth
    is_posted = (
        remark.comment < drafts
        and duplicate_of is None
        and remark.verdict is not Verdict.REFUTED
        and draft_worth >= MIN_WORTH
    )
    scored = result.comments[remark.comment]
    applies = _can_apply(scored)
    action, reason = _choose_action(remark, duplicate_of, applies=applies)
    references = (result.readings[sentence].reference for sentence in remark.sentences)
    spans = [
        span
        for reference in references
        if reference is not None
        for span in result.references[reference].spans
    ]
    return Triaged(
        index=index,
        comment=remark.comment,
        id=scored.comment.id,
        author=scored.comment.author,
        text=text,
        action=action,
        reason=reason,
        stance=remark.stance,
        importance=remark.level,
        worth=remark.worth,
        draft_worth=draft_worth,
        verdict=remark.verdict,
        receipt=remark.receipt,
        duplicate_of=duplicate_of,
        suggestion_applies=applies,
        place=_place_of(scored.comment, spans),
        post=is_posted,
    )


def _can_apply(scored: CommentResult) -> bool | None:
    applied = [suggestion.applies for suggestion in scored.suggestions]
    return None if not applied or None in applied else all(applied)


def _list_unread(result: Result, *, drafts: int) -> Iterator[Triaged]:
    """Yield one entry for each comment with text that is not in English."""
    texts: dict[int, str] = {}
    # The network reads only English, but a language model may have read this text.
    by_model = {at for remark in result.remarks for at in remark.sentences}
    for index, sentence in enumerate(result.sentences):
        if index in by_model:
            continue
        if sentence.unread and not (sentence.hidden or sentence.proposal):
            texts[sentence.comment] = f"{texts.get(sentence.comment, '')} {sentence.text}".strip()
    # Posted comments come first, because drafts repeat them, not the reverse.
    order = sorted(texts, key=lambda at: (at < drafts, at))
    firsts: dict[tuple[str | None, int | None, str], int] = {}
    for index, at in enumerate(order, len(result.remarks)):
        scored, comment = result.comments[at], result.comments[at].comment
        # The encoder reads only English, so only an equal text counts as a repetition.
        first = firsts.get((comment.path, comment.line, texts[at]))
        firsts.setdefault((comment.path, comment.line, texts[at]), index)
        yield Triaged(
            index=index, comment=at, id=comment.id,
            author=comment.author, text=texts[at], place=_place_of(comment),
            action=Action.ANSWER if first is None else Action.SKIP,
            reason=NOT_READ if first is None else f"remark {first} makes the same point",
            stance=None, importance=None, worth=None, draft_worth=None, receipt=None,
            post=at < drafts and first is None,
            verdict=Verdict.UNPROVEN, duplicate_of=first, suggestion_applies=_can_apply(scored),
        )  # fmt: skip


def _choose_action(
    remark: Remark, duplicate_of: int | None, *, applies: bool | None
) -> tuple[Action, str]:
    if remark.verdict is Verdict.REFUTED and remark.receipt:
        return Action.ANSWER, f"the code refutes it: {remark.receipt.fact}"
    does = f"it {remark.stance.value}"
    is_plain_nit = remark.level is Importance.NIT and not applies
    # The first condition that holds gives the reason.
    for is_skipped, reason in (
        (remark.actionable < ACTIONABLE_FROM, f"{does}, and needs no answer"),
        (remark.about < ON_TOPIC, "it is not about this change"),
        (duplicate_of is not None, f"remark {duplicate_of} makes the same point"),
        (is_plain_nit, f"{does}, a nit without a suggestion that applies"),
    ):
        if is_skipped:
            return Action.SKIP, reason
    is_asked = remark.stance in (Stance.QUESTION, Stance.EXPLANATION)
    return Action.ANSWER if is_asked else Action.FIX, f"{does}, {remark.level.value}"


def _place_of(comment: Comment, spans: Sequence[LineSpan] = ()) -> Place | None:
    """Return the location of a comment.

    If the comment is on the entire change, this is the first of `spans`, or None without spans.
    """
    if comment.path is not None:
        line, start_line = comment.line, comment.start_line
        return Place(path=comment.path, line=line, start_line=start_line, side=comment.side)
    if not spans:
        return None
    first = spans[0]
    # A span of an entire file has the lines 0 to 0.
    line, start_line = first.end or None, first.start or None
    return Place(path=first.path, line=line, start_line=start_line, side=first.side)


def _find_duplicates(
    result: Result, vectors: npt.NDArray[np.float32], *, drafts: int
) -> dict[int, int]:
    """Return the index of the remark that each duplicate repeats, keyed by the duplicate's index.

    The repeated remark is one that is already posted, or a more valuable remark of the same side.
    """
    remarks = result.remarks
    comments = [result.comments[remark.comment].comment for remark in remarks]
    is_draft = [remark.comment < drafts for remark in remarks]
    order = sorted(
        (index for index, remark in enumerate(remarks) if remark.is_valuable),
        key=lambda index: (is_draft[index], -remarks[index].worth, index),
    )
    firsts: list[int] = []
    duplicates: dict[int, int] = {}
    for index in order:
        cosines = {
            first: float(vectors[first] @ vectors[index])
            for first in firsts
            if not _are_apart(
                comments[first], comments[index], is_same_side=is_draft[first] == is_draft[index]
            )
        }
        best = max(cosines, key=lambda first: cosines[first], default=index)
        if cosines.get(best, 0.0) >= SAME_POINT:
            duplicates[index] = best
        else:
            firsts.append(index)
    return duplicates


def _are_apart(a: Comment, b: Comment, *, is_same_side: bool) -> bool:
    """Return whether two comments are about different places, so neither repeats the other.

    Args:
        a: A comment.
        b: Another comment.
        is_same_side: Whether both comments are drafts or both are posted.
    """
    if a.path != b.path:
        return a.path is not None and b.path is not None
    # Two reviewers may attach the same point to different lines. But if one reviewer repeats a text
    # on other lines, the same problem occurs there again. Outdated lines belong to another version,
    # so they cannot be compared.
    is_same_author = is_same_side and a.author == b.author
    if not (is_same_author and a.line and b.line) or a.outdated or b.outdated:
        return False
    return max(a.start_line or a.line, b.start_line or b.line) > min(a.line, b.line)
