"""Detection of invisible text in a comment: characters, attributes, elements, formulas.

GitHub drops most of the text recognized here before it shows a comment; other hosts, mail and a
scorer that reads the source do not. Styles are not read: GitHub and GitLab remove the attribute
`style`, so that the text is visible. This module only detects hidden text; it does not judge it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

# Controls except tab and newline, soft hyphen, joiners, fillers, zero-width and bidi characters,
# variation selectors, tags, and lone surrogates (possible in JSON, but rejected by encoders).
INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters without width on the screen."""
_LINE_ENDS: Final = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_SHORTEST_RUN: Final = 4
"""Shortest run of characters that can encode a word."""
_TAGS: Final = 0xE0000
_TAG_CHARACTERS: Final = re.compile("[\U000e0020-\U000e007e]+")
# A flag such as the flag of Wales: a black flag, at most seven tags, the tag that ends it
# (emoji tag sequences of https://www.unicode.org/reports/tr51/).
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,7}\U000e007f")
# https://html.spec.whatwg.org/multipage/parsing.html#generic-raw-text-element-parsing-algorithm
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

# Commands of TeX after which MathJax shows no text, or text without width, size or place.
# GitHub forbids some, and then shows an error instead of the formula.
_UNSEEN_COMMAND: Final = re.compile(
    r"""\\(?:[hv]?phantom|(?:math)?[clr]lap|[egx]?def|let|futurelet|(?:re|provide)?newcommand
    |(?:re)?newenvironment|DeclareMathOperator|if[a-z]*|begin\s*\{comment\}|tiny|scriptsize
    |scriptscriptstyle|raisebox|raise|lower|move(?:left|right)|m?kern|[hm]skip|[hm]space\s*\{\s*-
    |mathchoice|label|require|class|cssId|style|data|mmlToken|[bx]?cancel(?:to)?|sout|enclose
    |definecolor|toggle|mathtip|texttip)(?![a-zA-Z])|(?m:^)(?:[^%\\\n]|\\.)*+%.*[a-z]{2}""",
    re.IGNORECASE | re.VERBOSE,
)
_COLOR: Final = re.compile(
    r"\\(?:text)?color\s*+(?:\[\w{1,10}\]\s*+)?\{\s*+([^{}\s][^{}]{0,40}?)\s*+\}", re.IGNORECASE
)
# Contrast below 1.5 on white: names, #eee and #fdfdfd, the shares 1,1,1 or 255,255,255.
_LIGHT_COLOR: Final = re.compile(
    r"\w*white\w*|transparent|snow|ivory|azure|mintcream|honeydew|seashell|aliceblue|linen|oldlace"
    r"|lavender(?:blush)?|cornsilk|lightyellow|lightcyan|beige|gainsboro|(?:rgba|hsla?)\(.*"
    r"|#?(?:[d-f]{3}|(?:[d-f][0-9a-f]){3})"
    r"|(?:rgb\()?(?:,?\s*(?:1(?:\.0+)?|0?\.(?:8[5-9]|9)\d*|2[2-5]\d)){1,3}\)?",
    re.IGNORECASE,
)
_COMMAND: Final = re.compile(r"\\(?:text)?color\s*+(?:\[\w*\])?\{[^{}$]*\}|\\[a-zA-Z]+|[{}$`%]")


def clean(text: str) -> str:
    r"""Remove invisible characters and convert every line end to a newline.

    Example:
        >>> clean("a\u200bb\r\nc")
        'ab\nc'
    """
    return INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))


def smuggled(text: str) -> tuple[str, ...]:
    r"""Decode the text that invisible characters encode.

    Tag characters (U+E0020 to U+E007E) stand for ASCII. They are read line by line, letters
    scattered over a line as one word; flags are ignored.

    Args:
        text: As received, before `clean`.

    Returns:
        The texts in order of kind and position; texts of fewer than four letters are ignored.

    Example:
        >>> smuggled("fine" + "".join(chr(0xE0000 + ord(letter)) for letter in "rate 5"))
        ('rate 5',)
    """
    if INVISIBLE.search(text) is None:
        return ()
    decoded: list[str] = []
    for line in _FLAG.sub("", text).splitlines():
        runs = ["".join(chr(ord(c) - _TAGS) for c in run) for run in _TAG_CHARACTERS.findall(line)]
        # Scattered letters form one word, runs of letters are separate words.
        joiner = " " if any(len(run) >= _SHORTEST_RUN for run in runs) else ""
        decoded.append(joiner.join(runs))
    in_words = (" ".join(text.split()) for text in decoded)
    return tuple(text for text in in_words if len(text) >= _SHORTEST_RUN)


def hides(name: str, attributes: Mapping[str, str]) -> bool:
    """Return whether an element's name or attributes hide its content.

    Args:
        name: Element name, in lower case.
        attributes: Values by name, in lower case.

    Example:
        >>> hides("span", {"hidden": ""}), hides("p", {"class": "a"})
        (True, False)
    """
    if name in UNSHOWN_ELEMENTS and not (name == "dialog" and "open" in attributes):
        return True
    return "hidden" in attributes


def attribute_texts(attributes: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts in attributes: alternative texts of images, hints, data.

    For `data-` and `aria-` attributes that are not meant for text, only values of two or more words
    count: the rest are numbers, names and switches.

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
    r"""Return the words of a formula that MathJax does not show readably; None for other formulas.

    The rule is conservative: one command that hides text hides the whole formula.

    Example:
        >>> hidden_formula(r"$\color{white}{\textsf{Well done}}$")
        'Well done'
    """
    if _UNSEEN_COMMAND.search(formula) or any(map(_LIGHT_COLOR.fullmatch, _COLOR.findall(formula))):
        return " ".join(_COMMAND.sub(" ", formula).split())
    return None
