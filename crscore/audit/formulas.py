"""Finds formulas: templated comments, which repeat earlier sentences with other names.

If a script fills in a template, each single comment may seem important. Only the other comments of
the same reviewer show that it comes from a template.

A *group* is four words in a row. A comment is a formula if at least half of its words are in groups
that at least two earlier comments of the reviewer have.
"""

import json
import re
import zlib
from collections import defaultdict
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.audit.store.database import Store
from crscore.audit.store.reports import Scope, read_words

MIN_EARLIER: Final = 2
"""A group counts if at least this number of earlier comments of the reviewer have it."""
# With this share, 0 to 1.4 % of the comments of each of six bots on real changes are formulas
# (docs/design/031-decisions.md).
MIN_SHARE: Final = 0.5
"""A comment is a formula if at least this share of its words is in groups that count."""
GROUP_WORDS: Final = 4
"""Number of words in a group."""
MAX_WORDS: Final = 40
"""Maximum number of words at the start of a comment that are compared."""

Ints = npt.NDArray[np.int64]

_STORED: Final = np.dtype("<u4")
"""Type of the number that a word is stored as."""
_EMPTY: Final = 0
"""Number that fills up a comment with fewer words than a group."""
_NAME: Final = 1
"""Number that stands for any name, figure or quoted code; plain words have larger numbers."""
# Among 10,000 different words, two have the same number in one of 40 stores.
_MAX_NUMBER: Final = 2**31
# Addresses count as quoted code, because the link to a linter's rule differs between comments.
_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|https?://\S+")
# Punctuation and emphasis of Markdown are removed, so that `**Note:**` is the word `note`.
_PUNCTUATION: Final = ".,;:!?()[]*'"


def number_words(text: str) -> bytes:
    """Return the first words of a comment as numbers of 4 bytes each, for `find_formulas`."""
    words = [word.strip(_PUNCTUATION) for word in _QUOTED.sub(" 1 ", text).split()]
    numbers = [
        2 + zlib.crc32(word.lower().encode()) % (_MAX_NUMBER - 2)
        if word.isalpha() and (word.islower() or word.istitle())
        else _NAME
        for word in words
        if word
    ][:MAX_WORDS]
    if numbers:
        numbers += [_EMPTY] * (GROUP_WORDS - len(numbers))
    return np.array(numbers, dtype=_STORED).tobytes()


def find_formulas(store: Store, scope: Scope) -> str:
    """Return the keys of the bots' comments that are formulas, as a JSON list.

    Raises:
        StoreError: The store cannot be read.
    """
    # The store already has the words as numbers. Numbering them here took a fifth of the time of a
    # comparison (`python -m benchmarks.audit_scale`).
    comments: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    for reviewer, key, words in read_words(store, scope):
        comments[reviewer].append((key, words))
    formulas: list[int] = []
    for rows in comments.values():
        keys, words = zip(*rows, strict=True)
        lengths = np.array([len(text) // _STORED.itemsize for text in words])
        numbers = np.frombuffer(b"".join(words), _STORED).astype(np.int64)
        formulas += np.array(keys)[_are_formulas(numbers, lengths)].tolist()
    return json.dumps(formulas)


def _are_formulas(words: Ints, lengths: Ints) -> npt.NDArray[np.bool_]:
    """Return which comments of a reviewer are formulas, shape (N,).

    Args:
        words: Numbers of the words of all N comments, the oldest comment first, shape (W,).
        lengths: Number of words of each comment, at least `GROUP_WORDS`, shape (N,).
    """
    comment = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.flatnonzero(comment[: 1 - GROUP_WORDS] == comment[GROUP_WORDS - 1 :])
    # Each group of four words gets one number, made from the numbers of its two pairs of words.
    _, pairs = np.unique(words[:-1] * (words.max() + 1) + words[1:], return_inverse=True)
    groups = pairs[starts] * (pairs.max() + 1) + pairs[starts + 2]
    order = np.argsort(groups, kind="stable")
    groups, comment_of = groups[order], comment[starts[order]]
    is_first = np.diff(groups, prepend=-1) != 0
    # A comment that has the same group twice is counted once.
    is_counted = is_first | (np.diff(comment_of, prepend=-1) != 0)
    counted = np.cumsum(is_counted)
    earlier = counted - counted[is_first][np.cumsum(is_first) - 1]
    is_repeated = np.zeros(len(words), dtype=bool)
    for offset in range(GROUP_WORDS):
        is_repeated[starts[order[earlier >= MIN_EARLIER]] + offset] = True
    is_word = words > _NAME
    first_words = np.cumsum(lengths) - lengths
    all_words = np.add.reduceat(is_word, first_words, dtype=np.int64)
    repeated_words = np.add.reduceat(is_word & is_repeated, first_words, dtype=np.int64)
    has_repeated = np.logical_or.reduceat(is_repeated, first_words)
    return has_repeated & (repeated_words >= MIN_SHARE * all_words)
