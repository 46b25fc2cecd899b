from __future__ import annotations

import pytest
from sacrebleu.metrics.bleu import BLEU

from crscore.code import metrics, tokens
from crscore.code.samples import Sample
from crscore.errors import ConfigError
from tests.helpers.corpus import corpus_score

PAIRS = [
    ("set(['a', 'b', 'b'])", ("''.join(['a', 'b', 'c'])",)),
    ("for i in range(len(rows)): print(rows[i])", ("for row in rows:\n    print(row)", "print(x)")),
    ("os.listdir('.')", ("os.walk(path)", "[f for f in os.listdir('.')]")),
    ("x", ("y",)),
    ("return total / count", ("return total / count",)),
]
SAMPLES = [Sample(candidate=candidate, references=references) for candidate, references in PAIRS]


def joined(text: str) -> str:
    return " ".join(tokens.tranx(text))


def test_paper_example_scores_48_09() -> None:
    # "Out of the BLEU", the introduction's example: 48.09 of 100 on tokens of tranX; its empty text
    # is written with six quotation marks.
    reference = '"' * 6 + ".join(['a','b','c'])"
    score = metrics.make("bleu", preset="out-of-the-bleu").sentence(
        "set(['a','b','b'])", [reference]
    )

    assert score == 0.481


def test_sentences_equal_sacrebleu() -> None:
    metric = metrics.make("bleu")
    sacrebleu_metric = BLEU(tokenize="none", effective_order=True)
    expected = [
        sacrebleu_metric.sentence_score(
            joined(candidate), [joined(text) for text in references]
        ).score
        / 100
        for candidate, references in PAIRS
    ]

    assert metric.sentence_scores(metric.statistics(SAMPLES)).tolist() == pytest.approx(expected)


def test_corpus_equals_sacrebleu() -> None:
    width = max(len(references) for _, references in PAIRS)
    streams = [[joined((*o, o[-1])[min(n, len(o))]) for _, o in PAIRS] for n in range(width)]
    expected = BLEU(tokenize="none").corpus_score(
        [joined(candidate) for candidate, _ in PAIRS], streams
    )

    assert corpus_score(metrics.make("bleu"), SAMPLES) == pytest.approx(expected.score / 100)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"), [("", "a", 0), ("a", "", 0), ("", " \n", 1)]
)
def test_empty_sides_have_a_score(candidate: str, reference: str, expected: float) -> None:
    assert metrics.make("bleu").sentence(candidate, [reference]) == expected


def test_unknown_preset_is_an_error() -> None:
    with pytest.raises(ConfigError, match="preset"):
        metrics.make("bleu", preset="bleu-out")


def test_identity_names_the_variant() -> None:
    identities = {
        metrics.make("bleu").identity,
        metrics.make("bleu", preset="out-of-the-bleu").identity,
        metrics.make("bleu", tokens="code").identity,
    }

    assert len(identities) == 3
