"""Stems, names from code and cues of the intent of a text."""

import importlib.resources
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from crscore.text.code_spans import find_code_spans
from crscore.text.stopwords import ENGLISH
from crscore.text.words import split_identifier, stem

_NAME: Final = re.compile(r"[^\W\d][\w$]*|\d\d+")
_COMPOUND: Final = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]")

_LISTS: Final = tomllib.loads(
    importlib.resources.files(__package__).joinpath("content.toml").read_text(encoding="utf-8")
)
_SPEECH: Final = {
    manner: re.compile(rf"\b(?:{'|'.join(cues)})\b", re.IGNORECASE)
    for manner, cues in _LISTS["speech"].items()
}
_TOPICS: Final = {
    topic: frozenset(map(stem, words.split())) for topic, words in _LISTS["topics"].items()
}


class Speech(NamedTuple):
    """Speech cues of a text."""

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
    """Multi-word names (`user_id`, `userId`), lower-case."""
    topics: frozenset[str]
    """Kinds of change mentioned: adding, removing, renaming, ..."""
    speech: Speech
    """Speech cues of the text."""
    asks: bool
    """Whether it has a question mark."""
    code_spans: int
    """Number of code spans."""
    length: int
    """Number of words, including stop words; a name of three words counts three."""
    content_length: int
    """Number of words except stop words, including repetitions."""


@lru_cache(maxsize=16_384)
def words(text: str) -> Words:
    """Return the words of a sentence, a pseudo-reference or a line of code.

    Example:
        >>> sorted(words("Rename `user_id` to `userName`.").stems)
        ['id', 'nam', 'renam', 'user']
    """
    names = _NAME.findall(text)
    parts = _parts(names)
    content, all_stems = _content(parts), set(map(stem, parts))
    return Words(
        stems=frozenset(content),
        names=_compounds(names),
        topics=frozenset(
            topic for topic, stems in _TOPICS.items() if not stems.isdisjoint(all_stems)
        ),
        speech=Speech(**{manner: bool(cues.search(text)) for manner, cues in _SPEECH.items()}),
        asks="?" in text,
        code_spans=len(find_code_spans(text)),
        length=len(parts),
        content_length=len(content),
    )


def _parts(names: Iterable[str]) -> list[str]:
    return [part for name in names for part in split_identifier(name)]


def _content(parts: Iterable[str]) -> list[str]:
    return [stem(part) for part in parts if len(part) > 1 and part not in ENGLISH]


def _compounds(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names if _COMPOUND.search(name))


@lru_cache(maxsize=16_384)
def stems_and_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the `stems` and `names` of `words(text)`, the cheaper part of it."""
    names = _NAME.findall(text)
    return frozenset(_content(_parts(names))), _compounds(names)
