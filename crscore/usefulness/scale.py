"""Values of real comments and reviews, and the error of a standing among them.

Two readers who follow the same guide agree about a comment; the network agrees with them only in
part. The difference between its standing of a text and the readers' was measured on texts that it
had not seen.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.records import LEAST_WORTH, MAX_WORTH

Floats = npt.NDArray[np.float32]

# Of 180 pairs of real reviews, a reader who knew what each comment is worth preferred the one with
# the higher value in 94 to 95 % with 0.5 to 0.8 (docs/design/010-usefulness.md). A higher weight
# lets more nits outdo a serious point, a lower one leaves next to nothing for the fourth point.
RANK_DISCOUNT: Final = 0.6
"""Weight of a remark relative to the one before it, the most valuable first."""
# With it, three nits do not add up to a bug.
GAIN_POWER: Final = 3
"""Power of the worth in what a remark adds to the value."""
# From recorded answers of a large model on 250 comments that other readers had judged (`python
# benchmarks/readers.py DATA --answers FILE`), with the ends made ascending.
GUIDE_SPREAD: Final = np.array(
    [[5, 3, 15, 72], [24, 14, 38, 72], [29, 17, 47, 79], [54, 42, 69, 86], [71, 46, 82, 96]],
    dtype=np.float32,
)
"""`Scale.spread` of a language model that reads with the guide."""
PEOPLE: Final = "people"
BOTS: Final = "bots"


def gains(worths: Iterable[float]) -> list[float]:
    """Return the part of each remark in the value of a review, the most valuable first.

    The remarks are given by their worth, 1 to 5. The weights of all ranks add up to 1, so that the
    value of a review stays within [0, 1].
    """
    shares = [
        (worth - LEAST_WORTH) / (MAX_WORTH - LEAST_WORTH) for worth in sorted(worths, reverse=True)
    ]
    weights = [RANK_DISCOUNT**rank * (1 - RANK_DISCOUNT) for rank in range(len(shares))]
    return [share**GAIN_POWER * weight for share, weight in zip(shares, weights, strict=True)]


def percentile(values: Floats, value: float) -> int:
    """Return the share of ascending values below a value, 0 to 100; an equal one counts half."""
    # In the precision of the values, or an equal one would not be found.
    rounded = np.float32(value)
    below = (np.searchsorted(values, rounded) + np.searchsorted(values, rounded, "right")) / 2
    return round(100 * float(below) / max(1, len(values)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scale:
    """Comparison sets of one reader."""

    values: Mapping[tuple[str, str], Floats]
    """Kind of text, and `PEOPLE` or `BOTS` -> values of real ones as this reader reads them,
    ascending."""
    spread: Mapping[str, Floats]
    """Kind of text -> standings as this reader reads, ascending, and the 10 %, 50 % and 90 %
    quantiles of the standing by readers with the guide, shape (K, 4)."""

    # Held out, it covered 81 and 82 % (docs/design/010-usefulness.md).
    def interval(self, kind: str, standing: int) -> tuple[int, int, int]:
        """Return the interval of the standing by readers with the guide that covers 80 %.

        Args:
            kind: Kind of text.
            standing: Standing as this reader reads, 0 to 100.

        Returns:
            Lower end, middle and upper end, each 0 to 100.
        """
        knots, *quantiles = self.spread[kind].T
        low, middle, high = (round(float(np.interp(standing, knots, row))) for row in quantiles)
        return low, middle, high
