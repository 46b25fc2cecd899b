"""Logistic regression on features, fitted with L-BFGS."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.statistics.ranks import require_scipy

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

MAX_STEPS: Final = 120
"""Maximum number of steps of the optimiser."""


def fit_logistic(
    measures: Array,
    targets: Array,
    *,
    weights: Array,
    signs: Sequence[int] | None = None,
    penalty: float = 1.0,
) -> Floats:
    """Fit weights that minimise the weighted sum of cross-entropies with an L2 penalty.

    Args:
        measures: M features of N rows, shape (N, M).
        targets: Probabilities that the weights should predict, shape (N,), each in [0, 1].
        weights: Weight of each row, shape (N,).
        signs: Sign of the weight of each measure: 1 or -1, or 0 for any sign. None if all weights
            may have any sign.
        penalty: Factor of the penalty, which is half the squared norm of the weights of the
            standardised measures, without the bias.

    Returns:
        Weights of the measures, then the bias, shape (M + 1,).

    Raises:
        DependencyError: scipy is not installed.
    """
    optimize = require_scipy("optimize")
    # 1e-6 is added, because a measure may be constant.
    centre, spread = measures.mean(axis=0), measures.std(axis=0) + 1e-6
    inputs = np.hstack([(measures - centre) / spread, np.ones((len(measures), 1))])
    share = weights / weights.sum()

    def loss(flat: Array) -> tuple[float, Array]:
        logits = inputs @ flat
        probabilities = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        decay = penalty * flat[:-1] / weights.sum()
        total = float((share * (np.logaddexp(0, logits) - targets * logits)).sum())
        gradient = inputs.T @ (share * (probabilities - targets))
        gradient[:-1] += decay
        return total + float(flat[:-1] @ decay) / 2, gradient

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
    coefficients = minimum.x[:-1] / spread
    return np.append(coefficients, minimum.x[-1] - centre @ coefficients).astype(np.float32)
