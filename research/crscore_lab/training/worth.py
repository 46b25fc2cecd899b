"""Learns the expected worth of a remark, from readers' judgements and reviews of known kinds.

The inputs are the outputs of the network and of the phrases for the remark. Each fold is read by a
network that was trained on the other folds, so that no network reads a text that it has seen.
Whether a remark is about the change is not an input, because it decides afterwards which share of
the worth counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.errors import InputError
from crscore.usefulness import headline
from crscore.usefulness.headline import BOTS, PEOPLE
from crscore.usefulness.model import Scale
from crscore.usefulness.reader import sigmoid, weigh_worth
from crscore.usefulness.reading import OUTPUTS
from crscore_lab.training.logistic import fit_logistic

Floats = npt.NDArray[np.float32]

WRITTEN: Final = {
    "senior": 0.8, "terse": 0.9, "false": 0.35, "nits": 0.1, "invented": 0.05, "summary": 0.0,
    "generic": 0.0, "template": 0.0,
}  # fmt: skip
"""Kind of a written review -> expected worth of its remarks, in [0, 1]. A false remark is worth
nothing, but gets more than 0, because its text could as well be that of a true remark."""
WRITTEN_WEIGHT: Final = 3.0
"""Weight of a remark of a written review, relative to 1 for a comment by a person."""
TEMPLATE_WEIGHT: Final = 2.0
"""Weight of a remark of a filled template."""
BOTS_WEIGHT: Final = 8.0
"""Weight of a comment by a bot, because the data has eight times as many comments by people."""
PENALTY: Final = 150.0
"""Factor of the L2 penalty of `fit_logistic`."""
KNOTS: Final = 5
"""Number of groups of texts of similar standing whose spread is measured."""
SPREAD: Final = {headline.REVIEWS: (0.1, 0.5, 0.9), headline.COMMENTS: (0.12, 0.5, 0.88)}
"""Quantiles of the standings by readers in each group. The standings of 80 % of unseen texts are
between the first and the last quantile. For reviews, this takes a wider interval, because reviews
of one repository are alike."""


class MeasuredRemark(NamedTuple):
    """Remark that was compared with its change."""

    measures: Floats
    """Row of `TunedNetwork.raw_outputs` for the remark."""
    about: float
    """Probability that the remark is about the change."""


@dataclass(slots=True, kw_only=True, eq=False)
class Candidate:
    """A text to learn from: a comment, a written review, or the comments of a real review."""

    kind: str
    """Kind of a written review, or one of `headline.KINDS`."""
    is_person: bool = False
    worths: Sequence[float] = ()
    """Worth of each comment as readers judged it, in [0, 1]."""
    ratings: Mapping[str, float] = field(default_factory=dict)
    group: str = ""
    remarks: list[MeasuredRemark] = field(default_factory=list)


def fit(candidates: Sequence[Candidate]) -> Floats:
    """Fit the weights of the measures in the logit of the worth.

    Returns:
        Shape (K + 1,), the bias last.

    Raises:
        InputError: No remark has a known worth.
        DependencyError: scipy is not installed.
    """
    rows: list[tuple[Floats, float, float]] = []
    for item in candidates:
        # "template 2" is one of several filled templates.
        kind = item.kind.split()[0]
        if kind in WRITTEN:
            weight = TEMPLATE_WEIGHT if kind == "template" else WRITTEN_WEIGHT
            rows += [(remark.measures, WRITTEN[kind], weight) for remark in item.remarks]
        elif len(item.worths) == 1 and item.remarks:
            weight = 1.0 if item.is_person else BOTS_WEIGHT
            # A comment is worth as much as its best remark, which the network's estimate selects.
            rows.append((best_of(item.remarks), item.worths[0], weight))
    if not rows:
        raise InputError("no remark of the data has a known worth")
    measures, targets, weights = map(np.array, zip(*rows, strict=True))
    return fit_logistic(measures, targets, weights=weights, penalty=PENALTY)


def best_of(remarks: Sequence[MeasuredRemark]) -> Floats:
    """Return the measures of the remark for which the network's output `worth` is the highest."""
    at = OUTPUTS.index("worth")
    return max((remark.measures for remark in remarks), key=lambda row: float(row[at]))


def worths_of(candidate: Candidate, weights: Floats) -> list[float]:
    """Return the worth of each remark, 1 to 5."""
    return [
        weigh_worth(sigmoid(float(remark.measures @ weights[:-1] + weights[-1])), remark.about)
        for remark in candidate.remarks
    ]


def make_scale(candidates: Iterable[Candidate], weights: Floats) -> Scale:
    """Make the network's scale: values of real texts, and standings that readers gave to them.

    Args:
        candidates: Real comments and reviews; texts of other kinds are left out.
        weights: Weights of the measures, as `fit` returns them.
    """
    values = _empty_sets()
    pairs: dict[str, list[tuple[float, float]]] = {kind: [] for kind in headline.KINDS}
    for item in candidates:
        if item.kind in pairs:
            value = headline.value_of(worths_of(item, weights))
            values[_set_of(item)].append(value)
            if item.worths:
                pairs[item.kind].append((value, _judged_value(item)))
    return Scale(
        values=_sort_sets(values),
        spread={kind: _measure_spread(row, SPREAD[kind]) for kind, row in pairs.items()},
    )


def collect_judged_values(candidates: Iterable[Candidate]) -> dict[tuple[str, str], Floats]:
    """Return the values of real texts as readers who followed the guide judged them.

    The keys are those of `Scale.values`, and each set of values is ascending.
    """
    values = _empty_sets()
    for item in candidates:
        if item.kind in headline.KINDS and item.worths:
            values[_set_of(item)].append(_judged_value(item))
    return _sort_sets(values)


def _judged_value(item: Candidate) -> float:
    return headline.value_of([1 + 4 * worth for worth in item.worths])


def _set_of(item: Candidate) -> tuple[str, str]:
    return item.kind, PEOPLE if item.is_person else BOTS


def _empty_sets() -> dict[tuple[str, str], list[float]]:
    return {(kind, writer): [] for kind in headline.KINDS for writer in (PEOPLE, BOTS)}


def _sort_sets(values: Mapping[tuple[str, str], list[float]]) -> dict[tuple[str, str], Floats]:
    return {key: np.sort(np.array(row, dtype=np.float32)) for key, row in values.items()}


def _measure_spread(pairs: Sequence[tuple[float, float]], quantiles: Sequence[float]) -> Floats:
    """Return a table of `Scale.spread` from the network's and the readers' value of each text."""
    by_network, by_readers = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    standings = np.stack([_percentiles(by_network), _percentiles(by_readers)], axis=1)
    ordered = standings[np.argsort(standings[:, 0], kind="stable")]
    groups = [row for row in np.array_split(ordered, KNOTS) if len(row)]
    rows = [[row[:, 0].mean(), *np.quantile(row[:, 1], quantiles)] for row in groups]
    # The quantiles are made ascending, so that a higher standing never has a lower interval.
    return np.maximum.accumulate(np.array(rows, dtype=np.float32).reshape(-1, 4), axis=0)


def _percentiles(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the standing of each value among all values, 0 to 100.

    Readers judge in whole numbers, so many values are equal. Equal values get different ranks in
    random order, because with one common rank, the interval would cover too many texts.
    """
    order = np.lexsort([np.random.default_rng(0).random(len(values)), values])
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values)) + 0.5
    return 100 * ranks / max(1, len(values))
