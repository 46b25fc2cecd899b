"""Order and weight of claims by the probability that a reader calls them useful."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from crscore.claims.structural.change import UnitChange
from crscore.claims.structural.english import Statement
from crscore.claims.structural.features import Features, describe_claims

MIN_WEIGHT: Final = 0.001
"""Minimum weight of a claim, as a rounded weight must still be above 0."""
WEIGHTS: Final[dict[str, float]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)["weights"]


class RankedTopic(NamedTuple):
    """Topic with its claims, the most useful first."""

    change: UnitChange
    statements: list[Statement]
    weights: list[float]
    """Probability of each claim that a reader calls it useful."""


def rank_topics(topics: Sequence[tuple[UnitChange, list[Statement]]]) -> list[RankedTopic]:
    """Weigh and order the claims within each topic."""
    return [
        RankedTopic(change, *_sort(statements, [weigh(claim) for claim in claims]))
        for (change, statements), claims in zip(topics, describe_claims(topics), strict=True)
    ]


def weigh(features: Features, weights: Mapping[str, float] = WEIGHTS) -> float:
    """Return the probability that a reader calls a claim useful, rounded, above 0."""
    if "role machine" in features:
        return MIN_WEIGHT
    logit = weights["bias"] + sum(
        weights.get(name, 0.0) * value for name, value in features.items()
    )
    return max(MIN_WEIGHT, round(1 / (1 + math.exp(-logit)), 4))


def _sort(
    statements: Sequence[Statement], weights: Sequence[float]
) -> tuple[list[Statement], list[float]]:
    order = sorted(range(len(statements)), key=lambda index: -weights[index])
    return [statements[index] for index in order], [weights[index] for index in order]
