"""English phrasing: quoted code, lists, verb forms, names as words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crscore.text.words import split_identifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.syntax.model import Token

QUOTE = 70
"""Characters of code quoted in a sentence."""

_NAME = re.compile(r"[A-Za-z_$@][\w$]*")
_IRREGULAR = {"do": ("does", "doing"), "be": ("is", "being"), "have": ("has", "having")}
_DOUBLED = frozenset({"set", "log", "skip", "stop", "get", "wrap", "run", "map"})


class Action(NamedTuple):
    """Verb and object of a statement: `call`, "`foo` with `1`"."""

    verb: str
    """Verb in its base form."""
    rest: str
    """Object of the verb."""

    def base(self) -> str:
        """Return the base form, as in "no longer ..."."""
        return f"{self.verb} {self.rest}".strip()

    def third(self) -> str:
        """Return the third person, as in "the method ..."."""
        return f"{third(self.verb)} {self.rest}".strip()

    def gerund(self) -> str:
        """Return the gerund, as in "instead of ..."."""
        return f"{gerund(self.verb)} {self.rest}".strip()


def third(verb: str) -> str:
    """Return the third person singular of a verb."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb][0]
    return verb + ("es" if verb.endswith(("ch", "sh", "s", "x")) else "s")


def gerund(verb: str) -> str:
    """Return the -ing form of a verb."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb][1]
    if verb in _DOUBLED:
        return verb + verb[-1] + "ing"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"


def quote(code: str, limit: int = QUOTE) -> str:
    """Return code between backticks, on one line, cut to `limit` characters."""
    text = " ".join(code.replace("`", "'").split()).rstrip(";,")
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    return f"`{text}`" if text else "an empty value"


def listed(items: Sequence[str], limit: int = 5) -> str:
    """Return `a`, `a and b` or `a, b and c`; items past `limit` are counted."""
    shown = list(items[:limit])
    if len(items) > limit:
        shown = [*items[: limit - 1], f"{len(items) - limit + 1} more"]
    if len(shown) <= 1:
        return "".join(shown)
    return ", ".join(shown[:-1]) + " and " + shown[-1]


def names_in(code: str) -> list[str]:
    """Return the identifiers in a piece of code, in order, without repeats."""
    return list(dict.fromkeys(_NAME.findall(code)))


def as_words(name: str) -> str:
    """Return a name's words in lower case: `parseHTTPHeader` is `parse http header`."""
    return " ".join(split_identifier(name))


def code_of(tokens: Iterable[Token]) -> str:
    """Return the source of some tokens on one line, with its blanks."""
    pieces: list[str] = []
    for token in tokens:
        if token.gap and pieces:
            pieces.append(" ")
        pieces.append(token.text)
    return "".join(pieces)


def sentence(text: str) -> str:
    """Make a text start with a capital letter and end with a full stop."""
    text = " ".join(text.split())
    if text and text[-1] not in ".?!":
        text += "."
    return text[:1].upper() + text[1:]


def plural(noun: str, count: int) -> str:
    """Return the noun, with an s unless the count is one."""
    if count == 1:
        return noun
    if noun.endswith(("s", "sh", "ch", "x")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def article(noun: str) -> str:
    """Return the noun with `a` or `an`."""
    return ("an " if noun[:1].lower() in "aeiou" else "a ") + noun
