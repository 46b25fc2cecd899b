"""Normalised edit distance of two texts, by rapidfuzz (tried with 3.14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crscore.study.baselines._libraries import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    """Measure each text's distance to its reference.

    Args:
        hypotheses: N texts.
        references: The reference of each.

    Returns:
        Shape (N,), each in [0, 1]; a distance, so higher is *less* alike, and agreement with
        people shows as a negative correlation. Levenshtein's insertions, deletions and
        replacements of characters over the length of the longer text; 0 for two empty texts.

    Raises:
        DependencyError: rapidfuzz is not installed.

    Source:
        Levenshtein 1966.

    Example:
        >>> score(["lock", "", "same"], ["lick", "abc", "same"]).tolist()
        [0.25, 1.0, 0.0]
    """
    distance = load("rapidfuzz.distance", "rapidfuzz").Levenshtein.normalized_distance
    pairs = zip(hypotheses, references, strict=True)
    return np.array([distance(text, reference) for text, reference in pairs], dtype=np.float64)
