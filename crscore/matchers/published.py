"""Published rule: a pair matches when its cosine is strictly above the threshold."""

from typing import Annotated

import msgspec
import numpy as np

from crscore.matchers.base import Cells, Judgement, Matcher
from crscore.records import Flag


class Published(msgspec.Struct, frozen=True):
    """Matcher that compares each cosine with a threshold.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, equations 1 and 2: strict `>`.
    """

    threshold: float
    """Cosine, called tau in the paper."""

    @property
    def identity(self) -> str:
        """`published`; the threshold is a separate part of the signature."""
        return "published"

    def match(self, cells: Cells) -> Judgement:
        """Return 1 where the similarity is strictly above the threshold, else 0.

        The threshold is not rounded to float32 like the cosines. A sentence that is not in English
        never matches.
        """
        # Without the conversion, NumPy would also round the threshold to 32 bits
        # (https://numpy.org/neps/nep-0050-scalar-promotion.html). The cosine float32(0.7314), which
        # is 0.73140001, would then not be above the threshold 0.7314.
        above = cells.similarity.astype(np.float64) > self.threshold
        above[:, [sentence.unread for sentence in cells.sentences]] = False
        return Judgement(
            degrees=above.astype(np.float32),
            # Any value in (0, 1) has the same effect, because each degree is 0 or 1.
            decision=0.5,
            flags=tuple(Flag.NOT_ENGLISH if unit.unread else None for unit in cells.sentences),
            in_review=tuple(not sentence.hidden for sentence in cells.sentences),
        )


def create(*, threshold: Annotated[float, msgspec.Meta(gt=-1, lt=1)]) -> Matcher:
    """Create the matcher; a pair matches if its cosine is strictly above `threshold`."""
    return Published(threshold=threshold)
