"""Stems, names of code and manner of speaking of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.text.code_spans import find_code_spans
from crscore.text.stopwords import ENGLISH
from crscore.text.words import split_identifier, stem

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME: Final = re.compile(r"[^\W\d][\w$]*|\d\d+")
_COMPOUND: Final = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]")

_SPEECH: Final = tuple(
    re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
    for pattern in (
        # suggests
        "should|could|would be|better|consider|recommend|suggest|please|prefer|can you|may want"
        "|might want|need to|needs to|let's|how about|i'd|use",
        # praises
        "looks? good|lgtm|nice|great|thanks|good job|well done|awesome|seems fine|correct",
        # personal
        "i|we|you|my|our|me|us",
        # denies
        "not|no|never|n't|without|isn't|doesn't|don't|unnecessary|unused|redundant",
        # explains
        r"could|may|might|potential\w*|impl\w+|improv\w+|impact\w*|affect\w*|ensur\w*|allow\w*"
        r"|help\w*|result\w*|lead\w*|behavio\w*|because|so that|therefore",
    )
)
_TOPICS: Final = (
    "add introduce new insert create include addition",
    "remove delete drop eliminate",
    "rename name",
    "change replace update modify switch instead",
    "move extract relocate",
    "value default constant set",
    "import",
    "return",
    "parameter param argument signature",
    "type cast generic",
    "test assert mock",
    "comment docstring document javadoc doc typo",
    "condition check if null none undefined",
    "exception error throw raise catch fail",
    "log print debug message",
    "class interface extend inherit",
    "string format",
    "function method call",
)


class Speech(NamedTuple):
    """Manner of a text."""

    suggests: bool
    praises: bool
    personal: bool
    denies: bool
    explains: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words of one text."""

    stems: frozenset[str]
    """Distinct stems, stop words left out."""
    names: frozenset[str]
    """Names of several words (`user_id`, `userId`), lower-case."""
    topics: frozenset[int]
    """Kinds of change that it mentions: adding, removing, renaming, ..."""
    speech: Speech
    """Its manner."""
    asks: bool
    """True when it has a question mark."""
    code_spans: int
    """Pieces between backticks."""
    length: int
    """Words, stop words included; a name of three words counts three."""
    plain: int
    """Words that are no stop words, repetitions included."""


@lru_cache(maxsize=16_384)
def words(text: str) -> Words:
    """Return the words of a sentence, a pseudo-reference or a line of code.

    Example:
        >>> sorted(words("Rename `user_id` to `userName`.").stems)
        ['id', 'nam', 'renam', 'user']
    """
    names = _NAME.findall(text)
    parts = _parts(names)
    content = _content(parts)
    return Words(
        stems=frozenset(content),
        names=_compounds(names),
        topics=frozenset(
            i for i, kind in enumerate(_TOPIC_STEMS) if not kind.isdisjoint(map(stem, parts))
        ),
        speech=Speech(*(bool(kind.search(text)) for kind in _SPEECH)),
        asks="?" in text,
        code_spans=len(find_code_spans(text)),
        length=len(parts),
        plain=len(content),
    )


def _parts(names: Iterable[str]) -> list[str]:
    return [part for name in names for part in split_identifier(name)]


def _content(parts: Iterable[str]) -> list[str]:
    return [stem(part) for part in parts if len(part) > 1 and part not in ENGLISH]


def _compounds(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names if _COMPOUND.search(name))


@lru_cache(maxsize=16_384)
def stems_and_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the `stems` and the `names` of `words(text)`, which are the cheaper part of it."""
    names = _NAME.findall(text)
    return frozenset(_content(_parts(names))), _compounds(names)


_TOPIC_STEMS: Final = tuple(frozenset(map(stem, kind.split())) for kind in _TOPICS)
TOPICS: Final = len(_TOPICS)
