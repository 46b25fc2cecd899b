from __future__ import annotations

import pytest

from crscore.code import metrics

PAIRS = [
    ("sorted rows key lambda r r name", "rows sort key operator attrgetter name"),
    ("print a b", "a b print"),
    ("x maxsize", "y"),
]


@pytest.mark.parametrize(
    ("candidate", "expected"), [("police kill the gunman", 0.75), ("the gunman kill police", 0.5)]
)
def test_examples_of_the_paper(candidate: str, expected: float) -> None:
    # Lin 2004, section 3.1, cited in "Out of the BLEU": reference "police killed the gunman".
    score = metrics.make("rouge_l", tokens="whitespace").sentence(
        candidate, ["police killed the gunman"]
    )

    assert score == expected


@pytest.mark.parametrize(("candidate", "reference"), PAIRS)
def test_words_equal_rouge_score(candidate: str, reference: str) -> None:
    # Imported here, as it brings scipy and nltk: 2 s of every process that collects tests.
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415

    expected = RougeScorer(["rougeL"]).score(reference, candidate)["rougeL"].fmeasure
    metric = metrics.make("rouge_l", tokens="whitespace")

    assert metric.sentence(candidate, [reference]) == pytest.approx(expected)


def test_best_reference_counts() -> None:
    assert metrics.make("rouge_l").sentence("a + b", ["c", "a + b"]) == 1


def test_preset_rounds_to_three_decimals() -> None:
    # LCS 1 of 3 and 3 tokens.
    assert metrics.make("rouge_l", preset="out-of-the-bleu").sentence("a b c", ["a d e"]) == 0.333


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"), [("", "a", 0), ("a", "", 0), ("", " ", 1)]
)
def test_empty_sides_have_a_score(candidate: str, reference: str, expected: float) -> None:
    assert metrics.make("rouge_l").sentence(candidate, [reference]) == expected


def test_brackets_alone_are_compared() -> None:
    assert metrics.make("rouge_l").sentence("[]", ["{}"]) == 0
