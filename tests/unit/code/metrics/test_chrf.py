from __future__ import annotations

import pytest
from sacrebleu.metrics.chrf import CHRF

from crscore.code import metrics
from crscore.code.samples import Sample
from tests.helpers.corpus import corpus_score

PAIRS = [
    ("rows.sort(key = len)", ("rows.sort(key=len)", "sorted(rows)")),
    ("x", ("xy + 1",)),
    ("for (int i = 0; i < n; i++) s += a[i];", ("int s = IntStream.of(a).sum();",)),
]
SAMPLES = [Sample(candidate=candidate, references=references) for candidate, references in PAIRS]


@pytest.mark.parametrize("word_order", [0, 2])
def test_sentences_equal_sacrebleu(word_order: int) -> None:
    metric = metrics.make("chrf", word_order=word_order)
    sacrebleu_metric = CHRF(word_order=word_order)
    expected = [
        sacrebleu_metric.sentence_score(candidate, list(references)).score / 100
        for candidate, references in PAIRS
    ]

    assert metric.sentence_scores(metric.statistics(SAMPLES)).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("word_order", [0, 2])
def test_corpus_equals_sacrebleu(word_order: int) -> None:
    streams = [
        [references[0] for _, references in PAIRS],
        [references[-1] for _, references in PAIRS],
    ]
    expected = CHRF(word_order=word_order).corpus_score(
        [candidate for candidate, _ in PAIRS], streams
    )

    metric = metrics.make("chrf", word_order=word_order)
    assert corpus_score(metric, SAMPLES) == pytest.approx(expected.score / 100)


def test_preset_takes_the_mean_of_rounded_scores() -> None:
    metric = metrics.make("chrf", preset="out-of-the-bleu")
    scores = metric.sentence_scores(metric.statistics(SAMPLES))

    assert scores.tolist() == scores.round(3).tolist()
    assert corpus_score(metric, SAMPLES) == pytest.approx(scores.mean())


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [("", ["a"], 0), ("a", [""], 0), ("", [" "], 1), ("\n", ["a", ""], 1), ("a", ["", "a"], 1)],
)
def test_empty_sides_have_a_score(candidate: str, references: list[str], expected: float) -> None:
    assert metrics.make("chrf").sentence(candidate, references) == expected
