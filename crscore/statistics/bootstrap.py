"""The bootstrap over changes, all draws at once.

A draw takes whole changes with replacement. It is represented by how often it takes each row, so
that a statistic of many draws is arithmetic on one matrix: rank correlations of some hundred
columns, a thousand draws each, take seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MAX_CELLS: Final = 2**21
"""Cells of one block of draws; limits a large study to some hundred MB."""


class Draws(NamedTuple):
    """Values of a statistic in B draws."""

    values: Floats
    """Shape (B,); 0 where undefined."""
    defined: npt.NDArray[np.bool_]
    """Shape (B,)."""

    def kept(self) -> Floats:
        """Return the defined values."""
        return self.values[self.defined]


class Ranked(NamedTuple):
    """Ranks of a column in B draws."""

    centred: Floats
    """Rank less the mean rank of the draw, shape (B, N)."""
    weighted: Floats
    """`centred` times the row's count, shape (B, N)."""
    spread: Floats
    """Sum of the squares over the drawn rows, shape (B,); 0 where the column is constant."""


def blocks(clusters: Sequence[str], *, resamples: int, seed: int) -> Iterator[Floats]:
    """Draw changes with replacement.

    Args:
        clusters: Each row's change, N names.
        resamples: Number of draws.
        seed: Seed of the draws; the same seed and clusters give the same draws.

    Yields:
        How often each draw takes each row, shape (b, N), whole numbers; the blocks have `resamples`
        draws in total, which do not depend on the block size.
    """
    names, membership = np.unique(np.asarray(clusters), return_inverse=True)
    rng = np.random.default_rng(seed)
    size = max(1, MAX_CELLS // max(1, len(clusters)))
    for start in range(0, resamples, size):
        count = min(size, resamples - start)
        drawn = rng.integers(0, len(names), (count, len(names)))
        drawn += np.arange(count)[:, None] * len(names)
        taken = np.bincount(drawn.ravel(), minlength=count * len(names))
        yield taken.reshape(count, len(names)).astype(np.float64)[:, membership]


def join(parts: Iterable[Draws]) -> Draws:
    """Join the draws of several blocks."""
    listed = list(parts)
    return Draws(
        np.concatenate([part.values for part in listed]) if listed else np.zeros(0),
        np.concatenate([part.defined for part in listed]) if listed else np.zeros(0, dtype=bool),
    )


def ranked(values: Floats, weights: Floats) -> Ranked:
    """Rank a column in each draw, ties sharing their mean rank.

    Args:
        values: Shape (N,).
        weights: How often each draw takes each row, shape (B, N).

    Returns:
        The ranks, less the mean rank.
    """
    _, inverse = np.unique(values, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.flatnonzero(np.diff(inverse[order], prepend=-1))
    groups = np.add.reduceat(weights[:, order], starts, axis=1)
    upper = np.cumsum(groups, axis=1)
    # A group of w equal values that ends at rank u has the mean rank u - (w - 1) / 2; the mean
    # over all n drawn rows is (n + 1) / 2. Half numbers below 2**53: the sums are exact.
    centre = upper - groups / 2 - upper[:, -1:] / 2
    centred = centre[:, inverse]
    weighted = centred * weights
    return Ranked(centred, weighted, np.einsum("bn,bn->b", weighted, centred))


def spearman(first: Ranked, second: Ranked) -> Draws:
    """Correlate two ranked columns in each draw; undefined where one of them is constant."""
    scale = np.sqrt(first.spread * second.spread)
    defined = scale > 0
    products = np.einsum("bn,bn->b", first.centred, second.weighted)
    values = np.divide(products, scale, out=np.zeros_like(scale), where=defined)
    return Draws(np.clip(values, -1.0, 1.0), defined)


def mean_of_groups(parts: Sequence[Draws], present: Sequence[npt.NDArray[np.bool_]]) -> Draws:
    """Average over the groups present in each draw.

    A group in which a side is constant counts as 0: leaving it out would reward a metric for being
    constant.

    Args:
        parts: Each group's values.
        present: Whether each draw has a row of the group, each of shape (B,).
    """
    there = np.array(present, dtype=np.float64)
    total = (np.array([part.values for part in parts]) * there).sum(axis=0)
    count = there.sum(axis=0)
    values = np.divide(total, count, out=np.zeros_like(count), where=count > 0)
    return Draws(values, count > 0)


def ratio(numerator: Floats, denominator: Floats, weights: Floats) -> Draws:
    """Divide two sums over the drawn rows; undefined where the denominator is 0.

    Args:
        numerator: Shape (N,).
        denominator: Shape (N,), none below 0.
        weights: How often each draw takes each row, shape (B, N).
    """
    upper, lower = weights @ numerator, weights @ denominator
    defined = lower > 0
    return Draws(np.divide(upper, lower, out=np.zeros_like(upper), where=defined), defined)


def auc(
    values: Floats,
    positive: npt.NDArray[np.bool_],
    weights: Floats,
    *,
    strata: Sequence[str] | None = None,
) -> Draws:
    """Compute the chance that a positive row exceeds a negative one; a tie counts one half.

    Args:
        values: Shape (N,), N at least 1.
        positive: Shape (N,).
        weights: How often each draw takes each row, shape (B, N).
        strata: Stratum of each row: only pairs inside one are compared. None for a single one.

    Returns:
        Each in [0, 1]; undefined where there is no pair.

    Example:
        >>> values, positive = np.array([0.9, 0.8, 0.7]), np.array([True, False, True])
        >>> auc(values, positive, np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0]])).values.tolist()
        [0.5, 1.0]
        >>> auc(values, positive, np.ones((1, 3)), strata=["a", "b", "b"]).values.tolist()
        [0.0]
    """
    _, stratum = np.unique(np.asarray(strata or [""] * len(values)), return_inverse=True)
    order = np.lexsort((values, stratum))
    is_new = np.diff(stratum[order], prepend=-1) != 0
    starts = np.flatnonzero(is_new | (np.diff(values[order], prepend=np.inf) != 0))
    taken = weights[:, order]
    upper = np.add.reduceat(taken * positive[order], starts, axis=1)
    lower = np.add.reduceat(taken * ~positive[order], starts, axis=1)
    firsts = np.flatnonzero(is_new[starts])
    positives, negatives = (np.add.reduceat(one, firsts, axis=1) for one in (upper, lower))
    # All that stands below, less what belongs to the strata before. Half numbers: sums are exact.
    below = (upper * (np.cumsum(lower, axis=1) - lower / 2)).sum(axis=1)
    before = (positives * (np.cumsum(negatives, axis=1) - negatives)).sum(axis=1)
    pairs = (positives * negatives).sum(axis=1)
    defined = pairs > 0
    share = np.divide(below - before, pairs, out=np.zeros_like(pairs), where=defined)
    return Draws(share, defined)
