import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.records import Aspects, Usefulness
from crscore.usefulness import headline, reading
from crscore.usefulness.headline import SIZES, WORDS

PROBABILITY = st.floats(0, 1)
HALF = Aspects(relevant=0.5, informative=0.5, clear=0.5, acted_on=0.5, reviewing=0.5)
REFERENCE = {size: np.array([0.1, 0.2, 0.2, 0.4], dtype=np.float32) for size in SIZES}


def one(substance: float) -> reading.Read:
    kinds = np.zeros(len(reading.KINDS), dtype=np.float32)
    return reading.Read(kinds=kinds, substance=substance, about=0.5)


def placed(value: float, reference=REFERENCE, size: str = next(iter(SIZES))) -> Usefulness:
    return headline.place(0.5, 0.5, value, HALF, size=size, reference=reference)


def aspects(value: float, *, clear: float = 0.5) -> Aspects:
    return Aspects(relevant=value, informative=value, clear=clear, acted_on=value, reviewing=value)


def test_parts_joined_by_hand() -> None:
    # Acts: the middle of the mean 0.5 and the most 0.8; said: the geometric mean.
    said = Aspects(relevant=0.5, informative=0.4, clear=0.0, acted_on=0.2, reviewing=0.5)
    substance, value = headline.join(0.6, [one(0.2), one(0.8)], said)
    assert substance == pytest.approx(0.65 * 0.04 ** (1 / 3) * 0.5)
    assert value == pytest.approx(0.6 * substance)


@given(PROBABILITY, st.lists(PROBABILITY, min_size=1, max_size=5), PROBABILITY)
def test_joined_parts_stay_within_0_and_1(about: float, acts: list[float], said: float) -> None:
    substance, value = headline.join(about, [one(act) for act in acts], aspects(said))
    assert 0 <= value <= substance <= 1


@given(PROBABILITY, PROBABILITY, PROBABILITY, PROBABILITY)
def test_more_of_a_part_is_never_worth_less(low: float, high: float, a: float, b: float) -> None:
    low, high = sorted((low, high))
    first = headline.join(low, [one(a)], aspects(b))[1]
    assert headline.join(high, [one(a)], aspects(b))[1] >= first
    assert (
        headline.join(a, [one(high)], aspects(b))[1] >= headline.join(a, [one(low)], aspects(b))[1]
    )
    assert (
        headline.join(a, [one(b)], aspects(high))[1] >= headline.join(a, [one(b)], aspects(low))[1]
    )


@given(st.lists(PROBABILITY, min_size=2, max_size=20), st.lists(PROBABILITY, max_size=30))
def test_standing_rises_with_the_value(values: list[float], others: list[float]) -> None:
    reference = {size: np.sort(np.array(others, dtype=np.float32)) for size in SIZES}
    found = [placed(value, reference).standing for value in sorted(values)]
    assert found == sorted(found)
    assert all(0 <= standing <= 100 for standing in found)


def test_standing_counts_equal_values_half() -> None:
    values = map(float, np.array([0.0, 0.1, 0.15, 0.3, 0.5], dtype=np.float32))
    assert [placed(value).standing for value in values] == [0, 12, 25, 75, 100]
    assert placed(float(np.float32(0.2))).standing == 50


@pytest.mark.parametrize(("value", "word"), [(0.5, 0), (0.3, 0), (0.15, 2), (0.1, 3), (0.0, 3)])
def test_word_goes_with_the_standing(value: float, word: int) -> None:
    assert placed(value).word == WORDS[word][1]


def test_empty_reference_gives_the_least_standing_and_says_so() -> None:
    found = placed(0.9, {size: np.zeros(0, dtype=np.float32) for size in SIZES})
    assert (found.standing, found.word) == (0, WORDS[-1][1])
    assert found.against.startswith("0 review comments")


@pytest.mark.parametrize(
    ("count", "size"),
    [(1, 0), (5, 0), (6, 1), (15, 1), (16, 2), (100, 2)],
)
def test_size_is_of_the_changed_lines(count: int, size: int) -> None:
    lines = " context\n" * 9 + "+x\n" * count
    diff = parse.parse_diff(f"--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,{9 + count} @@\n{lines}")
    assert headline.size_of(diff) == list(SIZES)[size]


def test_change_without_lines_is_a_small_one() -> None:
    diff = parse.parse_diff(
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    )
    assert headline.size_of(diff) == next(iter(SIZES))


@pytest.mark.parametrize("size", SIZES)
def test_every_size_is_told(size: str) -> None:
    assert placed(0.3, size=size).against == f"4 review comments by people on changes of {size}"
