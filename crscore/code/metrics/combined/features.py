"""Features of a candidate beside one reference, on code without its own names.

Most are recalls: the share of what the reference has that the candidate has too. Learned with
precisions and F-scores as well, the metric agreed less with tests on held-out problems: what a
right program has in addition says little.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.combined.pieces import Piece
from crscore.errors import DependencyError

Floats = npt.NDArray[np.float64]

_WORDS: Final = frozenset(("number", "text", "role", "name", "operator", "keyword"))
_GRAM: Final = 4
_BAGS: Final = (
    "words", "pairs", "triples", "numbered pairs", "characters", "operators", "operators in place",
    "numbers", "texts", "names", "keywords", "roles", "calls", "nodes", "edges", "subtrees",
)  # fmt: skip
NAMES: Final = (
    *("vectors precision", "vectors recall", "vectors f1", "vectors f3"),
    *("content precision", "content recall", "content f1", "content f3"),
    *("cosine", "cosine with the context"),
    *(f"{bag} recall" for bag in _BAGS),
    *("lcs recall", "lcs of words recall", "equal"),
    *("size", "length apart", "tiny", "does not parse", "unfinished", "repetition"),
)
"""Name of each feature."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Piece of code with the counts that are compared."""

    piece: Piece
    words: tuple[str, ...]
    """Its tokens without brackets and separators."""
    bags: Mapping[str, Counter[Any]]
    """Counts by name."""


def look(piece: Piece) -> Seen:
    """Count what is compared in a piece of code."""
    words = tuple(
        token for token, kind in zip(piece.tokens, piece.kinds, strict=True) if kind in _WORDS
    )
    numbered = [
        token for token, kind in zip(piece.numbered, piece.kinds, strict=True) if kind in _WORDS
    ]
    text = " ".join(piece.tokens)
    counts: tuple[Counter[Any], ...] = (
        Counter(words),
        Counter(itertools.pairwise(words)),
        Counter(zip(words, words[1:], words[2:], strict=False)),
        Counter(itertools.pairwise(numbered)),
        Counter(text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)),
        piece.of_kind("operator"),
        Counter(_operators_in_place(piece)),
        piece.of_kind("number"),
        piece.of_kind("text"),
        piece.of_kind("name"),
        piece.of_kind("keyword"),
        piece.of_kind("role"),
        piece.calls,
        piece.nodes,
        piece.edges,
        piece.subtrees,
    )
    return Seen(piece, words, dict(zip(_BAGS, counts, strict=True)))


def _operators_in_place(piece: Piece) -> Iterable[tuple[str, ...]]:
    padded = ("", *piece.tokens, "")
    for at, kind in enumerate(piece.kinds):
        if kind == "operator":
            yield padded[at : at + 3]


def features(candidate: Seen, reference: Seen, vectors: Sequence[float], context: float) -> Floats:
    """Compare two pieces of code.

    Args:
        candidate: Code to judge.
        reference: Code to compare it with.
        vectors: Result of `vectors.compare`.
        context: Cosine of the candidate's mean vector and that of its context; 0 where that is
            no prose.

    Returns:
        Values in the order of `NAMES`.

    Raises:
        DependencyError: rapidfuzz is not installed.
    """
    precision, recall, of_content, content_recalled, cosine = vectors
    return np.array(
        [
            *_alignment(precision, recall),
            *_alignment(of_content, content_recalled),
            *(cosine, context),
            *(_recall(candidate.bags[bag], reference.bags[bag]) for bag in _BAGS),
            _in_order(candidate.piece.tokens, reference.piece.tokens),
            _in_order(candidate.words, reference.words),
            float(candidate.piece.numbered == reference.piece.numbered),
            *_alone(candidate.piece, reference.piece),
        ],
        dtype=np.float64,
    )


def _alignment(precision: float, recall: float) -> tuple[float, ...]:
    f1, f3 = (
        (1 + b * b) * precision * recall / max(b * b * precision + recall, 1e-9) for b in (1, 3)
    )
    return precision, recall, f1, f3


def _recall(candidate: Counter[Any], reference: Counter[Any]) -> float:
    """Return the share of the reference that the candidate has; 1 where there is nothing."""
    total = reference.total()
    return (candidate & reference).total() / total if total else 1.0


def _in_order(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Return the share of the reference in the longest common subsequence."""
    try:
        distance = importlib.import_module("rapidfuzz.distance")
    except ImportError as exc:
        raise DependencyError("rapidfuzz", "pip install 'crscore[code]'") from exc
    common: int = distance.LCSseq.similarity(candidate, reference)
    return common / max(1, len(reference))


def _alone(piece: Piece, reference: Piece) -> tuple[float, ...]:
    size, other = len(piece.tokens), len(reference.tokens)
    grams = Counter(zip(*(piece.tokens[at:] for at in range(_GRAM)), strict=False))
    return (
        math.log1p(size),
        abs(math.log((1 + size) / (1 + other))),
        float(size <= _GRAM),
        float(piece.errors > 0),
        float(piece.unfinished),
        1.0 - len(grams) / grams.total() if grams else 0.0,
    )
