"""Agreement of two annotators."""

from collections.abc import Sequence

import numpy as np


def cohen_kappa(pairs: Sequence[tuple[str | bool, str | bool]]) -> float | None:
    """Compute Cohen's kappa of two annotators' categories.

    Args:
        pairs: The two annotators' categories of each item.

    Returns:
        At most 1, which is perfect agreement; 0 is chance. None if there are no items, or if both
        annotators gave the same category to all items.

    Source:
        J. Cohen, A Coefficient of Agreement for Nominal Scales, 1960.

    Example:
        >>> cohen_kappa([("yes", "yes"), ("no", "no"), ("yes", "no"), ("no", "yes")])
        0.0
    """
    if not pairs:
        return None
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    chance = sum(
        float(np.mean(first == category) * np.mean(second == category))
        # A category used only by the second annotator adds 0.
        for category in np.unique(first)
    )
    if chance >= 1:
        return None
    return (float(np.mean(first == second)) - chance) / (1 - chance)
