"""The change: what it is said to remove, exchange, add, move, keep or open."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import MASKED, Ground, confirm, pattern, refute
from crscore.verdicts.code import Place, Region, count_code, tokens_of
from crscore.verdicts.statements import MASK, Phrase

MIN_LENGTH: Final = 3
"""Characters from which a name is looked for on its own."""
_CODE: Final = r"§|[\"“][^\"“”]{3,120}[\"”]"
_VALUE: Final = rf"{_CODE}|-?\d+(?:\.\d+)*"
_THE: Final = r"(?:<filler> )*"
_UNSURE: Final = pattern(r"(?:\b<unasserted>\b|n't\b)[^.:;]{0,30}$")
_OWN: Final = re.compile(r"\b(?:its|used to)\b", re.IGNORECASE)
_SUBJECT: Final = pattern(r"§ (?:\w+ )?$")
_HISTORY: Final = re.compile(r"\b(?:in|since|with|from|by|as of|until) [\w.@/-]*\s?v?\d")
_OTHER_NOUN: Final = pattern(r" (?=\w|§)(?!(?:<noun>|<after>)\b)")
_ASIDE: Final = pattern(r"\b(?:while|but|although|though|since|as|because|whereas|yet)\b|,")
_WORD: Final = re.compile(r"[A-Za-z]{6,}")
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
_AGENT: Final = pattern(r"(?:^|\b(?:<agent>)|[,;:.*_—–-])\W*$")
_AS_PLACE: Final = pattern(r"\b(?:in|inside|within|on|at|under|after|before) (?:the )?(?:\w+ )?$")
_ADDED: Final = (pattern(rf"\b(?:<adds>) {_THE}(?:new |extra |additional )?(?P<code>{_CODE})"),)
_KEPT: Final = (
    pattern(rf"\b(?:<keeps>) (?:<filler> |branch for |case for )*(?P<code>{_CODE})"),
    pattern(rf"(?P<code>{_CODE})(?: <noun>)? (?:<kept>)\b"),
)
_MOVES: Final = pattern(r"\b<shifts>")
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
_LEVEL: Final = re.compile(
    r"\bfrom (?P<old>[a-z]{3,}) (?:in)?to (?P<new>[a-z]{3,})\b", re.IGNORECASE
)


_IMPERATIVE: Final = re.compile(
    r"(?!§|[\"“\d-]|\w+(?:s|ed|ing)\b|(?:lost|took|got|from|used|came|default)\b)", re.IGNORECASE
)
_ASKED: Final = re.compile(r"\b(?:you|we|they|did|does|do|why)\b[^.;:]{0,15}$", re.IGNORECASE)
_MODAL: Final = re.compile(r"[^.;:]{0,25}\b(?:would|could|might|should|may)\b", re.IGNORECASE)


def check_removed(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that the change is said to remove or to replace."""
    for code, match in _matches(_REMOVED, phrase):
        if not _is_of_change(phrase, match) or _names_file(code, ground):
            continue
        says = f"{quote(code)} is removed"
        lost, places = _lost(code, match, phrase, ground)
        if places and not lost and not code[0].isdigit() and not _is_redeclared(code, ground):
            return refute(says, f"{quote(code)} is still in the new version.", places)
        if lost and not places and not match["mild"] and _is_main(phrase, match, ground):
            return confirm(says, f"{quote(code)} is only in the old version.", lost)
    return None


def _is_of_change(phrase: Phrase, match: re.Match[str]) -> bool:
    """Return whether it is the change, and not running code or history, that removes."""
    before = phrase.masked[: match.start()]
    is_third_person = match[0].split()[0].endswith("s")
    return not _HISTORY.search(phrase.masked) and bool(
        _OWN.search(match[0])
        or not (_SUBJECT.search(before) or (is_third_person and not _AGENT.search(before)))
    )


def _lost(
    code: str, match: re.Match[str], phrase: Phrase, ground: Ground
) -> tuple[list[Place], list[Place]]:
    """Return where code was lost, and where it is: in the unit that is said to lose its own."""
    if " its " in match[0]:
        for _, old, new in _units(phrase, ground):
            was, places = _within(old, code), _within(new, code)
            return (was if len(was) > len(places) else []), places
    lost = ground.code.find_shifted(code, Side.OLD)
    if "used to" in match[0]:
        lost = ground.code.find_changed(code, Side.OLD)
    return lost, ground.code.find(code, Side.NEW)


def check_added(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that the change is said to add."""
    for code, match in _matches(_ADDED, phrase):
        says = f"{quote(code)} is added"
        gained = ground.code.find_shifted(code, Side.NEW)
        was = ground.code.find(code, Side.OLD)
        if was and not gained and not _names_file(code, ground):
            return refute(says, f"{quote(code)} is in the old version already.", was)
        if gained and not was and _is_main(phrase, match, ground):
            return confirm(says, f"{quote(code)} is only in the new version.", gained)
    return None


def check_kept(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be kept."""
    for code, _ in _matches(_KEPT, phrase):
        lost = ground.code.find_shifted(code, Side.OLD)
        says = f"{quote(code)} is kept"
        if lost and not ground.code.find(code, Side.NEW):
            return refute(says, f"{quote(code)} is only in the old version.", lost)
        was = ground.code.regions_named(code, Side.OLD)
        if lost and was and not ground.code.regions_named(code):
            return refute(says, f"{quote(code)} is declared only in the old version.", lost)
        for name, old, new in _units(phrase, ground):
            if name != code and _within(old, code) and not _within(new, code):
                fact = f"{quote(code)} is only in the old {quote(name)}."
                return refute(says, fact, _within(old, code))
    return None


def check_exchanged(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to become other code."""
    for old, match in _matches(_EXCHANGED, phrase):
        new = _code(phrase, match["new"])
        if not tokens_of(new) or old == new:
            continue
        lost = ground.code.find_shifted(old, Side.OLD)
        gained = ground.code.find_shifted(new, Side.NEW)
        pairs = [(a, b) for a in lost for b in gained if _are_one_edit(a, b)]
        says = f"{quote(old)} becomes {quote(new)}"
        for pair in pairs:
            if _fits(phrase, match, pair, ground):
                return confirm(says, f"{quote(old)} gives way to {quote(new)} in one edit.", pair)
        words = match.groupdict()
        if words.get("set"):
            pairs += [(place, place) for place in gained if count_code(_text(place), old)]
        is_sure = match["code"].startswith(MASK) and not words.get("mild")
        if not pairs and is_sure and not _MOVES.search(phrase.masked):
            kept = [] if words.get("set") else ground.code.find(old, Side.NEW)
            if kept and not lost and not _names_file(old, ground):
                return refute(says, f"{quote(old)} is as it was in the new version.", kept)
            was = ground.code.find(old, Side.OLD)
            if was and not ground.code.find_changed(_last(new), Side.NEW):
                return refute(says, f"No added line has {quote(_last(new))}.", was)
    return None


def check_level(phrase: Phrase, ground: Ground) -> Receipt | None:
    """A word in names that is said to become another: from debug to error."""
    for match in _LEVEL.finditer(phrase.masked):
        if _UNSURE.search(phrase.masked[: match.start()]):
            continue
        old, new = match["old"].lower(), match["new"].lower()
        for place in _changed_places(ground, Side.OLD):
            for _, text in place.text.version.blocks[place.line].added:
                before, after = (Counter(tokens_of(part)) for part in (_text(place), text))
                gained = {token.lower() for token in after - before}
                if any(
                    old in token.lower() and token.lower().replace(old, new) in gained
                    for token in before - after
                ):
                    says = f"{old} becomes {new}"
                    fact = f"{quote(_text(place).strip())} becomes {quote(text)}."
                    return confirm(says, fact, [place])
    return None


def _matches(
    patterns: tuple[re.Pattern[str], ...], phrase: Phrase
) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield what is asserted of which code."""
    for regex in patterns:
        for match in regex.finditer(phrase.masked):
            code = _code(phrase, match["code"])
            before = phrase.masked[: match.start()]
            if (
                tokens_of(code)
                and (len(code) >= MIN_LENGTH or code.isdigit())
                and not re.search(r"\.\.\.|…", code)
                and not _UNSURE.search(before)
                and not _MODAL.match(phrase.masked, match.end())
                and (not _IMPERATIVE.match(match[0]) or _ASKED.search(before))
                and not (match.start() == match.start("code") and _AS_PLACE.search(before))
                and not (
                    match.end() == match.end("code")
                    and _OTHER_NOUN.match(phrase.masked, match.end())
                )
            ):
                yield code, match


def _code(phrase: Phrase, text: str) -> str:
    """Return the code of a mask, a quotation or a number."""
    if text.startswith(MASK):
        piece = phrase.piece(text)
        return piece.code if piece else ""
    return re.sub(MASKED, lambda mask: _code(phrase, mask[0]), text).strip('"“”')


def _last(code: str) -> str:
    """Return the last name of a piece of code."""
    return next((token for token in reversed(tokens_of(code)) if token[0].isalnum()), code)


def _text(place: Place) -> str:
    return place.text.lines[place.line]


def _names_file(code: str, ground: Ground) -> bool:
    return any(text.path.endswith(code) for text in ground.code.texts())


def _is_redeclared(code: str, ground: Ground) -> bool:
    """Return whether a declaration of a name is edited, which may end it as what it was."""
    return any(
        region.unit and region.unit.head in region.text.changed
        for region in ground.code.regions_named(code, Side.OLD)
    )


def _all_known(ground: Ground) -> bool:
    """Return whether all code of a remark is in the change."""
    return all(
        ground.code.find(piece.code) or ground.code.knows(piece.last)
        for piece in ground.statement.pieces
    )


def _is_main(phrase: Phrase, match: re.Match[str], ground: Ground) -> bool:
    """Return whether an assertion is what a remark is about, and all its code is in the change."""
    before = phrase.masked[: match.start()]
    return (
        phrase is ground.statement.phrases[0]
        and before.count(MASK) <= len(MASK * 2)
        and not _ASIDE.search(before)
        and _all_known(ground)
    )


def _units(
    phrase: Phrase, ground: Ground
) -> Iterator[tuple[str, Sequence[Region], Sequence[Region]]]:
    """Yield the units that a sentence names in the old and in the new version."""
    for piece in phrase.pieces:
        if piece.last:
            old, new = (
                ground.code.regions_named(piece.last, side) for side in (Side.OLD, Side.NEW)
            )
            if old and new:
                yield piece.code, old, new


def _within(regions: Sequence[Region], code: str) -> list[Place]:
    return [place for region in regions for place in region.find(code)]


def _changed_places(ground: Ground, side: Side) -> Iterator[Place]:
    for text in ground.code.texts(side):
        yield from (Place(text, line) for line in sorted(text.changed))


def _fits(phrase: Phrase, match: re.Match[str], edit: tuple[Place, Place], ground: Ground) -> bool:
    """Return whether an edit is of what a sentence speaks of."""
    masks = re.findall(MASKED, phrase.masked[: match.start()] + phrase.masked[match.end() :])
    pieces = [piece for piece in map(phrase.piece, masks) if piece and piece.last]
    names = [piece.last for piece in pieces]
    files = [piece.code for piece in pieces if _names_file(piece.code, ground)]
    if files and not any(edit[0].text.path.endswith(path) for path in files):
        return False
    text = " ".join(map(_text, edit))
    for place in edit:
        region = place.text.region_at(place.line)
        text += f" {place.text.path} {region.unit.name if region and region.unit else ''}"
    if not names:
        return any(word[:6].lower() in text.lower() for word in _WORD.findall(phrase.masked))
    return _all_known(ground) and any(count_code(text, name) for name in names)


def _are_one_edit(old: Place, new: Place) -> bool:
    """Return whether a removed and an added line have no unchanged line between them."""
    block = old.text.version.blocks[old.line]
    return old.text.version.file is new.text.version.file and any(
        line == new.line for line, _ in block.added
    )


CHECKS: Final = (check_removed, check_added, check_kept, check_exchanged, check_level)
