"""Proposals: what is asked for and already so."""

import re
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import MASKED, Ground, refute
from crscore.verdicts.statements import Phrase

_PROPOSAL: Final = re.compile(
    r"^\W*(?:nit(?:pick)?\W+|minor\W+|perf\W+|suggestion\W+|(?:[\w-]+\W+){0,4}?:\s*\W*|[^.:]{0,60}\*\*\s*)?"
    r"(?:please |pls |could (?:you|we) (?:please )?|can (?:you|we) (?:please )?|would you (?:please )?(?:mind )?|i(?:'d| would) (?:propose|suggest|recommend|prefer|like) (?:to |that )?"
    r"|(?:you|we)(?:'ll| will)? (?:want|need|should|have) to |you should |let's |consider |suggest(?:ion)?:? |better to |should we |shouldn't (?:we|this) |why not |how about |it (?:should|would be)[^§]{0,30})?"
    r"\W*(?P<verb>add|set|pass|use|wrap|give|call|include|put|make|cast|copy|check|return|annotate|mark|declare|handle|catch|throw|raise|import|register|guard|defer|close|free|reset|pin|"
    r"adding|setting|passing|using|wrapping|giving|calling|including|putting|making|casting|copying|checking|returning|marking|declaring|catching|throwing|raising|importing|unsetting)\b",
    re.IGNORECASE,
)


def check_already(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is proposed and already there."""
    match = _PROPOSAL.search(phrase.masked)
    if match is None or re.search(
        r"\b(?:everywhere|elsewhere|also|too|both|all|again|same|other|others|as well|next to|directly|like|likewise)\b",
        phrase.masked,
        re.IGNORECASE,
    ):
        return None
    after = re.split(
        r"\b(?:instead of|rather than|in place of|not)\b|n't", phrase.masked[match.end() :]
    )[0]
    spans = [p for p in map(phrase.piece, re.findall(MASKED, after)) if p and p.is_verbatim]
    if not spans:
        return None
    piece = spans[0]
    added = ground.code.find_changed(piece.code, Side.NEW)
    if added:
        return refute(
            f"{quote(piece.code)} is not there yet",
            f"{quote(piece.code)} is already in the new version.",
            added,
        )
    return None


CHECKS: Final = (check_already,)
