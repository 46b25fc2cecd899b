"""Logistic regression with several outputs, by L-BFGS."""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.errors import DependencyError
from crscore.usefulness.model import Linear

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

ROUNDS: Final = 120
"""Most steps of the optimiser."""
SEEN_IN: Final = 5
"""Fewest texts with a phrase for it to be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of one layer."""

    strength: float
    """Weight of the data against the penalty of the weights."""
    softmax: int = 0
    """Number of outputs, from the first, that share one distribution."""
    scales: tuple[float, float, float] = (3.0, 0.3, 1.0)
    """Scales of phrases, measures and vector, which the penalty then weighs differently."""
    balanced: bool = False
    """Whether the two sides of an output weigh the same."""


class Rows(NamedTuple):
    """Features of N texts."""

    found: Sequence[Iterable[str]]
    """Phrases of each."""
    measures: Array
    """Shape (N, M)."""
    vectors: Floats | None
    """Shape (N, D); None for a layer without them."""


def require_scipy() -> Any:
    """Import scipy's optimiser.

    Raises:
        DependencyError: scipy is not installed.
    """
    try:
        return importlib.import_module("scipy.optimize")
    except ImportError as error:
        raise DependencyError("scipy", "pip install 'crscore[train]'") from error


def fit(
    inputs: Any, targets: Array, *, weights: Array, ridge: float, softmax: int = 0
) -> tuple[Array, Array]:
    """Fit weights by the mean cross-entropy and an L2 penalty.

    Args:
        inputs: Shape (N, F), a sparse or a plain matrix.
        targets: Shape (N, K), each in [0, 1]; NaN where a row says nothing of an output.
        weights: Weight of each row, shape (N,).
        ridge: Penalty of a squared weight, relative to the mean loss.
        softmax: Number of outputs, from the first, that share one distribution; the others are
            independent.

    Returns:
        Weights of shape (F, K), and biases of shape (K,).
    """
    optimize = require_scipy()
    rows, width = inputs.shape
    count = targets.shape[1]
    known = ~np.isnan(targets)
    wanted = np.where(known, targets, 0.0)
    share = weights[:, None] * known / max(1e-9, weights.sum())

    def loss(flat: Array) -> tuple[float, Array]:
        matrix = flat.reshape(width + 1, count)
        logits = inputs @ matrix[:-1] + matrix[-1]
        found = np.empty((rows, count))
        total = 0.0
        if softmax:
            first = logits[:, :softmax] - logits[:, :softmax].max(axis=1, keepdims=True)
            norm = np.log(np.exp(first).sum(axis=1, keepdims=True))
            found[:, :softmax] = np.exp(first - norm)
            total -= float((share[:, :softmax] * wanted[:, :softmax] * (first - norm)).sum())
        rest = logits[:, softmax:]
        found[:, softmax:] = 1 / (1 + np.exp(-np.clip(rest, -30, 30)))
        total += float(
            (share[:, softmax:] * (np.logaddexp(0, rest) - wanted[:, softmax:] * rest)).sum()
        )
        error = share * (found - wanted)
        slope = np.vstack([inputs.T @ error, error.sum(axis=0)])
        slope[:-1] += 2 * ridge * matrix[:-1]
        return total + ridge * float((matrix[:-1] ** 2).sum()), slope.ravel()

    start = np.zeros((width + 1) * count)
    done = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ROUNDS})
    matrix = done.x.reshape(width + 1, count)
    return matrix[:-1], matrix[-1]


def fit_layer(rows: Rows, targets: Array, *, weights: Array, recipe: Recipe) -> Linear:
    """Fit one layer; the scales and the standardising are folded into its weights.

    Args:
        rows: Features of N texts.
        targets: Shape (N, K), each in [0, 1]; NaN where a text says nothing of an output.
        weights: Weight of each text, shape (N,).
        recipe: Settings.

    Returns:
        The layer, in the precision of its file.
    """
    found, measures, vectors = rows
    scales, softmax = recipe.scales, recipe.softmax
    sparse: Any = importlib.import_module("scipy.sparse")
    counts = Counter(one for each in found for one in each)
    kept = sorted(one for one, n in counts.items() if n >= SEEN_IN)
    at = {one: index for index, one in enumerate(kept)}
    data, columns, starts = [], [], [0]
    for each in found:
        known = sorted(at[one] for one in each if one in at)
        columns += known
        data += [scales[0] / math.sqrt(max(1, len(known)))] * len(known)
        starts.append(len(columns))
    words = sparse.csr_matrix((data, columns, starts), shape=(len(measures), len(kept)))
    centre, spread = measures.mean(axis=0), measures.std(axis=0) + 1e-6
    dense = (measures - centre) / spread * scales[1]
    if vectors is not None:
        dense = np.hstack([dense, vectors.astype(np.float64) * scales[2]])
    inputs = sparse.hstack([words, sparse.csr_matrix(dense)]).tocsr()
    matrix, bias = np.zeros((inputs.shape[1], targets.shape[1])), np.zeros(targets.shape[1])
    parts: list[tuple[slice, int]] = [(slice(0, softmax), softmax)] if softmax else []
    parts += [(slice(one, one + 1), 0) for one in range(softmax, targets.shape[1])]
    for part, joint in parts:
        share = weights * ~np.isnan(targets[:, part]).any(axis=1)
        if recipe.balanced:
            yes = np.nan_to_num(targets[:, part])[:, 0] > 0.5
            total = [(share * (yes == side)).sum() for side in (True, False)]
            share = share * np.where(yes, 0.5 / max(1e-9, total[0]), 0.5 / max(1e-9, total[1]))
            share *= (weights * ~np.isnan(targets[:, part]).any(axis=1)).sum()
            # The probability must be that of the data, whose sides do not weigh the same.
            prior = math.log(max(1e-9, total[0]) / max(1e-9, total[1]))
        else:
            prior = 0.0
        ridge = 1 / (2 * recipe.strength * max(1e-9, share.sum()))
        matrix[:, part], bias[part] = fit(
            inputs, targets[:, part], weights=share, ridge=ridge, softmax=joint
        )
        bias[part] += prior
    split_at = (len(kept), len(kept) + measures.shape[1])
    scaled = matrix[split_at[0] : split_at[1]] * (scales[1] / spread)[:, None]
    return Linear(
        phrases=at,
        rows=_half(matrix[: split_at[0]] * scales[0]),
        measures=_half(scaled),
        vector=_half(matrix[split_at[1] :] * scales[2]),
        bias=_half(bias - centre @ scaled),
    )


def _half(values: Array) -> Floats:
    """Round to the precision of the file, so that training and reading judge alike."""
    rounded: Floats = values.astype(np.float16).astype(np.float32)
    return rounded
