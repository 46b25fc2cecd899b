import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crscore.records import (
    OFF_TOPIC,
    ON_TOPIC,
    Aspects,
    Receipt,
    Remark,
    Share,
    Stance,
    Usefulness,
    Verdict,
)
from crscore.usefulness import headline
from crscore.usefulness.headline import (
    BOTS,
    COMMENTS,
    KINDS,
    MAX_DEDUCTION,
    PEOPLE,
    PERCENTILE_WORDS,
    REVIEWS,
)
from crscore.usefulness.model import Scale
from crscore.usefulness.reader import name_level
from tests.helpers import useful

PROBABILITY = st.floats(0, 1)
HALF = Aspects(relevant=0.5, informative=0.5, clear=0.5)
REFERENCE = np.array([0.1, 0.2, 0.2, 0.4], dtype=np.float32)


def make_remark(
    worth: float, *, actionable: float = 0.9, about: float = 0.9, importance: float = 0.5
) -> Remark:
    """A remark whose worth and importance are shares of their scales."""
    return Remark(
        comment=0,
        sentences=(0,),
        stance=Stance.REQUEST,
        actionable=actionable,
        importance=4 * importance,
        level=name_level(importance),
        about=about,
        worth=1 + 4 * worth,
        specific=0.5,
        acts=0.5,
    )


def off_topic(**fields: float) -> Remark:
    """A remark as the reader makes those that are not about the change."""
    return make_remark(0.0, about=0.0, **fields)


def scale_of(values, kind: str = REVIEWS, **changes: object) -> Scale:
    """A scale with these values of people's texts of a kind, as both readers read them."""
    sets = {(name, writer): np.zeros(0, np.float32) for name in KINDS for writer in (PEOPLE, BOTS)}
    sets[kind, PEOPLE] = np.sort(np.asarray(values, dtype=np.float32))
    parts = {"values": sets, "spread": useful.scale().spread}
    return Scale(**(parts | changes))


def rank(*remarks: Remark, values=REFERENCE, kind: str = REVIEWS) -> Usefulness:
    return headline.rank(
        dict(enumerate(remarks)), 0.5, HALF, kind=kind, scale=scale_of(values, kind)
    )


REMARKS = st.lists(
    st.one_of(
        st.builds(make_remark, PROBABILITY, actionable=PROBABILITY, about=st.floats(ON_TOPIC, 1)),
        st.builds(off_topic, actionable=PROBABILITY),
    ),
    max_size=8,
)


# The value


@given(REMARKS)
def test_value_is_the_sum_of_shares_minus_the_deduction(remarks: list[Remark]) -> None:
    shares, price, value = headline.sum_up(dict(enumerate(remarks)))
    assert value == pytest.approx(sum(share.value for share in shares) - price)
    assert 0 <= value <= 1
    assert 0 <= price <= value + price
    assert sorted(share.remark for share in shares) == list(range(len(remarks)))
    assert [share.value for share in shares] == sorted(
        (share.value for share in shares), reverse=True
    )


@given(REMARKS, PROBABILITY)
def test_another_remark_never_lowers_the_sum_of_shares(remarks: list[Remark], worth: float) -> None:
    before, *_ = headline.sum_up(dict(enumerate(remarks)))
    after, *_ = headline.sum_up(dict(enumerate([*remarks, make_remark(worth)])))
    assert sum(share.value for share in after) >= sum(share.value for share in before) - 1e-12


@given(REMARKS, PROBABILITY, PROBABILITY)
def test_another_remark_lowers_the_value_by_its_deduction_at_most(
    remarks, worth, actionable
) -> None:
    *_, before = headline.sum_up(dict(enumerate(remarks)))
    further = make_remark(worth, actionable=actionable)
    *_, after = headline.sum_up(dict(enumerate([*remarks, further])))
    assert after >= before - headline.EMPTY_DEDUCTION - 1e-12


def test_deduction_is_limited_to_a_share_of_the_value() -> None:
    shares, price, value = headline.sum_up(
        {0: make_remark(0.8)} | {at: off_topic() for at in range(1, 10_000)}
    )
    assert price == pytest.approx(MAX_DEDUCTION * shares[0].value)
    assert value > 0


@pytest.mark.parametrize("empty", [off_topic(actionable=0.9), make_remark(0.3, actionable=0.1)])
def test_remark_that_is_not_actionable_reduces_the_value(empty: Remark) -> None:
    assert headline.sum_up({0: make_remark(0.8)})[1] == 0
    assert headline.sum_up({0: make_remark(0.8), 1: empty})[1] > 0


def test_remarks_of_equal_worth_keep_their_order_and_their_index() -> None:
    remarks = {7: make_remark(0.5), 3: make_remark(0.5), 5: make_remark(0.9)}
    shares, _, _ = headline.sum_up(remarks)
    assert [share.remark for share in shares] == [5, 3, 7]


def test_value_without_remarks_is_zero() -> None:
    assert headline.sum_up({}) == ((), 0, 0)
    assert rank().word == OFF_TOPIC
    assert (rank().importance, rank().value) == (0, 0)


def test_three_nits_do_not_add_up_to_a_bug() -> None:
    assert headline.value_of([4.5]) > headline.value_of([2.0] * 3) * 5


def test_importance_is_that_of_the_most_important_actionable_remark() -> None:
    remarks = [
        make_remark(0.9, importance=0.3),
        make_remark(0.1, importance=0.6),
        make_remark(0.1, importance=0.8, actionable=0.1),
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


@given(st.lists(PROBABILITY, max_size=9), st.lists(PROBABILITY, max_size=9), PROBABILITY)
def test_standing_is_the_percentage_of_people_and_bots_with_a_lower_value(
    people: list[float], bots: list[float], worth: float
) -> None:
    sets = scale_of(people).values | {(REVIEWS, BOTS): np.sort(np.asarray(bots, dtype=np.float32))}
    scale = Scale(values=sets, spread=useful.scale().spread)
    remark = make_remark(worth)
    ranked = headline.rank({0: remark}, 0.5, HALF, kind=REVIEWS, scale=scale)
    value = np.float32(ranked.value)
    both = np.asarray([*people, *bots], dtype=np.float32)
    lower = (both < value).sum() + (both == value).sum() / 2
    assert ranked.standing == round(100 * float(lower) / max(1, len(both)))


def test_standing_counts_equal_values_half() -> None:
    value = rank(make_remark(0.5)).value
    for below, equal, above in [(0, 1, 0), (1, 2, 1), (3, 0, 1), (0, 0, 4), (4, 0, 0)]:
        values = [0.0] * below + [value] * equal + [1.0] * above
        expected = round(100 * (below + equal / 2) / len(values))
        assert rank(make_remark(0.5), values=values).standing == expected


@pytest.mark.parametrize(("standing", "word"), PERCENTILE_WORDS)
def test_word_depends_on_the_standing(standing: int, word: str) -> None:
    values = [0.0] * standing + [1.0] * (100 - standing)
    assert rank(make_remark(0.5), values=values).standing == standing
    assert rank(make_remark(0.5), values=values).word == word


def test_word_depends_on_the_middle_of_the_interval() -> None:
    table = np.array([[0, 0, 10, 20], [100, 10, 20, 30]], dtype=np.float32)
    scale = scale_of([0.0] * 4, spread=dict.fromkeys(KINDS, table))
    usefulness = headline.rank({0: make_remark(0.5)}, 0.5, HALF, kind=REVIEWS, scale=scale)
    assert (usefulness.standing, usefulness.word) == (100, "of little use")
    assert usefulness.interval == "100 (10 to 100)"


@given(REMARKS.filter(bool))
def test_interval_contains_the_standing(remarks: list[Remark]) -> None:
    usefulness = rank(*remarks, values=np.linspace(0.01, 1, 100))
    assert 0 <= usefulness.low <= usefulness.standing <= usefulness.high <= 100


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({"actionable": 0.1}, (0, 5)),
        ({"receipt": Receipt(verdict=Verdict.REFUTED, says="", fact="It is not.")}, (0, 5)),
        # Somebody is asked for something, which may be about the change after all.
        ({"about": 0.1}, (0, 72)),
    ],
)
def test_review_that_asks_for_nothing_or_is_refuted_has_no_interval_above(
    changes: dict[str, object], ends: tuple[int, int]
) -> None:
    table = np.array([[0, 0, 10, 72], [100, 10, 20, 80]], dtype=np.float32)
    scale = scale_of([0.0] * 10 + [1.0] * 90, spread=dict.fromkeys(KINDS, table))
    remark = replace(make_remark(0.0), worth=1.0, actionable=0.9, about=0.9)
    remarks = {0: replace(remark, **changes)}
    usefulness = headline.rank(remarks, 0.5, HALF, kind=REVIEWS, scale=scale)
    assert (usefulness.low, usefulness.high) == ends


def test_interval_between_two_knots_is_interpolated() -> None:
    assert headline.interval_of(useful.scale().spread[COMMENTS], 55) == (45, 55, 65)


def test_standing_among_bots_counts_only_bots() -> None:
    people, bots = np.zeros(4, np.float32), np.ones(4, np.float32)
    values = {(kind, name): row for kind in KINDS for name, row in
              ((PEOPLE, people), (BOTS, bots))}  # fmt: skip
    scale = Scale(values=values, spread=useful.scale().spread)
    usefulness = headline.rank({0: make_remark(0.5)}, 0.5, HALF, kind=REVIEWS, scale=scale)
    assert (usefulness.standing, usefulness.among_bots) == (50, 0)
    assert usefulness.against == "8 reviews by people and bots"


@given(REMARKS.filter(bool))
def test_off_topic_agrees_with_the_standing(remarks: list[Remark]) -> None:
    usefulness = rank(*remarks, values=np.linspace(0.01, 1, 100))
    is_on_topic = any(remark.about >= ON_TOPIC for remark in remarks)
    assert (usefulness.word == OFF_TOPIC) is not is_on_topic
    if not is_on_topic:
        assert (usefulness.value, usefulness.standing, usefulness.importance) == (0, 0, 0)


def test_empty_reference_gives_the_lowest_standing_and_is_described() -> None:
    usefulness = rank(make_remark(0.9), values=[])
    assert (usefulness.standing, usefulness.word) == (0, PERCENTILE_WORDS[-1][1])
    assert usefulness.against.startswith("0 reviews")


def test_usefulness_has_the_sum_of_its_remarks() -> None:
    remarks = {4: make_remark(0.8), 9: off_topic()}
    usefulness = headline.rank(remarks, 0.3, HALF, kind=REVIEWS, scale=scale_of(REFERENCE))
    summed = usefulness.shares, usefulness.taken_off, usefulness.value
    assert summed == headline.sum_up(remarks)
    assert all(isinstance(share, Share) for share in usefulness.shares)
    assert (usefulness.about, usefulness.aspects) == (0.3, HALF)
    assert math.isfinite(usefulness.value)


# The comparison set


@pytest.mark.parametrize("kind", KINDS)
def test_real_texts_compared_with_are_described(kind: str) -> None:
    assert rank(make_remark(0.5), kind=kind).against == f"4 {kind} by people and bots"
