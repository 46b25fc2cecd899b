"""Formatting of names, values and lists in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_VALUE: Final = 90
_WORD: Final = re.compile(r"\s+|[\w.$-]+|[^\w\s]")


def code(text: str, limit: int = MAX_VALUE) -> str:
    """Put code between backticks, cut at `limit` characters."""
    text = text.replace("`", "'").strip()
    if not text:
        return "an empty value"
    return f"`{text if len(text) <= limit else text[: limit - 1].rstrip() + '…'}`"


def quote_text(text: str, limit: int = 140) -> str:
    """Put prose between quotation marks, cut at a word."""
    text = text.strip()
    if len(text) > limit:
        text = text[:limit].rpartition(" ")[0] + "…"
    return f"'{text}'"


def listed(parts: Sequence[str], limit: int = 5) -> str:
    """Join with commas and a last `and`; items over the limit are counted."""
    shown = list(parts[:limit])
    if len(parts) > limit:
        shown.append(f"{len(parts) - limit} more")
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


class Replaced(NamedTuple):
    """The words in which two texts differ."""

    old: str
    new: str


def replaced(old: str, new: str) -> Replaced:
    """Remove the common words at the beginning and end of two texts.

    Example:
        >>> replaced("pip install -r a.txt", "pip install -q -r a.txt")
        Replaced(old='', new='-q')
    """
    left, right = _WORD.findall(old), _WORD.findall(new)
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return Replaced(
        "".join(left[start : len(left) - end]).strip(),
        "".join(right[start : len(right) - end]).strip(),
    )


def difference(old: str, new: str) -> str:
    """Describe how a text changed, by the differing words when these are few.

    Example:
        >>> difference("go test ./...", "go test ./... -race")
        'now has `-race`'
    """
    was, now = replaced(old, new)
    whole = max(len(old), len(new))
    if whole <= 30 or (was and now and len(was) + len(now) > whole):
        if not (was and now) and whole > 12:
            return f"now has {code(now)}" if now else f"no longer has {code(was)}"
        return f"changes from {code(old)} to {code(new)}"
    if not was:
        return f"now has {code(now)}"
    if not now:
        return f"no longer has {code(was)}"
    return f"now has {code(now)} in place of {code(was)}"
