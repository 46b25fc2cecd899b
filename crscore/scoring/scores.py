"""Published formulas, from matched cells to three scores."""

import numpy as np
import numpy.typing as npt

from crscore.errors import InputError
from crscore.records import Scores


def score(
    degrees: npt.NDArray[np.float32], *, older_degrees: npt.NDArray[np.float32] | None = None
) -> Scores:
    """Score one text from the degrees to which its sentences address the pseudo-references.

    Args:
        degrees: Shape (R, S), each in [0, 1]; row r is pseudo-reference r, column s is
            sentence s. The published matcher gives 1 where the similarity is strictly
            above the threshold, else 0.
        older_degrees: Shape (S,), each in [0, 1]: degree to which a sentence addresses the older
            version of the change for which it was written, which has no row here. It can raise the
            value of the sentence, not the value of a reference. The paper does not have it, as its
            changes have one version.

    Returns:
        Conciseness is the mean of the best cell of each of the S sentences, comprehensiveness the
        mean of the best cell of each of the R pseudo-references, and relevance the harmonic mean of
        the two (0 if both are 0); each in [0, 1].

    Raises:
        InputError: `degrees` is not two-dimensional, or R or S is 0. An empty side has no score;
            the pipeline decides what to report.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, equations 1 to 3.

    Example:
        Two references, three sentences; the last sentence matches nothing.

        >>> import numpy as np
        >>> s = score(np.array([[1, 1, 0], [0, 0, 0]], dtype=np.float32))
        >>> round(s.conciseness, 3), s.comprehensiveness, round(s.relevance, 3)
        (0.667, 0.5, 0.571)
    """
    if degrees.ndim != 2 or 0 in degrees.shape:
        raise InputError(f"cannot score a matrix of shape {degrees.shape}")
    by_sentence = degrees.max(axis=0).astype(np.float64)
    if older_degrees is not None:
        by_sentence = np.maximum(by_sentence, older_degrees)
    by_reference = degrees.max(axis=1).astype(np.float64)
    conciseness = float(by_sentence.mean())
    comprehensiveness = float(by_reference.mean())
    return Scores(
        conciseness=conciseness,
        comprehensiveness=comprehensiveness,
        relevance=harmonic_mean(conciseness, comprehensiveness),
        matched_sentences=float(by_sentence.sum()),
        sentences=degrees.shape[1],
        matched_references=float(by_reference.sum()),
        references=degrees.shape[0],
    )


def harmonic_mean(conciseness: float, comprehensiveness: float) -> float:
    """Combine the two shares into relevance.

    Args:
        conciseness: In [0, 1].
        comprehensiveness: In [0, 1].

    Returns:
        2ab / (a + b) in [0, 1]; 0 if both are 0.

    Example:
        >>> harmonic_mean(1.0, 0.5), harmonic_mean(0.0, 0.0)
        (0.6666666666666666, 0.0)
    """
    total = conciseness + comprehensiveness
    return 2 * conciseness * comprehensiveness / total if total else 0.0


def abstain(*, references: int, sentences: int, reason: str) -> Scores:
    """Return scores without values.

    Args:
        references: Number of pseudo-references.
        sentences: Number of sentences.
        reason: Reason for the missing score, as one sentence for the reader.

    Returns:
        Scores whose three values are None.
    """
    return Scores(
        conciseness=None,
        comprehensiveness=None,
        relevance=None,
        matched_sentences=0.0,
        sentences=sentences,
        matched_references=0.0,
        references=references,
        reason=reason,
    )
