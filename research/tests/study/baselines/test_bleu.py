import math

import pytest
from nltk.tokenize import wordpunct_tokenize
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from crscore_lab.study.baselines import bleu


def one(hypothesis: str, reference: str, *ignored: str) -> float:
    return float(bleu.score([hypothesis], [reference], ignored=frozenset(ignored))[0])


def test_score_of_the_same_text_is_100() -> None:
    assert one("Why is `x` closed twice?", "Why is `x` closed twice?") == 100


def test_score_of_a_partly_equal_text_is_the_smoothed_mean_of_the_orders() -> None:
    # 1-grams 3/4; one added from there on: 2-grams 3/4, 3-grams 2/3, 4-grams 1/2.
    expected = 100 * (3 / 4 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert one("close the open file", "close the open door") == round(expected, 2)


def test_score_of_a_short_text_has_the_penalty_with_one_added_to_both_lengths() -> None:
    # Two of four tokens, all of them right: only the penalty 1 - 5/3 is left.
    assert one("close the", "close the open file") == round(100 * math.exp(1 - 5 / 3), 2)


def test_score_of_a_long_text_has_no_penalty() -> None:
    # 1-grams 2/4, 2-grams 2/4, 3-grams 1/3, 4-grams 1/2.
    expected = 100 * (2 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** (1 / 4)
    assert one("close the open file", "close the") == round(expected, 2)


def test_score_of_a_repeated_word_counts_it_as_often_as_the_reference_has_it() -> None:
    # 1-grams 1/3, 2-grams 1/3, 3-grams 1/2, 4-grams 1/1 (nothing, with one added).
    expected = 100 * (1 / 3 * 1 / 3 * 1 / 2) ** (1 / 4)
    assert one("loop loop loop", "loop once") == round(expected, 2)


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ("Please rename the variable to count, and test it.", "Rename this variable to count"),
        ("This should be closed in a finally block here.", "should this be closed in finally ?"),
        ("a b c d e f g a b c", "a b c x a b"),
    ],
)
def test_score_without_penalty_equals_nltk_with_one_added(hypothesis: str, reference: str) -> None:
    # nltk's penalty is another one, so these texts are longer than their references.
    theirs = sentence_bleu(
        [wordpunct_tokenize(reference.lower())],
        wordpunct_tokenize(hypothesis.lower()),
        smoothing_function=SmoothingFunction().method2,
    )
    assert one(hypothesis, reference) == pytest.approx(100 * theirs, abs=0.005)


def test_score_takes_no_notice_of_case() -> None:
    assert one("CLOSE the File", "close THE file") == 100


@pytest.mark.parametrize(
    ("joined", "apart"),
    [
        ("read_file", "read _ file"),
        ("__init__", "_ _ init _ _"),
        ("don't", "don ' t"),
        ("f(x)[0].y", "f ( x ) [ 0 ] . y"),
        ("v1.2-3", "v1 . 2 - 3"),
        ("a\n\tb", "a b"),
        ("naïve 日本!", "naïve 日本 !"),
    ],
)
def test_score_splits_at_every_sign_and_underscore(joined: str, apart: str) -> None:
    assert one(joined, apart) == 100


def test_score_without_ignored_words_leaves_them_out_of_both_sides() -> None:
    assert one("the loop is closed", "loop closed", "the", "is") == 100
    assert one("loop closed", "the loop is closed", "the", "is") == 100


def test_score_compares_ignored_words_as_they_are_written() -> None:
    assert one("The loop", "the loop", "the") < one("the loop", "the loop", "the") == 100


def test_score_compares_ignored_words_with_whole_words_not_with_their_parts() -> None:
    # `is_open` is one word to the list, though three tokens to the score.
    assert one("is_open", "is_open", "is") == 100


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [("", "close it"), ("close it", ""), ("", ""), (" \n", "close it"), ("the", "the")],
)
def test_score_of_a_side_without_tokens_is_zero(hypothesis: str, reference: str) -> None:
    assert one(hypothesis, reference, "the") == 0


def test_score_of_texts_without_a_common_token_is_zero() -> None:
    assert one("rename this", "close it") == 0


def test_score_is_rounded_to_two_decimals() -> None:
    value = one("close the open file now", "close a file")
    assert value == round(value, 2) > 0


def test_score_of_lists_of_other_lengths_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        bleu.score(["a", "b"], ["a"])
