"""Absence: what is said to be missing, or never done.

A clause with a negation says what is not done (`actions.toml`) to which name, or which piece of
code is missing; the unit that the remark names, or else the lines it quotes, decide.
"""

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.syntax.outline import Kind, Role
from crscore.text.words import split_identifier, stem
from crscore.verdicts.checks.base import MASKED, Ground, confirm, pattern, refute
from crscore.verdicts.code import Place, Region, tokens_of
from crscore.verdicts.statements import Phrase, Piece


class _Action(NamedTuple):
    words: re.Pattern[str]
    code: re.Pattern[str]
    is_broad: bool
    is_sign: bool


def _any_of(words: str) -> re.Pattern[str]:
    """Compile words that are separated by "; "; `*` stands for more letters."""
    parts = (
        rf"\b(?:{word})\b" if re.match(r"[\w*]|\(\?:", word) else word for word in words.split("; ")
    )
    return re.compile("|".join(parts).replace("*", r"\w*"), re.IGNORECASE)


_TABLE: Final = tuple(
    _Action(_any_of(row["words"]), _any_of(row["code"]), "broad" in row, "sign" in row)
    for row in tomllib.loads(Path(__file__).with_name("actions.toml").read_text("utf-8")).values()
)
_CLAUSE: Final = re.compile(
    r"[,.;:!?](?=\s|$)|[()]|\s[–—-]\s|\b(?:but|so|because|while|although)\b"
)
_NEGATION: Final = pattern(
    r"\b<absent>\b|n't\b|(?<=is |re )un(?=guarded|checked|validated|escaped)"
)
_DOUBTFUL: Final = pattern(r"\b<not_absent>\b|^\W*do(?:n't| not)\b")
_NARROW: Final = pattern(r"\b<narrow>\b")
_IS: Final = re.compile(r"\b(?:is|are|been|being|gets?)(?:n't)?\b", re.IGNORECASE)
_VALUE: Final = re.compile(r"\b(?:to|as) (null|nil|none|false|true|zero)\b", re.IGNORECASE)
_RELATIVE: Final = re.compile(r"\b(?:that|which|in|inside|from|for|after|on|at|by|of(?= §))\b")
_RESTRICTS: Final = re.compile(r"\b(?:that|which|who)(?: \w+)? ?$", re.IGNORECASE)
_BEFORE: Final = pattern(r"\bbefore\b[^§]*(?P<later>§)?.*")
_AGAIN: Final = re.compile(r"\bre-?(?:set|assign|stor|initiali)|\bback to\b", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[A-Za-z]{3,}")
_PARTICIPLE: Final = re.compile(r"\w+ed *$")
_NEUTRAL: Final = pattern(r"<neutral>")
_SIGNS: Final = tuple(action for action in _TABLE if action.is_sign)
_ACTIONS: Final = tuple(action for action in _TABLE if not action.is_sign)
_TRUTH: Final = (
    r"(?:\b(?:if|while|unless|and|or|not)\b|&&|\|\||!)\s*\(*[\w.]*\bNAME\b"
    r"\s*(?:\)|:|&&|\|\||\band\b|\bor\b|\?|\{|$)"
)
_COMMENT: Final = re.compile(r"\s*(?://|#|/?\*)")


class _Clause(NamedTuple):
    """Clause with a negation."""

    before: str
    negation: str
    after: str


def _negated(phrase: Phrase) -> Iterator[_Clause]:
    """Yield the clauses that say that something is not there or not done."""
    for text in _CLAUSE.split(phrase.masked):
        negation = _NEGATION.search(text)
        if negation and not _DOUBTFUL.search(text):
            before = text[: negation.start()]
            if not _RESTRICTS.search(before):
                yield _Clause(before, negation[0], text[negation.end() :])


def _pieces(phrase: Phrase, text: str) -> list[Piece]:
    pieces = (phrase.piece(mask) for mask in re.findall(MASKED, text))
    return [piece for piece in pieces if piece and piece.words]


def _says(phrase: Phrase, clause: _Clause) -> str:
    """Return a clause as it was written."""

    def write(mask: re.Match[str]) -> str:
        piece = phrase.piece(mask[0])
        return quote(piece.code) if piece else ""

    return re.sub(MASKED, write, "".join(clause)).strip(" *_-")


def _regions(phrase: Phrase, ground: Ground, missing: str) -> list[Region]:
    """Return the units that a remark names beside what it misses, or else those it quotes from."""
    for pieces in (phrase.pieces, ground.statement.pieces):
        rest = [piece for piece in pieces if piece.last and piece.last != missing]
        named = [region for piece in rest for region in ground.code.regions_named(piece.last)]
        if named:
            inner = [region for region in named if region.unit and region.unit.kind != Kind.TYPE]
            return [region for region in inner or named if _is_changed(region)] or named
    quoted = [
        place.text.region_at(place.line)
        for piece in ground.statement.pieces
        if piece.is_verbatim
        for place in ground.code.find(piece.code, Side.NEW)
    ]
    return [region for region in quoted if region] or ground.around()


def _is_changed(region: Region) -> bool:
    return any(region.start <= line <= region.end for line in region.text.changed)


def _changed_lines(ground: Ground) -> list[Region]:
    return [
        Region(text, line, line)
        for text in ground.code.texts(Side.NEW)
        for line in sorted(text.changed)
    ]


class _Deed(NamedTuple):
    """What is said not to be done to what."""

    action: _Action
    says: str
    subject: str
    details: str


def _subject(clause: _Clause, action: re.Match[str]) -> tuple[str, str] | None:
    """Return the mask or word of what is not acted on, and the words that say how.

    It is the object of "never closes X", the subject of "X is never closed".
    """
    rest = clause.after[action.end() :]
    if _IS.search(clause.before[-16:]) and action[0].lower().endswith(("ed", "t", "en", "ut")):
        head = _PARTICIPLE.sub("", _RELATIVE.split(clause.before, maxsplit=1)[0])
        names = re.findall(MASKED, head) or _PLAIN.findall(head) or re.findall(MASKED, rest)
        return (names[0] if "§" in names[0] else names[-1], rest) if names else None
    names = re.findall(MASKED, rest) or _PLAIN.findall(re.sub(MASKED, "", rest))[-1:]
    return (names[0], rest.replace(names[0], " ", 1)) if names else None


def _does(line: str, name: str, *, is_piece: bool) -> bool:
    """Return whether a line has a name, or a word as a part of a name."""
    if is_piece:
        return name in line and name in tokens_of(line)
    return stem(name.lower()) in {stem(word) for word in split_identifier(line)}


def _says_so(line: str, details: str, name: str, region: Region) -> bool:
    """Return whether a line has all details of a clause, as far as they are not the unit's name."""
    unit = region.unit.name if region.unit else ""
    for word in _PLAIN.findall(re.sub(MASKED, " ", details)):
        sign = next((sign.code for sign in _SIGNS if sign.words.fullmatch(word)), None)
        if sign and not (
            sign.search(line) or re.search(_TRUTH.replace("NAME", re.escape(name)), line)
        ):
            return False
        is_said = sign or _NEUTRAL.fullmatch(word) or _does(line, word, is_piece=False)
        if not is_said and word.lower() not in split_identifier(unit):
            return False
    return True


def check_undone(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Something that is said never to be done to a name: closed, checked, copied."""
    for clause in _negated(phrase):
        for action in _ACTIONS:
            match = action.words.search(clause.after)
            subject = _subject(clause, match) if match else None
            if match and subject and not _NARROW.search(clause.after):
                details = clause.after[: match.start()] + " " + subject[1]
                deed = _Deed(action, _says(phrase, clause), subject[0], details)
                receipt = _judge_deed(deed, phrase, ground)
                if receipt:
                    return receipt
    return None


def _first_line(piece: Piece | None, regions: Sequence[Region]) -> float:
    """Return the first line of regions that has a piece of code; infinity without one."""
    places = [_place_in(region, piece) for region in regions] if piece else []
    return min((place.line for place in places if place), default=math.inf)


def _judge_deed(deed: _Deed, phrase: Phrase, ground: Ground) -> Receipt | None:
    piece = phrase.piece(deed.subject if "§" in deed.subject else None)
    name = piece.last if piece else deed.subject
    regions = named = _regions(phrase, ground, piece.last if piece else "")
    value = _VALUE.search(deed.details)
    if not named and (not deed.action.is_broad or piece or value):
        regions = _changed_lines(ground)
    later = _BEFORE.search(deed.details)
    limit = _first_line(phrase.piece(later["later"]) if later else None, named)
    details = _BEFORE.sub("", deed.details)
    lines = [
        (Place(region.text, number), region)
        for region in regions
        for number, line in region.lines()
        if number < limit
        and _does(line, name, is_piece=piece is not None)
        and not _COMMENT.match(line)
        and (region.unit is None or number != region.unit.head)
    ]
    if _AGAIN.search(deed.says) and piece and len(piece.words) == 1:
        lines = lines[1:]  # The first one gives it its first value.
    doing = [place for place, _ in lines if deed.action.code.search(place.code)]
    if value:
        doing = [place for place in doing if value[1].lower() in place.code.lower()]
    exact = [p for p, region in lines if p in doing and _says_so(p.code, details, name, region)]
    if exact:
        fact = f"{quote(exact[0].code.strip())} is in line {exact[0].line}."
        return refute(deed.says, fact, exact)
    elsewhere = (
        _does(line, name, is_piece=True) and deed.action.code.search(line)
        for text in {region.text for region in named}
        for line in text.lines.values()
    )
    is_sure = piece and lines and named and not doing and _is_neutral(_VALUE.sub("", details))
    if is_sure and (value or not any(elsewhere)):
        fact = f"No line with {quote(name)} does that; the first is line {lines[0][0].line}."
        return confirm(deed.says, fact, [place for place, _ in lines])
    return None


_UNDOCUMENTED: Final = pattern(
    r"(?P<unit>§)(?: <plain>)* (?:(?:has|have|with|is|comes) )?(?:no|without|lacks|missing|lacking)"
    r"(?: <fills>)* <doc>\b|\b(?:no|missing)(?: <fills>)* <doc>(?: is)? (?:on|for|in|above|at)"
    r"(?: <plain>)* (?P<unit_after>§)"
)
_COMMENTED: Final = re.compile(r"\s*(?://|#(?!\[)|/?\*|<!--|--|;)|.*\*/|\s*[\w@]*\"\"\"")
_DOCSTRING: Final = re.compile(r"\s*[rRuU]?(?:\"\"\"|'''|[\"'])")


def check_undocumented(phrase: Phrase, ground: Ground) -> Receipt | None:
    """A unit that is said to have no docstring, or no comment above it."""
    match = _UNDOCUMENTED.search(phrase.masked)
    piece = phrase.piece(match["unit"] or match["unit_after"]) if match else None
    regions = ground.code.regions_named(piece.last) if piece else []
    regions = [region for region in regions if _is_changed(region)] or regions
    if piece is None or not regions:
        return None
    says = f"{quote(piece.code)} has no documentation"
    heads = [Place(region.text, region.unit.head) for region in regions if region.unit]
    docs = [_documentation(region) for region in regions]
    proofs = [place for place in docs if place]
    if len(proofs) == len(docs):
        fact = f"A comment or docstring of {quote(piece.code)} is in line {proofs[0].line}."
        return refute(says, fact, proofs)
    if proofs or not all(ground.code.find(other.code) for other in phrase.pieces):
        return None
    return confirm(says, f"No comment and no docstring belongs to {quote(piece.code)}.", heads)


def _documentation(region: Region) -> Place | None:
    """Return the first line of the comment above a unit, or of its docstring."""
    head = region.unit.head if region.unit else region.start
    for number, line in region.lines():
        if number < head and _COMMENTED.match(line):
            return Place(region.text, number)
        is_body = number > head and region.text.lines[number - 1].split("#")[0].rstrip()[-1:] == ":"
        if is_body and _DOCSTRING.match(line):
            return Place(region.text, number)
    above = region.text.lines.get(region.start - 1, "")
    return Place(region.text, region.start - 1) if _COMMENTED.match(above) else None


_MISSES: Final = pattern(
    r"^(?: (?:in|inside|within) (?P<owner>§))?(?: <fills>)* (?P<code>§)"
    r"(?! (?:check|guard|test|case|branch|handling|validation|assertion|value|error))"
)
_DOES_NOT: Final = pattern(r"^ (?:<deed>)(?: <fills>)* (?P<code>§)")
_CONSTANT: Final = pattern(r"<constant>")


def check_missing(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be missing in a unit or on a line."""
    for clause in _negated(phrase):
        match = _MISSES.search(clause.after)
        verb = match or _DOES_NOT.search(clause.after)
        piece = phrase.piece(verb["code"]) if verb else None
        if verb is None or piece is None or not piece.words or _CONSTANT.fullmatch(piece.code):
            continue
        rest = clause.after[verb.end() :]
        before = (match and match["owner"]) or clause.before
        owners = _pieces(phrase, before) or _pieces(phrase, rest)
        regions = _regions_of(owners[0], ground) if owners else _regions(phrase, ground, piece.last)
        # "Called without" is about the call: the unit of that name says nothing.
        is_call = clause.negation.lower() == "without" and any(region.unit for region in regions)
        if not regions or is_call or not all(region.text.is_whole for region in regions):
            continue
        places = [_place_in(region, piece) for region in regions]
        owner = quote(regions[0].unit.name) if regions[0].unit else f"Line {regions[0].start}"
        says = _says(phrase, clause)
        if match and all(places) and not _NARROW.search(rest) and _is_neutral(rest):
            proofs = [place for place in places if place]
            fact = f"{quote(piece.code)} is in line {proofs[0].line}."
            return refute(says, fact, proofs)
        others = [other for other in phrase.pieces if other is not piece]
        if owners and not any(places) and all(ground.code.find(other.code) for other in others):
            heads = [Place(region.text, region.start) for region in regions]
            return confirm(says, f"{owner} has no {quote(piece.code)}.", heads)
    return None


def _is_neutral(text: str) -> bool:
    plain = _PLAIN.findall(re.sub(MASKED, " ", text))
    return all(_NEUTRAL.fullmatch(word) for word in plain)


def _regions_of(owner: Piece, ground: Ground) -> list[Region]:
    """Return what is said to lack something: quoted lines, or the file or unit of a name."""
    files = ground.code.texts_at(owner.code)
    if owner.is_verbatim and not files:
        places = ground.code.find(owner.code, Side.NEW)
        return [Region(place.text, place.line, place.line) for place in places]
    whole = [Region(text, 1, max(text.lines, default=1)) for text in files]
    return whole or ground.code.regions_named(owner.last)


def _place_in(region: Region, piece: Piece) -> Place | None:
    imports = {fact.line for fact in region.text.facts(region) if fact.role is Role.IMPORT}
    head = region.unit.head if region.unit and region.unit.name.endswith(piece.last) else None
    lines = (line for line in region.text.find(piece.code) if region.start <= line <= region.end)
    places = (Place(region.text, line) for line in lines if line not in {head, *imports})
    return next((place for place in places if not _COMMENT.match(place.code)), None)


CHECKS: Final = (
    check_undocumented,
    check_undone,
    check_missing,
)
