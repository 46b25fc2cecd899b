"""Matches patterns in which `*` stands for any text, for profiles and `--author`."""

import re
from collections.abc import Iterable
from functools import lru_cache


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern matches the entire text, ignoring case.

    Only `*` is special; brackets match themselves. The time for each `*` is linear in the length of
    the text.

    Example:
        >>> matches("coderabbit*[bot]", "CodeRabbitAI[bot]"), matches("a*", "ba")
        (True, False)
    """
    return matches_any((pattern,), text)


def matches_any(patterns: Iterable[str], text: str) -> bool:
    """Return whether one of the patterns matches the entire text, ignoring case.

    Example:
        >>> matches_any(("open (*)", "*prompt*"), "Open (3)")
        True
    """
    folded = text.casefold()
    return any(_compile(pattern).fullmatch(folded) for pattern in patterns)


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    first, *parts = map(re.escape, pattern.casefold().split("*"))
    if not parts:
        return re.compile(first)
    # https://docs.python.org/3/library/re.html: `(?>...)`, from Python 3.11.
    # Groups are atomic, so that the first match of each part is final and nothing is tried again.
    middle = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return re.compile(f"{first}{middle}.*{parts[-1]}", re.DOTALL)
