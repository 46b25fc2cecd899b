"""Weights of the parts of a remark's worth, learned from comparisons of two texts.

Pairs come from reviews of several kinds on one change, and from comments that differ by
readers' judgements, ratings or outcomes. Each source has its own weight; no part may lower the
worth.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.errors import InputError
from crscore.records import GIVES_FROM, ON_TOPIC
from crscore.statistics.ranks import require_scipy
from crscore.usefulness import headline
from crscore.usefulness.headline import PARTS

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

BETTER: Final = ("senior", "terse")
"""Kinds of written reviews that are better than the kinds of `WORSE`."""
WORSE: Final = {
    "nits": 0.6, "summary": 0.4, "generic": 0.4, "other": 0.4, "invented": 0.3, "template": 0.4
}  # fmt: skip
"""Kinds that `BETTER` beats, with the weight of the comparison."""
BETTER_THAN_NITS: Final = ("summary", "generic", "other", "template")
NITS_WEIGHT: Final = 0.1
OUTCOMES: Final = {
    "worth": 8.0, "importance": 0.6, "informative": 0.6, "relevant": 0.5, "clear": 0.3,
    "acted_on": 0.3, "functional": 0.6, "accepted": 0.3,
}  # fmt: skip
"""Rating that orders comments -> weight of the comparison."""
MIN_GAPS: Final = {"worth": 0.25, "importance": 0.25}
"""Minimum difference of a rating between the two comments of a pair; 1 for ratings of 0 or 1."""
MAX_PAIRS: Final = 1_500
"""Maximum number of pairs drawn for an outcome."""
SHARPNESS: Final = 8.0
"""Factor of the difference of two values in the loss."""
RIDGE: Final = 1e-5
MAX_WEIGHT: Final = 3.0
MIN_WEIGHTS: Final = {
    "gives": 0.3, "importance": 0.6, "worth": 0.6, "informative": 0.3, "functional": 0.4
}  # fmt: skip
"""Minimum weight of a part, so that information that only one part has is kept."""


class MeasuredRemark(NamedTuple):
    """Remark, compared with the change."""

    parts: list[float]
    """Values of `headline.PARTS`."""
    gives: float
    about: float


@dataclass(slots=True, kw_only=True, eq=False)
class Candidate:
    """A text to compare with others."""

    group: str
    """Texts of one group are compared with each other."""
    kind: str
    """Kind of a written review; comparison set of a real one."""
    ratings: Mapping[str, float] = field(default_factory=dict)
    is_person: bool = False
    remarks: list[MeasuredRemark] = field(default_factory=list)


class _Pair(NamedTuple):
    better: int
    worse: int
    weight: float


def fit(candidates: Sequence[Candidate]) -> Floats:
    """Fit the weights of `PARTS`.

    Returns:
        Shape (P + 1,), the bias last.

    Raises:
        InputError: There is no pair with a better and a worse text.
        DependencyError: scipy is not installed.
    """
    optimize = require_scipy("optimize")
    pairs = [*_written_pairs(candidates), *_outcome_pairs(candidates)]
    if not pairs:
        raise InputError("no two texts of the data are told apart by a rating or their kind")
    better, worse = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    share = np.array([pair.weight for pair in pairs])
    share /= share.sum()
    batch = _Batch(candidates)

    def loss(weights: Array) -> float:
        values = batch.values(weights)
        gaps = SHARPNESS * (values[better] - values[worse])
        penalty = RIDGE * float((weights[:-1] ** 2).sum())
        return float((share * np.logaddexp(0, -gaps)).sum()) + penalty

    bounds = [*[(MIN_WEIGHTS.get(part, 0.0), MAX_WEIGHT) for part in PARTS], (-8.0, 8.0)]
    runs = [
        optimize.minimize(
            loss, np.append(np.full(len(PARTS), start), 0.0), method="L-BFGS-B", bounds=bounds
        )
        for start in (0.2, 0.6)
    ]
    best: Any = min(runs, key=lambda run: run.fun)
    weights: Floats = best.x.astype(np.float32)
    return weights


def value_of(candidate: Candidate, weights: Floats) -> float:
    """Return the value of a text."""
    return float(_Batch([candidate]).values(weights.astype(np.float64))[0])


class _Batch:
    """Remarks of N texts in arrays, padded to the largest number of remarks in a text, M."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        most = max((len(item.remarks) for item in candidates), default=0) or 1
        shape = (len(candidates), most)
        self._parts = np.zeros((*shape, len(PARTS)))
        self._is_counted = np.zeros(shape, dtype=bool)
        self._is_empty = np.zeros(shape, dtype=bool)
        for row, item in enumerate(candidates):
            for column, remark in enumerate(item.remarks):
                self._parts[row, column] = remark.parts
                self._is_counted[row, column] = remark.about >= ON_TOPIC
                self._is_empty[row, column] = remark.gives < GIVES_FROM or remark.about < ON_TOPIC

    def values(self, weights: Array) -> Array:
        """Return the values of the texts, shape (N,), as `headline.sum_up` joins them."""
        logits = self._parts @ weights[:-1] + weights[-1]
        worths = self._is_counted / (1 + np.exp(-np.clip(logits, -30, 30)))
        ranks = headline.RANK_DISCOUNT ** np.arange(worths.shape[1]) * (1 - headline.RANK_DISCOUNT)
        totals: Array = (-np.sort(-worths, axis=1) * ranks).sum(axis=1)
        prices = headline.EMPTY_DEDUCTION * self._is_empty.sum(axis=1)
        values: Array = totals - np.minimum(prices, headline.MAX_DEDUCTION * totals)
        return values


def _written_pairs(candidates: Sequence[Candidate]) -> Iterator[_Pair]:
    groups: dict[str, dict[str, list[int]]] = {}
    for index, item in enumerate(candidates):
        # "template 2" is the second of several templates.
        kind = item.kind.split()[0]
        if kind in BETTER or kind in WORSE:
            groups.setdefault(item.group, {}).setdefault(kind, []).append(index)
    for kinds in groups.values():
        comparisons = [(better, worse, WORSE[worse]) for better in BETTER for worse in WORSE]
        comparisons += [("nits", worse, NITS_WEIGHT) for worse in BETTER_THAN_NITS]
        for better, worse, weight in comparisons:
            for first in kinds.get(better, ()):
                for second in (seconds := kinds.get(worse, [])):
                    yield _Pair(first, second, weight / len(seconds) / len(groups))


def _outcome_pairs(candidates: Sequence[Candidate]) -> Iterator[_Pair]:
    rng = np.random.default_rng(0)
    for name, weight in OUTCOMES.items():
        rated = [
            (index, item.ratings[name], item.is_person)
            for index, item in enumerate(candidates)
            # NaN stands for an unknown rating.
            if item.remarks and item.ratings.get(name, np.nan) >= 0
        ]
        if len(rated) < 2:
            continue
        draws = rng.integers(0, len(rated), (20 * MAX_PAIRS, 2))
        pairs = [
            (rated[first][0], rated[second][0])
            for first, second in draws
            # Pooled pairs would mostly tell people from bots.
            if rated[first][1] - rated[second][1] >= MIN_GAPS.get(name, 1.0)
            and rated[first][2] == rated[second][2]
        ][:MAX_PAIRS]
        for better, worse in pairs:
            yield _Pair(better, worse, weight / len(pairs))
