"""CrystalBLEU: BLEU-4 as in `bleu`, without the n-grams that most code has in common.

Source:
    Eghbali and Pradel, "CrystalBLEU", ASE 2022; the ignored share of the references is our choice.
"""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec

from crscore.code import ngrams
from crscore.code import tokens as splitting
from crscore.code.metrics.metric import Floats, Metric
from crscore.code.samples import Sample
from crscore.errors import InputError

PAPER_K: Final = 500
"""Number of n-grams of a corpus that the paper ignores."""
# The paper's 500 of a few hundred references would be nearly all that two programs can have in
# common.
IGNORED_SHARE: Final = 0.005
"""Share of the distinct n-grams of the references that is ignored without a corpus."""


@functools.lru_cache(maxsize=8)
def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError as exc:
        raise InputError(f"{path} cannot be read as a corpus of code: {exc}") from exc


@functools.lru_cache(maxsize=8)
def _most_common(
    texts: frozenset[str], kind: splitting.TokenKind, k: int | None
) -> frozenset[ngrams.Ngram]:
    counts: Counter[ngrams.Ngram] = Counter()
    for text in texts:
        for order in range(1, ngrams.ORDER + 1):
            counts.update(ngrams.count_ngrams(splitting.split(text, kind), order))
    size = int(IGNORED_SHARE * len(counts)) if k is None else k
    # Equal counts are sorted by text, so that the order of the samples does not matter.
    return frozenset(sorted(counts, key=lambda ngram: (-counts[ngram], ngram))[:size])


def create(
    *,
    corpus: str | None = None,
    k: Annotated[int, msgspec.Meta(ge=0)] | None = None,
    tokens: splitting.TokenKind = "tranx",
) -> Metric:
    """Create the metric.

    Args:
        corpus: File of code whose commonest n-grams are ignored; without it the n-grams of the
            references of the samples that are scored together.
        k: Number of n-grams ignored; the default is 500 of a corpus, else 0.5 % of the distinct
            ones of the references, which is 0 for a single short reference.
        tokens: Kind of tokens.
    """
    number = PAPER_K if corpus and k is None else k

    def identify() -> str:
        if corpus is None:
            ignored = f"{IGNORED_SHARE:.1%} of references" if k is None else f"{k}"
        else:
            digest = hashlib.sha256(_read(corpus).encode("utf-8", "replace")).hexdigest()
            ignored = f"{number} of {digest[:12]}"
        return f"crystalbleu|tok:{tokens}|smooth:exp|ignored:{ignored}"

    def reduce(samples: Sequence[Sample]) -> Floats:
        if corpus is None:
            # A set, so that a reference counts once, however many candidates it has.
            texts = frozenset(text for sample in samples for text in sample.references)
        else:
            texts = frozenset({_read(corpus)})
        return ngrams.statistics(samples, tokens, _most_common(texts, tokens, number))

    return Metric(
        name="crystalbleu",
        identify=identify,
        reduce=reduce,
        sentence_scores=functools.partial(ngrams.bleu, effective_order=True),
        corpus_scores=functools.partial(ngrams.bleu, effective_order=False),
    )
