import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.records import Aspects, Usefulness
from crscore.usefulness import headline, reading
from crscore.usefulness.headline import (
    CHANGE_SIZES,
    DESCRIPTIVE_COMMENT_VALUE,
    STANDING_WORDS,
    TOPICAL_SENTENCE_VALUE,
)

PROBABILITY = st.floats(0, 1)
HALF = Aspects(relevant=0.5, informative=0.5, clear=0.5, acted_on=0.5, reviewing=0.5)
REFERENCE = {size: np.array([0.1, 0.2, 0.2, 0.4], dtype=np.float32) for size in CHANGE_SIZES}


def make_reading(substance: float, about: float = 0.5) -> reading.SentenceReading:
    kinds = np.zeros(len(reading.KINDS), dtype=np.float32)
    return reading.SentenceReading(kinds=kinds, substance=substance, about=about)


def placed(value: float, reference=REFERENCE, size: str = next(iter(CHANGE_SIZES))) -> Usefulness:
    return headline.rank(0.5, 0.5, value, HALF, size=size, reference=reference)


def aspects(value: float, *, clear: float = 0.5) -> Aspects:
    return Aspects(relevant=value, informative=value, clear=clear, acted_on=value, reviewing=value)


def test_parts_joined_by_hand() -> None:
    aspects = Aspects(relevant=0.5, informative=0.4, clear=0.0, acted_on=0.2, reviewing=0.5)
    read = [make_reading(0.2, 0.64), make_reading(0.8, 0.36)]
    substance, value = headline.join_parts(0.25, read, [0.5, 1.0], aspects)
    # Acts: the middle of the mean 0.5 and the most 0.8; asked: the geometric mean.
    assert substance == pytest.approx(0.65 * 0.04 ** (1 / 3) * 0.5)
    # On topic: the geometric mean of 0.25 with each, times its degree.
    worth = ((0.2 + TOPICAL_SENTENCE_VALUE) * 0.4 * 0.5 + (0.8 + TOPICAL_SENTENCE_VALUE) * 0.3) / 2
    whole = (1 + TOPICAL_SENTENCE_VALUE) * (1 + DESCRIPTIVE_COMMENT_VALUE)
    assert value == pytest.approx(worth * (0.5 + DESCRIPTIVE_COMMENT_VALUE) / whole)


def joined(about: float, act: float, degree: float, rating: float) -> float:
    return headline.join_parts(
        about, [make_reading(act, about), make_reading(0.5)], [degree, 0.5], aspects(rating)
    )[1]


@given(PROBABILITY, st.lists(PROBABILITY, min_size=1, max_size=5), PROBABILITY, PROBABILITY)
def test_joined_parts_stay_within_0_and_1(about, acts, degree, rating) -> None:
    read = [make_reading(act, about) for act in acts]
    substance, value = headline.join_parts(about, read, [degree] * len(acts), aspects(rating))
    assert 0 <= substance <= 1
    assert 0 <= value <= 1 + 1e-9


@given(PROBABILITY, PROBABILITY, st.tuples(*[PROBABILITY] * 4))
def test_more_of_a_part_is_never_worth_less(low, high, rest) -> None:
    low, high = sorted((low, high))
    for at in range(4):
        less, more = ([*rest[:at], value, *rest[at + 1 :]] for value in (low, high))
        assert joined(*more) >= joined(*less)


def test_sentence_that_says_nothing_is_paid_for() -> None:
    alone = headline.join_parts(0.9, [make_reading(0.8, 0.9)], [0.7], HALF)
    padded = headline.join_parts(
        0.9, [make_reading(0.8, 0.9), make_reading(0.0, 0.0)], [0.7, 0.0], HALF
    )
    assert padded < alone
    assert padded[1] == pytest.approx(alone[1] / 2)


@given(st.lists(PROBABILITY, min_size=2, max_size=20), st.lists(PROBABILITY, max_size=30))
def test_standing_rises_with_the_value(values: list[float], others: list[float]) -> None:
    reference = {size: np.sort(np.array(others, dtype=np.float32)) for size in CHANGE_SIZES}
    standings = [placed(value, reference).standing for value in sorted(values)]
    assert standings == sorted(standings)
    assert all(0 <= standing <= 100 for standing in standings)


def test_standing_counts_equal_values_half() -> None:
    values = map(float, np.array([0.0, 0.1, 0.15, 0.3, 0.5], dtype=np.float32))
    assert [placed(value).standing for value in values] == [0, 12, 25, 75, 100]
    assert placed(float(np.float32(0.2))).standing == 50


@pytest.mark.parametrize(("value", "word"), [(0.5, 0), (0.3, 0), (0.15, 2), (0.1, 3), (0.0, 3)])
def test_word_goes_with_the_standing(value: float, word: int) -> None:
    assert placed(value).word == STANDING_WORDS[word][1]


def test_empty_reference_gives_the_least_standing_and_says_so() -> None:
    usefulness = placed(0.9, {size: np.zeros(0, dtype=np.float32) for size in CHANGE_SIZES})
    assert (usefulness.standing, usefulness.word) == (0, STANDING_WORDS[-1][1])
    assert usefulness.against.startswith("0 review comments")


@pytest.mark.parametrize(
    ("count", "size"),
    [(1, 0), (5, 0), (6, 1), (15, 1), (16, 2), (100, 2)],
)
def test_size_is_of_the_changed_lines(count: int, size: int) -> None:
    lines = " context\n" * 9 + "+x\n" * count
    diff = parse.parse_diff(f"--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,{9 + count} @@\n{lines}")
    assert headline.size_of(diff) == list(CHANGE_SIZES)[size]


def test_change_without_lines_is_a_small_one() -> None:
    diff = parse.parse_diff(
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    )
    assert headline.size_of(diff) == next(iter(CHANGE_SIZES))


@pytest.mark.parametrize("size", CHANGE_SIZES)
def test_every_size_is_told(size: str) -> None:
    assert placed(0.3, size=size).against == f"4 review comments by people on changes of {size}"
