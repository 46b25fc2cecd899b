"""The change: what it is said to remove, add, rename or move."""

import re
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import MASKED, Ground, confirm, refute
from crscore.verdicts.code import Place, tokens_of
from crscore.verdicts.statements import Phrase

_REMOVES: Final = re.compile(
    rf"(?:\b(?:removes?|removed|removing|deletes?|deleted|deleting|drops?|dropped|dropping|takes? out|loses|lost|gets? rid of)(?: (?:the|a|an|its|this|that|old|former|now|superfluous|redundant|call|calls|to|of|check|condition|branch|line|import|nested|explicit|whole|entire|for|from|in))*\s*(?P<object>{MASKED}))"
    rf"|(?P<subject>{MASKED})(?: (?:check|call|branch|condition|line|import|test|argument|parameter|property|import|field|case|option|guard))?\s+(?:is|was|are|were|has been|have been|got|had to)\s*(?:now |also |all |both )?(?:gone|removed|deleted|dropped|go|lost)\b",
    re.IGNORECASE,
)


def check_removed(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that the change is said to remove."""
    for match in _REMOVES.finditer(phrase.masked):
        piece = phrase.piece(match["object"] or match["subject"])
        before = phrase.masked[: match.start()]
        if (
            piece is None
            or not piece.words
            or re.search(
                r"\b(?:should|could|would|might|may|can|if|please|not|never|to|let's|suggest|propose|consider|I'd|after|don't)\b|n't",
                before[-40:],
                re.IGNORECASE,
            )
        ):
            continue
        if not (piece.is_span and len(tokens_of(piece.code)) > 1):
            continue
        old, new = (ground.code.count(piece.code, side) for side in (Side.OLD, Side.NEW))
        says = f"{quote(piece.code)} is removed"
        removed = ground.code.find_changed(piece.code, Side.OLD)
        if new >= old and new and ground.code.is_whole:
            places = ground.code.find(piece.code, Side.NEW)
            return refute(says, f"{quote(piece.code)} is still in the new version.", places)
        if removed and not new:
            return confirm(says, f"{quote(piece.code)} is only in the old version.", removed)
    return None


_FROM_TO: Final = re.compile(
    rf"\bfrom (?:a |an |the )?(?P<old>{MASKED}|\d+(?:\.\d+)?) (?:in)?to (?:a |an |the )?(?P<new>{MASKED}|\d+(?:\.\d+)?)"
    rf"|(?:renames?|renamed|replaces?|replaced|replacing|renaming|swaps?|turns?|changes?|changed|changing|converts?)(?: (?:the|a|an|all|every|call|calls|of|to|name|method|function|field|default|parameter|this))* (?P<old2>{MASKED}) (?:(?:call|check|condition|test|argument|calls)s? )?(?:to|by|with|into|for) (?:the |a |an )?(?P<new2>{MASKED})"
    rf"|(?P<old3>{MASKED})(?: (?:calls?|check|condition|type|field|parameter|argument))? (?:becomes?|became|turns? into|is now|was (?:renamed|changed|replaced|turned) (?:to|into|by|with)|is (?:renamed|changed|replaced|turned) (?:to|into|by|with)) (?:the |a |an )?(?P<new3>{MASKED})",
    re.IGNORECASE,
)  # fmt: skip


def check_exchanged(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to become other code."""
    match = _FROM_TO.search(phrase.masked)
    if match is None or re.search(
        r"\b(?:should|could|would|please|consider|suggest|let's|if|propose|not|never|I'd|to)\b|n't",
        phrase.masked[: match.start()][-30:],
        re.IGNORECASE,
    ):
        return None
    texts = (
        [match[f"old{n}"] or "" for n in ("", "2", "3")],
        [match[f"new{n}"] or "" for n in ("", "2", "3")],
    )
    old, new = (next(filter(None, group), "") for group in texts)
    before, after = ((phrase.piece(x).code if x.startswith("§") else x) for x in (old, new))  # type: ignore[union-attr]
    if not tokens_of(before) or not tokens_of(after) or before == after:
        return None
    removed = ground.code.find_changed(before, Side.OLD)
    added = ground.code.find_changed(after, Side.NEW)
    says = f"{quote(before)} becomes {quote(after)}"
    if removed and added:
        near = [(a, b) for a in removed for b in added if _are_one_edit(a, b)]
        kept = ground.code.find_changed(before, Side.NEW) or ground.code.find_changed(
            after, Side.OLD
        )
        if near and not kept:
            return confirm(
                says,
                f"{quote(before)} is in removed lines and {quote(after)} in added ones.",
                near[0],
            )
        return None
    if not ground.code.is_whole:
        return None
    if not added and not ground.code.find(after, Side.NEW):
        return refute(says, f"{quote(after)} is not in the new version.", removed)
    if not removed and len(tokens_of(before)) > 1:
        return refute(
            says, f"No removed line has {quote(before)}.", ground.code.find(before, Side.NEW)
        )
    return None


def _are_one_edit(old: Place, new: Place) -> bool:
    """Return whether a removed and an added line have no unchanged line between them."""
    block = old.text.version.blocks.get(old.line)
    return (
        block is not None
        and old.text.version.file is new.text.version.file
        and any(line == new.line for line, _ in block.added)
    )


CHECKS: Final = (check_removed, check_exchanged)
