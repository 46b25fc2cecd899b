"""Code between backticks in a sentence, as written in Markdown and by tools."""

import re
from typing import Final

CODE_SPAN: Final = re.compile(
    r"(?<!`)(?P<ticks>`{1,3})(?!`)(?P<code>[^\n]{1,1000}?)(?<!`)(?P=ticks)(?!`)"
)
"""Matches `name` and ``a `quoted` name``: a span on one line, closed by as many backticks as open
it. Bounded, so that an unclosed span is not scanned through a long text.
"""

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
