"""BERTScore on the token vectors of an encoder that can show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from crscore.encoders.base import TokenEncoder, TokenVectors

    Floats = npt.NDArray[np.float64]

BLOCK = 128
"""Pairs encoded at once: token vectors are some 100 KB a sentence."""


def score(hypotheses: Sequence[str], references: Sequence[str], *, encoder: TokenEncoder) -> Floats:
    """Score each text against its reference.

    Every token of one side takes its most similar token of the other. Precision is the mean
    over the text's tokens, recall over the reference's. The markers around a text can be
    taken but do not count in the mean, as in the authors' package.

    Args:
        hypotheses: N texts.
        references: The reference of each.
        encoder: What makes the token vectors.

    Returns:
        Shape (N,), F1, each in [0, 1]; higher is more alike. Not weighted by rarity and not
        rescaled, so unlike texts of one language are far above 0. A side without a token
        beside the markers gives 0.

    Raises:
        EncodingError: The encoder's model is not here or refuses a text.

    Source:
        Zhang et al., ICLR 2020, arXiv:1904.09675, equation of F_BERT; published for
        `distilbert-base-uncased`, whose values are not those of another encoder.
    """
    found = np.zeros(len(hypotheses), dtype=np.float64)
    pairs = list(zip(hypotheses, references, strict=True))
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        # The reviews of one change stand together and share their reference.
        texts = list(dict.fromkeys(text for pair in block for text in pair))
        tokens = dict(zip(texts, map(_unit, encoder.tokens(texts)), strict=True))
        found[start : start + BLOCK] = [_f1(tokens[text], tokens[other]) for text, other in block]
    return found


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
    # Nothing alike at all: a harmonic mean of values below 0 would mean nothing.
    if min(precision, recall) <= 0:
        return 0.0
    # Equal tokens can come out a hair above 1.
    return min(1.0, 2 * precision * recall / (precision + recall))
