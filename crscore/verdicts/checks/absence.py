"""Absence: remarks that code is missing.

A clause with a negation says which piece is missing; the unit that the remark names, or else the
lines it quotes, decide.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.syntax.outline import Kind
from crscore.verdicts.checks.base import MASKED, Ground, confirm, pattern, refute
from crscore.verdicts.checks.clauses import pieces_of
from crscore.verdicts.code import Place, Region
from crscore.verdicts.statements import Phrase, Piece

_CLAUSE: Final = pattern(r"[,.;:!?](?=\s|$)|[()]|\s[–—-]\s|\b(?:so|because|<contrasts>)\b")
_NEGATION: Final = pattern(
    r"\b<absent>\b|n't\b|(?<=is |re )un(?=guarded|checked|validated|escaped)"
)
_DOUBTFUL: Final = pattern(r"\bwhy not\b|\b<not_absent>\b|^\W*do(?:n't| not)\b")
_NARROW: Final = pattern(r"\b<narrow>\b")
_NEUTRAL: Final = pattern(r"<neutral>")
_CONSTANT: Final = pattern(r"<constant>")
_MISSES: Final = pattern(
    r"^(?: (?:in|inside|within) (?P<owner>§))?(?: <fills>)* (?P<code>§)"
    r"(?! (?:check|guard|test|case|branch|handling|validation|assertion|value|error))"
)
_DOES_NOT: Final = pattern(r"^ (?:<deed>)(?: <fills>)* (?P<code>§)")
_RESTRICTS: Final = re.compile(r"\b(?:that|which|who)(?: \w+)? ?$", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[A-Za-z]{3,}")
_NO_USE: Final = re.compile(r"\s*(?://|#|/?\*|(?:import|from|using|use|require|#\s*include)\b)")


_ANY_MORE: Final = re.compile(r"\b(?:any ?more|any longer|no longer)\b", re.IGNORECASE)
_JOINED: Final = pattern(r"^ (?:or|nor)(?: an?)? §")


class _Denial(NamedTuple):
    """Clause with a negation."""

    before: str
    negation: str
    after: str
    phrase: Phrase

    @property
    def claim(self) -> str:
        """The clause as it was written."""
        text = self.before + self.negation + self.after
        return self.phrase.unmask(text, quote).strip(" *_-")


def _denials(phrase: Phrase) -> Iterator[_Denial]:
    """Yield the clauses that say that something is not there or not done."""
    for text in _CLAUSE.split(phrase.masked):
        negation = _NEGATION.search(text)
        before, after = _NEGATION.split(text, maxsplit=1) if negation else ("", "")
        if negation and not _DOUBTFUL.search(text) and not _RESTRICTS.search(before):
            yield _Denial(before, negation[0], after, phrase)


def check_missing(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Decide whether a unit or a line lacks code."""
    for denial in _denials(phrase):
        match = _MISSES.search(denial.after)
        verb = match or _DOES_NOT.search(denial.after)
        piece = phrase.piece(verb["code"]) if verb else None
        if verb is None or piece is None or not piece.words or _CONSTANT.fullmatch(piece.code):
            continue
        rest = denial.after[verb.end() :]
        before = (match and match["owner"]) or denial.before
        owners = pieces_of(before, phrase) or pieces_of(rest, phrase)
        regions = _regions_of(owners[0], ground) if owners else _regions(phrase, ground, piece.last)
        context = [near for near in phrase.pieces if near is not piece]
        is_nowhere = ground.code.is_whole and not _is_there(piece, ground)
        is_nowhere = is_nowhere and not _ANY_MORE.search(phrase.masked)
        is_nowhere = is_nowhere and not ground.code.is_elsewhere(piece.code)
        if is_nowhere and all(_is_there(near, ground) or _JOINED.search(rest) for near in context):
            fact = f"No line of the changed files has {quote(piece.code)}."
            return confirm(denial.claim, fact)
        # "Called without" is about the call: the unit of that name says nothing.
        is_call = denial.negation.lower() == "without" and any(region.unit for region in regions)
        if is_call or not all(region.text.version.is_whole for region in regions):
            continue
        places = [place for region in regions if (place := _place_in(region, piece))]
        plain = _PLAIN.findall(re.sub(MASKED, " ", rest))
        is_neutral = all(map(_NEUTRAL.fullmatch, plain)) and not _NARROW.search(rest)
        if owners and match and places and len(places) == len(regions) and is_neutral:
            fact = f"{quote(piece.code)} is in line {places[0].line}."
            return refute(denial.claim, fact, places)
        if owners and regions and not places and all(ground.code.find(p.code) for p in context):
            unit, heads = regions[0].unit, [Place(r.text, r.start) for r in regions]
            owner = quote(unit.name) if unit else f"Line {regions[0].start}"
            return confirm(denial.claim, f"{owner} has no {quote(piece.code)}.", heads)
    return None


def _is_there(piece: Piece, ground: Ground) -> bool:
    """Return whether the new version has a piece of code, or a file of this name."""
    return bool(ground.code.find(piece.code, Side.NEW) or ground.code.texts_at(piece.code))


def _regions(phrase: Phrase, ground: Ground, missing: str) -> list[Region]:
    """Return the units that a remark names beside what it misses, or else those it quotes from."""
    for pieces in (phrase.pieces, ground.statement.pieces):
        rest = [piece for piece in pieces if piece.last and piece.last != missing]
        units = [region for piece in rest for region in ground.code.regions_named(piece.last)]
        inner = [region for region in units if region.unit and region.unit.kind != Kind.TYPE]
        changed = [r for r in inner or units if any(place.is_changed for place in r.places())]
        if units:
            return changed or units
    quoted = [
        place.text.region_at(place.line)
        for piece in ground.statement.pieces
        if piece.is_verbatim
        for place in ground.code.find(piece.code, Side.NEW)
    ]
    return [region for region in quoted if region] or ground.around()


def _regions_of(owner: Piece, ground: Ground) -> list[Region]:
    """Return quoted lines, or the file or unit of a name."""
    files = [text.whole for text in ground.code.texts_at(owner.code)]
    if owner.is_verbatim and not files:
        places = ground.code.find(owner.code, Side.NEW)
        return [Region(place.text, place.line, place.line) for place in places]
    return files or ground.code.regions_named(owner.last)


def _place_in(region: Region, piece: Piece) -> Place | None:
    """Return the first line of a region that uses a piece of code."""
    head = region.unit.head if region.unit and region.unit.name.endswith(piece.last) else None
    uses = (place for place in region.find(piece.code) if not _NO_USE.match(place.code))
    return next((place for place in uses if place.line != head), None)


CHECKS: Final = (check_missing,)
