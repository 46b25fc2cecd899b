"""Document of a benchmark."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from crscore.bench.records import Finding, Problem

SCHEMA: Final = "urn:crscore:bench:1"


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Number with its 95 % interval, by a bootstrap over changes."""

    value: float | None
    """In [0, 1]; None where it is undefined."""
    low: float | None
    """None when the data do not determine an interval."""
    high: float | None


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Recall of the problems of one severity, category or language."""

    kind: str
    """`severity`, `category` or `language`."""
    name: str
    hits: int
    problems: int


class BotScore(msgspec.Struct, frozen=True, kw_only=True):
    """How one bot did on the whole set."""

    bot: str
    precision: Estimate
    """Share of the distinct findings that are about a known problem. It is a lower bound, because
    unmatched findings may be right, too."""
    recall: Estimate
    """Share of the required problems that it found."""
    f: Estimate
    """F-beta of precision and recall."""
    weighted_recall: Estimate
    """Recall by the weights of severities: critical 4, high 3, medium 2, low 1."""
    best_rank: int
    """Best rank by F-beta in 95 % of the draws."""
    worst_rank: int
    hits: int
    """Number of required problems that it found."""
    also_right: int
    """Number of findings about problems that are right to name, but not required."""
    unlisted: int
    """Number of distinct findings without a matching problem; they need not be false."""
    serious: int
    """Number of unlisted findings of critical or major importance, if they are right."""
    duplicates: int
    """Number of findings that repeat another finding of the bot; other counts leave them out."""
    unsure: int
    """Number of decisions whose probability is within the matcher's band."""
    silent: int
    """Number of changes without a finding of the bot, whether it was run on them or not."""
    groups: tuple[Group, ...]
    seconds: float | None = None
    """Mean seconds of the changes whose findings state them: the most that one states."""
    cost: float | None = None
    """Mean price of the changes whose findings state it: the most that one states."""

    @property
    def rank(self) -> str:
        """Range of ranks: "2 to 3"."""
        is_one = self.best_rank == self.worst_rank
        return f"{self.best_rank}" if is_one else f"{self.best_rank} to {self.worst_rank}"


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Difference of two bots on the same changes."""

    first: str
    second: str
    difference: Estimate
    """F-beta of the first bot minus F-beta of the second, in [-1, 1]."""
    p_value: float | None
    """Corrected for the number of pairs (Holm); None when the draws do not determine it."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Decision about one finding."""

    finding: Finding
    outcome: str
    """`hit`, `also right`, `excluded`, `duplicate`, `unlisted`, or `unread` for a finding without a
    match that is not in English, which counts neither way."""
    problem: int | None
    """Index of the problem in its change."""
    probability: float
    """Probability of the pair, or of the best pair; 0 without problems."""
    importance: str = ""
    """`critical`, `major`, `minor` or `nit`, of an unlisted finding, if it is right; "" for a
    finding that asks for nothing."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Known problem, and the finding of a bot that hits it or, if it is missed, is nearest."""

    id: str
    """Identifier for decisions by hand; "" without a finding."""
    bot: str
    problem: int
    """Index of the problem in its change."""
    finding: Finding | None
    """None if the bot has no finding for the change."""
    outcome: str
    """`hit`, `also right`, `excluded` or `missed`."""
    probability: float
    why: str
    """Reasons, for people."""
    is_unsure: bool
    """Whether the probability is within the matcher's band, and the pair was not judged by hand."""


class ChangeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One change with its problems and all findings."""

    id: str
    problems: tuple[Problem, ...]
    decisions: tuple[Decision, ...]
    pairs: tuple[Pair, ...]
    """One for each bot and problem, in the order of the problems."""


class BenchResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `crscore bench`."""

    schema: Literal["urn:crscore:bench:1"] = SCHEMA
    golden: str
    """Name and version of the set."""
    changes: tuple[ChangeResult, ...]
    beta: float
    bots: tuple[BotScore, ...]
    """Scores of the bots, the best F-beta first."""
    comparisons: tuple[Comparison, ...]
    before: tuple[BotScore, ...]
    """Scores without the decisions by hand or of a language model; empty without any."""
    notes: tuple[str, ...]
    signature: str


def find_unsure(
    reviews: Iterable[tuple[Sequence[Problem], Sequence[Pair]]],
) -> dict[str, tuple[Problem, Finding]]:
    """Return the undecided pairs within the matcher's band, by identifier."""
    return {
        pair.id: (problems[pair.problem], pair.finding)
        for problems, pairs in reviews
        for pair in pairs
        if pair.is_unsure and pair.finding
    }
