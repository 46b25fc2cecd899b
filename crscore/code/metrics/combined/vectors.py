"""Comparison of pieces of code by their token vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.codebertscore import alignment
from crscore.code.metrics.codebertscore.embedded import words_of
from crscore.code.metrics.codebertscore.tokens import Text, Tokens, TokenSource
from crscore.code.metrics.combined.pieces import Piece

Floats = npt.NDArray[np.float64]

_CONTENT: Final = ("name", "text", "number")


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Token vectors of one text."""

    tokens: Tokens
    """Tokens without brackets and separators."""
    even: Floats
    """Equal weights of the tokens, shape (L,); their sum is 1, or 0 without a token."""
    content: Floats
    """Weights of the words of foreign names, texts and numbers, shape (L,)."""
    mean: Floats
    """Mean vector of the text, of length 1, shape (D,)."""


def read_pieces(source: TokenSource, pieces: Sequence[Piece]) -> list[Vectors]:
    """Encode pieces of code."""
    found = source.tokens([Text("", piece.text) for piece in pieces])
    return [
        _vectors(tokens, {word for name in piece.of_kind(*_CONTENT) for word in words_of(name)})
        for tokens, piece in zip(found, pieces, strict=True)
    ]


def read_prose(source: TokenSource, texts: Sequence[str]) -> list[Vectors]:
    """Encode other texts."""
    return [_vectors(tokens, set()) for tokens in source.tokens([Text("", one) for one in texts])]


def _vectors(tokens: Tokens, content: set[str]) -> Vectors:
    mean = tokens.vectors.mean(axis=0, dtype=np.float64)
    kept = alignment.kept(tokens, "operators")
    inside = np.array([word in content for word in kept.spelled], dtype=np.float64)
    return Vectors(
        tokens=kept,
        even=alignment.weights_of(kept, None),
        content=inside / max(1.0, inside.sum()),
        mean=mean / max(float(np.linalg.norm(mean)), 1e-12),
    )


def compare(candidate: Vectors, reference: Vectors) -> tuple[float, ...]:
    """Compare two pieces of code.

    Returns:
        Precision and recall of the alignment of all tokens, the same of the content words, and the
        cosine of the mean vectors.
    """
    similarity = candidate.tokens.vectors @ reference.tokens.vectors.T
    forth, back = similarity.max(axis=1), similarity.max(axis=0)
    values = []
    for mine, theirs in (
        (candidate.even, reference.even),
        (candidate.content, reference.content),
    ):
        both = mine.any() and theirs.any()
        alike = float(mine.any() == theirs.any())
        values += [float(forth @ mine), float(back @ theirs)] if both else [alike, alike]
    return *values, float(candidate.mean @ reference.mean)
