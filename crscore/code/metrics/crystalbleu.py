"""CrystalBLEU: BLEU-4 as in `bleu`, without the most common n-grams of code.

Source:
    Eghbali and Pradel, "CrystalBLEU", ASE 2022; the share of n-grams that is ignored is our choice.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Final

from crscore.code import ngrams
from crscore.code import tokens as splitting
from crscore.code.metrics.metric import Doubles, Metric
from crscore.code.samples import Sample

# The paper ignores the 500 commonest n-grams of a large corpus. With a few hundred references,
# these would be nearly all n-grams that two programs can have in common.
IGNORED_SHARE: Final = 0.005
"""Share of the references' distinct n-grams that is ignored, the most common n-grams first."""


@functools.lru_cache(maxsize=8)
def _find_common(texts: frozenset[str], kind: splitting.TokenKind) -> frozenset[ngrams.Ngram]:
    counts: Counter[ngrams.Ngram] = Counter()
    for text in texts:
        for order in range(1, ngrams.ORDER + 1):
            counts.update(ngrams.count_ngrams(splitting.split(text, kind), order))
    # Equal counts are sorted by text, so that the order of the samples does not matter.
    ranked = sorted(counts, key=lambda ngram: (-counts[ngram], ngram))
    return frozenset(ranked[: int(IGNORED_SHARE * len(counts))])


def create(*, tokens: splitting.TokenKind = "tranx") -> Metric:
    """Create the metric; if references have fewer than 200 distinct n-grams, none is ignored."""

    def reduce(samples: Sequence[Sample]) -> Doubles:
        # This is a set, so that a reference with several candidates counts once.
        texts = frozenset(text for sample in samples for text in sample.references)
        return ngrams.statistics(samples, tokens, _find_common(texts, tokens))

    identity = f"crystalbleu|tok:{tokens}|smooth:exp|ignored:{IGNORED_SHARE:.1%} of references"
    return Metric(
        name="crystalbleu",
        identify=lambda: identity,
        reduce=reduce,
        sentence_scores=functools.partial(ngrams.bleu, effective_order=True),
        corpus_scores=functools.partial(ngrams.bleu, effective_order=False),
    )
