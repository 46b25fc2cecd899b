"""Absence: what is said to be missing, or never done.

A clause with a negation says what is not done (`actions.toml`) to which name, or which piece of
code is missing; the unit that the remark names, or else the lines it quotes, decide.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.syntax.outline import Kind
from crscore.text.words import split_identifier, stem
from crscore.verdicts.checks.base import MASKED, Ground, confirm, pattern, refute
from crscore.verdicts.checks.clauses import pieces_of
from crscore.verdicts.code import Place, Region, tokens_of
from crscore.verdicts.statements import Phrase, Piece


def _any_of(words: str) -> re.Pattern[str]:
    """Compile words that are separated by "; "; `*` stands for more letters."""
    parts = (
        rf"\b(?:{word})\b" if re.match(r"[\w*]|\(\?:", word) else word for word in words.split("; ")
    )
    return re.compile("|".join(parts).replace("*", r"\w*"), re.IGNORECASE)


_ACTIONS: Final = [
    (_any_of(row["words"]), _any_of(row["code"]))
    for row in tomllib.loads(Path(__file__).with_name("actions.toml").read_text("utf-8")).values()
]
"""Words for what is not done, and how code looks that does it."""
_CLAUSE: Final = pattern(r"[,.;:!?](?=\s|$)|[()]|\s[–—-]\s|\b(?:so|because|<contrasts>)\b")
_NEGATION: Final = pattern(
    r"\b<absent>\b|n't\b|(?<=is |re )un(?=guarded|checked|validated|escaped)"
)
_DOUBTFUL: Final = pattern(r"\b<not_absent>\b|^\W*do(?:n't| not)\b")
_NARROW: Final = pattern(r"\b<narrow>\b")
_NEUTRAL: Final = pattern(r"<neutral>")
_CONSTANT: Final = pattern(r"<constant>")
_MISSES: Final = pattern(
    r"^(?: (?:in|inside|within) (?P<owner>§))?(?: <fills>)* (?P<code>§)"
    r"(?! (?:check|guard|test|case|branch|handling|validation|assertion|value|error))"
)
_DOES_NOT: Final = pattern(r"^ (?:<deed>)(?: <fills>)* (?P<code>§)")
_IS: Final = re.compile(r"\b(?:is|are|been|being|gets?)(?:n't)?\b", re.IGNORECASE)
_RELATIVE: Final = re.compile(r"\b(?:that|which|in|inside|from|for|after|on|at|by|of(?= §))\b")
_RESTRICTS: Final = re.compile(r"\b(?:that|which|who)(?: \w+)? ?$", re.IGNORECASE)
_PARTICIPLE: Final = re.compile(r"\w+ed *$")
_AGAIN: Final = re.compile(r"\bre-?(?:set|assign|stor|initiali)|\bback to\b", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[A-Za-z]{3,}")
_NO_USE: Final = re.compile(r"\s*(?://|#|/?\*|(?:import|from|using|use|require|#\s*include)\b)")


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


def check_undone(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Something that is said never to be done to a name: closed, checked, copied."""
    for denial in _denials(phrase):
        for words, code in [] if _NARROW.search(denial.after) else _ACTIONS:
            match = words.search(denial.after)
            subject = _subject(denial, match) if match else None
            if match and subject:
                details = denial.after[: match.start()] + " " + subject[1]
                lines = _lines_with(subject[0], details, denial, ground)
                if doing := [place for place in lines if code.search(place.code)]:
                    fact = f"{quote(doing[0].code.strip())} is in line {doing[0].line}."
                    return refute(denial.claim, fact, doing)
    return None


def _subject(denial: _Denial, action: re.Match[str]) -> tuple[str, str] | None:
    """Return the mask or word of what is not acted on, and the words that say how.

    It is the object of "never closes X", the subject of "X is never closed".
    """
    rest = denial.after[action.end() :]
    if _IS.search(denial.before[-16:]) and action[0].lower().endswith(("ed", "t", "en", "ut")):
        head = _PARTICIPLE.sub("", _RELATIVE.split(denial.before, maxsplit=1)[0])
        names = re.findall(MASKED, head) or _PLAIN.findall(head) or re.findall(MASKED, rest)
        return (names[0] if "§" in names[0] else names[-1], rest) if names else None
    names = re.findall(MASKED, rest) or _PLAIN.findall(re.sub(MASKED, "", rest))[-1:]
    return (names[0], rest.replace(names[0], " ", 1)) if names else None


def _lines_with(subject: str, details: str, denial: _Denial, ground: Ground) -> list[Place]:
    """Return the lines with a name, or with a word as a part of one, and with all details."""
    piece = denial.phrase.piece(subject if "§" in subject else None)
    regions = _regions(denial.phrase, ground, piece.last if piece else "")
    if not regions and piece:
        regions = [
            Region(text, line, line)
            for text in ground.code.texts(Side.NEW)
            for line in sorted(text.changed)
        ]
    lines = [
        (place, region)
        for region in regions
        for place in region.places()
        if (piece.last in tokens_of(place.code) if piece else _has(place.code, subject))
        and not _NO_USE.match(place.code)
        and (region.unit is None or place.line != region.unit.head)
    ]
    if _AGAIN.search(denial.claim) and piece and len(piece.words) == 1:
        lines = lines[1:]  # The first one gives it its first value.
    return [place for place, region in lines if _has_all(place.code, details, region)]


def _has(line: str, word: str) -> bool:
    return stem(word.lower()) in {stem(part) for part in split_identifier(line)}


def _has_all(line: str, details: str, region: Region) -> bool:
    """Return whether a line or the name of its unit has all words of the details."""
    text = f"{line} {region.unit.name if region.unit else ''}"
    words = _PLAIN.findall(re.sub(MASKED, " ", details))
    return all(_NEUTRAL.fullmatch(word) or _has(text, word) for word in words)


def check_missing(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be missing in a unit or on a line."""
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
        # "Called without" is about the call: the unit of that name says nothing.
        is_call = denial.negation.lower() == "without" and any(region.unit for region in regions)
        if is_call or not all(region.text.version.is_whole for region in regions):
            continue
        places = [place for region in regions if (place := _place_in(region, piece))]
        plain = _PLAIN.findall(re.sub(MASKED, " ", rest))
        is_neutral = all(map(_NEUTRAL.fullmatch, plain)) and not _NARROW.search(rest)
        if match and places and len(places) == len(regions) and is_neutral:
            fact = f"{quote(piece.code)} is in line {places[0].line}."
            return refute(denial.claim, fact, places)
        context = [near for near in phrase.pieces if near is not piece]
        if owners and regions and not places and all(ground.code.find(p.code) for p in context):
            unit, heads = regions[0].unit, [Place(r.text, r.start) for r in regions]
            owner = quote(unit.name) if unit else f"Line {regions[0].start}"
            return confirm(denial.claim, f"{owner} has no {quote(piece.code)}.", heads)
    return None


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
    """Return what is said to lack something: quoted lines, or the file or unit of a name."""
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


CHECKS: Final = (check_undone, check_missing)
