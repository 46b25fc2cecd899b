"""Features of a candidate beside one reference, on code without its own names."""

from __future__ import annotations

import importlib
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from crscore.errors import DependencyError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from crscore.code.metrics.combined.pieces import Piece

    Features = npt.NDArray[np.float64]
    Bag = Counter[Hashable]

_WORDS: Final = frozenset(("number", "text", "role", "name", "operator", "keyword"))
_GRAM: Final = 4
_BRANCHES: Final = frozenset(
    ("if", "else", "elif", "case", "switch", "?", "try", "catch", "except")
)
_LOOPS: Final = frozenset(("for", "while", "do"))
_RETURNS: Final = frozenset(("return", "yield"))
_OUTPUT: Final = frozenset(("print", "println", "printf", "log", "cout", "input"))
_COMPARISONS: Final = frozenset(("<", ">", "<=", ">=", "==", "!=", "is", "===", "!=="))
_ARITHMETIC: Final = frozenset(
    ["+", "-", "*", "/", "%", "//", "**", "+=", "-=", "*=", "/=", "%=", "++", "--"]
)
_LOGIC: Final = frozenset(["and", "or", "not", "&&", "||", "!", "in"])


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Piece of code with the counts that are compared."""

    piece: Piece
    words: tuple[str, ...]
    """Its tokens without brackets and separators."""
    bags: Mapping[str, Bag]
    """Counts by name."""
    groups: Mapping[str, int]
    """Tokens of some groups."""


def look(piece: Piece) -> Seen:
    """Count what is compared in a piece of code."""
    words = tuple(
        token for token, kind in zip(piece.tokens, piece.kinds, strict=True) if kind in _WORDS
    )
    numbered = [
        token for token, kind in zip(piece.numbered, piece.kinds, strict=True) if kind in _WORDS
    ]
    text = " ".join(piece.tokens)
    bags: dict[str, Any] = {
        "words": Counter(words),
        "pairs": Counter(itertools.pairwise(words)),
        "triples": Counter(zip(words, words[1:], words[2:], strict=False)),
        "numbered pairs": Counter(itertools.pairwise(numbered)),
        "characters": Counter(text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)),
        "operators": piece.of_kind("operator"),
        "operators in place": Counter(_in_place(piece)),
        "numbers": piece.of_kind("number"),
        "texts": piece.of_kind("text"),
        "names": piece.of_kind("name"),
        "keywords": piece.of_kind("keyword"),
        "roles": piece.of_kind("role"),
        "calls": piece.calls,
        "nodes": piece.nodes,
        "edges": piece.edges,
        "subtrees": piece.subtrees,
    }
    groups = {
        "branches": _BRANCHES,
        "loops": _LOOPS,
        "returns": _RETURNS,
        "output": _OUTPUT,
        "comparisons": _COMPARISONS,
        "arithmetic": _ARITHMETIC,
        "logic": _LOGIC,
    }
    counts = bags["words"]
    return Seen(
        piece,
        words,
        bags,
        {name: sum(counts[one] for one in ones) for name, ones in groups.items()},
    )


def _in_place(piece: Piece) -> Iterable[tuple[str, ...]]:
    padded = ("", *piece.tokens, "")
    for at, kind in enumerate(piece.kinds):
        if kind == "operator":
            yield padded[at : at + 3]


def features(
    candidate: Seen, reference: Seen, vectors: Sequence[float], context: float
) -> Features:
    """Compare two pieces of code.

    Args:
        candidate: Code to judge.
        reference: Code to compare it with.
        vectors: Result of `vectors.compare`.
        context: Cosine of the candidate's mean vector and that of its context; 0 without one.

    Returns:
        Values in the order of `NAMES`.

    Raises:
        DependencyError: rapidfuzz is not installed.
    """
    precision, recall, of_content, content_recalled, cosine = vectors
    values = [*_alignment(precision, recall), *_alignment(of_content, content_recalled)]
    values += [cosine, context]
    for name in candidate.bags:
        values += _overlap(candidate.bags[name], reference.bags[name])
    values += _sequences(candidate, reference)
    values += [
        _difference(candidate.groups[name], reference.groups[name]) for name in candidate.groups
    ]
    values += _missing(candidate, reference)
    values += _alone(candidate, reference)
    return np.array(values, dtype=np.float64)


def _alignment(precision: float, recall: float) -> tuple[float, ...]:
    f1, f3 = (
        (1 + b * b) * precision * recall / max(b * b * precision + recall, 1e-9) for b in (1, 3)
    )
    return precision, recall, f1, f3


def _overlap(candidate: Bag, reference: Bag) -> tuple[float, float, float]:
    """Return precision, recall and F1 of two counts; 1 for an empty one beside another."""
    mine, theirs = candidate.total(), reference.total()
    common = (candidate & reference).total()
    return (
        common / mine if mine else 1.0 if not theirs else 0.0,
        common / theirs if theirs else 1.0,
        2 * common / (mine + theirs) if mine + theirs else 1.0,
    )


def _sequences(candidate: Seen, reference: Seen) -> list[float]:
    distance = _rapidfuzz()
    one, other = candidate.piece.tokens, reference.piece.tokens
    common = distance.LCSseq.similarity(one, other)
    words = distance.LCSseq.similarity(candidate.words, reference.words)
    return [
        common / max(1, len(one)),
        common / max(1, len(other)),
        words / max(1, len(candidate.words)),
        words / max(1, len(reference.words)),
        distance.Levenshtein.normalized_similarity(one, other),
        distance.Levenshtein.normalized_similarity(
            candidate.piece.numbered, reference.piece.numbered
        ),
        distance.Levenshtein.normalized_similarity(" ".join(one), " ".join(other)),
        float(candidate.piece.numbered == reference.piece.numbered),
    ]


def _rapidfuzz() -> Any:
    try:
        return importlib.import_module("rapidfuzz.distance")
    except ImportError as exc:
        raise DependencyError("rapidfuzz", "pip install 'crscore[code]'") from exc


def _difference(candidate: int, reference: int) -> float:
    return max(-3.0, min(3.0, float(candidate - reference)))


def _missing(candidate: Seen, reference: Seen) -> list[float]:
    values = []
    for name in ("operators", "operators in place", "numbers", "texts", "calls", "words", "nodes"):
        mine, theirs = candidate.bags[name], reference.bags[name]
        values += [math.log1p((theirs - mine).total()), math.log1p((mine - theirs).total())]
    return values


def _alone(candidate: Seen, reference: Seen) -> list[float]:
    piece = candidate.piece
    size, other = len(piece.tokens), len(reference.piece.tokens)
    grams = Counter(zip(*(piece.tokens[at:] for at in range(_GRAM)), strict=False))
    ratio = math.log((1 + size) / (1 + other))
    return [
        ratio,
        abs(ratio),
        math.log1p(size),
        math.log1p(other),
        float(piece.errors > 0),
        piece.errors,
        float(piece.unfinished),
        1.0 - len(grams) / grams.total() if grams else 0.0,
        float(not size),
        float(size <= _GRAM),
    ]


_BAGS: Final = (
    "words", "pairs", "triples", "numbered pairs", "characters", "operators", "operators in place",
    "numbers", "texts", "names", "keywords", "roles", "calls", "nodes", "edges", "subtrees",
)  # fmt: skip
NAMES: Final = (
    *("vectors precision", "vectors recall", "vectors f1", "vectors f3"),
    *("content precision", "content recall", "content f1", "content f3"),
    *("cosine", "cosine with the context"),
    *(f"{bag} {value}" for bag in _BAGS for value in ("precision", "recall", "f1")),
    *("lcs precision", "lcs recall", "lcs of words precision", "lcs of words recall"),
    *("edit of tokens", "edit of numbered tokens", "edit of text", "equal"),
    *("more branches", "more loops", "more returns", "more output"),
    *("more comparisons", "more arithmetic", "more logic"),
    *(
        f"{bag} {value}"
        for bag in (
            "operators",
            "operators in place",
            "numbers",
            "texts",
            "calls",
            "words",
            "nodes",
        )
        for value in ("missing", "extra")
    ),
    *("length", "length apart", "size", "size of the reference", "does not parse", "errors"),
    *("unfinished", "repetition", "empty", "tiny"),
)
"""Name of each feature."""
