import pytest

from crscore_lab.study.baselines import overlap


def one(hypothesis: str, reference: str) -> float:
    return float(overlap.meteor([hypothesis], [reference])[0])


def test_score_of_the_same_text_is_short_of_one_by_its_single_chunk() -> None:
    assert one("a b c d", "a b c d") == pytest.approx(1 - 0.5 * (1 / 4) ** 3)


def test_score_of_words_in_another_order_is_cut_by_half() -> None:
    assert one("b a", "a b") == pytest.approx(1 - 0.5 * (2 / 2) ** 3)


def test_score_weighs_recall_nine_times_as_much_as_precision() -> None:
    # One word of one, and of two: PR / (0.9 P + 0.1 R), halved, as one word is one chunk.
    assert one("a", "a b") == pytest.approx(0.5 / (0.9 * 1 + 0.1 * 0.5) / 2)
    assert one("a b", "a") == pytest.approx(0.5 / (0.9 * 0.5 + 0.1 * 1) / 2)


def test_score_aligns_stems_after_equal_words() -> None:
    assert one("closing the files", "close the file") == pytest.approx(one("a b c", "a b c"))


def test_score_knows_no_synonyms() -> None:
    assert one("car", "automobile") == 0


@pytest.mark.parametrize(("hypothesis", "reference"), [("", "a"), ("a", ""), ("", ""), (" ", "a")])
def test_score_of_a_blank_side_is_zero(hypothesis: str, reference: str) -> None:
    assert one(hypothesis, reference) == 0
