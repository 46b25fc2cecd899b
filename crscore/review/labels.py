"""Labels of a remark: how its writer rates it, which is not a part of what it says.

"P1:", "**issue (blocking):**", "[High]", "🔴", "Severity: high", "Confidence 4/5", a badge. A label
is a few known words (`boilerplate.toml`) in brackets, or at the start of a sentence with a
separator behind them, or a whole unit. Other words are text: "Note that ...", "High load blocks".
"""

import re
from typing import Final, NamedTuple

from crscore.review.boilerplate import PATTERNS, is_boilerplate

LABEL_END: Final = "\x04"
"""Mark after a label in bold or italics, which a sentence may follow without a separator."""
BADGE: Final = "\x05{}\x06"
"""Format of the label of an image."""
SEVERITIES: Final = ("critical", "high", "medium", "low")
"""Severities that labels name, the worst first."""
_MAX_TAIL: Final = 100
"""Maximum characters at the end of a text that are searched for a label."""

_WORDS: Final = PATTERNS["labels"]
_ICON: Final = (
    r"(?:[ℹ‼⁉≡\u231a-\u23ff\u2500-\u2bff\u3030\u303d\U0001f000-\U0001faff]"
    r"|:[a-z][a-z0-9_+-]{1,40}:)"
)
_SEVERE: Final = "|".join(_WORDS[name] for name in SEVERITIES)
_RATED: Final = f"{_SEVERE}|{_WORDS['kinds']}"
_ANY: Final = f"{_RATED}|{_WORDS['topics']}"


def _phrase(words: str, others: str = _ANY) -> str:
    """Return a pattern of label words, the first of `words`: "Potential issue | major"."""
    more = rf"(?:{others}|{_WORDS['qualifiers']})"
    join = rf"(?:\s?(?:[/|,&+·•_–—-]|{_ICON})\s?|\s)"
    return (
        rf"(?:(?:{_WORDS['qualifiers']}){join}){{0,2}}\b(?:{words})\b(?:{join}{more}\b){{0,5}}"
        r"(?:\s?#?\d{1,3}\b)?"
    )


_NUMBER: Final = r"~?\d[\d.]*(?:\s?%|\s?(?:/|out of)\s?\d+|\s?min\w*)?"
# Severity: 🔴 High; Confidence Score: 4/5; Effort to review [1-5]: 2 (easy)
_VALUE: Final = (
    rf"(?:(?:{_ANY}|{_WORDS['qualifiers']})\s)?\b(?:{_WORDS['rated']}|{_WORDS['unrated']})"
    r"(?:\s(?:score|level|rating|to \w+|\[[\d-]+\]))*"
    rf"(?:\s?[:=]\s?{LABEL_END}?\s?(?:{_ICON}\s?|\x02`)*(?:{_phrase(_ANY)}|{_NUMBER})(?:`\x03)?|\s{_NUMBER})"
    rf"(?:\s?\([^()]{{1,20}}\))?(?:\s?{_ICON})*"
)
_LIST: Final = (
    rf"(?:{_ICON}\s?)*(?:{_VALUE}|{_phrase(_ANY)})"
    rf"(?:\s?[,;|/·]\s?(?:{_VALUE}|{_phrase(_ANY)})){{0,4}}"
)
_DETAIL: Final = r"(?:\s?[(\[][^()\[\]\x02\x03]{1,40}[)\]])?"  # issue (blocking), bug [high]
_SENTENCE: Final = r"(?-i:(?=[A-Z][a-z]|[AI]\s|\x02))"
_COLON: Final = rf"\s?[:)](?=[\s\x02{LABEL_END}]|\Z){LABEL_END}*"
_DASH: Final = r"(?:\s(?:[-|>»·•–]|--)(?=\s)|\s?—)"
_REST: Final = r"(?:[^\w?\x02]*\Z)"
_END: Final = rf"(?:{LABEL_END}*(?:{_COLON}|{_DASH})|{LABEL_END}+(?:{_REST}|\s?{_SENTENCE}))"
_DECORATED: Final = (
    rf"(?>(?:{_ICON}\s*)+)",
    rf"[\[{{【]\s?{_LIST}\s?[\]}}】]|\((?:{_phrase(_RATED)}|{_VALUE})\)",  # [P1] (nit)
    # `🐞 Bug`; `P1`: and the lines `12-14`: of a label
    rf"\x02`(?:{_ICON}\s?[\w /()-]{{1,40}}|(?:p[0-4]|\d+(?:-\d+)?)(?=`\x03(?:\W*:|{_REST})))`\x03",
)
_PLAIN: Final = (
    rf"{_VALUE}(?:[.;,]\s|\s{_SENTENCE}|{LABEL_END}|{_END}|{_REST})",
    # Potential issue | Major, issue (blocking): but "minor formatting" is a remark
    rf"{_phrase(_RATED)}{_DETAIL}{_END}|{_phrase(_RATED, _RATED)}{_DETAIL}{_REST}",
    # Data loss | 🟠 Major | ⚡ Quick win
    rf"[\w/& -]{{1,40}}\|(?=(?>(?:{_ICON}|[\s|{LABEL_END}]|{_phrase(_RATED)})+)\Z)",
    rf"(?-i:P[0-4])(?:\s{_SENTENCE}|[:{LABEL_END}])",
    # **Docs**, **Docs:** missing, Docs: The default is wrong; not "docs: missing"
    rf"{_phrase(_ANY)}{_DETAIL}"
    rf"(?:{_COLON}\s{_SENTENCE}(?=(?:\S+\s+){{3}})|\s?:?{LABEL_END}(?:{_COLON}|{_REST})"
    rf"|:{LABEL_END})",
)
_LEADING: Final = re.compile("|".join((*_DECORATED, *_PLAIN)), re.IGNORECASE)
_AFTER_ICON: Final = re.compile(
    rf"{_phrase(_ANY)}{_DETAIL}(?:{_END}|{_REST}|\s{_SENTENCE})", re.IGNORECASE
)
_SEPARATORS: Final = re.compile(rf"\A(?:[\s{LABEL_END}|·•–—]|[-:.,>](?=\s|\Z))+")
# ... [possible issue, importance: 8]; ... (P1). ... 🔴; ... - nit
_TRAILING: Final = re.compile(
    rf"(?:\s?{_ICON}|\s?\[{_LIST}\]|\s?\((?:{_VALUE}|{_phrase(_SEVERE)})\)"
    rf"|\s[-–—|·]\s(?:{_VALUE}|{_phrase(_SEVERE)})|\s\x02`{_ICON}\s?[\w /()-]{{1,40}}`\x03)"
    r"(?=[.!]?\s*\Z)",
    re.IGNORECASE,
)
_BADGE: Final = re.compile(BADGE.format("([^\x06]*)"))
_BADGE_ADDRESS: Final = re.compile(r"/badge/|shields\.io|badges?\b|-priority\.", re.IGNORECASE)
# "confidence: high", "high confidence" say nothing of the severity.
_UNRATED: Final = re.compile(rf"(?:\w+[\s-])?\b(?:{_WORDS['unrated']})\b[^|,;·]*", re.IGNORECASE)
_SEVERITY: Final = re.compile(
    "|".join(rf"(?P<{name}>\b(?:{_WORDS[name]})\b)" for name in reversed(SEVERITIES)), re.IGNORECASE
)


class Labelled(NamedTuple):
    """Text without its labels."""

    text: str
    severity: str | None
    """One of `SEVERITIES`; None if no label names one."""


def strip_labels(text: str) -> Labelled:
    """Remove the labels at both ends of a sentence.

    Args:
        text: The sentence; `LABEL_END`, badges and the marks of code spans may be in it.

    Example:
        >>> strip_labels("P1: `x` is null.")
        Labelled(text='`x` is null.', severity='high')
        >>> strip_labels("Note that `x` is null.")
        Labelled(text='Note that `x` is null.', severity=None)
    """
    severities = {name for badge in _BADGE.findall(text) for name in _severities(badge)}
    rest, after_icon = _BADGE.sub(" ", text).strip(), False
    while label := (after_icon and _AFTER_ICON.match(rest)) or _LEADING.match(rest):
        named = _severities(label[0])
        if len(named) > 1:  # "[low, high] is the range"
            break
        severities |= named
        after_icon = not any(map(str.isalnum, label[0]))
        rest = _SEPARATORS.sub("", rest[label.end() :], count=1)
    while label := _TRAILING.search(rest, max(0, len(rest) - _MAX_TAIL)):
        named = _severities(label[0])
        if len(named) > 1:
            break
        severities |= named
        rest = rest[: label.start()] + rest[label.end() :]
    return Labelled(rest, min(severities, key=SEVERITIES.index, default=None))


def strip_source_labels(text: str) -> str:
    """Remove the labels at both ends of a short text in Markdown; one of only labels is kept.

    Example:
        >>> strip_source_labels("**Bug:** `f` is *never* closed [P1]")
        '`f` is *never* closed'
    """
    marked = text.replace("**", LABEL_END).strip(f" {LABEL_END}")
    return strip_labels(marked).text.replace(LABEL_END, "**") or text


def is_label(text: str) -> bool:
    """Return whether a text is nothing but labels."""
    return bool(text.strip()) and not strip_labels(f"{text}{LABEL_END}").text


def read_badge(alternative: str, address: str) -> str | None:
    """Return the label that an image shows: "" for a button or another badge; None for a picture.

    Example:
        >>> read_badge("P1 Badge", "p1.svg"), read_badge("Screenshot", "a.png")
        ('P1 Badge', None)
    """
    if is_label(alternative):
        return alternative
    if _BADGE_ADDRESS.search(address):
        return address.rpartition("/")[2]
    return "" if is_boilerplate(alternative) else None


def _severities(label: str) -> set[str]:
    """Return the severities that a label names, without those of its confidence or effort."""
    rated = _UNRATED.sub("", label.replace("_", " "))
    return {match.lastgroup or "" for match in _SEVERITY.finditer(rated)}
