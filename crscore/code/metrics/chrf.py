"""chrF and chrF++: F2 of n-grams of 1 to 6 characters and, for chrF++, of words; by sacrebleu.

White space is left out. With several references, the best one counts.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
import numpy as np

from crscore.code import libraries
from crscore.code.metrics.metric import Doubles, Metric, Preset, mean_metric
from crscore.code.samples import Sample

# The defaults of sacrebleu:
# https://github.com/mjpost/sacrebleu/blob/master/sacrebleu/metrics/chrf.py
_CHAR_ORDER: Final = 6
_BETA: Final = 2


def _compute_scores(totals: Doubles) -> Doubles:
    """Compute scores, shape (N,), from rows of `reduce` or sums of such rows."""
    candidate, reference, common = (totals[:, start:-1:3] for start in range(3))
    # As in sacrebleu, lengths for which one side is too short are left out (effective order).
    counted = (candidate > 0) & (reference > 0)
    orders = np.maximum(counted.sum(axis=1), 1)
    precision, recall = (
        np.where(counted, common / np.maximum(side, 1), 0).sum(axis=1) / orders
        for side in (candidate, reference)
    )
    weighted = _BETA**2 * precision + recall
    scores = (1 + _BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1)
    blank = (candidate[:, 0] == 0) & (reference[:, 0] == 0) & (totals[:, -1] == 0)
    result: Doubles = np.where(blank, 1.0, scores)
    return result


def create(
    *, word_order: Annotated[int, msgspec.Meta(ge=0, le=4)] = 0, preset: Preset | None = None
) -> Metric:
    """Create the metric.

    Args:
        word_order: Maximum length of n-grams of words: 0 for chrF, 2 for chrF++. Words are
            separated by white space, so `f (x)` differs from `f(x)`; with more than 0, both sides
            should have the same formatting.
        preset: With it, the scores of samples are rounded to 3 decimals, and the score of a set is
            the mean of the rounded scores.
    """

    def identify() -> str:
        variant = f"chrf|nc:{_CHAR_ORDER}|nw:{word_order}|beta:{_BETA}"
        mean = "|mean|round:3" if preset else ""
        return f"{variant}|{libraries.version('sacrebleu')}{mean}"

    def reduce(samples: Sequence[Sample]) -> Doubles:
        # The shape is (N, 3 · orders + 1). Each row has three counts for each length of n-grams:
        # those of the candidate, those of the best reference, and the common n-grams. The last
        # column is the candidate's number of characters if all references are blank, because
        # sacrebleu does not count the candidate in this case; otherwise it is 0.
        metric = libraries.load("sacrebleu.metrics.chrf", "sacrebleu").CHRF(
            char_order=_CHAR_ORDER, word_order=word_order, beta=_BETA
        )
        counted: dict[tuple[str, ...], Any] = {}
        rows = []
        for sample in samples:
            blank = not sample.candidate.strip()
            # sacrebleu skips blank references. So a blank candidate is compared only with blank
            # references, if there are any, and one with text only with references that have text.
            references = tuple(text for text in sample.references if blank == (not text.strip()))
            references = references or sample.references
            if references not in counted:
                # sacrebleu's corpus score and bootstrap call these two private methods, too.
                counted[references] = metric._extract_reference_info(references)
            row = metric._compute_segment_statistics(sample.candidate, counted[references])
            rows.append([*row, 0 if row[1] else len("".join(sample.candidate.split()))])
        return np.array(rows, dtype=np.float64)

    if preset:
        # "Out of the BLEU" takes the mean of rounded scores.
        return mean_metric("chrf", identify, lambda rows: _compute_scores(reduce(rows)).round(3))
    return Metric(
        name="chrf",
        identify=identify,
        reduce=reduce,
        sentence_scores=_compute_scores,
        corpus_scores=_compute_scores,
    )
