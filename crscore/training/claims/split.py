"""Which rows are learned from and which are held out."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from crscore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Split(NamedTuple):
    """Two sides, by position."""

    train: tuple[int, ...]
    """Rows to learn from, in their order."""
    held_out: tuple[int, ...]
    """Rows to measure on; none when the share is 0."""


def split(groups: Sequence[str], *, share: float, seed: int) -> Split:
    """Split rows so that no group is on both sides.

    A group's side depends on its name, the seed and how many there are, not on the order of
    the rows.

    Args:
        groups: The group of each row; rows of one change have the same.
        share: How much of the groups to hold out, in [0, 1).
        seed: Draws the groups.

    Returns:
        The positions on each side. With a share above 0 and two groups or more, neither side
        is empty.

    Raises:
        ConfigError: The share is not in [0, 1).

    Source:
        Naik et al., NAACL 2025, appendix C.3: a tenth is held out. There rows are drawn one by
        one; a change that stands in the data twice can then be on both sides.

    Example:
        >>> split(["a", "b", "a", "c"], share=0.34, seed=1)
        Split(train=(0, 1, 2), held_out=(3,))
    """
    if not 0 <= share < 1:
        raise ConfigError("--val-split", "command line", f"a share in [0, 1), not {share:g}")
    order = sorted(set(groups), key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    count = round(share * len(order))
    if share > 0 and len(order) > 1:
        count = min(max(count, 1), len(order) - 1)
    chosen = frozenset(order[:count])
    return Split(
        train=tuple(at for at, name in enumerate(groups) if name not in chosen),
        held_out=tuple(at for at, name in enumerate(groups) if name in chosen),
    )
