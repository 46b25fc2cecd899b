"""What the pages of a validation are made of; the template lays it out and escapes every text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.reports import escape
from crscore.study._tables import number, probability, shown
from crscore.study.slices import POOLED
from crscore.study.study import DIMENSIONS

if TYPE_CHECKING:
    from crscore.study._plots import Plot
    from crscore.study.correlate import Correlation
    from crscore.study.results import Findings

RELEVANCE: Final = DIMENSIONS[2]
YES: Final = "✓"
"""Starts a cell that says a goal is reached."""
NO: Final = "✗"
"""Starts a cell that says a goal is missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells under a header."""

    caption: str
    """Says what it is to who does not see where it stands."""
    header: tuple[str, ...]
    """One cell a column."""
    rows: tuple[tuple[str, ...], ...]
    """As many cells each; the first one names the row."""
    main: frozenset[int] = frozenset()
    """Rows to be set off."""
    is_prose: bool = False
    """The cells are words and no numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A text of the data with what is to be said of it."""

    facts: str
    """Numbers and names, on one line."""
    text: str
    """The text, clean, with its line ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """What a reader opens when they want it."""

    title: str
    """Shown folded too."""
    table: Table | None = None
    """Numbers."""
    examples: tuple[Example, ...] = ()
    """Texts."""
    rest: str = ""
    """What is not shown, and where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The answer to one question."""

    name: str
    """Where links lead; letters and dashes."""
    short: str
    """In the navigation."""
    title: str
    """The question, or its answer."""
    lead: tuple[str, ...] = ()
    """Paragraphs above."""
    plots: tuple[Plot, ...] = ()
    """Beside each other where there is room."""
    tables: tuple[Table, ...] = ()
    """Below the plots."""
    notes: tuple[str, ...] = ()
    """How to read it, below the tables."""
    code: str = ""
    """What to type, below the notes."""
    folds: tuple[Fold, ...] = ()
    """Details."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One number to remember."""

    title: str
    """What it is."""
    value: str
    """The number."""
    basis: str
    """What it rests on."""


def pooled(findings: Findings, metric: str, dimension: str) -> Correlation:
    """Find a metric's correlation over all reviews."""
    wanted = (metric, dimension, POOLED)
    return next(
        row for row in findings.correlations if (row.metric, row.dimension, row.slice) == wanted
    )


def short(findings: Findings, metric: str) -> str:
    """Name a metric: the variants of the score without its name."""
    score = findings.measured.primary.name
    if metric.startswith(f"{score} "):
        return shown(f"score {metric.removeprefix(f'{score} ')}")
    return shown(metric)


def p_value(value: float | None) -> str:
    """Write p with its sign."""
    text = probability(value)
    sign = "" if text.startswith("<") else "= "
    # It stays on one line.
    return f"p {sign}{text}".replace(" ", "\N{NO-BREAK SPACE}")


def interval(low: float | None, high: float | None) -> str:
    """Write an interval in words; nothing where there is none."""
    if low is None or high is None:
        return ""
    return f"95 % interval {number(low)} to {number(high)}"


def examples_text(text: str) -> str:
    """Clean a text of the data, keep its lines, and cut it where nobody reads on."""
    limit = escape.MAX_ITEM_CHARS
    cleaned = escape.clean(text[: limit * 4]).strip()
    if len(cleaned) <= limit:
        return cleaned
    return f"{cleaned[:limit]}… (+{max(len(cleaned), len(text)) - limit:,} characters)"
