"""Logistic regression with several outputs, by L-BFGS."""

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

MAX_STEPS: Final = 120
"""Most steps of the optimiser."""
MIN_TEXTS: Final = 5
"""Fewest texts with a phrase for it to be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSettings:
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

    phrases: Sequence[Iterable[str]]
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
        targets: Shape (N, K), each in [0, 1]; NaN where a row has no target for an output.
        weights: Weight of each row, shape (N,).
        ridge: Penalty of a squared weight, relative to the mean loss.
        softmax: Number of outputs, from the first, that share one distribution; the others are
            independent.

    Returns:
        Weights of shape (F, K), and biases of shape (K,).
    """
    optimize = require_scipy()
    rows, width = inputs.shape
    outputs = targets.shape[1]
    has_target = ~np.isnan(targets)
    targets = np.where(has_target, targets, 0.0)
    # Never 0, even where an output has no targets at all.
    share = weights[:, None] * has_target / max(1e-9, weights.sum())

    def loss(flat: Array) -> tuple[float, Array]:
        matrix = flat.reshape(width + 1, outputs)
        logits = inputs @ matrix[:-1] + matrix[-1]
        probabilities = np.empty((rows, outputs))
        total = 0.0
        if softmax:
            # `exp` of a large logit would overflow.
            joint = logits[:, :softmax] - logits[:, :softmax].max(axis=1, keepdims=True)
            norm = np.log(np.exp(joint).sum(axis=1, keepdims=True))
            probabilities[:, :softmax] = np.exp(joint - norm)
            total -= float((share[:, :softmax] * targets[:, :softmax] * (joint - norm)).sum())
        single = logits[:, softmax:]
        probabilities[:, softmax:] = 1 / (1 + np.exp(-np.clip(single, -30, 30)))
        total += float(
            (share[:, softmax:] * (np.logaddexp(0, single) - targets[:, softmax:] * single)).sum()
        )
        error = share * (probabilities - targets)
        slope = np.vstack([inputs.T @ error, error.sum(axis=0)])
        # The biases have no penalty.
        slope[:-1] += 2 * ridge * matrix[:-1]
        return total + ridge * float((matrix[:-1] ** 2).sum()), slope.ravel()

    start = np.zeros((width + 1) * outputs)
    minimum = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS}
    )
    matrix = minimum.x.reshape(width + 1, outputs)
    return matrix[:-1], matrix[-1]


def fit_layer(rows: Rows, targets: Array, *, weights: Array, settings: LayerSettings) -> Linear:
    """Fit one layer; the scales and the standardising are folded into its weights.

    Args:
        rows: Features of N texts.
        targets: Shape (N, K), each in [0, 1]; NaN where a text has no target for an output.
        weights: Weight of each text, shape (N,).
        settings: Settings.

    Returns:
        The layer, in the precision of its file.
    """
    scipy_sparse: Any = importlib.import_module("scipy.sparse")
    phrase_scale, measure_scale, vector_scale = settings.scales
    vocabulary, phrases = _phrase_matrix(rows.phrases, phrase_scale)
    # A measure may be constant.
    centre, spread = rows.measures.mean(axis=0), rows.measures.std(axis=0) + 1e-6
    dense = (rows.measures - centre) / spread * measure_scale
    if rows.vectors is not None:
        dense = np.hstack([dense, rows.vectors.astype(np.float64) * vector_scale])
    inputs = scipy_sparse.hstack([phrases, scipy_sparse.csr_matrix(dense)]).tocsr()
    outputs, softmax = targets.shape[1], settings.softmax
    matrix, bias = np.zeros((inputs.shape[1], outputs)), np.zeros(outputs)
    parts = [(slice(0, softmax), softmax)] if softmax else []
    parts += [(slice(output, output + 1), 0) for output in range(softmax, outputs)]
    # One at a time: outputs differ in which rows have a target, hence in weights and balance.
    for part, joint in parts:
        share, prior = _weigh(targets[:, part], weights, balanced=settings.balanced)
        ridge = 1 / (2 * settings.strength * max(1e-9, share.sum()))
        matrix[:, part], bias[part] = fit(
            inputs, targets[:, part], weights=share, ridge=ridge, softmax=joint
        )
        bias[part] += prior
    of_phrases, of_measures, of_vector = np.split(
        matrix, [len(vocabulary), len(vocabulary) + rows.measures.shape[1]]
    )
    of_measures = of_measures * (measure_scale / spread)[:, None]
    return Linear(
        phrases=vocabulary,
        rows=_half(of_phrases * phrase_scale),
        measures=_half(of_measures),
        vector=_half(of_vector * vector_scale),
        bias=_half(bias - centre @ of_measures),
    )


def _phrase_matrix(texts: Sequence[Iterable[str]], scale: float) -> tuple[dict[str, int], Any]:
    """Return the phrases that are kept, and a sparse matrix, shape (N, P), of those of each text.

    The phrases of one text share its length, `scale`.
    """
    counts = Counter(phrase for phrases in texts for phrase in phrases)
    frequent = sorted(phrase for phrase, count in counts.items() if count >= MIN_TEXTS)
    vocabulary = {phrase: index for index, phrase in enumerate(frequent)}
    data, columns, starts = [], [], [0]
    for phrases in texts:
        indices = sorted(vocabulary[phrase] for phrase in phrases if phrase in vocabulary)
        columns += indices
        data += [scale / math.sqrt(max(1, len(indices)))] * len(indices)
        starts.append(len(columns))
    sparse: Any = importlib.import_module("scipy.sparse")
    return vocabulary, sparse.csr_matrix((data, columns, starts), shape=(len(texts), len(frequent)))


def _weigh(targets: Array, weights: Array, *, balanced: bool) -> tuple[Array, float]:
    """Return the weight of each row, shape (N,), and the log-odds to add to the bias.

    Balancing gives both sides the same weight; the prior then restores the probability of the data.
    """
    share = weights * ~np.isnan(targets).any(axis=1)
    if not balanced:
        return share, 0.0
    is_positive = np.nan_to_num(targets)[:, 0] > 0.5
    total = [max(1e-9, (share * (is_positive == side)).sum()) for side in (True, False)]
    balance = np.where(is_positive, 0.5 / total[0], 0.5 / total[1])
    return share * balance * share.sum(), math.log(total[0] / total[1])


def _half(values: Array) -> Floats:
    """Round to the precision of the file, so that training and reading judge alike."""
    rounded: Floats = values.astype(np.float16).astype(np.float32)
    return rounded
