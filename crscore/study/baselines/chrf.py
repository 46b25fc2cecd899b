"""chrF and chrF++ of one sentence, by sacrebleu (tried with 2.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crscore.study.baselines._libraries import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

PLUS_PLUS = 2
"""The longest word n-gram of chrF++; chrF has none."""


def score(hypotheses: Sequence[str], references: Sequence[str], *, word_order: int = 0) -> Floats:
    """Score each text against its reference.

    Args:
        hypotheses: N texts.
        references: The reference of each.
        word_order: Longest word n-gram: 0 for chrF, 2 for chrF++.

    Returns:
        Shape (N,), each in [0, 1]; higher is more alike. F with recall weighing twice as much,
        over character n-grams of 1 to 6, spaces left out. A blank side gives 0.

    Raises:
        DependencyError: sacrebleu is not installed.

    Source:
        Popović, WMT 2015 (chrF) and WMT 2017 (chrF++).

    Example:
        >>> score(["ab", "", "ab"], ["ab", "ab", "cd"]).tolist()
        [1.0, 0.0, 0.0]
    """
    metric = load("sacrebleu.metrics.chrf", "sacrebleu").CHRF(word_order=word_order)
    pairs = zip(hypotheses, references, strict=True)
    return np.array(
        [metric.sentence_score(text, [reference]).score / 100 for text, reference in pairs],
        dtype=np.float64,
    )
