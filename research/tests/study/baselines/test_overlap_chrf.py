import pytest

from crscore_lab.study.baselines import overlap


def one(hypothesis: str, reference: str, *, word_order: int = 0) -> float:
    return float(overlap.chrf([hypothesis], [reference], word_order=word_order)[0])


def test_score_is_the_mean_over_the_orders_that_both_texts_have() -> None:
    # 1-grams 1 of 2 on both sides, 2-grams none of 1.
    assert one("ab", "ac") == pytest.approx((1 / 2 + 0) / 2)


def test_score_weighs_recall_twice_as_much_as_precision() -> None:
    # One character of one, and of two: 5PR / (4P + R).
    assert one("a", "ab") == pytest.approx(5 * 1 * 0.5 / (4 * 1 + 0.5))
    assert one("ab", "a") == pytest.approx(5 * 0.5 * 1 / (4 * 0.5 + 1))


def test_score_with_words_has_their_order_in_the_mean() -> None:
    # As above, and no word of 1.
    assert one("ab", "ac", word_order=2) == pytest.approx((1 / 2 + 0 + 0) / 3)


def test_score_takes_notice_of_case_and_none_of_spaces() -> None:
    assert one("Ab", "ab") < 1
    assert one("a b", "ab") == 1


@pytest.mark.parametrize("word_order", [0, overlap.PLUS_PLUS])
def test_score_of_a_blank_side_is_zero(word_order: int) -> None:
    for hypothesis, reference in [("", "a"), ("a", ""), ("", ""), (" ", "a")]:
        assert one(hypothesis, reference, word_order=word_order) == 0
