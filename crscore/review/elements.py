"""Which HTML elements are open at a tag, and whether one of them hides its content.

A reduced form of the tree construction of the HTML standard: paragraphs, list items and cells
end what was left open in them, formatting elements go on in the next paragraph, and a closing
tag does not reach out of a table cell. It takes time linear in the number of tags.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DEPTH: Final = 100
"""How far up a closing tag looks for its element; what is farther out stays open."""

_RAW: Final = frozenset({"script", "style", "title", "noscript", "noframes", "noembed", "iframe"})
"""Elements that are not shown and end at the first closing tag of their name."""
_UNSHOWN: Final = frozenset(
    {"template", "datalist", "audio", "video", "canvas", "object", "head", "rp", "desc"}
    | {"metadata", "defs", "dialog"}
)
"""Other elements whose content is not shown; they nest."""
MENTIONED: Final = (_RAW | _UNSHOWN) - {"dialog"}
"""Elements that never show their content: a tag that `covers` does not pair is a mere word."""

_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"}
    | {"source", "track", "wbr"}
)
_FORMATTING: Final = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong"}
    | {"tt", "u"}
)
_ENDS_PARAGRAPH: Final = frozenset(
    {"address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir"}
    | {"div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"}
    | {"h4", "h5", "h6", "header", "hgroup", "hr", "li", "main", "menu", "nav", "ol", "p", "pre"}
    | {"search", "section", "summary", "table", "ul"}
)
_SPECIAL: Final = _ENDS_PARAGRAPH | frozenset(
    {"button", "caption", "colgroup", "marquee", "object", "select", "tbody", "td", "textarea"}
    | {"tfoot", "th", "thead", "tr"}
)
"""A closing tag of any other element does not reach past these."""
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
"""The closing tag of any ends any other."""
_CELLS: Final = frozenset({"td", "th", "caption"})
_BARRIER: Final = frozenset({"table", "td", "th", "caption", "object", "marquee"})
_TABLE_PARTS: Final = _CELLS | {"tr", "tbody", "thead", "tfoot", "colgroup"}
"""Tags that mean nothing outside a table."""

_TABLE: Final = frozenset({"table"})
_ENDS_AT: Final[dict[str, frozenset[str]]] = {
    "li": _BARRIER | {"ul", "ol", "menu"},
    "p": _BARRIER | {"button"},
    "table": frozenset(),
    **dict.fromkeys(("td", "th", "caption", "tr", "tbody", "thead", "tfoot"), _TABLE),
}
"""What a closing tag of a special element does not reach past, where it is not `_BARRIER`."""
_ENTRY: Final = _SPECIAL - {"address", "div", "p"}
_REPLACES: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "li": (frozenset({"li"}), _ENTRY),
    "dd": (frozenset({"dd", "dt"}), _ENTRY),
    "dt": (frozenset({"dd", "dt"}), _ENTRY),
    "td": (frozenset({"td", "th"}), frozenset({"table", "tr"})),
    "th": (frozenset({"td", "th"}), frozenset({"table", "tr"})),
    "tr": (frozenset({"tr"}), _TABLE),
}
"""Which open elements an opening tag ends, and what it does not reach past."""


class Elements:
    """The open elements of a document that is read tag by tag."""

    def __init__(self) -> None:
        self._open: list[tuple[str, bool]] = []
        self._present: defaultdict[str, int] = defaultdict(int)
        # Formatting elements outlive the paragraph that they were opened in, but no table cell.
        self._formatting: list[defaultdict[str, list[bool]]] = [defaultdict(list)]
        self._hiding = 0

    @property
    def hidden(self) -> bool:
        """Whether text that stands here is not shown."""
        return self._hiding > 0

    def open(self, name: str, *, hides: bool = False) -> None:
        """Take an opening tag, or the start of a Markdown block by the name of its element.

        Args:
            name: Of the element, in small letters.
            hides: Whether its attributes hide what is in it.
        """
        if name in _ENDS_PARAGRAPH:
            self._end("p", _ENDS_AT["p"])
        if name in _VOID or (name in _TABLE_PARTS and not self._present["table"]):
            return
        if name in _FORMATTING:
            self._formatting[-1][name].append(hides)
            self._hiding += hides
            return
        if name in _REPLACES:
            names, stops = _REPLACES[name]
            self._end_any(names, stops)
        self._open.append((name, hides))
        self._present[name] += 1
        self._hiding += hides
        if name in _CELLS:
            self._formatting.append(defaultdict(list))

    def close(self, name: str) -> None:
        """Take a closing tag, or the end of a Markdown block; nothing when none is open."""
        if name in _HEADINGS:
            self._end_any(_HEADINGS, _BARRIER)
        elif name not in _FORMATTING:
            self._end(name, _ENDS_AT.get(name, _BARRIER) if name in _SPECIAL else _SPECIAL)
        elif self._formatting[-1][name]:
            self._hiding -= self._formatting[-1][name].pop()

    def _end(self, name: str, stops: frozenset[str]) -> None:
        self._end_any(frozenset({name}), stops)

    def _end_any(self, names: frozenset[str], stops: frozenset[str]) -> None:
        """End the innermost element of these names and all in it, unless a stop is nearer."""
        if not any(self._present[name] for name in names):
            return
        last = len(self._open) - 1
        for at in range(last, max(last - MAX_DEPTH, -1), -1):
            if self._open[at][0] in names:
                self._cut(at)
                return
            if self._open[at][0] in stops:
                return

    def _cut(self, length: int) -> None:
        while len(self._open) > length:
            name, hides = self._open.pop()
            self._present[name] -= 1
            self._hiding -= hides
            if name in _CELLS:
                self._hiding -= sum(map(sum, self._formatting.pop().values()))


def covers(tags: Sequence[tuple[str, bool]]) -> dict[int, int]:
    """Find the elements that are not shown whatever their attributes, such as `<template>`.

    One that is never closed is a tag that somebody wrote about, and hides nothing.

    Args:
        tags: Name and "closes an element" of all tags of a document, in order.

    Returns:
        Index of the closing tag by index of the opening tag, outermost elements only or all;
        tags between the two have no meaning of their own.

    Example:
        >>> covers([("template", False), ("b", False), ("template", True), ("style", False)])
        {0: 2}
    """
    ends: defaultdict[str, list[int]] = defaultdict(list)
    for at, (name, closes) in enumerate(tags):
        if closes and name in _RAW:
            ends[name].append(at)
    found: dict[int, int] = {}
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    resume = 0
    for at, (name, closes) in enumerate(tags):
        if at < resume:
            continue
        if name in _RAW and not closes:
            later = bisect_right(ends[name], at)
            if later < len(ends[name]):
                found[at] = ends[name][later]
                resume = found[at] + 1
        elif name in _UNSHOWN and not closes:
            waiting[name].append(at)
        elif closes and waiting[name]:
            found[waiting[name].pop()] = at
    return found
