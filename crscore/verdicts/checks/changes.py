"""The change: what it is said to remove, add or exchange."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import MASKED, Ground, confirm, pattern, refute
from crscore.verdicts.code import Place, count_code, tokens_of
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
    pattern(
        rf"(?P<code>{_CODE})(?: <noun>)? (?:(?P<set>becom(?:es?|ing)|became|is now)|turns? into"
        rf"|(?:is|was|has been) (?:now )?<exchanges> (?:to|into|by|with)) {_THE}(?P<new>{_CODE})"
    ),
    pattern(
        rf"(?P<new>{_VALUE}) (?:instead of|rather than|in place of) {_THE}"
        rf"(?P<code>(?P<mild>{_VALUE}|\w+))"
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
_ASKED: Final = re.compile(r"\b(?:you|we|they|did|does|do|why)\b[^.;:]{0,15}$", re.IGNORECASE)
_AS_PLACE: Final = pattern(r"\b(?:in|inside|within|on|at|under|after|before) (?:the )?(?:\w+ )?$")
_OTHER_NOUN: Final = pattern(r" (?=\w|§)(?!(?:<noun>|<after>)\b)")
_HISTORY: Final = re.compile(r"\b(?:in|since|with|from|by|as of|until) [\w.@/-]*\s?v?\d")
_OWN: Final = re.compile(r"\b(?:its|used to)\b", re.IGNORECASE)
_SUBJECT: Final = pattern(r"§ (?:\w+ )?$")
_AGENT: Final = pattern(r"(?:^|\b(?:<agent>)|[,;:.*_—–-])\W*$")
_ASIDE: Final = pattern(r"\b(?:<contrasts>|since|as|because|now that)\b|,")
_MOVES: Final = pattern(r"\b<shifts>")
_WORD: Final = re.compile(r"[A-Za-z]{6,}")


def check_shifted(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that the change is said to remove, to replace or to add."""
    for patterns, side, other, verb, state in _SHIFTS:
        for code, match in _matches(patterns, phrase):
            if not _is_of_change(phrase, match) or ground.code.texts_at(code):
                continue
            says, places = f"{quote(code)} is {verb}", ground.code.find(code, other)
            is_edited, is_mild = "used to" in match[0], match.groupdict().get("mild")
            find = ground.code.find_changed if is_edited else ground.code.find_shifted
            shifted = find(code, side)
            is_name = not code[0].isdigit() and not _is_redeclared(code, ground)
            if places and not shifted and is_name:
                return refute(says, f"{quote(code)} is {state}.", places)
            if shifted and not places and not is_mild and _is_main(phrase, match, ground):
                # A hunk does not show what the rest of its file has.
                where = f"the {side} version" if ground.code.is_whole else f"{verb} lines here"
                return confirm(says, f"{quote(code)} is only in {where}.", shifted)
    return None


def _is_of_change(phrase: Phrase, match: re.Match[str]) -> bool:
    """Return whether it is the change, and not running code or history, that removes."""
    before = phrase.masked[: match.start()]
    is_third_person = match[0].split()[0].endswith("s")
    return not _HISTORY.search(phrase.masked) and bool(
        _OWN.search(match[0])
        or not (_SUBJECT.search(before) or (is_third_person and not _AGENT.search(before)))
    )


def check_exchanged(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to become other code."""
    for old, match in _matches(_EXCHANGED, phrase):
        new = phrase.unmask(match["new"]).strip(_QUOTES)
        if not tokens_of(new) or old == new:
            continue
        lost = ground.code.find_shifted(old, Side.OLD)
        gained = ground.code.find_shifted(new, Side.NEW)
        pairs = [(a, b) for a in lost for b in gained if _are_one_edit(a, b)]
        says = f"{quote(old)} becomes {quote(new)}"
        for pair in [] if _MOVES.search(phrase.masked) else pairs:
            if _fits(phrase, match, pair, ground):
                return confirm(says, f"{quote(old)} gives way to {quote(new)} in one edit.", pair)
        words = match.groupdict()
        is_set = words.get("set")
        is_one_line = is_set and any(count_code(place.code, old) for place in gained)
        is_sure = match["code"].startswith(MASK) and not words.get("mild")
        if not pairs and not is_one_line and is_sure and not _MOVES.search(phrase.masked):
            kept = [] if is_set else ground.code.find(old, Side.NEW)
            if kept and not lost and not ground.code.texts_at(old):
                return refute(says, f"{quote(old)} is as it was in the new version.", kept)
            was, last = ground.code.find(old, Side.OLD), _last(new)
            if was and not ground.code.find_changed(last, Side.NEW):
                return refute(says, f"No added line has {quote(last)}.", was)
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
            is_asked = _IMPERATIVE.match(match[0]) and not _ASKED.search(before)
            is_place = match.start() == match.start("code") and _AS_PLACE.search(before)
            is_part = end == match.end("code") and _OTHER_NOUN.match(phrase.masked, end)
            if is_long and "..." not in code and not (is_hedged or is_asked or is_place or is_part):
                yield code, match


def _last(code: str) -> str:
    """Return the last name of a piece of code."""
    return next((token for token in reversed(tokens_of(code)) if token[0].isalnum()), code)


def _is_redeclared(code: str, ground: Ground) -> bool:
    """Return whether a declaration of a name is edited, which may end it as what it was."""
    regions = ground.code.regions_named(code, Side.OLD)
    return any(region.unit and region.unit.head in region.text.changed for region in regions)


def _is_main(phrase: Phrase, match: re.Match[str], ground: Ground) -> bool:
    """Return whether an assertion is what a remark is about, and all its code is in the change."""
    before = phrase.masked[: match.start()]
    is_first = phrase is ground.statement.phrases[0] and before.count(MASK) <= len(MASK * 2)
    return is_first and not _ASIDE.search(before) and _is_known(ground)


def _is_known(ground: Ground) -> bool:
    pieces = ground.statement.pieces
    return all(ground.code.find(piece.code) or ground.code.knows(piece.last) for piece in pieces)


def _fits(phrase: Phrase, match: re.Match[str], edit: tuple[Place, Place], ground: Ground) -> bool:
    """Return whether an edit is of what a sentence speaks of."""
    masks = re.findall(MASKED, phrase.masked[: match.start()] + phrase.masked[match.end() :])
    pieces = [piece for piece in map(phrase.piece, masks) if piece and piece.last]
    files = [text for piece in pieces for text in ground.code.texts_at(piece.code)]
    if files and edit[1].text not in files:
        return False
    regions = [place.text.region_at(place.line) for place in edit]
    names = [region.unit.name for region in regions if region and region.unit]
    text = " ".join([*names, *(f"{place.code} {place.text.path}" for place in edit)])
    if not pieces:
        return any(word[:6].lower() in text.lower() for word in _WORD.findall(phrase.masked))
    return _is_known(ground) and any(count_code(text, piece.last) for piece in pieces)


def _are_one_edit(old: Place, new: Place) -> bool:
    """Return whether a removed and an added line have no unchanged line between them."""
    added = {line for line, _ in old.text.version.blocks[old.line].added}
    return old.text.version.file is new.text.version.file and new.line in added


CHECKS: Final = (check_shifted, check_exchanged)
