from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def test_without_ignored_ngrams_it_is_bleu() -> None:
    candidate, reference = "for i in range(3): print(i)", "for row in rows: print(row)"

    assert metrics.make("crystalbleu", k=0).sentence(candidate, [reference]) == metrics.make(
        "bleu"
    ).sentence(candidate, [reference])


def test_ignored_tokens_leave_the_counts(tmp_path: Path) -> None:
    # The commonest n-gram of the corpus is `;`. Without it 1 of 3 candidate tokens matches, of the
    # 2-, 3- and 4-grams none of 4, 3, 2 does: they count as 1/2, 1/4 and 1/8. By hand.
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a ; b ; c ; d ;")
    metric = metrics.make("crystalbleu", corpus=str(corpus), k=1, tokens="whitespace")
    expected = (1 / 3 * 0.5 / 4 * 0.25 / 3 * 0.125 / 2) ** 0.25

    assert metric.sentence("x ; y ; z", ["x q ; r ;"]) == pytest.approx(expected)


def test_candidate_of_ignored_ngrams_alone_is_compared_all_the_same() -> None:
    assert metrics.make("crystalbleu", k=10_000).sentence("a = b", ["a = b"]) == 1


def test_order_of_samples_changes_no_score() -> None:
    samples = [
        Sample(candidate=f"a{n} = b ( {n} )", references=(f"a = b ( {n} )",)) for n in range(40)
    ]
    metric = metrics.make("crystalbleu")
    forward = metric.sentence_scores(metric.statistics(samples))
    backward = metric.sentence_scores(metric.statistics(samples[::-1]))

    assert Counter(forward.tolist()) == Counter(backward.tolist())
    assert metric.corpus(samples) < metrics.make("bleu").corpus(samples)


def test_missing_corpus_is_an_error(tmp_path: Path) -> None:
    metric = metrics.make("crystalbleu", corpus=str(tmp_path / "none.txt"))

    with pytest.raises(InputError, match="corpus of code"):
        metric.sentence("a", ["b"])
