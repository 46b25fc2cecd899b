"""Records of the result of a benchmark, as the JSON document has them."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from crscore.bench.records import Finding, Problem

SCHEMA: Final = "urn:crscore:bench:1"


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Number with its 95 % interval, which is estimated by a bootstrap over the changes."""

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
    unread: int
    """Number of findings that are not in English and match nothing; they count neither way."""
    unsure: int
    """Number of unsure pairs of a problem and a finding: see `Pair.is_unsure`."""
    silent: int
    """Number of changes without a finding of the bot, whether it was run on them or not."""
    groups: tuple[Group, ...]
    seconds: float | None = None
    """Mean time of a run, over the changes whose findings state it. If the findings of a change
    state different times, the longest counts."""
    cost: float | None = None
    """Mean price of a run, over the changes whose findings state it. If the findings of a change
    state different prices, the highest counts."""

    @property
    def rank(self) -> str:
        """The best and the worst rank in words, such as "2 to 3"; one number if they are equal."""
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
    """Decision about which problem one finding is about, if any."""

    finding: Finding
    outcome: str
    """`hit`, `also right`, `excluded`, `duplicate`, `unlisted`, or `unread` for a finding without a
    match that is not in English, which counts neither way."""
    problem: int | None
    """Index, in the change, of the problem that the finding is about; None if there is none."""
    probability: float
    """Probability that the finding is about the problem that fits it best; 0 if the change has no
    problems."""
    importance: str = ""
    """Importance of an unlisted finding if it is right: `critical`, `major`, `minor` or `nit`; ""
    for other findings and for text in another language than English."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Known problem with one finding of a bot: the one about the problem, else the nearest one."""

    id: str
    """Identifier of the pair, for decisions by hand; "" if there is no finding."""
    bot: str
    problem: int
    """Index of the problem in its change."""
    finding: Finding | None
    """None if the bot has no finding for the change."""
    outcome: str
    """`hit`, `also right`, `excluded` or `missed`."""
    probability: float
    """Probability that the finding is about the problem."""
    why: str
    """Reasons for the outcome, for people."""
    is_unsure: bool
    """Whether the probability is in the range where the matcher is often wrong, and neither a
    person nor a language model has decided about the pair."""


class ChangeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One change with its problems and all findings."""

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
    """Scores before the decisions by hand or of a language model; empty if there are none."""
    notes: tuple[str, ...]
    signature: str


def find_unsure(
    reviews: Iterable[tuple[Sequence[Problem], Sequence[Pair]]],
) -> dict[str, tuple[Problem, Finding]]:
    """Return the problem and the finding of each unsure pair, by the identifier of the pair."""
    return {
        pair.id: (problems[pair.problem], pair.finding)
        for problems, pairs in reviews
        for pair in pairs
        if pair.is_unsure and pair.finding
    }
