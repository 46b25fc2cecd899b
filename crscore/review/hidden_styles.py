"""Which CSS declarations make a text invisible; a small reading of CSS, not a browser's."""

from __future__ import annotations

import re
from typing import Final

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# "\64 isplay" is "display".
_ESCAPE: Final = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)", re.DOTALL)
_IMPORTANT: Final = re.compile(r"\s*+!\s*+important\s*\Z")

_LENGTH: Final = re.compile(
    r"([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))(px|pt|r?em|ex|ch|v[wh]|%|)"
)
_TINY: Final = {"": 2, "px": 2, "pt": 1.5, "em": 0.15, "rem": 0.15, "ex": 0.3, "ch": 0.3, "%": 15}
"""Font sizes up to these cannot be read."""
_FAR: Final = {"": 500, "px": 500, "pt": 400, "em": 30, "rem": 30, "vw": 100, "vh": 100, "%": 100}
"""Text moved this far to the left or up is off the page."""
_MOVES: Final = ("left", "top", "text-indent", "margin-left", "margin-top")
_FAINTEST: Final = 0.05

_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION: Final = re.compile(r"(rgb|hsl)a?\(([^()]*)\)")
_COLOUR: Final = re.compile(r"#[0-9a-f]+|(?:rgb|hsl)a?\([^()]*\)|[a-z-]+(?:\([^()]*\))?")
_WHITES: Final = frozenset(
    {"white", "snow", "ivory", "ghostwhite", "floralwhite", "mintcream", "azure", "aliceblue"}
    | {"whitesmoke", "seashell", "transparent"}
)
_DARKEST_WHITE: Final = 0.94
_NO_COLOUR: Final = frozenset({"none", "initial", "unset", "inherit", "revert", "repeat", "scroll"})

_NOT_SHOWN: Final = {
    "display": re.compile(r"none"),
    "visibility": re.compile(r"hidden|collapse"),
    "content-visibility": re.compile(r"hidden"),
    "clip": re.compile(r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)"),
    "clip-path": re.compile(
        r"inset\(\s*(?:[5-9]\d|100)%.*|circle\(\s*0.*|polygon\(\s*0[\s0,px]*\)"
    ),
    "transform": re.compile(r".*\bscale(?:x|y|3d)?\(\s*0(?:\.0*)?\s*[,)].*"),
    "filter": re.compile(r".*\bopacity\(\s*0(?:\.0*)?%?\s*\).*"),
}
"""Values that hide, by property, in small letters."""


def hides_by_style(style: str) -> bool:
    """Whether the declarations of a `style` attribute make its element's text invisible.

    Args:
        style: As written, entities decoded.

    Returns:
        True for what is not displayed, transparent, white on white or on its own colour, too
        small to read (2 px), cut away or moved off the page. Rules of style sheets and of the
        elements around it are not known: white text in a red cell counts as hidden.

    Example:
        >>> hides_by_style("color: #FFF"), hides_by_style("color: white; background: red")
        (True, False)
    """
    found = _declarations(style)
    return (
        any(name in found and rule.fullmatch(found[name]) for name, rule in _NOT_SHOWN.items())
        or _faint(found.get("opacity", ""))
        or _tiny(found)
        or _no_contrast(found)
        or _cut_away(found)
        or any(_far(found.get(name, "")) for name in _MOVES)
    )


def invisible_colour(value: str) -> bool:
    """Whether text of this colour cannot be read on a white page.

    Args:
        value: A CSS colour; also "fff" without its hash, as old HTML takes it.

    Example:
        >>> invisible_colour("rgb(255, 255, 255)"), invisible_colour("#000")
        (True, False)
    """
    text = value.strip().lower()
    return text in _WHITES or _faint_or_white(text) or _faint_or_white(f"#{text}")


def _declarations(style: str) -> dict[str, str]:
    plain = _ESCAPE.sub(_unescape, _COMMENT.sub(" ", style)).lower()
    found: dict[str, str] = {}
    important: set[str] = set()
    for declaration in plain.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        bare = _IMPORTANT.sub("", value)
        if bare != value:
            important.add(name)
        elif name in important:
            continue
        if bare:
            found[name] = bare
    return found


def _unescape(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else 0
    return chr(code) if 0 < code < 0x110000 else found[2] or ""


def _faint(value: str) -> bool:
    found = _LENGTH.fullmatch(value)
    if found is None or found[2] not in {"", "%"}:
        return False
    return float(found[1]) / (100 if found[2] else 1) <= _FAINTEST


def _tiny(found: dict[str, str]) -> bool:
    # Of the shorthand "bold 0/1 a" the size stands before the slash or before the family; a
    # weight ("400") is a number as well, but no small one.
    sizes = [found.get("font-size", ""), *found.get("font", "").partition("/")[0].split()]
    lengths = filter(None, map(_LENGTH.fullmatch, sizes))
    return any(float(size[1]) <= _TINY.get(size[2], 0) for size in lengths)


def _far(value: str) -> bool:
    found = _LENGTH.fullmatch(value)
    return found is not None and float(found[1]) <= -_FAR.get(found[2], 30)


def _cut_away(found: dict[str, str]) -> bool:
    if not re.fullmatch(r"hidden|clip", found.get("overflow", "").split(" ")[0]):
        return False
    sizes = (found.get(f"{limit}{side}", "") for limit in ("", "max-") for side in _SIDES)
    lengths = filter(None, map(_LENGTH.fullmatch, sizes))
    return any(float(size[1]) <= _TINY.get(size[2], 0) for size in lengths)


_SIDES: Final = ("height", "width")


def _no_contrast(found: dict[str, str]) -> bool:
    colour = found.get("-webkit-text-fill-color", found.get("color", ""))
    if not colour:
        return False
    background = found.get("background-color", found.get("background", ""))
    named = [c for c in _COLOUR.findall(background) if c not in _NO_COLOUR]
    if colour in named:
        return True
    return invisible_colour(colour) and (
        colour == "transparent" or all(map(invisible_colour, named))
    )


def _faint_or_white(text: str) -> bool:
    found = _HEX.fullmatch(text)
    if found is not None:
        digits = found[1] if len(found[1]) > 4 else "".join(c * 2 for c in found[1])
        parts = [int(digits[at : at + 2], 16) / 255 for at in range(0, len(digits), 2)]
        return _is_unseen(parts[:3], parts[3] if len(parts) > 3 else 1.0)
    function = _FUNCTION.fullmatch(text)
    if function is None:
        return False
    values = re.split(r"[\s,/]+", function[2].strip())
    numbers = [
        float(n[1]) / (100 if n[2] == "%" else 1) for n in map(_LENGTH.fullmatch, values) if n
    ]
    if len(numbers) != len(values) or len(numbers) not in {3, 4}:
        return False
    if function[1] == "hsl":
        shades = [numbers[2]]
    else:
        shades = [
            n if v.endswith("%") else n / 255 for n, v in zip(numbers[:3], values[:3], strict=True)
        ]
    return _is_unseen(shades, numbers[3] if len(numbers) > 3 else 1.0)


def _is_unseen(shades: list[float], alpha: float) -> bool:
    return alpha <= _FAINTEST or min(shades) >= _DARKEST_WHITE
