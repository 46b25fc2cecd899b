"""Learned weights of the combined metric."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.combined.features import NAMES
from crscore.errors import InputError

Floats = npt.NDArray[np.float64]

FORMAT: Final = 1
"""Version of the file format; changes when older code cannot read, or misreads, the file."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Weighted sum of features, and the logistic function of it."""

    factors: Floats
    """Weight of each feature, in the order of `NAMES`."""
    start: float
    """Logit of a candidate whose features are all 0."""
    version: str = ""
    """Start of the file's SHA-256."""

    def score(self, rows: Floats) -> Floats:
        """Score candidates.

        Args:
            rows: Features, shape (N, F).

        Returns:
            Shape (N,), each in (0, 1).
        """
        scores: Floats = 1.0 / (1.0 + np.exp(-(rows @ self.factors + self.start)))
        return scores


def to_text(weights: Weights) -> str:
    """Write weights as JSON; the same weights give the same text."""
    factors = {
        name: float(f"{value:.6g}") for name, value in zip(NAMES, weights.factors, strict=True)
    }
    facts = {"format": FORMAT, "start": float(f"{weights.start:.6g}"), "factors": factors}
    return json.dumps(facts, indent=1) + "\n"


def read_weights(path: Path) -> Weights:
    """Read weights.

    Raises:
        InputError: The file cannot be read, is of another format, or was made for other features.
    """
    try:
        content = path.read_bytes()
        facts = json.loads(content)
        if facts["format"] != FORMAT or tuple(facts["factors"]) != NAMES:
            raise InputError(f"{path} was made by another version of crscore; train it again")
        return Weights(
            factors=np.array([float(value) for value in facts["factors"].values()]),
            start=float(facts["start"]),
            version=hashlib.sha256(content).hexdigest()[:8],
        )
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise InputError(f"{path} cannot be read as weights of the combined metric: {exc}") from exc
