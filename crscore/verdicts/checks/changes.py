"""The change: remarks on what it removes, adds or exchanges."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import Ground, confirm, pattern, refute
from crscore.verdicts.checks.clauses import pieces_of
from crscore.verdicts.code import Place, tokens_of
from crscore.verdicts.statements import MASK, Phrase

MIN_LENGTH: Final = 3
"""Characters from which a name is looked for on its own."""
_QUOTES: Final = '"“”'
_CODE: Final = r"§|[\"“][^\"“”]{3,120}[\"”]"
_VALUE: Final = rf"{_CODE}|-?\d+(?:\.\d+)*"
_THE: Final = r"(?:<filler> )*"
_REMOVED: Final = (
    pattern(rf"\b(?:<removes>|(?P<mild>replac\w+)) {_THE}(?P<code>{_CODE})"),
    pattern(rf"\b(?P<mild>used to <does>) {_THE}(?P<code>{_CODE})(?![^.]* (?:<always>)\b)"),
    pattern(
        rf"(?P<code>{_VALUE})(?: <noun>)?(?: <place> [^.,;:]{{1,40}})? "
        r"(?:(?:was|were|has been|have been|got)"
        r"(?: now| also| all| both| simply)* (?:<gone>|(?P<mild>replaced))|is (?:now )?gone"
        r"|(?:had|has|have) to go|fell out|went away|disappear(?:s|ed)?)\b"
    ),
)
_ADDED: Final = (pattern(rf"\b<adds> {_THE}(?:new |extra |additional )?(?P<code>{_CODE})"),)
_EXCHANGED: Final = (
    pattern(rf"\bfrom {_THE}(?P<code>{_VALUE}) (?:in)?to {_THE}(?:\w+ )?(?P<new>{_VALUE})"),
    pattern(
        rf"\b<exchanges> {_THE}(?P<code>{_CODE})(?: <noun>)? (?:to|by|with|into|for) "
        rf"{_THE}(?P<new>{_CODE})"
    ),
)
_SHIFTS: Final = (
    (_REMOVED, Side.OLD, Side.NEW, "removed", "still in the new version"),
    (_ADDED, Side.NEW, Side.OLD, "added", "in the old version already"),
)
_UNASSERTED: Final = pattern(r"(?:\b<unasserted>\b|n't\b)[^.:;]{0,30}$")
_MODAL: Final = re.compile(r"[^.;:]{0,25}\b(?:would|could|might|should|may)\b", re.IGNORECASE)
_IMPERATIVE: Final = re.compile(
    r"(?!§|[\"“\d-]|\w+(?:s|ed|ing)\b|(?:lost|took|got|from|used|came|default)\b)", re.IGNORECASE
)
_QUESTION: Final = re.compile(
    r"\b(?:(?:you|we|they)(?: also| now| just| simply)*|(?:did|does|do|why)\b[^.;:]{0,15}) ?$",
    re.IGNORECASE,
)
_AS_PLACE: Final = pattern(r"\b(?:in|inside|within|on|at|under|after|before) (?:the )?(?:\w+ )?$")
_OTHER_NOUN: Final = pattern(r" (?=\w|§)(?!(?:<noun>|<after>)\b)")
_HISTORY: Final = re.compile(r"\b(?:in|since|with|from|by|as of|until) [\w.@/-]*\s?v?\d")
_LOSES_OWN: Final = re.compile(r"\b(?:its|used to)\b", re.IGNORECASE)
_SUBJECT: Final = pattern(r"§ (?:\w+ )?$")
_AGENT: Final = pattern(r"(?:^|\b(?:<agent>)|[,;:.*_—–-])\W*$")
_ASIDE: Final = pattern(r"\b(?:<contrasts>|since|as|because|now that)\b|,")
_CONCLUDES: Final = pattern(r"\b(?:<consequences>|<judges>|<contrasts>|because|since)\b")
_MOVES: Final = pattern(r"\b<shifts>")
_WORD: Final = re.compile(r"[A-Za-z]{6,}")


def check_shifted(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Decide whether the change removes, replaces or adds code."""
    for patterns, side, opposite, verb, state in _SHIFTS:
        for code, match in _matches(patterns, phrase):
            if not _is_of_change(phrase, match) or ground.code.texts_at(code):
                continue
            claim, places = f"{quote(code)} is {verb}", ground.code.find(code, opposite)
            is_edited, is_mild = "used to" in match[0], match.groupdict().get("mild")
            find = ground.code.find_changed if is_edited else ground.code.find_shifted
            shifted = find(code, side)
            if places and not shifted and not code[0].isdigit():
                return refute(claim, f"{quote(code)} is {state}.", places)
            is_point = _is_main(phrase, match, ground) and _is_all(phrase, match, ground)
            if shifted and not places and not is_mild and is_point:
                # A hunk does not show what the rest of its file has.
                source = f"the {side} version" if ground.code.is_whole else f"{verb} lines here"
                return confirm(claim, f"{quote(code)} is only in {source}.", shifted)
    return None


def _is_of_change(phrase: Phrase, match: re.Match[str]) -> bool:
    """Return whether it is the change, and not running code or history, that removes."""
    before = phrase.masked[: match.start()]
    is_third_person = match[0].split()[0].endswith("s")
    return not _HISTORY.search(phrase.masked) and bool(
        _LOSES_OWN.search(match[0])
        or not (_SUBJECT.search(before) or (is_third_person and not _AGENT.search(before)))
    )


def check_exchanged(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Decide whether code becomes other code."""
    for old, match in [] if _MOVES.search(phrase.masked) else _matches(_EXCHANGED, phrase):
        new = phrase.unmask(match["new"]).strip(_QUOTES)
        lost = ground.code.find_shifted(old, Side.OLD)
        gained = ground.code.find_shifted(new, Side.NEW)
        pairs = [(a, b) for a in lost for b in gained if _are_one_edit(a, b)]
        claim = f"{quote(old)} becomes {quote(new)}"
        fitting = [pair for pair in pairs if _fits(phrase, match, pair)]
        if fitting and _is_all(phrase, match, ground):
            fact = f"{quote(old)} gives way to {quote(new)} in one edit."
            return confirm(claim, fact, fitting[0])
        is_sure = match["code"].startswith(MASK) and old != new and not pairs
        unchanged = [] if lost or ground.code.texts_at(old) else ground.code.find(old, Side.NEW)
        if is_sure and unchanged:
            return refute(claim, f"{quote(old)} is as it was in the new version.", unchanged)
        old_places, name = ground.code.find(old, Side.OLD), _last(new)
        if is_sure and old_places and not ground.code.find_changed(name, Side.NEW):
            return refute(claim, f"No added line has {quote(name)}.", old_places)
    return None


def _matches(
    patterns: Sequence[re.Pattern[str]], phrase: Phrase
) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield what is asserted of which code."""
    for regex in patterns:
        for match in regex.finditer(phrase.masked):
            code = phrase.unmask(match["code"]).strip(_QUOTES)
            before, end = phrase.masked[: match.start()], match.end()
            is_long = tokens_of(code) and (len(code) >= MIN_LENGTH or code.isdigit())
            is_hedged = _UNASSERTED.search(before) or _MODAL.match(phrase.masked, end)
            is_asked = _IMPERATIVE.match(match[0]) and not _QUESTION.search(before)
            is_place = match.start() == match.start("code") and _AS_PLACE.search(before)
            is_part = end == match.end("code") and _OTHER_NOUN.match(phrase.masked, end)
            if is_long and "..." not in code and not (is_hedged or is_asked or is_place or is_part):
                yield code, match


def _last(code: str) -> str:
    """Return the last name of a piece of code."""
    return next((token for token in reversed(tokens_of(code)) if token[0].isalnum()), code)


def _is_main(phrase: Phrase, match: re.Match[str], ground: Ground) -> bool:
    """Return whether an assertion is what a remark is about, and all its code is in the change."""
    before, pieces = phrase.masked[: match.start()], ground.statement.pieces
    is_first = phrase is ground.statement.phrases[0] and before.count(MASK) <= len(MASK * 2)
    return (
        is_first
        and not _ASIDE.search(before)
        and all(ground.code.find(piece.code) or ground.code.knows(piece.last) for piece in pieces)
    )


def _is_all(phrase: Phrase, match: re.Match[str], ground: Ground) -> bool:
    """Return whether a remark says no more than that: nothing that it concludes from it."""
    siblings = [sibling for sibling in ground.statement.phrases if sibling is not phrase]
    is_alone = all(sibling.masked.rstrip().endswith("?") for sibling in siblings)
    return is_alone and not _CONCLUDES.search(phrase.masked, match.end())


def _fits(phrase: Phrase, match: re.Match[str], edit: tuple[Place, Place]) -> bool:
    """Return whether an edit is of what the rest of a sentence speaks of."""
    rest = phrase.masked[: match.start()] + phrase.masked[match.end() :]
    names = [piece.last for piece in pieces_of(rest, phrase)] or _WORD.findall(rest)
    regions = [place.text.region_at(place.line) for place in edit]
    units = [region.unit.name for region in regions if region and region.unit]
    text = " ".join([*units, *(f"{place.code} {place.text.path}" for place in edit)]).lower()
    return any(name[:6].lower() in text for name in names)


def _are_one_edit(old: Place, new: Place) -> bool:
    """Return whether a removed and an added line have no unchanged line between them."""
    added = {line for line, _ in old.text.version.blocks[old.line].added}
    return old.text.version.file is new.text.version.file and new.line in added


CHECKS: Final = (check_shifted, check_exchanged)
