"""How reviewers label their own comments: *critical*, *P1*, *nit*, as a word, a badge or a dot.

A label stands at the start of a comment and is set off from its text (`P1: ...`, `**High** ...`),
or alone on a line (`_🟠 Major_`, `**Severity**: high`). Words of a sentence are none.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from crscore.audit.coverage import rate_of_events
from crscore.audit.overview import LabelCount, Labels
from crscore.audit.signals import Signal
from crscore.audit.store.database import Store
from crscore.audit.store.reviews import Scope, read_levels
from crscore.reports import view

NO_LEVEL: Final = "nothing"
"""Level of a comment that gives nothing."""
_Level = Literal["critical", "major", "minor", "nit"]

LEVELS: Final[Mapping[_Level, tuple[str, ...]]] = {
    "critical": ("critical", "blocker", "p0", "🔴"),
    "major": ("major", "high", "p1", "🟠"),
    "minor": ("minor", "medium", "moderate", "p2", "🟡"),
    "nit": ("nit", "nitpick", "trivial", "low", "p3", "🔵"),
}
"""Labels of each level, the weightiest first."""
MIN_COMMENTS: Final = 20
"""Comments labelled critical or major below which inflation is not judged."""
INFLATED_FROM: Final = 1 / 3
"""Labels are inflated when surely more of those comments are nits or give nothing."""
_LEVEL_OF: Final = {label: level for level, labels in LEVELS.items() for label in labels}
_MAX_CHARS: Final = 4_000
_NAME: Final = r"(?:security[- ])?(?P<label>" + "|".join(filter(str.isascii, _LEVEL_OF)) + ")"
_SEVERITY: Final = r"(?:severity|priority|impact)"
_ANY: Final = re.compile("|".join(_LEVEL_OF), re.I)
# What is not the bot's own line: markup that is not shown, code, folded parts and quotes.
_HIDDEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|^ *(`{3,}|~{3,}).*?(?:^ *\1|\Z)|<details.*?(?:</details>|\Z)|^ *>.*?$",
    re.S | re.M,
)
_IMAGE: Final = re.compile(
    r"!\[([^][\n]*)\]\([^()\n]*\)|<img\b(?>[^<>]*?\balt=[\"'])([^\"'\n]*+)[^<>]*+>"
)
_TAG: Final = re.compile(r"</?\w[^<>\n]*>")
_ALONE: Final = re.compile(
    rf"(?:{_SEVERITY}[\W_]+)?{_NAME}(?:[\W_]+(?:{_SEVERITY}|badge|issue))?", re.I
)
# Set off by a bracket, by the end of its emphasis, or by a colon or dash.
_START: Final = re.compile(
    rf"[^a-z0-9`]*{_NAME}(?:[ -](?:{_SEVERITY}|badge|issue))?(?: \([\w ,-]+\))?"
    r"(?:[])]|\*\*|__|:| [-\u2013\u2014] )",
    re.I,
)
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")
_DOT: Final = re.compile(rf"[\W_]*?([{''.join(x for x in _LEVEL_OF if not x.isascii())}])")


class Label(NamedTuple):
    """Label of a comment."""

    name: str
    """As it is written, in small letters: critical, p1, nit, 🔴, ..."""
    level: _Level
    """The level that it claims."""


def find_label(text: str) -> Label | None:
    """Find the label of a comment; None without one, and for several of different levels.

    Args:
        text: Markdown of the comment.

    Example:
        >>> find_label("_⚠️ Potential issue_ | _🟠 Major_")
        Label(name='major', level='major')
        >>> find_label("**P1:** The lock is never released.").level
        'major'
        >>> find_label("Critical sections are not locked here.")
    """
    if not _ANY.search(text, 0, _MAX_CHARS):
        return None
    visible = _HIDDEN.sub(" ", text[:_MAX_CHARS])
    # A badge is set off from the text that follows it, as a word in brackets is.
    visible = _TAG.sub("", _IMAGE.sub(lambda image: f"[{image[1] or image[2] or ''}]", visible))
    lines = [line.strip() for line in visible.splitlines() if line.strip()]
    if not lines:
        return None
    if match := _START.match(lines[0]):
        return _label(match["label"])
    names = {
        match["label"].lower()
        for line in lines
        if not line.startswith("|")  # a table
        for part in line.split("|")
        if (match := _ALONE.fullmatch(_EDGES.sub("", part)))
    }
    if not names and (dot := _DOT.match(lines[0])):
        return _label(dot[1])
    return _label(min(names)) if len({_LEVEL_OF[name] for name in names}) == 1 else None


def _label(name: str) -> Label:
    return Label(name.lower(), _LEVEL_OF[name.lower()])


class _Read(NamedTuple):
    """Labelled comment."""

    pull: tuple[int, int]
    level: str
    acted_on: int | None


def load_labels(store: Store, scope: Scope) -> Mapping[str, Labels]:
    """Return how each reviewer that labels its comments does so.

    Raises:
        StoreError: The store cannot be read.
    """
    rows = read_levels(store, scope, Signal.ACTED_ON)
    labels = {text: find_label(store.text(text)) for text in {row[3] for row in rows}}
    comments: dict[str, dict[Label, list[_Read]]] = defaultdict(lambda: defaultdict(list))
    for reviewer, repository, number, text, level, acted_on in rows:
        if label := labels[text]:
            read = _Read((repository, number), level or NO_LEVEL, acted_on)
            comments[reviewer][label].append(read)
    return {reviewer: _labels(by_label) for reviewer, by_label in comments.items()}


def _labels(by_label: Mapping[Label, Sequence[_Read]]) -> Labels:
    order = [*_LEVEL_OF]
    light = rate_of_events(
        (read.pull, read.level in ("nit", NO_LEVEL))
        for label, reads in by_label.items()
        if label.level in ("critical", "major")
        for read in reads
    )
    is_inflated = light.total >= MIN_COMMENTS and (light.low or 0.0) > INFLATED_FROM
    text = (
        f"Of {light.total:,} comments that it labels critical or major, or as much in its own "
        f"words, {view.percent(light.share)} ({view.hundred(light.low)} to "
        f"{view.hundred(light.high)} %) are nits or give nothing, as read here."
    )
    return Labels(
        counts=tuple(
            LabelCount(
                label=label.name,
                level=label.level,
                comments=len(reads),
                read=dict(Counter(read.level for read in reads)),
                acted_on=rate_of_events(
                    (read.pull, bool(read.acted_on)) for read in reads if read.acted_on is not None
                ),
            )
            for label, reads in sorted(by_label.items(), key=lambda item: order.index(item[0].name))
        ),
        light=light,
        inflation=text if is_inflated else None,
    )
