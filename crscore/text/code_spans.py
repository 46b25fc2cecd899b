"""Code between backticks, as Markdown and tools write it in a sentence."""

from __future__ import annotations

import re
from typing import Final

CODE_SPAN: Final = re.compile(
    r"(?<!`)(?P<ticks>`{1,3})(?!`)(?P<code>[^\n]{1,1000}?)(?<!`)(?P=ticks)(?!`)"
)
"""Matches `name` and ``a `quoted` name``: a span that ends on its line with as many backticks
as it starts with. Bounded, as an unclosed span must not be followed through a long text."""


def find_code_spans(text: str) -> list[str]:
    """Return what stands in code spans, without the backticks.

    Example:
        >>> find_code_spans("Rename `a` to ``b`c``.")
        ['a', 'b`c']
    """
    return [found["code"] for found in CODE_SPAN.finditer(text)]
