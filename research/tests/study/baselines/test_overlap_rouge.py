import pytest

from crscore_lab.study.baselines import overlap


def one(hypothesis: str, reference: str) -> float:
    return float(overlap.rouge_l([hypothesis], [reference])[0])


def test_score_is_f1_of_the_longest_common_subsequence() -> None:
    # "close ... file" is 2 of 3 words of the text and 2 of 5 of the reference.
    expected = 2 * (2 / 3) * (2 / 5) / (2 / 3 + 2 / 5)
    assert one("close my file", "close it and then file") == pytest.approx(expected)


def test_score_wants_the_words_in_order() -> None:
    assert one("b a", "a b") == pytest.approx(1 / 2)


def test_score_compares_stems_without_case() -> None:
    assert one("Closing FILES", "close file") == 1


def test_score_is_the_same_both_ways() -> None:
    first, second = "close the file after the loop", "the loop leaves the file open"
    assert one(first, second) == pytest.approx(one(second, first))


@pytest.mark.parametrize(("hypothesis", "reference"), [("", "a"), ("a", ""), ("", ""), ("?", "?")])
def test_score_of_a_side_without_words_is_zero(hypothesis: str, reference: str) -> None:
    assert one(hypothesis, reference) == 0
