"""Document of a benchmark."""

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
    """Scores of one bot."""

    bot: str
    precision: Estimate
    """Share of the distinct findings that are about a known problem: a lower bound, as what
    matches nothing may be right, too."""
    recall: Estimate
    """Share of the required problems that it has."""
    f: Estimate
    """F-beta of the two."""
    weighted_recall: Estimate
    """Recall by the weights of severities: critical 4, high 3, medium 2, low 1."""
    best_rank: int
    """Best rank by F-beta in 95 % of the draws."""
    worst_rank: int
    hits: int
    """Required problems that it has."""
    also_right: int
    """Findings about problems that are right to name, but not required."""
    unlisted: int
    """Distinct findings that match nothing; no statement that they are false."""
    serious: int
    """Of the unlisted ones, those whose words are of critical or major importance, if right."""
    duplicates: int
    """Findings that say again what another one of the bot says; they count nowhere."""
    unsure: int
    """Decisions whose probability is within the band of the matcher."""
    silent: int
    """Changes without a finding of the bot, whether it was run on them or not."""
    groups: tuple[Group, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Difference of two bots on the same changes."""

    first: str
    second: str
    difference: Estimate
    """F-beta of the first minus that of the second, in [-1, 1]."""
    p_value: float | None
    """Corrected for the number of pairs (Holm); None when the draws do not determine it."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one finding."""

    finding: Finding
    outcome: str
    """`hit`, `also right`, `duplicate` or `unlisted`."""
    problem: int | None
    """Index of the problem in its change."""
    probability: float
    """Of the pair, or of the best one; 0 without problems."""
    importance: str = ""
    """`critical`, `major`, `minor` or `nit`, of an unlisted finding, if it is right; "" for one
    that asks for nothing."""


class ChangeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One change with its problems and all findings."""

    id: str
    problems: tuple[Problem, ...]
    decisions: tuple[Decision, ...]


class BenchResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `crscore bench`."""

    schema: Literal["urn:crscore:bench:1"] = SCHEMA
    golden: str
    """Name and version of the set."""
    changes: tuple[ChangeResult, ...]
    beta: float
    bots: tuple[BotScore, ...]
    """By F-beta, the best first."""
    comparisons: tuple[Comparison, ...]
    distinct_unlisted: int
    """Distinct unlisted points of all bots together."""
    notes: tuple[str, ...]
    signature: str
