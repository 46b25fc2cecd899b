"""Review systems: their mean human relevance, and those that people find worthless."""

from collections.abc import Iterable
from statistics import fmean

JUNK_BELOW = 1.5
"""Mean human relevance, Likert, below which a system's reviews are junk: nearer to the worst
rating than to any other."""


def mean_relevance(systems: Iterable[str], relevance: Iterable[float]) -> dict[str, float]:
    """Average the human relevance of each system's reviews.

    Args:
        systems: Author of each review.
        relevance: Human relevance of each review, Likert 1 to 5.

    Returns:
        System -> mean, the best one first; ties by name.
    """
    rated: dict[str, list[float]] = {}
    for system, value in zip(systems, relevance, strict=True):
        rated.setdefault(system, []).append(float(value))
    means = {system: fmean(values) for system, values in rated.items()}
    return dict(sorted(means.items(), key=lambda item: (-item[1], item[0])))


def junk_systems(systems: Iterable[str], relevance: Iterable[float]) -> tuple[str, ...]:
    """Return the systems with a mean human relevance below `JUNK_BELOW`.

    Much of a correlation over all reviews comes from separating them from the others.

    Args:
        systems: Author of each review.
        relevance: Human relevance of each review, Likert 1 to 5.

    Example:
        >>> junk_systems(["a", "b", "b"], [4, 1, 1.5])
        ('b',)
    """
    means = mean_relevance(systems, relevance)
    return tuple(system for system, mean in means.items() if mean < JUNK_BELOW)
