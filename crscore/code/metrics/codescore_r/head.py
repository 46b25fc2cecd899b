"""Head of CodeScore-R: features of a sketch to a vector, by learned random Fourier features.

    h(x) = [cos(x W), sin(x W)] / sqrt(D)

The cosine of two codes is then the mean over the columns of W of cos(w (x - y)): codes fall apart
by what differs between them, not by its share, so that one operator counts in long code as well.
Columns start with many lengths, from features seen far away to those seen close by.

Source:
    Rahimi and Recht, Random Features for Large-Scale Kernel Machines, NIPS 2007; here W is learned,
    by the contrastive objective of CodeScore-R (`crscore.lab.training.code`).
"""

from __future__ import annotations

import hashlib
import importlib.resources
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from crscore.arrays import BROKEN
from crscore.code.metrics.codescore_r.features import PLACES, feature_counts
from crscore.errors import InputError
from crscore.suggestions.trees import parse_code

Floats = npt.NDArray[np.float32]

FAR = 0.1
"""Weight of the cosine of the features alone, which ranks candidates that the head puts at 0."""
FILE = "head.npz"
"""Shipped weights, beside this module."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Head:
    """Weights of the head."""

    weights: Floats
    """W, shape (PLACES, D)."""
    power: float
    """Exponent, above 0, of a cosine, so that 0.5 lies between equivalent forms and mutants."""

    def encode(self, features: Floats) -> Floats:
        """Encode features, shape (N, PLACES), as rows of length 1, shape (N, 2 D)."""
        phases = features @ self.weights
        parts = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        rows: Floats = (parts / np.sqrt(self.weights.shape[1])).astype(np.float32)
        return rows

    def vectors(self, sketches: Sequence[tuple[str, str]]) -> Floats:
        """Encode sketches, each with its language; shape (N, PLACES + 2 D).

        Features at length 1 (0 where there are none), then the vectors of the head.
        """
        counts = [feature_counts(parse_code(code, language)) for code, language in sketches]
        features = np.stack(counts)
        lengths = np.linalg.norm(features, axis=1, keepdims=True)
        whole = features / np.where(lengths > 0, lengths, 1.0)
        return np.concatenate([whole, self.encode(features)], axis=1)

    def similarity(self, left: Floats, right: Floats) -> Floats:
        """Compare rows of `vectors`, pair by pair; shape (N,), each in [0, 1]."""
        products = left * right
        near = np.clip(products[:, PLACES:].sum(axis=1), 0.0, 1.0) ** self.power
        same = (left[:, :PLACES] == right[:, :PLACES]).all(axis=1)
        far = np.where(same, 1.0, np.clip(products[:, :PLACES].sum(axis=1), 0.0, 1.0))
        scores: Floats = (FAR * far + (1 - FAR) * near).astype(np.float32)
        return scores

    @property
    def fingerprint(self) -> str:
        """Eight hex digits of a hash of the weights."""
        return hashlib.sha256(to_bytes(self)).hexdigest()[:8]


def to_bytes(head: Head) -> bytes:
    """Write a head, its weights in 16 bits; the same head gives the same bytes."""
    content = io.BytesIO()
    np.savez(content, weights=head.weights.astype(np.float16), power=np.float32(head.power))
    return content.getvalue()


def from_bytes(content: bytes) -> Head:
    """Read a head.

    Raises:
        InputError: It is none.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            weights, power = arrays["weights"].astype(np.float32), float(arrays["power"])
    except BROKEN as exc:
        raise InputError(f"no weights of a head: {exc}") from exc
    if weights.ndim != 2 or weights.shape[0] != PLACES:
        raise InputError(f"a head of shape {weights.shape}; expected ({PLACES}, D)")
    return Head(weights=weights, power=power)


@cache
def shipped() -> Head:
    """Return the shipped head."""
    return from_bytes((importlib.resources.files(__package__) / FILE).read_bytes())
