"""Smoothed sentence BLEU, the variant reported in work on code review.

Differences from other BLEU variants: tokens are runs of letters and digits, single underscores and
single other characters, all in lower case; 1-grams are not smoothed, longer n-grams have one added
to the hits and to the total; the brevity penalty adds one to both lengths.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crscore.text import ENGLISH

Floats = npt.NDArray[np.float64]

ORDERS = (1, 2, 3, 4)
STOP_WORDS = ENGLISH

# "don't `read_file()`" -> don ' t ` read_file ()`: compared with the stop words
_WORD = re.compile(r"\w+|[^\w\s]+")
# The published pipeline splits at signs and then normalizes as mteval-v11a does. The only effect
# of that step after the split is to separate underscores: "read_file()" -> read _ file ( )
_TOKEN = re.compile(r"[^\W_]+|_|[^\w\s]")


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    ignored: frozenset[str] = frozenset(),
) -> Floats:
    """Score each text against its reference.

    Args:
        hypotheses: N texts.
        references: The reference of each.
        ignored: Words removed from both sides first, case-sensitively: a list in lower case does
            not remove "The".

    Returns:
        Shape (N,), each in [0, 100] and rounded to two decimals; higher is more similar. 0 for a
        pair without a common token or with a side without tokens.

    Source:
        Lin and Och, COLING 2004 (adding one from 2-grams on). The variant is the one of Li et
        al., FSE 2022, arXiv:2203.09095 (CodeReviewer), which Naik et al. report in NAACL 2025,
        arXiv:2409.19801. There, a blank hypothesis has exp(-tokens of the reference), next
        to 0 unless the reference is a word or two; here it has 0.

    Example:
        Three of four words, two of three pairs, one of two triples, none of one quadruple.

        >>> score(["close the open file"], ["close the open door"]).tolist()
        [65.8]
    """
    pairs = zip(hypotheses, references, strict=True)
    return np.array(
        [_bleu(_tokens(text, ignored), _tokens(reference, ignored)) for text, reference in pairs],
        dtype=np.float64,
    )


def _tokens(text: str, ignored: frozenset[str]) -> list[str]:
    words = (word for word in _WORD.findall(text) if word not in ignored)
    return _TOKEN.findall(" ".join(words).lower())


def _bleu(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    # 1-grams are not smoothed, and 0 has no logarithm.
    if not set(hypothesis) & set(reference):
        return 0.0
    logarithm = min(0.0, 1 - (len(reference) + 1) / (len(hypothesis) + 1))
    for order in ORDERS:
        ngrams = Counter(_grams(hypothesis, order))
        hits = (ngrams & Counter(_grams(reference, order))).total()
        added = 0 if order == 1 else 1
        logarithm += math.log((hits + added) / (ngrams.total() + added)) / len(ORDERS)
    return round(100 * math.exp(logarithm), 2)


def _grams(tokens: Sequence[str], order: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[start : start + order]) for start in range(len(tokens) - order + 1)]
