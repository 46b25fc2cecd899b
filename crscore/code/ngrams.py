"""Counts the n-grams that candidates share with references, and computes BLEU scores from them."""

from collections import Counter
from collections.abc import Container, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.code.samples import Sample
from crscore.code.tokens import TokenKind, split

Doubles = npt.NDArray[np.float64]
Ngram = tuple[str, ...]

ORDER: Final = 4
"""Maximum length of an n-gram of BLEU."""


def count_ngrams(tokens: Sequence[str], order: int) -> Counter[Ngram]:
    """Count the n-grams of `order` tokens."""
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


class References:
    """N-gram counts of the references of a problem, made once for all of its candidates.

    Args:
        references: Tokens of each reference.
        ignored: N-grams that are left out; if a candidate has no other n-grams, none is left out.
    """

    def __init__(
        self, references: Sequence[Sequence[str]], ignored: Container[Ngram] = frozenset()
    ) -> None:
        self._lengths = [len(tokens) for tokens in references]
        self._ignored = ignored
        self._counts: list[Counter[Ngram]] = []
        for order in range(1, ORDER + 1):
            maxima: Counter[Ngram] = Counter()
            for tokens in references:
                # The count of an n-gram is its highest count in a reference.
                maxima |= count_ngrams(tokens, order)
            self._counts.append(maxima)

    def statistics(self, candidate: Sequence[str]) -> list[int]:
        """Count a candidate's n-grams for BLEU.

        Args:
            candidate: Tokens of the candidate.

        Returns:
            Ten counts: the length of the candidate; the length of the reference whose length is
            nearest to it (the shorter of two that are equally near); for n = 1 to 4, the number of
            n-grams in common with the references; for n = 1 to 4, the number of the candidate's
            n-grams.
        """
        length = len(candidate)
        # `_get_closest_ref_len` of
        # https://github.com/mjpost/sacrebleu/blob/master/sacrebleu/metrics/bleu.py
        nearest = min(self._lengths, key=lambda size: (abs(size - length), size))
        all_counts = [count_ngrams(candidate, order) for order in range(1, ORDER + 1)]
        counts = [
            Counter({ngram: n for ngram, n in order.items() if ngram not in self._ignored})
            for order in all_counts
        ]
        # A candidate that has only ignored n-grams, such as `);`, is still compared.
        counts = counts if any(counts) else all_counts
        common = [
            (order & maxima).total() for order, maxima in zip(counts, self._counts, strict=True)
        ]
        return [length, nearest, *common, *(order.total() for order in counts)]


def statistics(
    samples: Sequence[Sample], kind: TokenKind, ignored: Container[Ngram] = frozenset()
) -> Doubles:
    """Count the n-grams of samples for BLEU.

    Args:
        samples: N samples.
        kind: Kind of tokens.
        ignored: As in `References`.

    Returns:
        Counts of each sample, shape (N, 10), in the order of `References.statistics`.
    """
    counted: dict[tuple[str, ...], References] = {}
    rows = []
    for sample in samples:
        texts = sample.references
        if texts not in counted:
            counted[texts] = References([split(text, kind) for text in texts], ignored)
        rows.append(counted[texts].statistics(split(sample.candidate, kind)))
    return np.array(rows, dtype=np.float64)


def bleu(statistics: Doubles, *, effective_order: bool) -> Doubles:
    """Compute BLEU scores.

    The score is smoothed as in sacrebleu by default (method 3 of Chen and Cherry): at the k-th
    length for which none of the candidate's T n-grams is common, the precision is 1 / (2^k T).

    Args:
        statistics: Shape (N, 10), rows or sums of rows of `References.statistics`.
        effective_order: Whether to leave out lengths for which a candidate has no n-gram; otherwise
            a candidate of fewer than 4 tokens scores 0.

    Returns:
        Scores in [0, 1], shape (N,): brevity penalty · geometric mean of the precisions. The score
        is 0 if no n-gram is common, and 1 if neither side has a token.

    Source:
        Papineni et al., ACL 2002; Chen and Cherry, WMT 2014; Post, WMT 2018.
    """
    length, nearest = statistics[:, 0], statistics[:, 1]
    common, total = statistics[:, 2 : 2 + ORDER], statistics[:, 2 + ORDER :]
    present = total > 0
    # Each further length without a match halves its count: 1/2, 1/4, ... (sacrebleu's `exp`).
    missed = present & (common == 0)
    smoothed = np.where(missed, 0.5 ** np.cumsum(missed, axis=1), common)
    precisions = smoothed / np.where(present, total, 1)
    logs = np.log(np.where(present, precisions, 1)).sum(axis=1)
    orders = np.maximum(present.sum(axis=1), 1) if effective_order else ORDER
    penalty = np.exp(np.minimum(0, 1 - nearest / np.maximum(length, 1)))
    defined = common.any(axis=1) & (effective_order | present.all(axis=1))
    scores = np.where(defined, penalty * np.exp(logs / orders), 0.0)
    # Two empty texts are equal; sacrebleu gives them 0.
    result: Doubles = np.where((length == 0) & (nearest == 0), 1.0, scores)
    return result
