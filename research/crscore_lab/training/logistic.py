"""Logistic regression of measures, by L-BFGS."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.statistics.ranks import require_scipy

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

MAX_STEPS: Final = 120
"""Maximum steps of the optimiser."""


def fit_measures(
    measures: Array,
    targets: Array,
    *,
    weights: Array,
    signs: Sequence[int] | None = None,
    penalty: float = 1.0,
) -> Floats:
    """Fit weights that minimise the mean cross-entropy with an L2 penalty.

    Args:
        measures: Shape (N, M).
        targets: Shape (N,), each in [0, 1].
        weights: Weight of each row, shape (N,).
        signs: Sign that the weight of each measure must have, 0 for any sign; None for any signs.
        penalty: Weight of the L2 penalty, in rows.

    Returns:
        Weights of the measures, then the bias, shape (M + 1,).

    Raises:
        DependencyError: scipy is not installed.
    """
    optimize = require_scipy("optimize")
    # + 1e-6, as a measure may be constant.
    centre, spread = measures.mean(axis=0), measures.std(axis=0) + 1e-6
    inputs = np.hstack([(measures - centre) / spread, np.ones((len(measures), 1))])
    share = weights / weights.sum()

    def loss(flat: Array) -> tuple[float, Array]:
        logits = inputs @ flat
        probabilities = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        pull = penalty * flat[:-1] / weights.sum()
        total = float((share * (np.logaddexp(0, logits) - targets * logits)).sum())
        slope = inputs.T @ (share * (probabilities - targets))
        slope[:-1] += pull
        return total + float(flat[:-1] @ pull) / 2, slope

    start = np.zeros(inputs.shape[1])
    limits = {-1: (None, 0), 0: (None, None), 1: (0, None)}
    minimum = optimize.minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=None if signs is None else [limits[sign] for sign in (*signs, 0)],
        options={"maxiter": MAX_STEPS},
    )
    slopes = minimum.x[:-1] / spread
    return np.append(slopes, minimum.x[-1] - centre @ slopes).astype(np.float32)
