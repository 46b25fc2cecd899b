"""Logistic regression with several outputs, by L-BFGS."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from crscore.errors import DependencyError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

ROUNDS = 120
"""Most steps of the optimiser."""


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
