"""What a text is made of: stems, names of code, and how it speaks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

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
        # asks for something
        "should|could|would be|better|consider|recommend|suggest|please|prefer|can you|may want"
        "|might want|need to|needs to|let's|how about|i'd|use",
        # praises or agrees
        "looks? good|lgtm|nice|great|thanks|good job|well done|awesome|seems fine|correct",
        # speaks to somebody
        "i|we|you|my|our|me|us",
        # denies
        "not|no|never|n't|without|isn't|doesn't|don't|unnecessary|unused|redundant",
        # tells causes and effects
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One text, taken apart."""

    stems: frozenset[str]
    """Distinct stems, stop words left out."""
    names: frozenset[str]
    """Names of several words (`user_id`, `userId`), lower-case."""
    topics: frozenset[int]
    """Which of the kinds of change it speaks of: adding, removing, renaming, ..."""
    speech: tuple[bool, bool, bool, bool, bool]
    """Whether it asks for something, praises, speaks to somebody, denies, tells effects."""
    asks: bool
    """Whether it has a question mark."""
    code_spans: int
    """Pieces between backticks."""
    length: int
    """Words, stop words included; a name of three words counts three."""
    plain: int
    """Words that are no stop words, repetitions included."""


@lru_cache(maxsize=16_384)
def words(text: str) -> Words:
    """Take a text apart.

    Args:
        text: A sentence, a pseudo-reference or lines of code.

    Returns:
        Its words.

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
        speech=_speech(text),
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


def _speech(text: str) -> tuple[bool, bool, bool, bool, bool]:
    asks, praises, speaks, denies, explains = (bool(kind.search(text)) for kind in _SPEECH)
    return asks, praises, speaks, denies, explains


def stems_of(lines: Iterable[str]) -> frozenset[str]:
    """Collect the stems of many lines of code."""
    return frozenset(stem for line in lines for stem in stems_and_names(line)[0])


def names_of(lines: Iterable[str]) -> frozenset[str]:
    """Collect the names of several words in many lines of code."""
    return frozenset(name for line in lines for name in stems_and_names(line)[1])


@lru_cache(maxsize=16_384)
def stems_and_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Take a line of code apart: how it speaks, the greater part of `words`, is left out.

    Args:
        text: A line, or a piece of one.

    Returns:
        The `stems` and the `names` of `words(text)`.
    """
    names = _NAME.findall(text)
    return frozenset(_content(_parts(names))), _compounds(names)


_TOPIC_STEMS: Final = tuple(frozenset(map(stem, kind.split())) for kind in _TOPICS)
TOPICS: Final = len(_TOPICS)
