"""Greedy alignment of the tokens of two pieces of code."""

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.codebertscore.tokens import Tokens

Floats = npt.NDArray[np.float64]

VALUES: Final = ("precision", "recall", "f1", "f3")
"""Values of an alignment, in the order of `align`."""
DROPPED: Final[Mapping[str, frozenset[str]]] = {
    "operators": frozenset("()[]{},;:.\"'`_@#$\\?"),
    "published": frozenset(string.punctuation) - frozenset("+-*/&|~"),
    "all": frozenset(),
}
"""Characters by what is kept of the punctuation: a token of such characters alone is dropped.

`operators` keeps what can be part of an operator, as the paper says ("except arithmetic
operators"), among them `= < > % ! ^`; `published` is the set of the paper's code, which drops
these six as well. Both drop white space; `all` drops nothing.
"""
# 16 MB; two pieces of code of 10,000 tokens each would take 400 MB.
_BLOCK: Final = 4_194_304
"""Similarities held at once."""


def drop_punctuation(tokens: Tokens, punctuation: str) -> Tokens:
    """Drop white space and punctuation, never a special token.

    Args:
        tokens: Tokens of a piece of code.
        punctuation: Key of `DROPPED`.
    """
    dropped = DROPPED[punctuation]
    if punctuation == "all":
        return tokens
    is_word = [not dropped.issuperset(word) for word in tokens.spelled]
    return tokens.keep(np.array(is_word, dtype=np.bool_) | tokens.marker)


def inverse_frequencies(documents: Sequence[Sequence[int]]) -> tuple[dict[int, float], float]:
    """Weigh tokens by how few documents have them: log((M + 1) / (df + 1)).

    Args:
        documents: Ids of the tokens of M documents.

    Returns:
        Weight by token, and the weight of every other token.
    """
    counts = Counter(key for keys in documents for key in set(keys))
    total = len(documents) + 1
    weights = {key: float(np.log(total / (count + 1))) for key, count in counts.items()}
    return weights, float(np.log(total))


def weights_of(tokens: Tokens, frequencies: tuple[dict[int, float], float] | None) -> Floats:
    """Return the weights of tokens, shape (L,): their sum is 1, or 0 where no token has any.

    Args:
        tokens: Tokens of a piece of code; a special token has no weight.
        frequencies: Result of `inverse_frequencies`; None for equal weights. Where it gives every
            token the weight 0, as with a single document, they are equal too.
    """
    equal = (~tokens.marker).astype(np.float64)
    weights = equal
    if frequencies is not None:
        by_key, default = frequencies
        weights = equal * [by_key.get(key, default) for key in tokens.keys.tolist()]
        if not weights.any():
            weights = equal
    total = weights.sum()
    return weights / total if total else weights


def align(
    candidate: Tokens, reference: Tokens, *, candidate_weights: Floats, reference_weights: Floats
) -> Floats:
    """Match every token with the most similar one of the other side.

    Args:
        candidate: Tokens to compare.
        reference: Tokens to compare with.
        candidate_weights: Result of `weights_of`.
        reference_weights: The same for the reference.

    Returns:
        `VALUES`, shape (4,), each in [0, 1]: precision is the weighted mean over the candidate,
        recall that over the reference. Without a weighed token on one side all are 0, on both 1.

    Source:
        Zhou et al., EMNLP 2023, arXiv:2302.05527, section 3.
    """
    if not candidate_weights.any() or not reference_weights.any():
        return np.full(4, float(candidate_weights.any() == reference_weights.any()))
    best = np.full(len(reference.keys), -np.inf)
    precision = 0.0
    step = max(1, _BLOCK // len(reference.keys))
    for start in range(0, len(candidate.keys), step):
        similarity = candidate.vectors[start : start + step] @ reference.vectors.T
        precision += float(similarity.max(axis=1) @ candidate_weights[start : start + step])
        best = np.maximum(best, similarity.max(axis=0))
    return values(precision, float(best @ reference_weights))


def values(precision: float, recall: float) -> Floats:
    """Return `VALUES` of precision and recall, which are first limited to [0, 1]."""
    p, r = min(max(precision, 0.0), 1.0), min(max(recall, 0.0), 1.0)
    f1, f3 = ((1 + b * b) * p * r / (b * b * p + r) if p * r > 0 else 0.0 for b in (1, 3))
    return np.array([p, r, f1, f3])
