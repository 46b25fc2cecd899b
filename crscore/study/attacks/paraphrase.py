"""Rules that say a claim in other words: voice, order, synonyms."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.study.attacks.material import Bank, lowered, pick, raised, stop

if TYPE_CHECKING:
    import numpy as np

    from crscore.study.attacks.material import Wording

_DOER: Final = Bank(
    training=("This change", "The commit", "The author", "The diff"),
    test=("The patch", "The pull request", "This revision", "The developer"),
)
_VERBS: Final = {
    "added": "adds",
    "removed": "removes",
    "renamed": "renames",
    "changed": "changes",
    "updated": "updates",
    "replaced": "replaces",
    "modified": "modifies",
    "moved": "moves",
    "introduced": "introduces",
    "deleted": "deletes",
    "imported": "imports",
    "set": "sets",
    "defined": "defines",
    "declared": "declares",
    "extended": "extends",
    "simplified": "simplifies",
}
_THIRD: Final = {third: participle for participle, third in _VERBS.items()}
# Code must stay as it is: `x.new`, 'checks if', "a.b".
_CODE: Final = re.compile(r"`[^`]*`|'[^' ]*'|\"[^\" ]*\"")
_MASKED: Final = re.compile("\x02(\\d+)\x03")
# "A parameter `x` has been added to `f`." -> "The patch adds a parameter `x` to `f`."
_PASSIVE: Final = re.compile(
    rf"(?P<what>[^,.]{{3,120}}?) (?:has been|have been|was|were|is|are) (?:now )?"
    rf"(?P<verb>{'|'.join(_VERBS)})\b(?P<rest>.*)",
    re.DOTALL,
)
# "The change adds a parameter." -> "A parameter is added."
_ACTIVE: Final = re.compile(
    rf"(?:The|This) (?:code )?(?:change|commit|diff|patch|update|new code) "
    rf"(?P<verb>{'|'.join(_THIRD)}) (?P<what>.+?)"
    r"(?P<rest>(?: (?:to|from|in|of|for|with)\b.*)?)[.]?",
    re.DOTALL,
)
# "In the method, a check is added." -> "A check is added in the method."
_LEADING: Final = re.compile(
    r"(?P<head>(?:In|Inside|Within|If|When|Before|After|Previously|Now)\b[^,]{3,80}), (?P<main>.+)",
    re.DOTALL,
)


class _Synonym(NamedTuple):
    pattern: str
    training: tuple[str, ...]
    test: tuple[str, ...]


_SYNONYMS: Final = (
    _Synonym(r"has been renamed (?:to|as)", ("was renamed to",), ("is now called",)),
    _Synonym(r"renames (.+?) to", (r"changes the name of \1 to",), (r"calls \1 from now on",)),
    _Synonym(r"(?:has|have) been added", ("was added", "got added"), ("is newly there", "is new")),
    _Synonym(r"(?:has|have) been removed", ("was removed", "got dropped"), ("is gone", "was cut")),
    _Synonym(
        r"(?:has|have) been (?:changed|modified|updated)",
        ("was changed", "got altered"),
        ("is different now", "was adapted"),
    ),
    _Synonym(r"(?:has|have) been replaced (?:with|by)", ("gave way to",), ("makes room for",)),
    _Synonym(r"\bparameters?\b", ("argument",), ("input",)),
    _Synonym(r"\bmethod\b", ("function",), ("routine",)),
    _Synonym(r"\bfunction\b", ("method",), ("procedure",)),
    _Synonym(r"\bThe code change\b", ("This diff",), ("The present patch",)),
    _Synonym(r"\bchecks (?:if|whether|that)\b", ("tests whether",), ("looks whether",)),
    _Synonym(r"\b[Pp]reviously\b", ("earlier",), ("before the patch",)),
    _Synonym(r"\bnow\b", ("as of this change",), ("from here on",)),
    _Synonym(r"\bnew\b", ("additional",), ("fresh",)),
    _Synonym(r"\breturns\b", ("gives back",), ("yields",)),
    _Synonym(r"\bis called\b", ("gets called",), ("is invoked",)),
    _Synonym(r"\binstead of\b", ("rather than",), ("in place of",)),
    _Synonym(r"\bline of code\b", ("code line",), ("statement",)),
    _Synonym(r"\bvariable\b", ("local variable",), ("name",)),
    _Synonym(r"\bused to\b", ("employed to",), ("there to",)),
    _Synonym(r"\btakes\b", ("accepts",), ("is given",)),
    _Synonym(r"\bimport statement\b", ("import line",), ("import",)),
    _Synonym(r"\bconditional statement\b", ("condition",), ("if clause",)),
    _Synonym(r"\bcreated\b", ("made",), ("built",)),
)


def paraphrased(claim: str, wording: Wording, rng: np.random.Generator) -> str:
    """Say a claim in other words.

    Args:
        claim: One sentence.
        wording: Which half of the synonyms to use.
        rng: Source of randomness.

    Returns:
        A sentence; the claim itself where no rule fits.
    """
    code = _CODE.findall(claim)
    numbers = iter(range(len(code)))
    text = _CODE.sub(lambda _: f"\x02{next(numbers)}\x03", claim.strip())
    text = _turned(text, wording, rng)
    for synonym in _SYNONYMS:
        if rng.random() < 0.7:
            words = pick(Bank(synonym.training, synonym.test).of(wording), rng)
            text = re.sub(synonym.pattern, partial(_put, words), text, count=1)
    return raised(stop(_MASKED.sub(lambda found: code[int(found[1])], text)))


def _put(words: str, found: re.Match[str]) -> str:
    """The words for what was found, with a capital letter where it had one."""
    put = found.expand(words)
    return raised(put) if found[0][:1].isupper() else put


def _turned(claim: str, wording: Wording, rng: np.random.Generator) -> str:
    """The claim in the other voice or order, where a rule fits and chance agrees."""
    chance = rng.random()
    passive = _PASSIVE.match(claim)
    if passive and chance < 0.6:
        doer, verb = pick(_DOER.of(wording), rng), _VERBS[passive["verb"]]
        return f"{doer} {verb} {lowered(passive['what'])}{passive['rest']}"
    active = _ACTIVE.fullmatch(claim)
    if active and chance < 0.8:
        verb = _THIRD[active["verb"]]
        be = "are" if active["what"][0].isdigit() or active["what"].endswith("s") else "is"
        return f"{raised(active['what'])} {be} {verb}{active['rest']}"
    leading = _LEADING.fullmatch(claim)
    if leading and chance < 0.6:
        return f"{raised(leading['main'].rstrip('.'))} {lowered(leading['head'])}"
    return claim
