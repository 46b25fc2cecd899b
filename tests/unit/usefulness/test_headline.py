import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.records import (
    OFF_TOPIC,
    ON_TOPIC,
    Aspects,
    Importance,
    Remark,
    Share,
    Stance,
    Usefulness,
)
from crscore.usefulness import headline
from crscore.usefulness.headline import (
    CHANGE_SIZES,
    LEVELS,
    MAX_DEDUCTION,
    PARTS,
    PERCENTILE_WORDS,
    REVIEWS,
)
from crscore.usefulness.reading import RATINGS
from tests.helpers.useful import text_reading

PROBABILITY = st.floats(0, 1)
HALF = Aspects(relevant=0.5, informative=0.5, clear=0.5)
REFERENCE = np.array([0.1, 0.2, 0.2, 0.4], dtype=np.float32)


def make_remark(
    worth: float, *, gives: float = 0.9, about: float = 0.9, importance: float = 0.5
) -> Remark:
    return Remark(
        comment=0,
        sentences=(0,),
        stance=Stance.REQUEST,
        gives=gives,
        importance=importance,
        level=headline.name_level(importance),
        about=about,
        worth=worth,
    )


def off_topic(**fields: float) -> Remark:
    """A remark as the reader makes those that are not about the change."""
    return make_remark(0.0, about=0.0, **fields)


def rank(*remarks: Remark, values=REFERENCE, reference: str = REVIEWS) -> Usefulness:
    return headline.rank(
        dict(enumerate(remarks)), 0.5, HALF, reference=reference, values=np.asarray(values)
    )


REMARKS = st.lists(
    st.one_of(
        st.builds(make_remark, PROBABILITY, gives=PROBABILITY, about=st.floats(ON_TOPIC, 1)),
        st.builds(off_topic, gives=PROBABILITY),
    ),
    max_size=8,
)


# The value


@given(REMARKS)
def test_shares_less_the_price_are_the_value(remarks: list[Remark]) -> None:
    shares, price, value = headline.sum_up(dict(enumerate(remarks)))
    assert value == pytest.approx(sum(share.value for share in shares) - price)
    assert 0 <= value <= 1
    assert 0 <= price <= value + price
    assert sorted(share.remark for share in shares) == list(range(len(remarks)))
    assert [share.value for share in shares] == sorted(
        (share.value for share in shares), reverse=True
    )


@given(REMARKS, PROBABILITY)
def test_one_more_remark_lowers_no_sum_of_shares(remarks: list[Remark], worth: float) -> None:
    before, *_ = headline.sum_up(dict(enumerate(remarks)))
    after, *_ = headline.sum_up(dict(enumerate([*remarks, make_remark(worth)])))
    assert sum(share.value for share in after) >= sum(share.value for share in before) - 1e-12


@given(REMARKS, PROBABILITY, PROBABILITY)
def test_one_more_remark_lowers_the_value_by_its_price_at_most(remarks, worth, gives) -> None:
    *_, before = headline.sum_up(dict(enumerate(remarks)))
    *_, after = headline.sum_up(dict(enumerate([*remarks, make_remark(worth, gives=gives)])))
    assert after >= before - headline.EMPTY_DEDUCTION - 1e-12


def test_price_is_a_part_of_the_value_at_most() -> None:
    shares, price, value = headline.sum_up(
        {0: make_remark(0.8)} | {at: off_topic() for at in range(1, 10_000)}
    )
    assert price == pytest.approx(MAX_DEDUCTION * shares[0].value)
    assert value > 0


@pytest.mark.parametrize("empty", [off_topic(gives=0.9), make_remark(0.3, gives=0.1)])
def test_remark_that_gives_nothing_has_a_price(empty: Remark) -> None:
    assert headline.sum_up({0: make_remark(0.8)})[1] == 0
    assert headline.sum_up({0: make_remark(0.8), 1: empty})[1] > 0


def test_remarks_of_equal_worth_keep_their_order_and_their_index() -> None:
    remarks = {7: make_remark(0.5), 3: make_remark(0.5), 5: make_remark(0.9)}
    shares, _, _ = headline.sum_up(remarks)
    assert [share.remark for share in shares] == [5, 3, 7]


def test_no_remark_is_worth_nothing() -> None:
    assert headline.sum_up({}) == ((), 0, 0)
    assert rank().word == OFF_TOPIC
    assert (rank().importance, rank().value) == (0, 0)


# A remark


@given(st.data())
def test_worth_is_within_0_and_1(data) -> None:
    text = text_reading()
    text.ratings[:] = data.draw(st.lists(PROBABILITY, min_size=len(RATINGS), max_size=len(RATINGS)))
    parts = headline.measure_parts(text, data.draw(PROBABILITY))
    weights = data.draw(
        st.lists(st.floats(-9, 9), min_size=len(PARTS) + 1, max_size=len(PARTS) + 1)
    )
    assert len(parts) == len(PARTS)
    assert 0 <= headline.join_parts(parts, np.array(weights)) <= 1


@pytest.mark.parametrize("part", PARTS)
def test_more_of_a_part_measures_more(part: str) -> None:
    def measure(value: float) -> list[float]:
        ratings = {part: value} if part in RATINGS else {}
        return headline.measure_parts(text_reading(**ratings), value if part == "about" else 0.5)

    less, more = measure(0.2), measure(0.8)
    assert [more[at] > less[at] for at in range(len(PARTS))] == [name == part for name in PARTS]


def test_levels_fall_with_the_importance() -> None:
    levels = [headline.name_level(value) for value in np.linspace(1, 0, 101)]
    assert list(dict.fromkeys(levels)) == list(Importance)
    for threshold, level in LEVELS:
        assert headline.name_level(threshold) is level


def test_importance_is_that_of_the_weightiest_remark_that_gives_something() -> None:
    remarks = [
        make_remark(0.9, importance=0.3),
        make_remark(0.1, importance=0.6),
        make_remark(0.1, importance=0.8, gives=0.1),
        off_topic(importance=0.9),
    ]
    assert rank(*remarks).importance == 0.6


# The standing


@given(st.lists(PROBABILITY, min_size=2, max_size=20), st.lists(PROBABILITY, max_size=30))
def test_standing_rises_with_the_value(worths: list[float], others: list[float]) -> None:
    values = np.sort(np.array(others, dtype=np.float32))
    standings = [rank(make_remark(worth), values=values).standing for worth in sorted(worths)]
    assert standings == sorted(standings)
    assert all(0 <= standing <= 100 for standing in standings)


def test_standing_counts_equal_values_half() -> None:
    value = rank(make_remark(0.5)).value
    for below, equal, above in [(0, 1, 0), (1, 2, 1), (3, 0, 1), (0, 0, 4), (4, 0, 0)]:
        values = [0.0] * below + [value] * equal + [1.0] * above
        expected = round(100 * (below + equal / 2) / len(values))
        assert rank(make_remark(0.5), values=values).standing == expected


@pytest.mark.parametrize(("standing", "word"), PERCENTILE_WORDS)
def test_word_goes_with_the_standing(standing: int, word: str) -> None:
    values = [0.0] * standing + [1.0] * (100 - standing)
    assert rank(make_remark(0.5), values=values).standing == standing
    assert rank(make_remark(0.5), values=values).word == word


@given(REMARKS.filter(bool))
def test_off_topic_agrees_with_the_standing(remarks: list[Remark]) -> None:
    usefulness = rank(*remarks, values=np.linspace(0.01, 1, 100))
    is_on_topic = any(remark.about >= ON_TOPIC for remark in remarks)
    assert (usefulness.word == OFF_TOPIC) is not is_on_topic
    if not is_on_topic:
        assert (usefulness.value, usefulness.standing, usefulness.importance) == (0, 0, 0)
    else:
        expected = next(word for least, word in PERCENTILE_WORDS if usefulness.standing >= least)
        assert usefulness.word == expected


def test_empty_reference_gives_the_least_standing_and_says_so() -> None:
    usefulness = rank(make_remark(0.9), values=[])
    assert (usefulness.standing, usefulness.word) == (0, PERCENTILE_WORDS[-1][1])
    assert usefulness.against.startswith("0 reviews")


def test_usefulness_has_the_sum_of_its_remarks() -> None:
    remarks = {4: make_remark(0.8), 9: off_topic()}
    usefulness = headline.rank(remarks, 0.3, HALF, reference=REVIEWS, values=REFERENCE)
    summed = usefulness.shares, usefulness.taken_off, usefulness.value
    assert summed == headline.sum_up(remarks)
    assert all(isinstance(share, Share) for share in usefulness.shares)
    assert (usefulness.about, usefulness.aspects) == (0.3, HALF)
    assert math.isfinite(usefulness.value)


# The comparison set


@pytest.mark.parametrize(
    ("count", "size"),
    [(1, 0), (5, 0), (6, 1), (15, 1), (16, 2), (100, 2)],
)
def test_size_is_of_the_changed_lines(count: int, size: int) -> None:
    lines = " context\n" * 9 + "+x\n" * count
    diff = parse.parse_diff(f"--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,{9 + count} @@\n{lines}")
    assert headline.reference_of(diff, 1) == list(CHANGE_SIZES)[size]
    assert headline.reference_of(diff, 2) == REVIEWS


def test_change_without_lines_is_a_small_one() -> None:
    diff = parse.parse_diff(
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    )
    assert headline.reference_of(diff, 1) == next(iter(CHANGE_SIZES))


@pytest.mark.parametrize("size", CHANGE_SIZES)
def test_comparison_set_is_described(size: str) -> None:
    comment, review = (rank(make_remark(0.5), reference=name) for name in (size, REVIEWS))
    assert comment.against == f"4 review comments by people on changes of {size}"
    assert review.against == "4 reviews of several comments by people"
