"""Names, numbers, quotations and plain words of a sentence or a line of code."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from crscore.text.stopwords import ENGLISH

QUOTED: Final = re.compile(
    r"`([^`\n]{1,1000})`|\"([^\"\n]{1,500})\"|(?<!\w)'([^'\n]{1,500})'(?!\w)|“([^”\n]{1,500})”"
)
WORD: Final = re.compile(r"[^\W\d][\w$]*|\d[\w.]*\w|\d")
"""A word, a name of code or a number."""
# The parts of `HTTPServer2_name`: HTTP, Server, 2, name.
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_COMPOUND: Final = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]|^_|[A-Z]{2}[a-z]|\w\$")
_ENDINGS: Final = (
    "ization", "isation", "ational", "ations", "ation", "ings", "ing", "edly", "ions", "ion",
    "ies", "ied", "ers", "ed", "er", "es", "or", "s", "ly", "e", "y",
)  # fmt: skip

GENERIC: Final = frozenset(
    """
    code change changes changed changing diff patch commit line lines file files add adds added
    adding addition remove removes removed removing removal new old now also instead before
    previously longer update updates updated updating modify modifies modified modifying
    modification replace replaces replaced introduce introduces introduced use uses used using key
    keys make makes made variable variables value values parameter parameters argument arguments
    function functions behavior behaviour functionality feature features existing implementation
    logic project application program system software user users developer developers part parts
    other others potential potentially possible possibly could may might would can implies imply
    implication suggests indicate indicates ensure ensures allow allows improve improves
    improvement impact affect affects effect result results lead leads cause causes issue issues
    bug bugs readability maintainability quality clarity consistency better easier specific
    certain different similar related example way one two first second following above review
    reviewer pull request everything nothing anything something correct good great fine perfect
    excellent safe ready approve approved merge score rating
    """.split()  # noqa: SIM905 - the list reads better as prose
)
"""Words that speak of any change, or of none: they tie a sentence to no diff."""


class Words(NamedTuple):
    """What a text is made of."""

    quoted: tuple[str, ...]
    """What stands between backticks or quotes."""
    names: tuple[str, ...]
    """Names of code: `user_id`, `userId`, also those that are quoted; in order, each once."""
    every: frozenset[str]
    """All words and names as they are written."""
    numbers: frozenset[str]
    """Numbers, `10` and `3.5.1`."""
    stems: frozenset[str]
    """Stems of the words and of the parts of names, stop words and `GENERIC` ones left out."""
    content: frozenset[str]
    """Stems of the words and names, only the commonest stop words left out."""


@lru_cache(maxsize=16_384)
def words(text: str) -> Words:
    """Take a text apart.

    Example:
        >>> words("Renames `userId` to user_name in 3 tests.").names
        ('userId', 'user_name')
        >>> sorted(words("Renames the tests").stems)
        ['renam', 'test']
    """
    quoted = tuple(
        next(group for group in found.groups() if group) for found in QUOTED.finditer(text)
    )
    found = WORD.findall(text)
    inside = {word for piece in quoted for word in WORD.findall(piece)}
    names = [word for word in found if _COMPOUND.search(word) or word in inside]
    plain = (part for word in found for part in parts(word))
    return Words(
        quoted=quoted,
        names=tuple(dict.fromkeys(name for name in names if not name[0].isdigit())),
        every=frozenset(found),
        numbers=frozenset(word for word in found if word[0].isdigit()),
        stems=frozenset(
            stem(word)
            for word in plain
            if len(word) > 1 and word not in ENGLISH and word not in GENERIC
        ),
        content=frozenset(
            word if _COMPOUND.search(word) else stem(word.lower())
            for word in found
            if word.lower() not in ENGLISH
        ),
    )


def parts(name: str) -> list[str]:
    """Take a name apart, lower-case: `userId2` is `user`, `id` and `2`."""
    return [part.lower() for part in _PART.findall(name)]


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Cut an English ending off a lower-case word, so that `validates` and `validation` meet."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def dense(text: str) -> str:
    """A text without blanks and quotes, lower-case: what code and its quotation have in common.

    Example:
        >>> dense("foo( 'a' )") == dense('foo("a")')
        True
    """
    return re.sub(r"[\s\"'`]+", "", text).lower()
