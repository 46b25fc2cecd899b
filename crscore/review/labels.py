"""Labels of a remark: how its writer rates it, which is not a part of what it says.

"P1:", "**issue (blocking):**", "[High]", "🔴", "Severity: high", "Confidence 4/5", a badge. A label
is a few known words (`labels.toml`) in brackets, or at the start of a sentence with a separator
behind them, or a whole unit. Other words are text: "Note that ...", "High load blocks".
"""

import importlib.resources
import re
import tomllib
from functools import cache
from typing import Final

from crscore.review.boilerplate import is_boilerplate

LABEL_END: Final = "\x04"
"""Mark after a label in bold or italics, which a sentence may follow without a separator."""
BADGE: Final = "\x05{}\x06"
"""Format of the label of an image."""
SEVERITIES: Final = ("critical", "high", "medium", "low")
"""Severities that labels name, the worst first."""
_MAX_TAIL: Final = 100
"""Maximum characters at the end of a text that are searched for a label."""


@cache
def _read_grammar() -> dict[str, str]:
    """Return the expressions of `labels.toml`, with those that they refer to written out."""
    parts: dict[str, str] = {}
    file = importlib.resources.files("crscore.review") / "labels.toml"
    for name, pattern in tomllib.loads(file.read_text(encoding="utf-8")).items():
        parts[name] = re.sub(r"\{([a-z_]+)\}", lambda match: f"(?:{parts[match[1]]})", pattern)
    # The mildest first: "non-blocking" is not "blocking".
    words = [rf"(?P<{name}>\b(?:{parts[name]})\b)" for name in reversed(SEVERITIES)]
    return parts | {"severity": "|".join(words)}


# `leading` and `trailing` take 0.17 s to compile, a tenth of a whole run, and most sentences have
# no label: the small `may_lead` and `may_trail` match wherever the large ones do.
@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_read_grammar()[name], re.IGNORECASE)


_BADGE: Final = re.compile(BADGE.format("([^\x05\x06]*)"))


def strip_labels(text: str) -> tuple[str, str | None]:
    """Remove the labels at both ends of a sentence.

    Args:
        text: The sentence; `LABEL_END`, badges and the marks of code spans may be in it.

    Returns:
        The text without them, and the most serious one of `SEVERITIES` that they name; None if
        they name none.

    Example:
        >>> strip_labels("P1: `x` is null.")
        ('`x` is null.', 'high')
        >>> strip_labels("Note that `x` is null.")
        ('Note that `x` is null.', None)
    """
    # A label moved a standing by up to 74 (docs/design/004-sentences.md): it is shown, not scored.
    levels = {name for badge in _BADGE.findall(text) for name in _severities(badge)}
    rest, after_emoji = _BADGE.sub(" ", text).strip(), False
    while label := (
        (after_emoji and _pattern("after_emoji").match(rest))
        or (_pattern("may_lead").match(rest) and _pattern("leading").match(rest))
        or (
            _pattern("may_trail").search(rest, tail := max(0, len(rest) - _MAX_TAIL))
            and _pattern("trailing").search(rest, tail)
        )
    ):
        severities = _severities(label[0])
        if len(severities) > 1:  # "[low, high] is the range"
            break
        levels |= severities
        after_emoji = not any(map(str.isalnum, label[0]))
        before, after = rest[: label.start()], rest[label.end() :]
        rest = before + (after if before else _pattern("separators").sub("", after))
    return rest, min(levels, key=SEVERITIES.index, default=None)


def strip_source_labels(text: str) -> str:
    """Remove the labels at both ends of a short text in Markdown; one of only labels is kept.

    Example:
        >>> strip_source_labels("**Bug:** `f` is *never* closed [P1]")
        '`f` is *never* closed'
    """
    marked = text.replace("**", LABEL_END).strip(f" {LABEL_END}")
    return strip_labels(marked)[0].replace(LABEL_END, "**") or text


def is_label(text: str) -> bool:
    """Return whether a text is nothing but labels."""
    return bool(text.strip()) and not strip_labels(f"{text}{LABEL_END}")[0]


def read_badge(alternative: str, address: str) -> str | None:
    """Return the label that an image shows: "" for a button or another badge; None for a picture.

    Example:
        >>> read_badge("P1 Badge", "p1.svg"), read_badge("Screenshot", "a.png")
        ('P1 Badge', None)
    """
    if is_label(alternative):
        return alternative
    if _pattern("badge_address").search(address):
        return address.rpartition("/")[2]
    return "" if is_boilerplate(alternative) else None


def _severities(label: str) -> set[str]:
    """Return the severities that a label names; "high confidence" names none."""
    rated = _pattern("without_severity").sub("", label.replace("_", " "))
    return {match.lastgroup or "" for match in _pattern("severity").finditer(rated)}
