"""Learns the pair model of `crscore bench`, from made-up points and from judges' decisions.

The encoder's layers are tuned on made-up points alone, so that the judgements test them, too. The
weights of the measures (the inputs of the logistic regression) are learned from judgements and from
made-up points that the layers were not tuned on, because judges saw few findings in other words
than those of the problem.

Every split keeps the data of a change together. With the chosen threshold, there are as many misses
as false matches among held-out changes.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore import arrays
from crscore.bench.pairs import (
    FEATURES,
    FORMAT,
    PairModel,
    assign,
    measure_pairs,
    sigmoid,
    view_texts,
)
from crscore.bench.records import Finding, Problem
from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.errors import InputError
from crscore.statistics.intervals import Doubles
from crscore.usefulness.evidence import Rarity
from crscore_lab.judgements import Agreement, Judged, agree, read_judgements
from crscore_lab.training import points
from crscore_lab.training.logistic import fit_logistic

_Pairs = tuple[Doubles, Doubles, Doubles]
"""M measures, the label and the weight of each of N pairs, shapes (N, M), (N,) and (N,)."""

FOLDS: Final = 10
MADE_UP_WEIGHT: Final = 0.1
"""Total weight of the made-up pairs, relative to 1 for the judged pairs. Without made-up pairs, the
measured recall of terse reviews is 0.30 instead of 0.45 (counted by hand: 0.53), while kappa and
precision are as high."""
DRAWS: Final = 2
"""Number of reviews that are drawn from each set of made-up findings."""
PENALTY: Final = 3.0
"""Factor of the L2 penalty of `fit_logistic`."""
UNSURE: Final = 0.06
"""Maximum share of the decisions about held-out changes that may count as unsure, because they are
in the model's band."""


class Learned(NamedTuple):
    """Model, and its agreement with judges on changes that it was not trained on."""

    model: PairModel
    held_out: Agreement
    unsure: float
    """Share of the decisions about held-out changes that are in the model's band."""


def train(path: Path, *, encoder: MiniLM, rarity: Rarity, seed: int = 0) -> Learned:
    """Learn the pair model, and compare it with judges by cross-validation.

    Args:
        path: File of judgements, in the format of `read_judgements`.
        encoder: The encoder.
        rarity: Rarity of stems.
        seed: Seed of all random choices.

    Raises:
        InputError: The file cannot be read, or has fewer than `FOLDS` changes.
        DependencyError: torch or transformers is not installed.
    """
    judged = read_judgements(path)
    changes = sorted({group.change for group in judged})
    if len(changes) < FOLDS:
        raise InputError(f"{path} has {len(changes)} changes; at least {FOLDS} are needed")
    layers = points.tune(points.read_changes(), encoder, seed=seed)
    tables = [_measure(group, encoder, rarity, layers) for group in judged]
    drawn = _draw(points.read_changes(points.FOR_WEIGHTS), np.random.default_rng(seed))
    made_up = _join(drawn, [_measure(group, encoder, rarity, layers) for group in drawn])
    fold_of = dict(zip(changes, np.random.default_rng(seed).permutation(len(changes)) % FOLDS,
                       strict=True))  # fmt: skip
    probabilities = [np.zeros(0)] * len(judged)
    for fold in range(FOLDS):
        training = [i for i, group in enumerate(judged) if fold_of[group.change] != fold]
        weights = _fit(_join([judged[i] for i in training], [tables[i] for i in training]), made_up)
        for index in set(range(len(judged))).difference(training):
            probabilities[index] = sigmoid(tables[index] @ weights[:-1] + weights[-1])
    content = b"".join(file.read_bytes() for file in (path, points.SHIPPED, points.FOR_WEIGHTS))
    values, truth = _list_decisions(judged, probabilities)
    threshold = _find_threshold(values, truth)
    band = _find_band(values, threshold)
    weights = _fit(_join(judged, tables), made_up)
    return Learned(
        PairModel(
            encoder=encoder.identity.partition("@")[0],
            data_sha256=hashlib.sha256(content).hexdigest(),
            layers=layers,
            weights=tuple(round(float(weight), 4) for weight in weights[:-1]),
            bias=round(float(weights[-1]), 4),
            threshold=threshold,
            band=band,
        ),
        agree(judged, probabilities, threshold),
        float(((values >= band[0]) & (values < band[1])).mean()),
    )


def _measure(
    group: Judged, encoder: MiniLM, rarity: Rarity, layers: TunedLayers | None = None
) -> Doubles:
    sides = [[row.text for row in rows] for rows in (group.findings, group.problems)]
    views = view_texts([*sides[0], *sides[1]], encoder, rarity, layers)
    return measure_pairs(*([views[text] for text in texts] for texts in sides))


def _draw(changes: Sequence[points.Change], rng: np.random.Generator) -> list[Judged]:
    """Draw reviews of made-up changes, each with some findings and some problems of a change."""
    drawn = []
    for number, change in enumerate(changes):
        named = [index for index, point in enumerate(change.points) if point.problem is not None]
        for texts in zip(*(point.findings for point in change.points), strict=False):
            for _ in range(DRAWS):
                rows, columns = (
                    rng.permutation(side)[: rng.integers(1, len(side) + 1)].tolist()
                    for side in (range(len(texts)), named)
                )
                problems = tuple(Problem(text=change.points[at].problem or "") for at in columns)
                findings = tuple(
                    Finding(change=str(number), bot="", text=texts[row]) for row in rows
                )
                decisions = tuple(columns.index(row) if row in columns else None for row in rows)
                drawn.append(Judged(str(number), "", "", problems, findings, decisions))
    return drawn


def _join(judged: Sequence[Judged], tables: Sequence[Doubles]) -> _Pairs:
    """Return the measures, labels and weights of all pairs of a finding and a problem."""
    labels, weights = [], []
    for group, table in zip(judged, tables, strict=True):
        label = np.array(
            [[decision == column for column in range(len(group.problems))]
             for decision in group.decisions], dtype=np.float64,
        ).reshape(table.shape[:2])  # fmt: skip
        # A judge matches a problem with only one finding. The other findings of that problem get
        # weight 0, because they may say the same.
        weight = np.where((label.sum(axis=0) > 0) & (label == 0), 0.0, 1.0)
        labels.append(label.ravel())
        weights.append(weight.ravel())
    measures = np.concatenate([table.reshape(-1, table.shape[2]) for table in tables])
    return measures, np.concatenate(labels), np.concatenate(weights)


def _fit(judged: _Pairs, made_up: _Pairs) -> Doubles:
    measures, labels, weights = (np.concatenate(both) for both in zip(judged, made_up, strict=True))
    weights[len(judged[2]) :] *= MADE_UP_WEIGHT * judged[2].sum() / made_up[2].sum()
    fitted = fit_logistic(measures, labels, weights=weights, penalty=PENALTY)
    return fitted.astype(np.float64)


def _list_decisions(
    judged: Sequence[Judged], probabilities: Sequence[Doubles]
) -> tuple[Doubles, npt.NDArray[np.bool_]]:
    """Return each problem's probability of a match, and whether the judge found a match."""
    values, truth = [], []
    for group, table in zip(judged, probabilities, strict=True):
        best = {column: table[row, column] for row, column in assign(table).items()}
        for column in range(len(group.problems)):
            values.append(best.get(column, 0.0))
            truth.append(column in group.decisions)
    return np.array(values), np.array(truth)


def _find_threshold(values: Doubles, truth: npt.NDArray[np.bool_]) -> float:
    """Return the threshold with as many misses as false matches."""
    return round(float(np.sort(values)[-int(truth.sum())]), 3)


def _find_band(values: Doubles, threshold: float) -> tuple[float, float]:
    """Return the widest band around the threshold that has at most `UNSURE` of the values.

    The ends are equally far from the threshold in logits.
    """
    center = np.log(threshold / (1 - threshold))
    for width in np.arange(3.0, 0.0, -0.02):
        low, high = (float(sigmoid(np.array(center + side))) for side in (-width, width))
        if ((values >= low) & (values < high)).mean() <= UNSURE:
            return round(low, 3), round(high, 3)
    return threshold, threshold


def to_bytes(model: PairModel) -> bytes:
    """Serialize weights as a NumPy archive; the same weights give the same bytes."""
    facts = {"format": FORMAT, "features": FEATURES} | {
        name: getattr(model, name)
        for name in ("encoder", "data_sha256", "weights", "bias", "threshold", "band")
    }
    content: arrays.Arrays = {"facts": arrays.from_text(json.dumps(facts, sort_keys=True))}
    for name, tensor in sorted(model.layers.tensors.items()):
        content[name] = tensor.astype(np.float16)
    return arrays.pack(content, compress=False)
