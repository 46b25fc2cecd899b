"""Records of the result of a benchmark, as they are in its JSON document."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from crscore.bench.records import Finding, Problem

SCHEMA: Final = "urn:crscore:bench:1"


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Number with its 95 % interval, from a bootstrap over the changes."""

    value: float | None
    """The number; None if it is undefined."""
    low: float | None
    """Lower end of the interval; None if the data do not determine an interval."""
    high: float | None
    """Upper end of the interval; None like `low`."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Recall of the problems of one severity, category or language."""

    kind: str
    """`severity`, `category` or `language`."""
    name: str
    hits: int
    problems: int


class BotScore(msgspec.Struct, frozen=True, kw_only=True):
    """Scores of one bot on all changes of the set."""

    bot: str
    precision: Estimate
    """Share of the distinct findings that are about a known problem. It is a lower bound, because
    unmatched findings may also be right.
    """
    recall: Estimate
    """Share of the required problems that the bot found."""
    f: Estimate
    """F-beta of precision and recall."""
    weighted_recall: Estimate
    """Recall in which problems are weighted by severity: critical 4, high 3, medium 2, low 1."""
    best_rank: int
    """Better end of the 95 % bootstrap interval of the rank by F-beta; 1 is the best rank."""
    worst_rank: int
    """Worse end of this interval."""
    hits: int
    """Number of required problems that the bot found."""
    also_right: int
    """Number of findings about problems that are right to name, but not required."""
    unlisted: int
    """Number of distinct findings without a matching problem, which are not necessarily false."""
    serious: int
    """Number of unlisted findings that are of critical or major importance if they are right."""
    duplicates: int
    """Number of findings that repeat another finding of the bot; other counts leave them out."""
    unread: int
    """Number of findings that are not in English and match no problem; they count neither for nor
    against the bot.
    """
    unsure: int
    """Number of unsure pairs of a problem and a finding (`Pair.is_unsure`)."""
    silent: int
    """Number of changes without a finding of the bot, even if it was not run on them."""
    groups: tuple[Group, ...]
    seconds: float | None = None
    """Mean time of a run, over the changes whose findings state it; null if none does. If the
    findings of a change state different times, the longest counts.
    """
    cost: float | None = None
    """Mean price of a run, over the changes whose findings state it; null if none does. If the
    findings of a change state different prices, the highest counts.
    """

    @property
    def rank(self) -> str:
        """The best and the worst rank as text, such as "2 to 3"; one number if they are equal."""
        is_one = self.best_rank == self.worst_rank
        return f"{self.best_rank}" if is_one else f"{self.best_rank} to {self.worst_rank}"


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Difference in F-beta between two bots on the same changes."""

    first: str
    second: str
    difference: Estimate
    """F-beta of the first bot minus F-beta of the second, in [-1, 1]."""
    p_value: float | None
    """P-value of the difference, corrected for the number of pairs by Holm's method; None if the
    data do not determine one.
    """


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Decision which problem a finding is about, if any."""

    finding: Finding
    outcome: str
    """`hit`, `also right`, `excluded`, `duplicate`, `unlisted`, or `unread`. A finding is unread if
    it is not in English and matches no problem; it counts neither for nor against the bot.
    """
    problem: int | None
    """Index, in the change, of the problem that the finding is about; None if there is none."""
    probability: float
    """Probability that the finding is about the problem that matches it best; 0 if the change has
    no problems.
    """
    importance: str = ""
    """Importance of an unlisted finding if it is right: `critical`, `major`, `minor` or `nit`; ""
    for other findings, and for text that is not in English.
    """


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Known problem, and the finding of a bot that is about it; if none is, the nearest finding."""

    id: str
    """Identifier of the pair in a file of decisions; "" if there is no finding."""
    bot: str
    problem: int
    """Index of the problem in its change."""
    finding: Finding | None
    """The finding; None if the bot has no finding for the change."""
    outcome: str
    """`hit`, `also right`, `excluded` or `missed`."""
    probability: float
    """Probability that the finding is about the problem."""
    why: str
    """Explanation of the outcome, for people."""
    is_unsure: bool
    """Whether the probability is in the range in which the matcher is often wrong, and neither a
    person nor a language model has decided about the pair.
    """


class ChangeResult(msgspec.Struct, frozen=True, kw_only=True):
    """Change with its problems and the findings of all bots."""

    id: str
    problems: tuple[Problem, ...]
    decisions: tuple[Decision, ...]
    pairs: tuple[Pair, ...]
    """One pair for each problem and bot, in the order of the problems."""


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
    """Scores without decisions by hand or of a language model; empty if there are no decisions."""
    notes: tuple[str, ...]
    signature: str


def find_unsure(
    reviews: Iterable[tuple[Sequence[Problem], Sequence[Pair]]],
) -> dict[str, tuple[Problem, Finding]]:
    """Return the problem and the finding of each unsure pair, keyed by the identifier of the pair.

    Args:
        reviews: For each change and bot, the problems of the change and the pairs of the bot.
    """
    return {
        pair.id: (problems[pair.problem], pair.finding)
        for problems, pairs in reviews
        for pair in pairs
        if pair.is_unsure and pair.finding
    }
