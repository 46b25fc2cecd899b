"""English phrasing: quoted code, lists, counts, unfinished sentences."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from crscore.records import LineSpan
from crscore.syntax.outline import Fact
from crscore.text import MAX_QUOTE_CHARS, quote


def fits(*codes: str) -> bool:
    """Return whether each piece of code can be quoted in full."""
    return all(0 < len(code.strip()) <= MAX_QUOTE_CHARS and "…" not in code for code in codes)


def listed(items: Sequence[str], limit: int = 4) -> str:
    """Return `a`, `a and b` or `a, b and c`; items beyond `limit` are only counted."""
    parts = list(items[:limit])
    if len(items) > limit:
        parts = [*items[: limit - 1], f"{len(items) - limit + 1} more"]
    if len(parts) <= 1:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def quoted(names: Sequence[str], limit: int = 4) -> str:
    """Return names between backticks as a list."""
    return listed([quote(name) for name in dict.fromkeys(names)], limit)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: "1 line", "3 lines"."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun."""
    if noun.endswith(("s", "sh", "ch", "x")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def sentence(text: str) -> str:
    """Make a text start with a capital letter and end with a full stop."""
    text = " ".join(text.split())
    if text and text[-1] not in ".?!":
        text += "."
    return text[:1].upper() + text[1:]


Line: TypeAlias = tuple[bool, int]
"""Line of a changed file: True for the new version, and its number."""


class Statement(NamedTuple):
    """One sentence about a change, without the initial capital and the full stop."""

    text: str
    lines: tuple[Line, ...] = ()
    """Lines that it is about; empty for all lines of the unit."""
    implies: bool = False
    """Whether it is a consequence of the change rather than a claim about it."""
    kind: str = ""
    """Rule or function that wrote it."""
    similar: tuple[LineSpan, ...] = ()
    """Its lines in units that changed in the same way."""


def about(facts: Iterable[Fact], text: str, *, new: bool = True) -> Statement:
    """Return a statement about the lines of some facts of one version."""
    return Statement(text, tuple((new, fact.line) for fact in facts))
