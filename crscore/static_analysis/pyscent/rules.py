"""Rules, from `rules.toml`, and the findings in their words.

Source:
    The ranks are radon's, as the CRScore paper prints them (Naik et al., NAACL 2025,
    arXiv:2409.19801v2, Table 6).
"""

import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from crscore.static_analysis.pyscent.source import Span

NOTE: Final = "note"
WARNING: Final = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Smell with its limit and texts."""

    id: str
    """Machine-readable name."""
    name: str = ""
    """Display name in lower case, where it is not the id with spaces."""
    limit: int
    """Largest acceptable measure, for cohesion the smallest; 0 where nothing is measured."""
    extent: str
    """Measure in words; `{n}` is the number."""
    published_extent: str = ""
    """The same in the words of the published form, with its additions; "" where they are equal."""
    text: str
    """Finding as one sentence: `{place}`, `{extent}` and `{limit}`, and additions of the rule."""
    noun: str = "function"
    """Word for one place that has the smell."""
    pylint: str = ""
    """pylint message that reports it."""
    option: str = ""
    """pylint option that sets its limit."""
    least_is_worst: bool = False
    """Whether a smaller measure is worse."""
    file_level: bool = False
    """Whether the published summary has no line for it."""
    level: str = NOTE
    """SARIF level, unless the place is worse than most."""

    @property
    def title(self) -> str:
        """Display name, capitalized."""
        return (self.name or self.id.replace("-", " ")).capitalize()

    def count(self, places: int) -> str:
        """Format the number of places that have the smell: `2 classes`."""
        plural = "" if places == 1 else "es" if self.noun.endswith("s") else "s"
        return f"{places} {self.noun}{plural}"


_TABLES: Final = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
RULES: Final = MappingProxyType({name: Rule(id=name, **table) for name, table in _TABLES.items()})
"""Rules by id, in the order of the published summary."""
BY_PYLINT: Final = MappingProxyType({rule.pylint: rule for rule in RULES.values() if rule.pylint})


class Rank(NamedTuple):
    """Row of radon's table of complexity."""

    letter: str
    """Letter, from A (best) to F (worst)."""
    last: float
    """Highest complexity of the rank."""
    risk: str
    """Risk of such code."""


RANKS: Final = (
    Rank("A", 5, "low risk"),
    Rank("B", 10, "low risk"),
    Rank("C", 20, "moderate risk"),
    Rank("D", 30, "more than moderate risk"),
    Rank("E", 40, "high risk"),
    Rank("F", math.inf, "very high risk"),
)
ALARMING_RANKS: Final = frozenset("DEF")


def rank_of(complexity: int) -> Rank:
    """Return the rank of a cyclomatic complexity.

    Args:
        complexity: At least 1.

    Returns:
        The row of the table.

    Source:
        radon's table, as in the CRScore paper, Table 6.

    Example:
        >>> [rank_of(n).letter for n in (5, 6, 10, 11, 20, 21, 30, 31, 40, 41)]
        ['A', 'B', 'B', 'C', 'C', 'D', 'D', 'E', 'E', 'F']
    """
    return next(rank for rank in RANKS if complexity <= rank.last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Smell:
    """Finding of a smell."""

    rule: Rule
    """Rule that is violated."""
    line: int
    """First line of the place, 1-based; -1 for the whole file."""
    end_line: int
    """Last line of the place, inclusive; -1 for the whole file."""
    place: str
    """Place in words, for the middle of a sentence."""
    measure: float | None
    """Measure in the rule's unit; None where nothing is measured."""
    extent: str
    """Measure in words; "" where nothing is measured."""
    text: str
    """Finding as one English sentence."""
    level: str
    """SARIF level: `note` or `warning`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """Findings in one file."""

    path: str
    """The path as given."""
    smells: tuple[Smell, ...] = ()
    """Smells by line."""
    unparsed: str | None = None
    """Reason for a missing or partial analysis; None when it is complete."""


def smell(
    name: str,
    span: Span,
    place: str,
    measure: float | None,
    *,
    level: str | None = None,
    published: bool = False,
    **words: str,
) -> Smell:
    """Make a finding in the rule's words.

    Args:
        name: Id of the violated rule.
        span: Its lines.
        place: The place in words, for the middle of a sentence.
        measure: The measure, in the rule's unit; None where nothing is measured.
        level: SARIF level, unless it is the rule's own.
        published: Use the wording of the published form for the measure.
        words: Further values for the rule's text.

    Returns:
        The finding, with its sentence.

    Example:
        >>> from crscore.static_analysis.pyscent.source import Span
        >>> smell("long-lambda", Span(3, 3), "the lambda in `load`", 61).text[:54]
        'The lambda in `load` has 61 characters, more than 60; '
    """
    rule = RULES[name]
    number = "" if measure is None else f"{measure:.3g}" if measure % 1 else f"{measure:.0f}"
    measured = (rule.published_extent if published else "") or rule.extent
    extent = measured.format(n=number, **words)
    text = rule.text.format(place=place, extent=extent, limit=rule.limit, **words)
    return Smell(
        rule=rule,
        line=span.line,
        end_line=span.end_line,
        place=place,
        measure=measure,
        extent=extent,
        text=text[0].upper() + text[1:],
        level=level or rule.level,
    )


_SIZES: Final = ("long-method", "long-branch", "complex-code")  # in the order of the sentence


def merge_sizes(smells: Iterable[Smell]) -> list[Smell]:
    """Merge the findings on the size of one function, which are one defect.

    The merged finding has the rule of the measure that is furthest over its limit (the
    largest quotient of measure and limit; of equal ones statements, then branches, then
    paths), that rule's measure, and the worst level. Its sentence names all measures that
    are over.

    Args:
        smells: The findings of one file.

    Returns:
        The findings, the merged ones at the end.

    Example:
        >>> from crscore.static_analysis.pyscent.source import Span
        >>> parts = [("long-branch", 13), ("complex-code", 14)]
        >>> (one,) = merge_sizes([smell(name, Span(1, 40), "`f`", n) for name, n in parts])
        >>> one.rule.id, one.extent
        ('complex-code', '13 branches and 14 independent paths')
    """
    unmerged: list[Smell] = []
    functions: dict[tuple[int, str], list[Smell]] = defaultdict(list)
    for finding in smells:
        group = functions[finding.line, finding.place] if finding.rule.id in _SIZES else unmerged
        group.append(finding)
    return [*unmerged, *map(_merge, functions.values())]


def _merge(parts: Sequence[Smell]) -> Smell:
    if len(parts) == 1:
        return parts[0]
    ordered = sorted(parts, key=lambda part: _SIZES.index(part.rule.id))
    worst = max(ordered, key=lambda part: (part.measure or 0) / part.rule.limit)
    *firsts, last = (part.extent for part in ordered)
    extent = f"{', '.join(firsts)} and {last}"
    return replace(
        worst,
        extent=extent,
        text=f"{worst.place} has {extent}; it is hard to follow and to test, so split it up.",
        level=WARNING if any(part.level == WARNING for part in parts) else worst.level,
    )


NO_LINE: Final = -1


def summarize(report: FileReport) -> FileReport:
    """Summarize the findings of a file in one sentence per smell, the published form.

    The sentence names the smell, how many places have it, and the worst place with its
    line and measure; of equal ones the first. It has the line of the worst place, or none where the
    published tool has none.

    Args:
        report: The findings of one file.

    Returns:
        At most one finding per rule, in rule order.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801v2, Table 14, and the CRScore code, whose
        wording is not used here.
    """
    groups = [
        [finding for finding in report.smells if finding.rule is rule] for rule in RULES.values()
    ]
    return replace(report, smells=tuple(_summary(group) for group in groups if group))


def _summary(smells: Sequence[Smell]) -> Smell:
    rule = smells[0].rule
    worst = (min if rule.least_is_worst else max)(smells, key=lambda finding: finding.measure or 0)
    if worst.extent:
        details = f"the worst is {worst.place} on line {worst.line} with {worst.extent}"
    else:
        details = f"the first is {worst.place} on line {worst.line}"
    return replace(
        worst,
        text=f"{rule.title} in {rule.count(len(smells))}: {details}.",
        line=NO_LINE if rule.file_level else worst.line,
        end_line=NO_LINE if rule.file_level else worst.end_line,
    )
