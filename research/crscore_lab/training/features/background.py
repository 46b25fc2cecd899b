"""Corpus statistics of claims and reviews, computed on training texts."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.matchers.features import Background
from crscore.text import words

Floats = npt.NDArray[np.float32]

MIN_TEXTS: Final = 4
"""Minimum number of training texts with a stem; rarer stems count as never seen."""


def make_background(
    claims: Sequence[str],
    claim_vectors: Floats,
    remarks: Sequence[str],
    remark_vectors: Floats,
    *,
    axes: int,
) -> Background:
    """Count stems and compute the principal axes of review sentences.

    Args:
        claims: Pseudo-references of the training changes.
        claim_vectors: Their unit vectors, shape (len(claims), D).
        remarks: Review sentences of the training changes.
        remark_vectors: Their unit vectors, shape (len(remarks), D).
        axes: Number of axes.

    Returns:
        The background. The largest component of each axis is positive, so that the same texts
        always give the same signs.
    """
    texts = [*claims, *remarks]
    counts = Counter(stem for text in texts for stem in words(text).stems)
    centre = remark_vectors.mean(axis=0, dtype=np.float64)
    centred = remark_vectors.astype(np.float64) - centre
    _, directions = np.linalg.eigh(centred.T @ centred)
    # `eigh` sorts by rising eigenvalue.
    main = directions[:, ::-1][:, :axes].T
    peaks = main[np.arange(len(main)), np.abs(main).argmax(axis=1)]
    return Background(
        frequency={stem: n for stem, n in sorted(counts.items()) if n >= MIN_TEXTS},
        documents=len(texts),
        claim=_unit(claim_vectors.mean(axis=0, dtype=np.float64)),
        remark=_unit(centre),
        axes=_rounded(main * np.sign(peaks)[:, None]),
        centre=_rounded(centre),
    )


def _unit(vector: npt.NDArray[np.float64]) -> Floats:
    return _rounded(vector / np.linalg.norm(vector))


def _rounded(values: npt.NDArray[np.float64]) -> Floats:
    # Rounding gives the same file on machines whose sums differ in the last bits.
    return np.round(values, 5).astype(np.float32)
