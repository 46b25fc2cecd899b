"""Code between backticks in a sentence, as written in Markdown and by tools."""

import re
from typing import Final

CODE_SPAN: Final = re.compile(
    r"(?<!`)(?P<ticks>`{1,3})(?!`)(?P<code>[^\n]{1,1000}?)(?<!`)(?P=ticks)(?!`)"
)
"""Matches `name` and ``a `quoted` name``: a span on one line, closed by as many backticks as open
it. Bounded, so that an unclosed span is not scanned through a long text.
"""

MAX_QUOTE_CHARS: Final = 110
"""Maximum characters of code quoted in a sentence."""
_IDENTIFIER: Final = re.compile(r"\b[^\W\d]\w{2,}")


def find_code_spans(text: str) -> list[str]:
    """Return the contents of code spans, without the backticks.

    Example:
        >>> find_code_spans("Rename `a` to ``b`c``.")
        ['a', 'b`c']
    """
    return [match["code"] for match in CODE_SPAN.finditer(text)]


def code_names(text: str) -> frozenset[str]:
    """Return the identifiers in code spans, in lower case.

    Example:
        >>> sorted(code_names("`parse(text)` calls `Parse` and ends."))
        ['parse', 'text']
    """
    return frozenset(
        name.lower() for span in find_code_spans(text) for name in _IDENTIFIER.findall(span)
    )


# Multi-word names (`userId`, `user_id`), calls and dotted names outside of backticks.
_NAME_LIKE: Final = re.compile(
    r"(?<![\w.])[\w$.]{0,80}(?:[a-z][A-Z]|[A-Za-z]_[A-Za-z]|\w\(\)|[a-z]{2}\.[a-z]{2})[\w$.]{0,80}(?:\(\))?"
)
NAME_MASK: Final = "x"


def find_code(text: str) -> list[str]:
    """Return the pieces of code in a text: code spans, and names outside of them, each once.

    Example:
        >>> find_code("`a.b(c)` calls parseFile() before user_id is set.")
        ['a.b(c)', 'parseFile', 'user_id']
    """
    names = (match[0].strip("().") for match in _NAME_LIKE.finditer(CODE_SPAN.sub(" ", text)))
    return list(dict.fromkeys([*find_code_spans(text), *names]))


def mask_names(text: str) -> str:
    """Replace code spans and names from code by `NAME_MASK`.

    Example:
        >>> mask_names("`a.b(c)` calls parseFile() before user_id is set.")
        'x calls x before x is set.'
    """
    return _NAME_LIKE.sub(NAME_MASK, CODE_SPAN.sub(NAME_MASK, text))


def quote(code: str, limit: int = MAX_QUOTE_CHARS) -> str:
    """Return code in backticks, on one line, cut to `limit` characters; "" for blank code."""
    # A backtick in the code would end the quotation.
    text = " ".join(code.replace("`", "'").split()).rstrip(";,")
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    return f"`{text}`" if text else ""
