"""A claim has to name something of the diff it is said to describe.

Language models write sentences that fit any change, and a change may talk them into sentences
that serve its author. A claim is kept when it names something of the piece it was asked about
(`evidence.py`), passes no judgement and speaks to nobody (`obeying.py`), and is none of the
prompt's own examples. What is dropped is counted by its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.claims.llm import deduplicate, evidence, prompt_injection
from crscore.claims.llm.cues import Fault
from crscore.claims.llm.words import dense, words
from crscore.records import PseudoReference, ReferenceKind
from crscore.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.claims.llm.answer import Said
    from crscore.claims.llm.chunks import Piece
    from crscore.claims.llm.evidence import Evidence

MAX_CLAIMS: Final = 40
"""Sentences that are taken from one answer; the prompt asks for a third of that at most."""
MAX_CHARS: Final = 1_000
"""Characters of a claim; a longer one is no sentence."""
MAX_SPANS: Final = 20
"""Places of one claim; one with more speaks of the whole piece."""

NAMES_NOTHING: Final = "names nothing of the diff"
TELLS_NOTHING: Final = "only names a thing, in a change that gives orders"
NO_SENTENCE: Final = "is no English sentence"
PARROTS: Final = "says what a text in the diff asks for"
EXAMPLE: Final = "repeats an example of the prompt"
TOO_MANY: Final = "comes after too many others"
_PLAIN: Final = re.compile(r"[^\W\d_]+")
# An image or link of Markdown: a reader of the report would fetch or follow it.
_LINK: Final = re.compile(r"!?\[[^\]\n]{0,200}\]\(\s{0,9}(?:https?:|//)", re.IGNORECASE)
# Words that sentences of other languages cannot do without; `die` alone is no proof.
_FOREIGN: Final = frozenset(
    """
    le la les des une est et dans pour cette avec pas sont der die das ist und nicht eine ein
    diese dieser wird mit auf el los las una es que por para esta este con del il gli che sono
    questa questo della per een het niet deze zijn wordt uma não esta este são jest nie tego
    """.split()  # noqa: SIM905 - the list reads better as prose
)
# What a page makes a link of: an address with a scheme, a host that begins with `www.`.
_URL: Final = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]{1,15}://|\bwww\.|\bmailto:)[^\s`'\"<>)\]]{1,500}", re.IGNORECASE
)
# A tag of HTML, also one that is not closed; names of types such as `List<Item>` are none.
_TAG: Final = re.compile(
    r"<[/!]?(a|abbr|audio|b|base|body|br|button|canvas|code|details|div|embed|form|frame|frameset"
    r"|h[1-6]|head|hr|html|i|iframe|img|input|kbd|li|link|marquee|math|meta|object|ol|option|p|param"
    r"|picture|pre|s|script|select|source|span|strong|style|sub|summary|sup|svg|table|td|template"
    r"|textarea|th|title|tr|track|u|ul|video|[a-z][\w-]{0,30}(?=[\s/][^<>]{0,300}=))"
    r"(?=[\s/>]|$)([^<>]{0,300})",
    re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(
    r"[\w:@-]{1,60}\s{0,3}=\s{0,3}(?:\"[^\"]*\"|'[^']*'|\{[^}]*\}|[^\s>]+)"
)
_ELIDED: Final = re.compile(r"=[{(\[]?(?:\.{2,}|…)[})\]]?/?$")


class Grounded(NamedTuple):
    """What is left of an answer."""

    references: tuple[PseudoReference, ...]
    """Claims, then implications, in the answer's order."""
    dropped: Counter[str]
    """Reason -> how many were dropped for it."""


def ground(
    said: Said, piece: Piece, *, source: str, examples: Sequence[str] = (), nonce: str = ""
) -> Grounded:
    """Hold an answer against the piece it is about.

    Args:
        said: What the model said.
        piece: What it was asked about.
        source: Who wrote the claims, kept in each.
        examples: Sentences of the prompt's examples.
        nonce: What the piece was fenced with; no honest claim has it.

    Returns:
        The claims that name something of the piece, with the lines and names they stand on, and
        why the others were dropped.
    """
    held = evidence.of(piece)
    known = [words(text) for text in examples]
    found: list[PseudoReference] = []
    dropped: Counter[str] = Counter()
    kinds = ((ReferenceKind.CLAIM, said.claims), (ReferenceKind.IMPLICATION, said.implications))
    for kind, texts in kinds:
        dropped[TOO_MANY] += max(len(texts) - MAX_CLAIMS, 0)
        for text in texts[:MAX_CLAIMS]:
            why = _fault(text, held, nonce)
            if why is None and any(deduplicate.alike(words(text), one) for one in known):
                why = EXAMPLE
            if why is not None:
                dropped[why] += 1
            else:
                found.append(_reference(text, kind, source, piece, held))
    return Grounded(tuple(found), +dropped)


def grounded(text: str, piece: Piece) -> bool:
    """Whether one claim would be kept."""
    return _fault(text, evidence.of(piece), "") is None


def _fault(text: str, held: Evidence, nonce: str) -> str | None:
    if (
        len(text) > MAX_CHARS
        or _LINK.search(text)
        or not _is_english(prompt_injection.unquoted(text))
    ):
        return NO_SENTENCE
    if nonce and nonce in text:
        return Fault.PROMPT
    return prompt_injection.fault(text, held.honest.every) or _unfounded(text, held)


def _unfounded(text: str, held: Evidence) -> str | None:
    if held.parrots(text):
        return PARROTS
    # An address or a tag that the diff does not have came from somewhere else.
    if any(part not in held.honest.dense for part in _foreign_parts(text)):
        return NAMES_NOTHING
    if not held.grounds(text):
        return NAMES_NOTHING
    return None if held.tells(text) else TELLS_NOTHING


def _foreign_parts(text: str) -> Iterator[str]:
    """What of a sentence a page would make a link or an element of, dense."""
    for url in _URL.findall(text):
        yield dense(url.rstrip(".,;:"))
    for name, rest in _TAG.findall(text):
        yield "<" + name.lower()
        for told in map(dense, _ATTRIBUTE.findall(rest)):
            # `<a href=...>` leaves the value out: then the attribute is what counts.
            yield told.partition("=")[0] + "=" if _ELIDED.search(told) else told.rstrip("/")


def _is_english(plain: str) -> bool:
    """Whether a sentence without its quotations may be English; the patterns read no other."""
    found = _PLAIN.findall(plain)
    if not any(word.isascii() and len(word) > 1 for word in found):
        return False
    letters = "".join(found)
    if sum(letter.isascii() for letter in letters) < 0.8 * len(letters):
        return False
    lower = {word.lower() for word in found}
    foreign = lower & _FOREIGN
    return len(foreign) < 2 or len(foreign) <= len(lower & ENGLISH)


def _reference(
    text: str, kind: ReferenceKind, source: str, piece: Piece, held: Evidence
) -> PseudoReference:
    places = held.places(text)
    return PseudoReference(
        text=text,
        kind=kind,
        source=source,
        spans=places if 0 < len(places) <= MAX_SPANS else piece.spans,
        identifiers=held.named(text),
    )
