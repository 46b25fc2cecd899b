"""The rules: their limits and their words. Nothing else in the package holds a limit.

Source:
    The limits are those of PyScent as the CRScore paper uses it (Naik et al., NAACL 2025,
    arXiv:2409.19801v2, Table 14); the ranks are radon's, as the paper's Table 6 prints them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

NOTE: Final = "note"
WARNING: Final = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One smell."""

    id: str
    """How machines call it."""
    title: str
    """How people call it, lower case."""
    limit: int
    """The last measure that is no smell, for cohesion the first; 0 where nothing is measured."""
    extent: str
    """The measure in words; `{n}` is the number."""
    published_extent: str = ""
    """The same in the words of the published form, with what it adds; "" where they are equal."""
    text: str
    """The finding as one sentence: `{place}`, `{extent}` and `{limit}`, and what the rule adds."""
    noun: tuple[str, str]
    """What has the smell: the word for one, the word for several."""
    pylint: str | None = None
    """The pylint message that finds it."""
    option: str | None = None
    """The pylint option that sets its limit."""
    least_is_worst: bool = False
    """True where a smaller measure is worse."""
    file_level: bool = False
    """True where the published summary names no line."""
    level: str = NOTE
    """SARIF level, unless the place is worse than most."""


LONG_METHOD: Final = Rule(
    id="long-method",
    title="long method",
    limit=50,
    extent="{n} statements",
    text="{place} has {extent}, more than {limit}, so it is hard to follow; split it up.",
    noun=("function", "functions"),
    pylint="R0915",
    option="--max-statements",
)
LONG_PARAMETER_LIST: Final = Rule(
    id="long-parameter-list",
    title="long parameter list",
    limit=5,
    extent="{n} parameters",
    text="{place} takes {extent}, more than {limit}, so a call is easy to get wrong.",
    noun=("function", "functions"),
    pylint="R0913",
    option="--max-args",
)
LONG_BRANCH: Final = Rule(
    id="long-branch",
    title="long branch",
    limit=12,
    extent="{n} branches",
    text="{place} has {extent}, more than {limit}, so it is hard to test each way through it.",
    noun=("function", "functions"),
    pylint="R0912",
    option="--max-branches",
)
MANY_ATTRIBUTES: Final = Rule(
    id="many-attributes",
    title="many attributes",
    limit=7,
    extent="{n} instance attributes",
    text="{place} has {extent}, more than {limit}, so it may do the work of several classes.",
    noun=("class", "classes"),
    pylint="R0902",
    option="--max-attributes",
)
MANY_METHODS: Final = Rule(
    id="many-methods",
    title="many methods",
    limit=20,
    extent="{n} public methods",
    text="{place} has {extent}, more than {limit}, so it may have more than one responsibility.",
    noun=("class", "classes"),
    pylint="R0904",
    option="--max-public-methods",
)
SHOTGUN_SURGERY: Final = Rule(
    id="shotgun-surgery",
    title="shotgun surgery",
    limit=5,
    extent="{n} calls to code of other modules",
    published_extent="{n} calls to code outside the class",
    text=(
        "{place} makes {extent} ({calls}), more than {limit}, "
        "so changes elsewhere may force changes here."
    ),
    noun=("class", "classes"),
    file_level=True,
)
LOW_COHESION: Final = Rule(
    id="low-cohesion",
    title="low cohesion",
    limit=30,
    extent="a cohesion of {n} %",
    text=(
        "{place} has {extent}, less than {limit} %: its methods share few attributes, "
        "so it may be several classes in one."
    ),
    noun=("class", "classes"),
    least_is_worst=True,
    file_level=True,
)
COMPLEX_CODE: Final = Rule(
    id="complex-code",
    title="complex code",
    limit=10,
    extent="{n} independent paths",
    published_extent="a cyclomatic complexity of {n} (rank {rank}, {risk})",
    text="{place} has {extent} (cyclomatic complexity), more than {limit}; it is hard to test.",
    noun=("block", "blocks"),
    file_level=True,
)
LONG_LAMBDA: Final = Rule(
    id="long-lambda",
    title="long lambda",
    limit=60,
    extent="{n} characters",
    text="{place} has {extent}, more than {limit}; a named function would be easier to read.",
    noun=("place", "places"),
)
LONG_COMPREHENSION: Final = Rule(
    id="long-comprehension",
    title="long list comprehension",
    limit=72,
    extent="{n} characters",
    text="{place} has {extent}, more than {limit}; a loop or a helper would be easier to read.",
    noun=("place", "places"),
)
USELESS_EXCEPTION: Final = Rule(
    id="useless-exception",
    title="useless exception",
    limit=0,
    extent="",
    text="{place} {harm}.",
    noun=("place", "places"),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One row of radon's table of complexity."""

    letter: str
    """A is best, F is worst."""
    last: int | None
    """The highest complexity of the rank; None for no end."""
    risk: str
    """How risky such code is."""


RANKS: Final = (
    Rank(letter="A", last=5, risk="low risk"),
    Rank(letter="B", last=10, risk="low risk"),
    Rank(letter="C", last=20, risk="moderate risk"),
    Rank(letter="D", last=30, risk="more than moderate risk"),
    Rank(letter="E", last=40, risk="high risk"),
    Rank(letter="F", last=None, risk="very high risk"),
)
ALARMING_RANKS: Final = frozenset("DEF")


def rank(complexity: int) -> Rank:
    """Tell the rank of a cyclomatic complexity.

    Args:
        complexity: At least 1.

    Returns:
        Its row of the table.

    Source:
        radon's table, as in the CRScore paper, Table 6.

    Example:
        >>> [rank(n).letter for n in (5, 6, 10, 11, 20, 21, 30, 31, 40, 41)]
        ['A', 'B', 'B', 'C', 'C', 'D', 'D', 'E', 'E', 'F']
    """
    return next(row for row in RANKS if row.last is None or complexity <= row.last)
