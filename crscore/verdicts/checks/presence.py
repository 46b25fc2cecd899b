"""Presence: code that is said to be there still."""

import re
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import MASKED, Ground, confirm, refute
from crscore.verdicts.code import tokens_of
from crscore.verdicts.statements import Phrase

_STILL: Final = re.compile(
    r"\b(?:still|keeps?|remains?|survives?|left-?\s?over|leftover|continues? to|goes on|not (?:yet )?(?:updated|changed|converted|migrated))\b",
    re.IGNORECASE,
)


def check_still(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be there still."""
    if not _STILL.search(phrase.masked) or not ground.code.is_whole:
        return None
    after = phrase.masked[_STILL.search(phrase.masked).end() :]  # type: ignore[union-attr]
    masks = re.findall(MASKED, after.split(";")[0])
    if not masks or re.search(
        r"\b(?:no|not|never|nothing|without|should|could|would|might|may|can|if)\b|n't",
        phrase.masked,
        re.IGNORECASE,
    ):
        return None
    piece = phrase.piece(masks[0])
    if piece is None or not piece.is_span or len(tokens_of(piece.code)) < 2:
        return None
    says = f"{quote(piece.code)} is still there"
    new = ground.code.find(piece.code, Side.NEW)
    old = ground.code.find(piece.code, Side.OLD)
    if not new and (old or piece.is_verbatim):
        return refute(says, f"{quote(piece.code)} is not in the new version.", old)
    regions = ground.regions(phrase)
    inside = [
        p for p in new if any(r.text is p.text and r.start <= p.line <= r.end for r in regions)
    ]
    if piece.is_verbatim and inside:
        return confirm(says, f"{quote(piece.code)} is in the new version.", inside)
    return None


CHECKS: Final = (check_still,)
