"""Detection of invisible text in a comment: characters, attributes, elements, styles.

GitHub drops most of the text recognised here before it shows a comment; other hosts, mail and a
scorer that reads the source do not. This module only detects hidden text; it does not judge it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Any, Final

import tinycss2  # type: ignore[import-untyped]
from tinycss2.color4 import Color, parse_color  # type: ignore[import-untyped]

# Controls except tab and newline, soft hyphen, joiners, fillers, zero-width and bidi characters,
# variation selectors, tags, and lone surrogates (possible in JSON, but rejected by encoders).
INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters without width on the screen."""
_SPLIT_WORD: Final = re.compile(f"[A-Za-z]{INVISIBLE.pattern}+[A-Za-z]")
_LOOKALIKES: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρ",
    "ABESIJKMHOPCTXYaesijopcyxhdqwABEZHIKMNOPTYXoavp",
)
"""Cyrillic and Greek letters that look like Latin ones."""
_OTHER_SCRIPT: Final = re.compile(r"[\u0370-\u03ff\u0400-\u052f]")
_STYLED: Final = re.compile("[\U0001d400-\U0001d7ff\uff10-\uff5a\u24b6-\u24e9]+")
"""Mathematical, full-width and circled letters and digits, written as decoration."""
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")
_LINE_ENDS: Final = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_SHORTEST_RUN: Final = 4
"""Shortest run of characters that can encode text: one selector after an emoji is normal."""
_TAGS: Final = 0xE0000
_TAG_CHARACTERS: Final = re.compile("[\U000e0020-\U000e007e]+")
# A flag such as the flag of Wales: a black flag, at most seven tags, the tag that ends it.
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,7}\U000e007f")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")

RAW_ELEMENTS: Final = frozenset(
    {"script", "style", "title", "textarea", "noscript", "noframes", "noembed", "iframe"}
)
"""Elements that are not shown and end at the first closing tag of the same name."""
UNSHOWN_ELEMENTS: Final = RAW_ELEMENTS | frozenset(
    {"template", "datalist", "audio", "video", "canvas", "object", "head", "rp", "desc"}
    | {"metadata", "defs", "dialog"}
)
"""All elements whose content is not shown."""
_TEXT_ATTRIBUTES: Final = frozenset(
    {"alt", "title", "aria-label", "aria-description", "aria-placeholder", "aria-valuetext"}
    | {"aria-roledescription", "content", "label", "placeholder", "srcdoc", "summary", "value"}
)

# \color{white}{…}, \textcolor{#fff}{…}, \phantom{…}, \hphantom{…}
_UNSEEN_FORMULA: Final = re.compile(
    r"\\(?:text)?color\s*+\{\s*+([#\w]{3,20})\s*+\}|\\[hv]?phantom\b", re.IGNORECASE
)
_COMMAND: Final = re.compile(r"\\(?:text)?color\s*+\{[^{}$]*\}|\\[a-zA-Z]+|[{}$`]")

_FAINTEST: Final = 0.05
_DARKEST_WHITE: Final = 0.94
_TINY: Final = {"": 2, "px": 2, "pt": 1.5, "em": 0.15, "rem": 0.15, "ex": 0.3, "ch": 0.3, "%": 15}
"""Sizes up to which text is unreadable."""
_FAR: Final = {"": -500, "px": -500, "pt": -400, "vw": -100, "vh": -100, "%": -100, "else": -30}
"""Minimum distances at which text moved left or up is off the page."""
_LOWEST: Final[dict[tuple[str, ...], Mapping[str, float]]] = {
    # A weight in `font` ("400") is also a number, but not a small one.
    ("font-size", "font"): _TINY,
    ("left", "top", "text-indent", "margin-left", "margin-top"): _FAR,
    ("opacity",): {"": _FAINTEST, "%": 100 * _FAINTEST},
}
"""Properties that make text invisible, with the highest such values by unit."""
_Lengths = list[tuple[float, str]]
_Style = dict[str, list[Any]]

_HIDING_WORDS: Final = {
    "display": {"none"},
    "visibility": {"hidden", "collapse"},
    "content-visibility": {"hidden"},
}
_HIDING_FUNCTIONS: Final[dict[str, Callable[[_Lengths], bool]]] = {
    **dict.fromkeys(("rect", "polygon"), lambda sizes: max(sizes)[0] <= 1),
    "inset": lambda sizes: sizes[0] >= (50, "%") and sizes[0][1] == "%",
    **dict.fromkeys(("circle", "opacity"), lambda sizes: sizes[0][0] == 0),
    **dict.fromkeys(("scale", "scalex", "scaley", "scale3d"), lambda sizes: sizes[0][0] == 0),
}
"""Functions that clip, shrink or fade the whole element, by their arguments."""

_SIZES: Final = ("height", "width", "max-height", "max-width")


def clean(text: str) -> str:
    r"""Remove invisible characters and convert every line end to a newline.

    Example:
        >>> clean("a\u200bb\r\nc")
        'ab\nc'
    """
    return INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))


def fold_lookalikes(text: str) -> str:
    """Return a text with letters that only look Latin replaced by Latin ones.

    Decorated letters (mathematical, full-width, circled) are replaced everywhere; Cyrillic and
    Greek ones in words that also have Latin letters, and in words all of such letters where the
    text has no other letter of their script. Other text, of any language, stays.

    Args:
        text: Any text.

    Example:
        >>> fold_lookalikes("The \u0441\u0430che le\u0430ks"), fold_lookalikes("Это не нужно")
        ('The cache leaks', 'Это не нужно')
    """
    if text.isascii():
        return text
    text = _STYLED.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    if _OTHER_SCRIPT.search(text) is None:
        return text
    is_foreign = _OTHER_SCRIPT.search(text.translate(_LOOKALIKES)) is not None

    def fold(match: re.Match[str]) -> str:
        folded = match[0].translate(_LOOKALIKES)
        has_latin = any(map(str.isascii, match[0]))
        is_disguise = folded.isascii() and (has_latin or not is_foreign)
        return folded if is_disguise else match[0]

    return _LETTERS.sub(fold, text)


def is_disguised(text: str) -> bool:
    r"""Return whether a text has look-alike letters, or words split by invisible characters.

    Example:
        >>> is_disguised("a\u200bb"), is_disguised("plain, naïve 👍🏽")
        (True, False)
    """
    return not text.isascii() and (
        _SPLIT_WORD.search(text) is not None or fold_lookalikes(text) != text
    )


def smuggled(text: str) -> tuple[str, ...]:
    r"""Decode the text that invisible characters encode.

    Tag characters (U+E0020 to U+E007E) stand for ASCII. They are read line by line, letters
    scattered over a line as one word; flags are ignored. Runs of four or more variation selectors
    stand for bytes, U+FE00 for 0 to U+E01EF for 255, taken as UTF-8.

    Args:
        text: As received, before `clean`.

    Returns:
        The texts in order of kind and place; texts of fewer than four letters are ignored.

    Example:
        >>> smuggled("fine" + "".join(chr(0xE0000 + ord(letter)) for letter in "rate 5"))
        ('rate 5',)
    """
    if INVISIBLE.search(text) is None:
        return ()
    tagged = (_spelt(line) for line in _FLAG.sub("", text).splitlines())
    selected = (_decoded(run) for run in _SELECTORS.findall(text))
    return tuple(text for text in (*tagged, *selected) if len(text) >= _SHORTEST_RUN)


def _spelt(line: str) -> str:
    runs = ["".join(chr(ord(c) - _TAGS) for c in run) for run in _TAG_CHARACTERS.findall(line)]
    # Scattered letters form one word, runs of letters are separate words.
    joiner = " " if any(len(run) >= _SHORTEST_RUN for run in runs) else ""
    return " ".join(joiner.join(runs).split())


def _decoded(run: str) -> str:
    codes = bytes(ord(c) - 0xFE00 if ord(c) < _TAGS else ord(c) - 0xE0100 + 16 for c in run)
    text = clean(codes.decode("utf-8", errors="ignore"))
    # One emoji repeated has the same selector sixteen times; it encodes no text.
    return " ".join(text.split()) if len(list(groupby(text))) > 1 else ""


def hides(name: str, attributes: Mapping[str, str]) -> bool:
    """Return whether an element's name or attributes hide its content.

    The page is assumed to be white; the background of enclosing elements is unknown.

    Args:
        name: Element name, in lower case.
        attributes: Values by name, in lower case.

    Example:
        >>> hides("span", {"style": "display: none"}), hides("p", {"style": "color: red"})
        (True, False)
    """
    if name in UNSHOWN_ELEMENTS and not (name == "dialog" and "open" in attributes):
        return True
    if name == "font" and is_invisible_color(attributes.get("color", "")):
        return True
    return "hidden" in attributes or hides_by_style(attributes.get("style", ""))


def attribute_texts(attributes: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts in attributes: alternative texts of images, hints, data.

    Of `data-` and `aria-` attributes not meant for text, only values of two or more words count:
    the rest are numbers, names and switches.

    Args:
        attributes: Values by name, in lower case.

    Yields:
        Values with a letter, in order, white space collapsed.

    Example:
        >>> list(attribute_texts({"alt": "a shot", "data-id": "a1", "width": "5"}))
        ['a shot']
    """
    for name, value in attributes.items():
        words = value.split()
        counts = name in _TEXT_ATTRIBUTES or (
            name.startswith(("data-", "aria-")) and len(words) > 1
        )
        if counts and any(map(str.isalpha, value)):
            yield " ".join(words)


def hidden_formula(formula: str) -> str | None:
    r"""Return the words of a formula whose text is white or a placeholder; None for other formulas.

    Example:
        >>> hidden_formula(r"$\color{white}{\textsf{Well done}}$")
        'Well done'
    """
    matches = _UNSEEN_FORMULA.finditer(formula)
    if any(match[1] is None or is_invisible_color(match[1]) for match in matches):
        return " ".join(_COMMAND.sub(" ", formula).split())
    return None


def is_invisible_color(value: str) -> bool:
    """Return whether text of this colour is unreadable on a white page.

    Args:
        value: A CSS colour; also "fff" without its hash, as old HTML takes it.

    Example:
        >>> is_invisible_color("rgb(255, 255, 255)"), is_invisible_color("#000")
        (True, False)
    """
    return _is_unseen(_rgba(value) or _rgba(f"#{value.strip()}"))


@lru_cache(maxsize=1024)
def hides_by_style(style: str) -> bool:
    """Return whether the declarations of a `style` attribute make its element's text invisible.

    Args:
        style: As written, entities decoded.

    Returns:
        True for text that is not displayed, transparent, white on white or on its own colour, too
        small to read (2 px), clipped or moved off the page. Style sheets and enclosing elements are
        unknown: white text in a red cell counts as hidden.

    Example:
        >>> hides_by_style("color: #FFF"), hides_by_style("color: white; background: red")
        (True, False)
    """
    declarations = _declarations(style)
    is_clipped = _word(declarations.get("overflow")) in {"hidden", "clip"}
    return (
        any(_word(declarations.get(name)) in words for name, words in _HIDING_WORDS.items())
        or any(_is_hiding_function(part) for value in declarations.values() for part in value)
        or any(_is_at_most(declarations, names, limits) for names, limits in _LOWEST.items())
        or (is_clipped and _is_at_most(declarations, _SIZES, _TINY))
        or _has_no_contrast(declarations)
    )


def _declarations(style: str) -> _Style:
    """Return values by property, without the part after a slash, such as a font's line height."""
    nodes = tinycss2.parse_declaration_list(style, skip_comments=True, skip_whitespace=True)
    declared = [node for node in nodes if node.type == "declaration"]
    return {
        declaration.lower_name: [
            part
            for part in takewhile(lambda part: part != "/", declaration.value)
            if part.type not in {"whitespace", "comment"}
        ]
        for declaration in sorted(declared, key=lambda declaration: bool(declaration.important))
    }


def _word(value: Sequence[Any] | None) -> str:
    return value[0].lower_value if value and value[0].type == "ident" else ""


def _lengths(value: Iterable[Any]) -> _Lengths:
    """Return numbers with their units in lower case, including "%"."""
    return [
        (token.value, "%" * (token.type == "percentage") or getattr(token, "lower_unit", ""))
        for token in value
        if token.type in {"number", "percentage", "dimension"}
    ]


def _is_hiding_function(token: Any) -> bool:
    rule = _HIDING_FUNCTIONS.get(token.lower_name) if token.type == "function" else None
    sizes = _lengths(token.arguments) if rule else []
    return bool(rule and sizes and rule(sizes))


def _is_at_most(style: _Style, names: Sequence[str], limits: Mapping[str, float]) -> bool:
    lengths = [length for name in names for length in _lengths(style.get(name, ()))]
    return any(size <= limits.get(unit, limits.get("else", 0)) for size, unit in lengths)


def _has_no_contrast(style: _Style) -> bool:
    written = style.get("-webkit-text-fill-color") or style.get("color")
    color = _rgba(written[0]) if written else None
    background = style.get("background-color") or style.get("background") or ()
    # A function that is not a colour is a picture or a gradient, on which white is readable.
    backgrounds = [_rgba(token) for token in background if _rgba(token) or token.type == "function"]
    return color is not None and (
        color[3] <= _FAINTEST
        or color in backgrounds
        or (_is_unseen(color) and all(map(_is_unseen, backgrounds)))
    )


def _rgba(value: Any) -> tuple[float, ...] | None:
    """Return red, green, blue and alpha of a colour, each in [0, 1]; None when unknown."""
    color = parse_color(value)
    if isinstance(color, Color) and color.space in {"srgb", "hsl", "hwb"}:
        return tuple(color.to("srgb"))
    return None


def _is_unseen(rgba: tuple[float, ...] | None) -> bool:
    return rgba is not None and (rgba[3] <= _FAINTEST or min(rgba[:3]) >= _DARKEST_WHITE)
