"""Pools token vectors to one unit vector per text: the scaled mean without the stop words.

A token is left out if its word piece, in lower case, is a stop word, a full stop or a
comma. Pieces are compared as the tokenizer spells them: the tail of a split word begins with
`##`, so `##t` is not the stop word `t`. The special tokens that begin and end every text stay in
the mean, as published.

In a text of only stop words, only these special tokens would remain, and all such texts would have
nearly the same vector. So the mean of all tokens of such a text is used instead. An empty text has
only the special tokens.

Source:
    Naik et al., NAACL 2025, arXiv:2409.19801, the section on the similarity of sentences.
    The reference code masks every text of a batch with the stop words of the first one;
    here each text has its own mask.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from crscore.text import IGNORED_PIECES


def ignored_ids(vocabulary: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    """Mark the token ids that are left out of the mean.

    Args:
        vocabulary: Word piece -> token id; ids are not negative and may have gaps.

    Returns:
        Booleans, shape (largest id + 1,): True where the piece is ignored.

    Example:
        >>> ignored_ids({"[CLS]": 0, "The": 1, "loop": 2, "##t": 3, ".": 4}).tolist()
        [False, True, False, False, True]
    """
    marks = np.zeros(max(vocabulary.values(), default=-1) + 1, dtype=np.bool_)
    for piece, token in vocabulary.items():
        marks[token] = piece.lower() in IGNORED_PIECES
    return marks


def kept_tokens(
    ids: npt.NDArray[np.int64],
    present: npt.NDArray[np.bool_],
    marker: npt.NDArray[np.bool_],
    ignored: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:
    """Choose the tokens to average.

    Args:
        ids: Token ids, shape (N, T).
        present: False for padding, shape (N, T).
        marker: True at the tokens that the tokenizer adds around a text, shape (N, T).
        ignored: Result of `ignored_ids`.

    Returns:
        Booleans, shape (N, T): True for a token of the mean. If a text has only stop words, these
        are kept.

    Example:
        `[CLS] the loop [SEP]` loses its article; `[CLS] the [SEP]` keeps it.

        >>> ids = np.array([[0, 1, 2, 3], [0, 1, 3, 9]])
        >>> present = ids != 9
        >>> marker = (ids == 0) | (ids == 3)
        >>> ignored = np.array([False, True] + [False] * 8)
        >>> kept_tokens(ids, present, marker, ignored).astype(int).tolist()
        [[1, 0, 1, 1], [1, 1, 1, 0]]
    """
    words: npt.NDArray[np.bool_] = present & ~ignored[ids]
    # Without stop words, all texts that have no other words would have nearly the same vector
    # (docs/design/005-encoders.md).
    has_word = (words & ~marker).any(axis=1, keepdims=True)
    averaged: npt.NDArray[np.bool_] = np.where(has_word, words, present)
    return averaged


def pool(
    hidden: npt.NDArray[np.float32], averaged: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float32]:
    """Average the kept tokens and scale the mean to length 1.

    Args:
        hidden: Token vectors, shape (N, T, D). All must be finite, even those that are left out.
        averaged: The tokens to average, shape (N, T).

    Returns:
        Float32, shape (N, D), rows of length 1; a row without any token is zero.

    Example:
        >>> pool(np.array([[[3, 0], [0, 4], [7, 7]]], np.float32), np.array([[1, 1, 0]], bool))
        array([[0.6, 0.8]], dtype=float32)
    """
    # The sum is enough, because it has the direction of the mean and is scaled to length 1.
    sums = np.matmul(averaged[:, None, :].astype(np.float32), hidden)[:, 0, :]
    return unit_rows(sums)


def pool_rows(
    rows: npt.NDArray[np.float32], counts: npt.NDArray[np.intp]
) -> npt.NDArray[np.float32]:
    """Average the kept tokens of each text and scale the means to length 1.

    Args:
        rows: Vectors of the kept tokens only, text after text, shape (K, D).
        counts: Number of kept tokens of each text, shape (N,), each at least 1, K in total.

    Returns:
        Float32, shape (N, D), rows of length 1.

    Example:
        >>> pool_rows(np.array([[3, 0], [0, 4], [0, 5]], np.float32), np.array([2, 1]))
        array([[0.6, 0.8],
               [0. , 1. ]], dtype=float32)
    """
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return unit_rows(np.add.reduceat(rows, starts, axis=0))


def unit_rows(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scale every row to length 1; a zero row stays zero.

    Args:
        vectors: Shape (N, D).

    Returns:
        Float32, shape (N, D).
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    units: npt.NDArray[np.float32] = (vectors / lengths).astype(np.float32, copy=False)
    return units
