"""Token vectors of code, from any encoder, and windows over code that is longer than it reads."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

OVERLAP: Final = 0.5
"""Share of a window that only gives context to the rest of it."""


class Text(NamedTuple):
    """Code with the text in front of it, which is read but not compared."""

    context: str
    """Text before the code; may be empty."""
    code: str
    """The code; may be empty."""


class Tokens(NamedTuple):
    """L tokens of a piece of code."""

    keys: npt.NDArray[np.int64]
    """Ids, shape (L,); the same token has the same id."""
    spelled: tuple[str, ...]
    """Each as written, without the signs by which a tokenizer marks word boundaries; empty for
    white space."""
    marker: npt.NDArray[np.bool_]
    """Shape (L,): True at special tokens, which can be matched but have no weight."""
    vectors: Floats
    """Shape (L, D), rows of length 1."""

    def keep(self, mask: npt.NDArray[np.bool_]) -> Tokens:
        """Return the tokens whose place in a mask, shape (L,), is true."""
        spelled = tuple(itertools.compress(self.spelled, mask))
        return Tokens(self.keys[mask], spelled, self.marker[mask], self.vectors[mask])


class TokenSource(Protocol):
    """Encoder of tokens."""

    @property
    def identity(self) -> str:
        """Model, revision and layer: the same identity gives the same vectors."""
        ...

    def tokens(self, texts: Sequence[Text]) -> list[Tokens]:
        """Return the tokens of the code of each text, without those of its context.

        Raises:
            DependencyError: A package is missing.
            ModelNotFoundError: The model's files are not available.
            EncodingError: The model cannot be loaded or used.
        """
        ...


class Window(NamedTuple):
    """Part of a sequence that an encoder reads at once."""

    start: int
    """First token read."""
    stop: int
    """Index after the last token read."""
    first: int
    """First token whose vector is taken from this window."""
    end: int
    """Index after the last token whose vector is taken from this window."""


def windows(length: int, limit: int) -> Iterator[Window]:
    """Cut a sequence into overlapping windows, each of which contributes its centre.

    Args:
        length: Tokens of the sequence, at least 1.
        limit: Most tokens that an encoder reads, at least 4.

    Yields:
        Windows whose contributions cover every token once; the last one ends with the sequence.

    Source:
        Ivgi et al., TACL 2023, arXiv:2208.00748 (SLED), which CodeBERTScore uses.

    Example:
        >>> [tuple(window) for window in windows(10, 4)]
        [(0, 4, 0, 3), (2, 6, 3, 5), (4, 8, 5, 7), (6, 10, 7, 10)]
    """
    margin = int(limit * OVERLAP / 2)
    first, start = 0, 0
    while start + limit < length:
        end = start + limit - margin
        yield Window(start, start + limit, first, end)
        first, start = end, min(start + limit - 2 * margin, length - limit)
    yield Window(start, length, first, length)


def encode_windows(
    rows: Sequence[Sequence[int]],
    limit: int,
    encode: Callable[[list[Sequence[int]]], Sequence[Floats]],
) -> list[Floats]:
    """Encode sequences of any length.

    Args:
        rows: Ids of the tokens of each sequence, at least one.
        limit: Most tokens that `encode` reads.
        encode: Returns the vectors of each of some sequences, shape (L, D).

    Returns:
        For each sequence the vectors of its tokens, shape (L, D), rows of length 1.
    """
    cut = [(index, window) for index, row in enumerate(rows) for window in windows(len(row), limit)]
    encoded = encode([rows[index][window.start : window.stop] for index, window in cut])
    parts: list[list[Floats]] = [[] for _ in rows]
    for (index, window), vectors in zip(cut, encoded, strict=True):
        parts[index].append(vectors[window.first - window.start : window.end - window.start])
    return [_unit_rows(np.concatenate(part)) for part in parts]


def _unit_rows(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    # A zero vector stays zero.
    units: Floats = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return units
