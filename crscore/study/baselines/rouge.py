"""ROUGE-L of one text, by rouge-score (tried with 0.1.2); no data is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crscore.study.baselines._libraries import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    """Score each text against its reference.

    Args:
        hypotheses: N texts.
        references: The reference of each.

    Returns:
        Shape (N,), each in [0, 1]; higher is more alike. F1 of the longest common subsequence
        of words, which are runs of ASCII letters and digits in lower case; those of more than
        three letters are stemmed. A side without such a word gives 0.

    Raises:
        DependencyError: rouge-score is not installed.

    Source:
        Lin, Text Summarization Branches Out 2004.

    Example:
        Two of three words in order on both sides.

        >>> score(["close open files"], ["close a file"]).round(3).tolist()
        [0.667]
    """
    scorer = load("rouge_score.rouge_scorer", "rouge-score").RougeScorer(
        ["rougeL"], use_stemmer=True
    )
    pairs = zip(hypotheses, references, strict=True)
    return np.array(
        [scorer.score(reference, text)["rougeL"].fmeasure for text, reference in pairs],
        dtype=np.float64,
    )
