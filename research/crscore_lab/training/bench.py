"""Learning of the pair model of `crscore bench` from judges' decisions.

Every split is by change. The threshold is where out-of-fold misses and false matches are equal.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.bench.pairs import PairModel, assign, measure_pairs, sigmoid, view_texts
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError
from crscore.usefulness.evidence import Rarity
from crscore_lab.judgements import Agreement, Judged, agree, read_judgements
from crscore_lab.training.logistic import fit_measures

Floats = npt.NDArray[np.float64]

FOLDS: Final = 10
PENALTY: Final = 3.0
"""Weight of the ridge, in pairs."""
UNSURE: Final = 0.06
"""Maximum share of the out-of-fold decisions that are in the band of unsure ones."""
PLAIN_COSINE: Final = 0.56


class Learned(NamedTuple):
    """Model, and its agreement with judges on changes that it was not trained on."""

    model: PairModel
    held_out: Agreement
    plain: Agreement
    """The same for the plain rule, a cosine above `PLAIN_COSINE`."""
    unsure: float
    """Share of the out-of-fold decisions in the band."""


def train(path: Path, *, encoder: MiniLM, rarity: Rarity, seed: int = 0) -> Learned:
    """Learn the pair model.

    Args:
        path: File of judgements, in the format of `read_judgements`.
        encoder: The encoder.
        rarity: Rarity of stems.
        seed: Seed of the folds.

    Raises:
        InputError: The file cannot be read, or has fewer than `FOLDS` changes.
    """
    judged = read_judgements(path)
    changes = sorted({group.change for group in judged})
    if len(changes) < FOLDS:
        raise InputError(f"{path} has {len(changes)} changes; at least {FOLDS} are needed")
    tables = _measure(judged, encoder, rarity)
    fold_of = dict(zip(changes, np.random.default_rng(seed).permutation(len(changes)) % FOLDS,
                       strict=True))  # fmt: skip
    probabilities: dict[int, Floats] = {}
    for fold in range(FOLDS):
        inside = [i for i, group in enumerate(judged) if fold_of[group.change] != fold]
        weights = _fit([judged[i] for i in inside], [tables[i] for i in inside])
        for index in set(range(len(judged))).difference(inside):
            probabilities[index] = sigmoid(tables[index] @ weights[:-1] + weights[-1])
    position = {id(group): index for index, group in enumerate(judged)}
    values, truth = _decisions(judged, probabilities)
    threshold = _equal_error(values, truth)
    band = _band(values, threshold)
    weights = _fit(judged, tables)
    return Learned(
        PairModel(
            encoder=encoder.identity.partition("@")[0],
            data_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
            weights=tuple(round(float(weight), 4) for weight in weights[:-1]),
            bias=round(float(weights[-1]), 4),
            threshold=threshold,
            band=band,
        ),
        agree(judged, lambda group: probabilities[position[id(group)]], threshold),
        agree(judged, lambda group: tables[position[id(group)]][..., 0], PLAIN_COSINE),
        float(((values >= band[0]) & (values < band[1])).mean()),
    )


def _measure(judged: Sequence[Judged], encoder: MiniLM, rarity: Rarity) -> list[Floats]:
    tables: dict[int, Floats] = {}
    by_change: dict[str, list[int]] = {}
    for index, group in enumerate(judged):
        by_change.setdefault(group.change, []).append(index)
    for indices in by_change.values():
        texts = [finding.text for i in indices for finding in judged[i].findings]
        texts += [problem.text for i in indices for problem in judged[i].problems]
        views = view_texts(texts, encoder, rarity)
        for i in indices:
            tables[i] = measure_pairs(
                [views[finding.text] for finding in judged[i].findings],
                [views[problem.text] for problem in judged[i].problems],
            )
    return [tables[index] for index in range(len(judged))]


def _fit(judged: Sequence[Judged], tables: Sequence[Floats]) -> Floats:
    rows, labels, weights = [], [], []
    for group, table in zip(judged, tables, strict=True):
        label = np.array(
            [[decision == column for column in range(len(group.problems))]
             for decision in group.decisions], dtype=np.float64,
        ).reshape(table.shape[:2])  # fmt: skip
        # A judge matches a problem with one finding, but another finding may say the same.
        weight = np.where((label.sum(axis=0) > 0) & (label == 0), 0.0, 1.0)
        rows.append(table.reshape(-1, table.shape[2]))
        labels.append(label.ravel())
        weights.append(weight.ravel())
    fitted = fit_measures(
        np.concatenate(rows),
        np.concatenate(labels),
        weights=np.concatenate(weights),
        penalty=PENALTY,
    )
    return fitted.astype(np.float64)


def _decisions(
    judged: Sequence[Judged], probabilities: dict[int, Floats]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return each problem's probability of a match, and the judge's decision."""
    values, truth = [], []
    for index, group in enumerate(judged):
        best = {match.problem: match.probability for match in assign(probabilities[index])}
        for column in range(len(group.problems)):
            values.append(best.get(column, 0.0))
            truth.append(column in group.decisions)
    return np.array(values), np.array(truth)


def _equal_error(values: Floats, truth: npt.NDArray[np.bool_]) -> float:
    """Return the threshold with as many misses as false matches."""
    return round(float(np.sort(values)[-int(truth.sum())]), 3)


def _band(values: Floats, threshold: float) -> tuple[float, float]:
    """Return the widest interval around the threshold, in logits, with a share of `UNSURE`."""
    center = np.log(threshold / (1 - threshold))
    for width in np.arange(3.0, 0.0, -0.02):
        low, high = (float(sigmoid(np.array(center + side))) for side in (-width, width))
        if ((values >= low) & (values < high)).mean() <= UNSURE:
            return round(low, 3), round(high, 3)
    return threshold, threshold
