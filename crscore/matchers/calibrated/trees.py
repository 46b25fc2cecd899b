"""A sum of decision trees, held in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Integers = npt.NDArray[np.int32]
    Indices = npt.NDArray[np.intp]

_BLOCK: Final = 2048
"""Rows handled at once: rows x trees is what memory holds."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trees:
    """T trees over F features, N nodes in all; a leaf is its own child on both sides."""

    roots: Integers
    """Shape (T,): each tree's first node."""
    feature: Integers
    """Shape (N,): the feature that a node asks for; 0 in a leaf."""
    threshold: Floats
    """Shape (N,): a value at most this goes left."""
    left: Integers
    """Shape (N,)."""
    right: Integers
    """Shape (N,)."""
    value: Floats
    """Shape (N,): what a leaf adds; 0 in an inner node."""
    depth: int
    """Steps from a root to the deepest leaf."""

    def sum(self, rows: Floats) -> npt.NDArray[np.float64]:
        """Add up the trees' values.

        Args:
            rows: Shape (M, F).

        Returns:
            Shape (M,).
        """
        made = np.empty(len(rows), dtype=np.float64)
        # One table instead of two: a node's children, side by side.
        children = np.stack([self.left, self.right], axis=1).ravel().astype(np.intp)
        feature = self.feature.astype(np.intp)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            leaves = self._leaves(block, feature, children)
            made[start : start + _BLOCK] = self.value[leaves].sum(axis=1, dtype=np.float64)
        return made

    def _leaves(self, rows: Floats, feature: Indices, children: Indices) -> Indices:
        """Return the leaf in which each row ends in each tree, shape (rows, T)."""
        at = np.broadcast_to(self.roots.astype(np.intp), (len(rows), len(self.roots)))
        flat, offset = rows.ravel(), (np.arange(len(rows)) * rows.shape[1])[:, None]
        for _ in range(self.depth):
            goes_right = flat.take(offset + feature.take(at)) > self.threshold.take(at)
            at = children.take(2 * at + goes_right)
        return at
