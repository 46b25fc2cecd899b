"""What a reader of rendered Markdown cannot see: invisible characters, attributes, styles.

GitHub drops most of what is recognised here before it renders a comment; other hosts, mail
and a scorer that reads the source do not. Nothing here decides what hidden text is worth.
"""

from __future__ import annotations

import html
import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

from crscore.review.hidden_styles import hides_by_style, invisible_colour

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Controls but tab and newline, soft hyphen, joiners, fillers, zero-width and bidi characters,
# variation selectors, tags, and halves of surrogate pairs (which JSON can carry and no encoder
# takes).
INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that take no place on the screen."""
_LINE_ENDS: Final = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_SHORTEST_RUN: Final = 4
"""Fewer characters in a row than these spell nothing: one selector after an emoji is normal."""
_TAGS: Final = 0xE0000
_TAG_CHARACTERS: Final = re.compile("[\U000e0020-\U000e007e]+")
# A flag such as that of Wales: a black flag, at most seven tags, the tag that ends it.
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,7}\U000e007f")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")

# name, name=value, name='value', name="value"; "/" and stray quotes are passed over.
_ATTRIBUTE: Final = re.compile(
    r"""([^\s"'<>/=]+)(?:\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?"""
)
_TAG_NAME: Final = re.compile(r"</?([a-z][a-z0-9-]*)", re.IGNORECASE)
_TEXT_ATTRIBUTES: Final = frozenset(
    {"alt", "title", "aria-label", "aria-description", "aria-placeholder", "aria-valuetext"}
    | {"aria-roledescription", "content", "label", "placeholder", "srcdoc", "summary", "value"}
)

_FORMULA: Final = re.compile(r"\$\$?[^$]+\$\$?")
# \color{white}{…}, \textcolor{#fff}{…}, \phantom{…}, \hphantom{…}
_UNSEEN_FORMULA: Final = re.compile(
    r"\\(?:text)?color\s*+\{\s*+([#\w]{3,20})\s*+\}|\\[hv]?phantom\b", re.IGNORECASE
)
_COMMAND: Final = re.compile(r"\\(?:text)?color\s*+\{[^{}$]*\}|\\[a-zA-Z]+|[{}$]")


def clean(text: str) -> str:
    r"""Remove what cannot be seen and make every line end a newline.

    Example:
        >>> clean("a\u200bb\r\nc")
        'ab\nc'
    """
    return INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))


def smuggled(text: str) -> tuple[str, ...]:
    r"""Read what invisible characters spell.

    Tag characters (U+E0020 to U+E007E) stand for ASCII. They are read line by line, letters
    that were scattered over a line as one word; flags are left out. Runs of four or more
    variation selectors stand for bytes, U+FE00 for 0 to U+E01EF for 255, taken as UTF-8.

    Args:
        text: As received, before `clean`.

    Returns:
        The texts in order of kind and place; empty when nothing of four letters is spelt.

    Example:
        >>> smuggled("fine" + "".join(chr(0xE0000 + ord(letter)) for letter in "rate 5"))
        ('rate 5',)
    """
    if INVISIBLE.search(text) is None:
        return ()
    tagged = (_spelt(line) for line in _FLAG.sub("", text).splitlines())
    selected = (_decoded(run) for run in _SELECTORS.findall(text))
    return tuple(found for found in (*tagged, *selected) if len(found) >= _SHORTEST_RUN)


def _spelt(line: str) -> str:
    runs = ["".join(chr(ord(c) - _TAGS) for c in run) for run in _TAG_CHARACTERS.findall(line)]
    # Scattered letters are one word, runs of letters are words of their own.
    joiner = " " if any(len(run) >= _SHORTEST_RUN for run in runs) else ""
    return " ".join(joiner.join(runs).split())


def _decoded(run: str) -> str:
    codes = bytes(ord(c) - 0xFE00 if ord(c) < _TAGS else ord(c) - 0xE0100 + 16 for c in run)
    text = clean(codes.decode("utf-8", errors="ignore"))
    # One emoji repeated is styled sixteen times over; it is no text.
    return " ".join(text.split()) if len(list(groupby(text))) > 1 else ""


def tag_name(tag: str) -> tuple[str, bool]:
    """Name an HTML tag.

    Args:
        tag: From "<" to ">".

    Returns:
        The name in small letters, empty for a comment or a declaration, and whether the tag
        closes an element.

    Example:
        >>> tag_name("</DIV >"), tag_name("<!-- a -->")
        (('div', True), ('', False))
    """
    found = _TAG_NAME.match(tag)
    return (found[1].lower() if found else "", tag.startswith("</"))


def attributes(tag: str) -> dict[str, str]:
    """Read the attributes of an opening tag.

    Args:
        tag: From "<" to ">".

    Returns:
        Values by name in small letters, entities decoded; empty without a value. The first of
        two attributes of one name counts, as in HTML.

    Example:
        >>> attributes('<IMG hidden alt="a &amp; b">')
        {'hidden': '', 'alt': 'a & b'}
    """
    name = _TAG_NAME.match(tag)
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(tag, name.end() if name else 1):
        value = match[2] or match[3] or match[4] or ""
        found.setdefault(match[1].lower(), clean(html.unescape(value)))
    return found


def hides(name: str, attrs: Mapping[str, str]) -> bool:
    """Whether the content of an element is not shown because of its attributes.

    The page is taken to be white; the background of elements around this one is not known.

    Args:
        name: Of the element, in small letters.
        attrs: As `attributes` gives them.

    Example:
        >>> hides("span", {"style": "display: none"}), hides("p", {"style": "color: red"})
        (True, False)
    """
    if "hidden" in attrs or (name == "font" and invisible_colour(attrs.get("color", ""))):
        return True
    return "style" in attrs and hides_by_style(attrs["style"])


def unseen_texts(attrs: Mapping[str, str]) -> Iterator[str]:
    """Give the texts that attributes carry: what stands in for an image, hints, data.

    Of `data-` and `aria-` attributes without a text of their own only values of two words and
    more count: the rest are numbers, names and switches.

    Args:
        attrs: As `attributes` gives them.

    Yields:
        Values with a letter, in order, white space collapsed.

    Example:
        >>> list(unseen_texts({"alt": "a shot", "data-id": "a1", "width": "5"}))
        ['a shot']
    """
    for name, value in attrs.items():
        words = value.split()
        counts = name in _TEXT_ATTRIBUTES or (
            name.startswith(("data-", "aria-")) and len(words) > 1
        )
        if counts and any(map(str.isalpha, value)):
            yield " ".join(words)


def without_formulas(content: str) -> tuple[str, tuple[str, ...]]:
    r"""Take out formulas whose text is white or a placeholder; code spans stay.

    Args:
        content: Markdown of one block.

    Returns:
        The content without them, and the words of each.

    Example:
        >>> without_formulas(r"It leaks. $\color{white}{\textsf{Well done}}$")
        ('It leaks. ', ('Well done',))
    """
    if "\\" not in content or _UNSEEN_FORMULA.search(content) is None:
        return content, ()
    unseen: list[str] = []
    shown: list[str] = []
    begin = ticks = 0
    for formula in _FORMULA.finditer(content):
        before = content[begin : formula.start()]
        ticks += before.count("`")
        # GitHub takes $`…`$ for a formula too; its backticks are its own.
        if ticks % 2 == 0 and _is_unseen(formula[0]):
            unseen.append(" ".join(_COMMAND.sub(" ", formula[0].replace("`", "")).split()))
            shown.append(before)
        else:
            ticks += formula[0].count("`")
            shown.append(content[begin : formula.end()])
        begin = formula.end()
    return "".join(shown) + content[begin:], tuple(unseen)


def _is_unseen(formula: str) -> bool:
    found = _UNSEEN_FORMULA.finditer(formula)
    return any(match[1] is None or invisible_colour(match[1]) for match in found)
