from __future__ import annotations

from collections import Counter

import pytest

from crscore.code import metrics, ngrams
from crscore.code.samples import Sample
from tests.helpers.corpus import corpus_score


def test_no_ngram_of_a_short_reference_is_ignored() -> None:
    candidate, reference = "for i in range(3): print(i)", "for row in rows: print(row)"

    assert metrics.make("crystalbleu").sentence(candidate, [reference]) == metrics.make(
        "bleu"
    ).sentence(candidate, [reference])


def test_ignored_ngrams_are_not_counted() -> None:
    # The n-gram `;` is ignored. Without it 1 of 3 candidate tokens matches, of the 2-, 3- and
    # 4-grams none of 4, 3, 2 does: they count as 1/2, 1/4 and 1/8. By hand.
    sample = Sample(candidate="x ; y ; z", references=("x q ; r ;",))
    counted = ngrams.statistics([sample], "whitespace", {(";",)})
    expected = (1 / 3 * 0.5 / 4 * 0.25 / 3 * 0.125 / 2) ** 0.25

    assert ngrams.bleu(counted, effective_order=True)[0] == pytest.approx(expected)


def test_commonest_ngram_of_many_references_is_ignored() -> None:
    # 101 references share one n-gram and have two of their own each: 0.5 % of 203 is 1.
    samples = [Sample(candidate="; y", references=("; x",))]
    samples += [Sample(candidate="a", references=(f"; x{n}",)) for n in range(100)]
    metric = metrics.make("crystalbleu", tokens="whitespace")

    assert metric.sentence_scores(metric.statistics(samples))[0] == 0
    assert metric.sentence("; y", ["; x"]) > 0


def test_candidate_with_only_ignored_ngrams_is_still_compared() -> None:
    sample = Sample(candidate="a = b", references=("a = b",))
    ignored = {
        gram for order in range(1, 5) for gram in ngrams.count_ngrams(["a", "=", "b"], order)
    }
    counted = ngrams.statistics([sample], "tranx", ignored)

    assert ngrams.bleu(counted, effective_order=True)[0] == 1


def test_order_of_samples_does_not_change_scores() -> None:
    samples = [
        Sample(candidate=f"a{n} = b ( {n} )", references=(f"a = b ( {n} )",)) for n in range(40)
    ]
    metric = metrics.make("crystalbleu")
    forward = metric.sentence_scores(metric.statistics(samples))
    backward = metric.sentence_scores(metric.statistics(samples[::-1]))

    assert Counter(forward.tolist()) == Counter(backward.tolist())
    assert corpus_score(metric, samples) < corpus_score(metrics.make("bleu"), samples)
