"""Error analysis as in the paper: the reviews where the metric and people differ most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.lab.study.measure import Measurements, ScoredReview
from crscore.statistics import ranks

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

QUANTILES: Final = (0.2, 0.8)
"""Quantiles of the metric that bound its low and its high values."""
BEST: Final = 5
"""Human relevance of a review that should not have a low value."""
WORST: Final = 1
"""Human relevance of a review that should not have a high value."""


class Case(Struct, frozen=True, kw_only=True):
    """One review that the metric misjudged."""

    change: str
    """Id of the change."""
    system: str
    """Author of the review."""
    human: float
    """Human relevance, Likert 1 to 5."""
    score: float
    """The metric's relevance."""
    references: int
    """Number of pseudo-references it was scored against."""
    text: str
    """The review."""


class Kind(Struct, frozen=True, kw_only=True):
    """Kind of review, with its typical properties."""

    n: int
    """Number of reviews."""
    rate: float
    """Share of all reviews, in [0, 1]."""
    references: float | None
    """Mean number of pseudo-references they were scored against; None without a review."""
    inline_code: float | None
    """Share of the reviews with a backtick in the text, in [0, 1]; None without a review."""


class Correlated(Struct, frozen=True, kw_only=True):
    """Agreement of the metric with people on some of the reviews."""

    n: int
    """Number of reviews."""
    spearman: float | None
    """In [-1, 1]; None when a side is constant."""
    kendall: float | None
    """Tau-b, in [-1, 1]; None when a side is constant."""


class Misjudged(Struct, frozen=True, kw_only=True):
    """The error analysis of one metric's relevance."""

    metric: str
    """The metric's name."""
    low: float
    """20 % quantile of the metric; values at or below it are low."""
    high: float
    """80 % quantile of the metric; values above it are high."""
    everything: Kind
    """Properties of all reviews."""
    under: Kind
    """Reviews with a low metric value and human relevance 5."""
    over: Kind
    """Reviews with a high metric value and human relevance 1."""
    agreement: Correlated
    """Agreement on all reviews."""
    agreement_without: Correlated
    """Agreement on the reviews that are neither under- nor overestimated."""
    agreement_on: Correlated
    """Agreement on the under- and overestimated reviews."""
    under_cases: tuple[Case, ...]
    """Underestimated reviews, the lowest value first."""
    over_cases: tuple[Case, ...]
    """Overestimated reviews, the highest value first."""


def find_misjudged(measured: Measurements) -> Misjudged:
    """Find the reviews whose relevance the primary metric misjudges most.

    "Low" includes the quantile itself, which is often 0, the lowest possible value.

    Args:
        measured: The values.

    Returns:
        The reviews, their typical properties, and their effect on the correlation.

    Raises:
        DependencyError: scipy is not installed.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, appendix E.1; its text says "below Q1".
    """
    human, values = measured.human[:, 2], measured.primary.values[:, 2]
    low, high = (float(value) for value in np.quantile(values, QUANTILES))
    under = (values <= low) & (human >= BEST)
    over = (values > high) & (human <= WORST)
    either = under | over
    everyone = np.ones(len(values), dtype=np.bool_)
    return Misjudged(
        metric=measured.primary.name,
        low=low,
        high=high,
        everything=_kind(measured.rows, everyone),
        under=_kind(measured.rows, under),
        over=_kind(measured.rows, over),
        agreement=_agreement(values, human, everyone),
        agreement_without=_agreement(values, human, ~either),
        agreement_on=_agreement(values, human, either),
        under_cases=_cases(measured.rows, values, np.flatnonzero(under)[_by(values[under])]),
        over_cases=_cases(measured.rows, values, np.flatnonzero(over)[_by(-values[over])]),
    )


def _by(values: Floats) -> npt.NDArray[np.intp]:
    return np.argsort(values, kind="stable")


def _kind(rows: Sequence[ScoredReview], chosen: Bools) -> Kind:
    found = [row for row, mine in zip(rows, chosen, strict=True) if mine]
    n = len(found)
    return Kind(
        n=n,
        rate=n / len(rows),
        references=sum(len(row.references) for row in found) / n if n else None,
        inline_code=sum("`" in row.review.text for row in found) / n if n else None,
    )


def _agreement(values: Floats, human: Floats, chosen: Bools) -> Correlated:
    return Correlated(
        n=int(chosen.sum()),
        spearman=ranks.spearman(values[chosen], human[chosen]),
        kendall=ranks.kendall(values[chosen], human[chosen]),
    )


def _cases(
    rows: Sequence[ScoredReview], values: Floats, chosen: npt.NDArray[np.intp]
) -> tuple[Case, ...]:
    return tuple(
        Case(
            change=rows[index].change.id,
            system=rows[index].review.system,
            human=rows[index].review.ratings[2],
            score=float(values[index]),
            references=len(rows[index].references),
            text=rows[index].review.text,
        )
        for index in chosen
    )
