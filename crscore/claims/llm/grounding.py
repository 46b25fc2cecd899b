"""Filter for the claims of an answer: each must name something in the diff, and is kept once.

Language models write sentences that fit any change, and a change may instruct them to repeat a
text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.claims.llm.chunks import Chunk
from crscore.records import DiffLine, LineKind, LineSpan, PseudoReference, ReferenceKind, Side
from crscore.text.stopwords import ENGLISH
from crscore.text.words import split_identifier, stem

if TYPE_CHECKING:
    from crscore.claims.llm.answer import ParsedAnswer

MAX_CLAIMS: Final = 40
"""Maximum number of claims, and of implications, taken from one answer: three times what the prompt
asks for."""
MAX_CLAIM_CHARS: Final = 1_000
"""Maximum characters of a claim; a longer text is not a sentence."""
MAX_SPANS: Final = 20
"""Maximum line ranges of one claim; a claim with more applies to the whole chunk."""

NAMES_NOTHING: Final = "names nothing of the diff"
QUOTES_DIFF: Final = "only repeats a text of the diff"
REPEATS_EXAMPLE: Final = "repeats an example of the prompt"
TOO_LONG: Final = "is too long for a sentence"
TOO_MANY: Final = "comes after too many others"

# "`n`", ""text"", "'x'", "“text”"; not from the apostrophe in "don't" to the next one
_QUOTED: Final = re.compile(
    r"`([^`\n]{1,1000})`|\"([^\"\n]{1,500})\"|(?<!\w)'([^'\n]{1,500})'(?!\w)|“([^”\n]{1,500})”"
)
_WORD: Final = re.compile(r"[^\W\d][\w$]*")
_NUMBER: Final = re.compile(r"\d[\w.]*\w|\d")
# "user_id", "userId", "_private", "HTTPServer", "a$b": words that are hardly English.
_COMPOUND: Final = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]|^_|[A-Z]{2}[a-z]|\w\$")
# Words for parts of code that do not occur in the code itself.
_CODE_PATTERNS: Final = {
    "string": re.compile(r"[\"'`]"),
    "condition": re.compile(r"\b(?:if|unless|else|elif|when|switch|case)\b|\?|&&|\|\|"),
    "comment": re.compile(r"//|/\*|#|--|<!--"),
}
_FILLERS: Final = frozenset(
    ("a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "has", "have", "now")
)


class Grounded(NamedTuple):
    """The claims of one answer that are kept."""

    references: tuple[PseudoReference, ...]
    """Claims, then implications, in the answer's order."""
    dropped: Counter[str]
    """Number of dropped claims by reason."""


def ground_claims(
    answer: ParsedAnswer, chunk: Chunk, *, source: str, examples: Sequence[str] = ()
) -> Grounded:
    """Keep the claims that name something of a chunk.

    Args:
        answer: The model's answer.
        chunk: The part of the change that it is about.
        source: Name of the generator, recorded in each claim.
        examples: Sentences of the prompt's examples.

    Returns:
        The claims that share a name, path, quoted text, number or word with the chunk, with the
        lines and names they refer to, and why the others were dropped. A sentence that occurs
        verbatim in the diff, as an instruction or a comment, counts as copied and is dropped.
    """
    words = _ChunkWords(chunk)
    example_words = frozenset(map(normalize, examples))
    references: list[PseudoReference] = []
    dropped: Counter[str] = Counter()
    kinds = ((ReferenceKind.CLAIM, answer.claims), (ReferenceKind.IMPLICATION, answer.implications))
    for kind, texts in kinds:
        dropped[TOO_MANY] += max(len(texts) - MAX_CLAIMS, 0)
        for text in texts[:MAX_CLAIMS]:
            reason = (
                REPEATS_EXAMPLE if normalize(text) in example_words else words.drop_reason(text)
            )
            if reason is None:
                references.append(words.reference(text, kind, source))
            else:
                dropped[reason] += 1
    return Grounded(tuple(references), +dropped)  # + drops the reasons that count 0


class _ChunkWords:
    """Names, numbers, texts and words of a chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        lines = [line for hunk in chunk.hunks for line in hunk.lines]
        self._changed = [line for line in lines if line.kind is not LineKind.CONTEXT]
        labels = [*chunk.paths().values(), *(hunk.section for hunk in chunk.hunks)]
        texts = [*labels, *(line.text for line in lines)]
        text = "\n".join(texts)
        self._names = frozenset(word.lower() for word in _WORD.findall(text))
        self._numbers = frozenset(_NUMBER.findall(text))
        self._dense = "\n".join(map(_dense, texts))
        self._sequence = _sequence(text)
        changed = "\n".join(line.text for line in self._changed)
        code_words = (
            stem(name) for name, pattern in _CODE_PATTERNS.items() if pattern.search(changed)
        )
        self._stems = _stems(text).union(code_words)

    def drop_reason(self, text: str) -> str | None:
        """Return why a sentence is dropped; None when it is kept."""
        if len(text) > MAX_CLAIM_CHARS:
            return TOO_LONG
        if _sequence(text) in self._sequence:
            return QUOTES_DIFF
        return None if self._grounds(text) else NAMES_NOTHING

    def _grounds(self, text: str) -> bool:
        quoted = _quotations(text)
        names = [word.lower() for word in _WORD.findall(text) if _COMPOUND.search(word)]
        if (
            any(part in self._dense for part in quoted)
            or not self._names.isdisjoint(names)
            or not self._numbers.isdisjoint(_NUMBER.findall(text))
        ):
            return True
        shared = len(_stems(text) & self._stems)
        # A sentence that names code, but none of this change, needs more words in common with it.
        return shared > 1 if quoted or names else shared > 0

    def reference(self, text: str, kind: ReferenceKind, source: str) -> PseudoReference:
        """Return a claim with the changed lines that it quotes or names, or else all of them."""
        names = [name for name in _names(text) if name.lower() in self._names]
        quoted = _quotations(text)
        compounds = {name.lower() for name in names if _COMPOUND.search(name)}
        lines = [
            line
            for line in self._changed
            if any(part in _dense(line.text) for part in quoted)
            or not compounds.isdisjoint(map(str.lower, _WORD.findall(line.text)))
        ]
        spans = tuple(_spans(lines, self._chunk.paths()))
        return PseudoReference(
            text=text,
            kind=kind,
            source=source,
            spans=spans if 0 < len(spans) <= MAX_SPANS else self._chunk.spans,
            identifiers=tuple(names),
        )


def deduplicate(references: Iterable[PseudoReference]) -> tuple[PseudoReference, ...]:
    """Merge claims that use the same words.

    Args:
        references: Claims and implications of one diff, in order.

    Returns:
        The first claim of each group, with the lines of the whole group.
    """
    first_by_words: dict[tuple[str, ...], PseudoReference] = {}
    for reference in references:
        key = normalize(reference.text)
        first = first_by_words.setdefault(key, reference)
        if first is not reference:
            spans = tuple(dict.fromkeys((*first.spans, *reference.spans)))
            first_by_words[key] = replace(first, spans=spans)
    return tuple(first_by_words.values())


def normalize(text: str) -> tuple[str, ...]:
    """Return the stems of a sentence's words in order, without articles and forms of `be`.

    Example:
        >>> normalize("The `user_id` was renamed.") == normalize("`user_id` is now renamed")
        True
    """
    words = (word for word in split_identifier(text) if word not in _FILLERS)
    return tuple(word if word.isdigit() else stem(word) for word in words)


def _quotations(text: str) -> list[str]:
    """Return the texts between backticks or quotes, without blanks."""
    quotations = (_dense("".join(filter(None, match.groups()))) for match in _QUOTED.finditer(text))
    # A single character is in nearly every diff.
    return [part for part in quotations if len(part) > 1]


def _names(text: str) -> tuple[str, ...]:
    """Return the names of code in a sentence, in order: quoted words, `user_id` and `userId`."""
    quoted = {word for match in _QUOTED.finditer(text) for word in _WORD.findall(match[0])}
    words = _WORD.findall(text)
    return tuple(dict.fromkeys(word for word in words if word in quoted or _COMPOUND.search(word)))


def _stems(text: str) -> frozenset[str]:
    words = (word for word in split_identifier(text) if len(word) > 1 and not word.isdigit())
    return frozenset(stem(word) for word in words if word not in ENGLISH)


def _sequence(text: str) -> str:
    """Return the words of a text, separated and surrounded by single blanks."""
    words = " ".join(re.findall(r"\w+", text.lower()))
    return f" {words} "


def _dense(text: str) -> str:
    """Return a text without blanks and quotes, in lower case, to match code with its quotation.

    Example:
        >>> _dense("foo( 'a' )") == _dense('foo("a")')
        True
    """
    return re.sub(r"[\s\"'`“”]+", "", text).lower()


def _spans(lines: Iterable[DiffLine], paths: dict[Side, str]) -> Iterator[LineSpan]:
    """Yield runs of adjacent lines, those of the new file first."""
    numbers = [(Side.OLD, line.old) if line.new is None else (Side.NEW, line.new) for line in lines]
    numbered_sides = sorted((side.value, number or 0) for side, number in numbers)
    runs = groupby(
        enumerate(numbered_sides), key=lambda indexed: (indexed[1][0], indexed[1][1] - indexed[0])
    )
    for (side, _), run in runs:
        line_numbers = [number for _, (_, number) in run]
        yield LineSpan(
            path=paths[Side(side)], side=Side(side), start=line_numbers[0], end=line_numbers[-1]
        )
