"""What all checks share: what they compare a remark with, and receipts."""

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from crscore.records import Receipt, Side, Verdict
from crscore.verdicts.code import Code, Place, Region
from crscore.verdicts.statements import Phrase, Statement

MASKED: Final = r"§\d+§"
"""Matches a piece of code in a masked sentence."""
MAX_PROOF: Final = 3
"""Maximum lines of a receipt."""
WORDS: Final[dict[str, str]] = {
    name: "|".join(words.split("; "))
    for name, words in tomllib.loads(
        Path(__file__).with_name("words.toml").read_text("utf-8")
    ).items()
}
"""Words of one meaning, each list as alternatives of a pattern."""


def pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern in which `<name>` is a list of `WORDS`, and `§` a piece of code.

    Example:
        >>> bool(pattern("<adds> §").search("This adds §0§."))
        True
    """
    filled = re.sub(r"(?<![?P(])<(\w+)>", lambda match: f"(?:{WORDS[match[1]]})", text)
    return re.compile(filled.replace("§", MASKED), re.IGNORECASE)


class Ground(NamedTuple):
    """What statements are held against."""

    code: Code
    statement: Statement

    def around(self) -> list[Region]:
        """Return the unit around the line that the comment is on."""
        comment = self.statement.comment
        if comment.path is None or comment.line is None or comment.side is Side.OLD:
            return []
        regions = [
            text.region_at(comment.line) for text in self.code.texts_at(comment.path, Side.NEW)
        ]
        return [region for region in regions if region]


Check = Callable[[Phrase, Ground], Receipt | None]


def refute(claim: str, fact: str, places: Iterable[Place] = ()) -> Receipt:
    """Return the receipt of a statement that the code refutes."""
    return _receipt(Verdict.REFUTED, claim, fact, places)


def confirm(claim: str, fact: str, places: Iterable[Place] = ()) -> Receipt:
    """Return the receipt of a statement that the code confirms."""
    return _receipt(Verdict.CONFIRMED, claim, fact, places)


def _receipt(verdict: Verdict, claim: str, fact: str, places: Iterable[Place]) -> Receipt:
    lines = tuple(dict.fromkeys(place.span for place in places))[:MAX_PROOF]
    return Receipt(verdict=verdict, says=claim, fact=fact, lines=lines)
