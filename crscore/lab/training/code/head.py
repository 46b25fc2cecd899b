"""Contrastive training of the head of CodeScore-R, with NumPy alone.

Source:
    CodeScore-R, ConCE: InfoNCE over the equivalent forms and the mutants of a batch,
    L = -log(e^(s(h, h+) / t) / sum_j (e^(s(h, h+_j) / t) + e^(s(h, h-_j) / t))), t = 0.05 as in
    SimCSE. Only this part; a head of counted features has no tokens to mask and no dropout, so all
    positives are equivalent forms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.codescore_r.features import PLACES, feature_counts
from crscore.code.metrics.codescore_r.head import Head
from crscore.lab.training.code.examples import Example
from crscore.suggestions.trees import parse_code

Floats = npt.NDArray[np.float32]

COLUMNS = 128
TEMPERATURE = 0.05
EPOCHS = 12
BATCH = 32
RATE = 0.003
_SCALES = (0.05, 0.8)
"""Lengths of the columns at the start, relative to standard normal ones."""


def train_head(examples: Sequence[Example], *, seed: int) -> Head:
    """Learn a head; the same examples and seed give the same one.

    Args:
        examples: At least two.
        seed: Seed of the start, of the batches, and of the form and the mutant of each example.

    Returns:
        The head, its power such that 0.5 lies where equivalent forms and mutants are told apart
        best.
    """
    rng = np.random.default_rng(seed)
    trios = [_features(one) for one in examples]
    shortest, longest = np.log(_SCALES)
    scales = np.exp(rng.uniform(shortest, longest, COLUMNS))
    weights = (rng.normal(size=(PLACES, COLUMNS)) * scales).astype(np.float32)
    step = _Adam(weights)
    size = min(BATCH, len(trios))
    for _ in range(EPOCHS):
        order = rng.permutation(len(trios))
        for start in range(0, len(trios) - size + 1, size):
            batch = [trios[index] for index in order[start : start + size]]
            rows = [np.stack([one[0] for one in batch])]
            rows += [np.stack([rng.choice(one[part]) for one in batch]) for part in (1, 2)]
            step.take(gradient(weights, *rows))
    return Head(weights=weights, power=_power(Head(weights=weights, power=1.0), trios))


def _features(example: Example) -> tuple[Floats, Floats, Floats]:
    def counts(codes: Sequence[str]) -> Floats:
        return np.stack([feature_counts(parse_code(one, example.language)) for one in codes])

    return counts([example.code])[0], counts(example.equivalents), counts(example.mutants)


def gradient(weights: Floats, codes: Floats, equivalents: Floats, mutants: Floats) -> Floats:
    """Return the gradient of the loss of a batch.

    Args:
        weights: Shape (PLACES, D).
        codes: Features, shape (N, PLACES).
        equivalents: Of one equivalent form each, same shape.
        mutants: Of one mutant each, same shape.

    Returns:
        Shape (PLACES, D).
    """
    count, width = len(codes), weights.shape[1]
    features = np.concatenate([codes, equivalents, mutants])
    phases = features @ weights
    rows = np.concatenate([np.cos(phases), np.sin(phases)], axis=1) / np.sqrt(width)
    own, others = rows[:count], rows[count:]
    logits = own @ others.T / TEMPERATURE
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(count), np.arange(count)] -= 1
    chances /= count * TEMPERATURE
    by_row = np.concatenate([chances @ others, chances.T @ own])
    by_phase = np.cos(phases) * by_row[:, width:] - np.sin(phases) * by_row[:, :width]
    result: Floats = (features.T @ by_phase / np.sqrt(width)).astype(np.float32)
    return result


class _Adam:
    """Adam (Kingma and Ba 2015) with its usual constants, in place."""

    def __init__(self, weights: Floats) -> None:
        self.weights = weights
        self.first = np.zeros_like(weights)
        self.second = np.zeros_like(weights)
        self.steps = 0

    def take(self, slope: Floats) -> None:
        self.steps += 1
        self.first += 0.1 * (slope - self.first)
        self.second += 0.001 * (slope**2 - self.second)
        first = self.first / (1 - 0.9**self.steps)
        second = self.second / (1 - 0.999**self.steps)
        self.weights -= (RATE * first / (np.sqrt(second) + 1e-8)).astype(np.float32)


def _power(head: Head, trios: Sequence[tuple[Floats, Floats, Floats]]) -> float:
    same, other = [], []
    for code, equivalents, mutants in trios:
        own = head.encode(code[None])[0]
        same += list(head.encode(equivalents) @ own)
        other += list(head.encode(mutants) @ own)
    cuts = np.linspace(0.05, 0.99, 189)
    right = [np.mean(np.array(same) > cut) + np.mean(np.array(other) <= cut) for cut in cuts]
    return float(np.log(0.5) / np.log(cuts[int(np.argmax(right))]))
