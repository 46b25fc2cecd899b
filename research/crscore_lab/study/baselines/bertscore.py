"""BERTScore on the token vectors of an encoder that exposes them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crscore.encoders.base import TokenEncoder, TokenVectors

Floats = npt.NDArray[np.float64]

BLOCK = 128
"""Pairs encoded at once; token vectors take some 100 KB a sentence."""


def score(hypotheses: Sequence[str], references: Sequence[str], *, encoder: TokenEncoder) -> Floats:
    """Score each text against its reference.

    Every token of one side is matched to its most similar token of the other. Precision is the mean
    over the text's tokens, recall over the reference's. The special tokens around a text can be
    matched but do not count in the mean, as in the authors' package.

    Args:
        hypotheses: N texts.
        references: The reference of each.
        encoder: Encoder of the token vectors.

    Returns:
        Shape (N,), F1, each in [0, 1]; higher is more similar. Not weighted by rarity and not
        rescaled, so dissimilar texts of one language are far above 0. A side with special tokens
        only gives 0.

    Raises:
        EncodingError: The encoder's model is unavailable or rejects a text.

    Source:
        Zhang et al., ICLR 2020, arXiv:1904.09675, equation of F_BERT; published for
        `distilbert-base-uncased`, other encoders give other values.
    """
    scores = np.zeros(len(hypotheses), dtype=np.float64)
    pairs = list(zip(hypotheses, references, strict=True))
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        # The reviews of one change are adjacent and share a reference.
        texts = list(dict.fromkeys(text for pair in block for text in pair))
        tokens = dict(zip(texts, map(_unit, encoder.tokens(texts)), strict=True))
        scores[start : start + BLOCK] = [
            _f1(tokens[text], tokens[reference]) for text, reference in block
        ]
    return scores


def _unit(token: TokenVectors) -> TokenVectors:
    lengths = np.linalg.norm(token.vectors, axis=1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    return token._replace(vectors=token.vectors / lengths)


def _f1(hypothesis: TokenVectors, reference: TokenVectors) -> float:
    if hypothesis.marker.all() or reference.marker.all():
        return 0.0
    cosine = hypothesis.vectors @ reference.vectors.T
    precision = float(cosine.max(axis=1)[~hypothesis.marker].mean())
    recall = float(cosine.max(axis=0)[~reference.marker].mean())
    # No similarity: a harmonic mean of values below 0 would be meaningless.
    if min(precision, recall) <= 0:
        return 0.0
    # Equal tokens can have a similarity slightly above 1.
    return min(1.0, 2 * precision * recall / (precision + recall))
