"""The rules, and the findings in their words. No other module holds a limit.

Source:
    The limits are those of PyScent as the CRScore paper uses it (Naik et al., NAACL 2025,
    arXiv:2409.19801v2, Table 14); the ranks are radon's, as the paper's Table 6 prints them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.static_analysis.pyscent.source import Span

NOTE: Final = "note"
WARNING: Final = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One smell."""

    id: str
    """Its name for machines."""
    name: str = ""
    """Its name for people, lower case, where it is not the id with spaces."""
    limit: int
    """The largest measure that is fine, for cohesion the smallest; 0 where nothing is measured."""
    extent: str
    """The measure in words; `{n}` is the number."""
    published_extent: str = ""
    """The same in the words of the published form, with what it adds; "" where they are equal."""
    text: str
    """The finding as one sentence: `{place}`, `{extent}` and `{limit}`, and what the rule adds."""
    noun: str = "function"
    """The word for one place that has the smell."""
    pylint: str = ""
    """The pylint message that finds it."""
    option: str = ""
    """The pylint option that sets its limit."""
    least_is_worst: bool = False
    """True where a smaller measure is worse."""
    file_level: bool = False
    """True where the published summary names no line."""
    level: str = NOTE
    """SARIF level, unless the place is worse than most."""

    @property
    def title(self) -> str:
        """Its name for people, with a capital."""
        return (self.name or self.id.replace("-", " ")).capitalize()

    def count(self, places: int) -> str:
        """Count the places that have the smell: `2 classes`."""
        plural = "" if places == 1 else "es" if self.noun.endswith("s") else "s"
        return f"{places} {self.noun}{plural}"


LONG_METHOD: Final = Rule(
    id="long-method",
    limit=50,
    extent="{n} statements",
    text="{place} has {extent}, more than {limit}, so it is hard to follow; split it up.",
    pylint="R0915",
    option="--max-statements",
)
LONG_PARAMETER_LIST: Final = Rule(
    id="long-parameter-list",
    limit=5,
    extent="{n} parameters",
    text="{place} takes {extent}, more than {limit}, so a call is easy to get wrong.",
    pylint="R0913",
    option="--max-args",
)
LONG_BRANCH: Final = Rule(
    id="long-branch",
    limit=12,
    extent="{n} branches",
    text="{place} has {extent}, more than {limit}, so it is hard to test each way through it.",
    pylint="R0912",
    option="--max-branches",
)
MANY_ATTRIBUTES: Final = Rule(
    id="many-attributes",
    limit=7,
    extent="{n} instance attributes",
    text="{place} has {extent}, more than {limit}, so it may do the work of several classes.",
    noun="class",
    pylint="R0902",
    option="--max-attributes",
)
MANY_METHODS: Final = Rule(
    id="many-methods",
    limit=20,
    extent="{n} public methods",
    text="{place} has {extent}, more than {limit}, so it may have more than one responsibility.",
    noun="class",
    pylint="R0904",
    option="--max-public-methods",
)
SHOTGUN_SURGERY: Final = Rule(
    id="shotgun-surgery",
    limit=5,
    extent="{n} calls to code of other modules",
    published_extent="{n} calls to code outside the class",
    text=(
        "{place} makes {extent} ({calls}), more than {limit}, "
        "so changes elsewhere may force changes here."
    ),
    noun="class",
    file_level=True,
)
LOW_COHESION: Final = Rule(
    id="low-cohesion",
    limit=30,
    extent="a cohesion of {n} %",
    text=(
        "{place} has {extent}, less than {limit} %: its methods share few attributes, "
        "so it may be several classes in one."
    ),
    noun="class",
    least_is_worst=True,
    file_level=True,
)
COMPLEX_CODE: Final = Rule(
    id="complex-code",
    limit=10,
    extent="{n} independent paths",
    published_extent="a cyclomatic complexity of {n} (rank {rank}, {risk})",
    text="{place} has {extent} (cyclomatic complexity), more than {limit}; it is hard to test.",
    noun="block",
    file_level=True,
)
LONG_LAMBDA: Final = Rule(
    id="long-lambda",
    limit=60,
    extent="{n} characters",
    text="{place} has {extent}, more than {limit}; a named function would be easier to read.",
    noun="place",
)
LONG_COMPREHENSION: Final = Rule(
    id="long-comprehension",
    name="long list comprehension",
    limit=72,
    extent="{n} characters",
    text="{place} has {extent}, more than {limit}; a loop or a helper would be easier to read.",
    noun="place",
)
USELESS_EXCEPTION: Final = Rule(
    id="useless-exception",
    limit=0,
    extent="",
    text="{place} {harm}.",
    noun="place",
    level=WARNING,
)

RULES: Final = (
    LONG_METHOD,
    LONG_PARAMETER_LIST,
    LONG_BRANCH,
    MANY_ATTRIBUTES,
    MANY_METHODS,
    SHOTGUN_SURGERY,
    LOW_COHESION,
    COMPLEX_CODE,
    LONG_LAMBDA,
    LONG_COMPREHENSION,
    USELESS_EXCEPTION,
)
BY_PYLINT: Final = MappingProxyType({rule.pylint: rule for rule in RULES if rule.pylint})


class Rank(NamedTuple):
    """One row of radon's table of complexity."""

    letter: str
    """A is best, F is worst."""
    last: float
    """The highest complexity of the rank."""
    risk: str
    """How risky such code is."""


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
        Its row of the table.

    Source:
        radon's table, as in the CRScore paper, Table 6.

    Example:
        >>> [rank_of(n).letter for n in (5, 6, 10, 11, 20, 21, 30, 31, 40, 41)]
        ['A', 'B', 'B', 'C', 'C', 'D', 'D', 'E', 'E', 'F']
    """
    return next(rank for rank in RANKS if complexity <= rank.last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Smell:
    """One finding."""

    rule: Rule
    """The rule it breaks."""
    line: int
    """First line of the place, 1-based; -1 for the file as a whole."""
    end_line: int
    """Last line of the place, inclusive; -1 for the file as a whole."""
    place: str
    """The place in words, as in the middle of a sentence."""
    measure: float | None
    """The measure, in the rule's unit; None where nothing is measured."""
    extent: str
    """The measure in words; "" where nothing is measured."""
    text: str
    """The finding as one English sentence."""
    level: str
    """SARIF level: `note` or `warning`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """All findings in one file."""

    path: str
    """The path as given."""
    smells: tuple[Smell, ...] = ()
    """By line."""
    unparsed: str | None = None
    """Why the file could not be analysed, or not in full; None when it was."""


def smell(
    rule: Rule,
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
        rule: The rule it breaks.
        span: Its lines.
        place: The place in words, as in the middle of a sentence.
        measure: The measure, in the rule's unit; None where nothing is measured.
        level: SARIF level, when it is not the rule's own.
        published: Put the measure into the words of the published form.
        words: Further values for the rule's text.

    Returns:
        The finding, with its sentence.

    Example:
        >>> from crscore.static_analysis.pyscent.source import Span
        >>> smell(LONG_LAMBDA, Span(3, 3), "the lambda in `load`", 61).text[:54]
        'The lambda in `load` has 61 characters, more than 60; '
    """
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


_SIZES: Final = (LONG_METHOD, LONG_BRANCH, COMPLEX_CODE)  # in the order of the sentence


def merge_sizes(smells: Iterable[Smell]) -> list[Smell]:
    """Merge the findings that measure the size of one function: they are one defect.

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
        >>> parts = [(LONG_BRANCH, 13), (COMPLEX_CODE, 14)]
        >>> (one,) = merge_sizes([smell(rule, Span(1, 40), "`f`", n) for rule, n in parts])
        >>> one.rule.id, one.extent
        ('complex-code', '13 branches and 14 independent paths')
    """
    others: list[Smell] = []
    functions: dict[tuple[int, str], list[Smell]] = defaultdict(list)
    for one in smells:
        same = functions[one.line, one.place] if one.rule in _SIZES else others
        same.append(one)
    return [*others, *map(_merge, functions.values())]


def _merge(parts: Sequence[Smell]) -> Smell:
    if len(parts) == 1:
        return parts[0]
    ordered = sorted(parts, key=lambda part: _SIZES.index(part.rule))
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
    """Put the findings of a file into one sentence a smell, the published form.

    The sentence names the smell, how many places have it, and the worst place with its
    line and measure; of equal ones the first. It stands at the line of the worst place,
    or at no line where the published tool names none.

    Args:
        report: The findings of one file.

    Returns:
        At most one finding a rule, in the order of the rules.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801v2, Table 14, and the CRScore code, whose
        wording is not used here.
    """
    groups = [[one for one in report.smells if one.rule is rule] for rule in RULES]
    return replace(report, smells=tuple(_summary(group) for group in groups if group))


def _summary(smells: Sequence[Smell]) -> Smell:
    rule = smells[0].rule
    worst = (min if rule.least_is_worst else max)(smells, key=lambda one: one.measure or 0)
    if worst.extent:
        rest = f"the worst is {worst.place} on line {worst.line} with {worst.extent}"
    else:
        rest = f"the first is {worst.place} on line {worst.line}"
    return replace(
        worst,
        text=f"{rule.title} in {rule.count(len(smells))}: {rest}.",
        line=NO_LINE if rule.file_level else worst.line,
        end_line=NO_LINE if rule.file_level else worst.end_line,
    )
