"""The published rule: a pair matches when its cosine is strictly above the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from crscore.matchers.base import Matcher
    from crscore.records import PseudoReference


@dataclass(frozen=True, slots=True)
class Published:
    """Cosine above tau.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, equations 1 and 2: strict `>`.
    """

    threshold: float

    @property
    def identity(self) -> str:
        """`published`; the threshold stands in the signature by itself."""
        return "published"

    def match(
        self,
        similarity: npt.NDArray[np.float32],
        references: Sequence[PseudoReference],  # noqa: ARG002  (the protocol's)
        sentences: Sequence[str],  # noqa: ARG002  (the protocol's)
    ) -> npt.NDArray[np.float32]:
        """Give 1 where the similarity is strictly above the threshold, else 0.

        The comparison is made in float64: a float32 value that prints as the threshold
        must not pass for being rounded up.
        """
        return (similarity.astype(np.float64) > self.threshold).astype(np.float32)


def create(options: Mapping[str, str]) -> Matcher:
    """Make the matcher.

    Args:
        options: `threshold`: the cosine cut-off, in (-1, 1).
    """
    return Published(threshold=float(options["threshold"]))
