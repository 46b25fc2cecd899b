import numpy as np
import pytest

from crscore.errors import InputError
from crscore.records import Importance, Remark, Stance
from crscore.usefulness import headline
from crscore.usefulness.headline import PARTS
from crscore_lab.training import preferences
from crscore_lab.training.preferences import Candidate, MeasuredRemark

RNG = np.random.default_rng(0)
WEIGHTS = np.array([0.5, 0.4, 0.3, 0.2, 0.1, 0.6, 0.7, -1.0], dtype=np.float32)
GIVES, IMPORTANCE, WORTH = (PARTS.index(name) for name in ("gives", "importance", "worth"))


def measured(gives: float = 0.9, about: float = 0.9, **parts: float) -> MeasuredRemark:
    return MeasuredRemark([parts.get(name, 0.0) for name in PARTS], gives, about)


def review(group: str, kind: str, importance: float, worth: float = 0.0) -> Candidate:
    remark = measured(importance=importance, worth=worth)
    return Candidate(group=group, kind=kind, remarks=[remark])


def written(count: int = 8) -> list[Candidate]:
    """Reviews of which the better ones have the higher importance; the worth says nothing."""
    return [
        review(f"change {at}", kind, importance + RNG.normal() / 4, RNG.normal())
        for at in range(count)
        for kind, importance in (
            ("senior", 2.0), ("terse", 2.0), ("nits", -1.0), ("generic", -2.0), ("template 1", -2.0)
        )
    ]  # fmt: skip


def rated(name: str, *, sign: float = 1.0, count: int = 40, **fields: bool) -> list[Candidate]:
    """Comments whose rating goes with the measure `worth`."""
    items = []
    for rating in np.linspace(0, 1, count).round():
        remark = measured(worth=sign * (4 * rating - 2))
        ratings = {name: float(rating)}
        items.append(Candidate(group="a", kind="b", ratings=ratings, remarks=[remark], **fields))
    return items


def test_part_that_better_reviews_have_more_of_is_learned() -> None:
    candidates = written()
    weights = preferences.fit(candidates)
    assert weights.shape == (len(PARTS) + 1,)
    assert weights[IMPORTANCE] > 0.2
    assert weights[IMPORTANCE] > 3 * weights[WORTH]
    values = {
        kind: np.mean([preferences.value_of(it, weights) for it in candidates if it.kind == kind])
        for kind in ("senior", "terse", "nits", "generic")
    }
    assert min(values["senior"], values["terse"]) > values["nits"] > values["generic"]


@pytest.mark.parametrize("name", preferences.OUTCOMES)
def test_part_that_goes_with_an_outcome_is_learned(name: str) -> None:
    weights = preferences.fit(rated(name))
    assert weights[WORTH] > 0.2
    assert weights[WORTH] > 3 * weights[IMPORTANCE]


@pytest.mark.parametrize("name", preferences.OUTCOMES)
def test_no_weight_is_negative_even_if_less_is_better(name: str) -> None:
    weights = preferences.fit(rated(name, sign=-1))
    least = [preferences.MIN_WEIGHTS.get(part, 0.0) for part in PARTS]
    assert (weights[:-1] >= np.array(least, dtype=np.float32)).all()
    assert weights[WORTH] == pytest.approx(preferences.MIN_WEIGHTS["worth"], abs=1e-3)
    assert np.isfinite(weights).all()


def test_same_candidates_give_the_same_weights() -> None:
    candidates = [*written(), *rated("worth")]
    np.testing.assert_array_equal(preferences.fit(candidates), preferences.fit(candidates))


def test_people_are_not_compared_with_bots() -> None:
    people, bots = (rated("worth", is_person=is_person) for is_person in (True, False))
    better = [item for item in people if item.ratings["worth"] == 1]
    worse = [item for item in bots if item.ratings["worth"] == 0]
    assert list(preferences._outcome_pairs([*better, *worse])) == []
    assert list(preferences._outcome_pairs(people)) != []


@pytest.mark.parametrize(
    ("first", "second", "is_pair"), [(0.5, 0.25, True), (0.5, 0.3, False), (0.5, 0.5, False)]
)
def test_little_difference_tells_nothing_apart(first: float, second: float, is_pair: bool) -> None:
    items = [
        Candidate(group="a", kind="b", ratings={"importance": rating}, remarks=[measured()])
        for rating in (first, second)
    ]
    pairs = set(preferences._outcome_pairs(items))
    assert {(pair.better, pair.worse) for pair in pairs} == ({(0, 1)} if is_pair else set())


def test_unknown_rating_and_text_without_a_remark_are_in_no_pair() -> None:
    known, unknown, bare = rated("clear"), rated("clear", count=4), rated("clear", count=4)
    for item in unknown:
        item.ratings = {"clear": np.nan}
    for item in bare:
        item.remarks = []
    pairs = list(preferences._outcome_pairs([*unknown, *bare, *known]))
    assert pairs
    assert min(min(pair.better, pair.worse) for pair in pairs) >= 8


def test_each_source_has_its_weight_however_many_pairs_it_gives() -> None:
    few, many = (
        list(preferences._outcome_pairs(rated("worth", count=count))) for count in (4, 400)
    )
    assert len(many) == preferences.MAX_PAIRS
    for pairs in (few, many):
        total = sum(pair.weight for pair in pairs)
        assert total == pytest.approx(preferences.OUTCOMES["worth"])
    expected = 2 * sum(preferences.WORSE[kind] for kind in ("nits", "generic", "template"))
    expected += 2 * preferences.NITS_WEIGHT
    for count in (1, 8):
        pairs = list(preferences._written_pairs(written(count)))
        assert sum(pair.weight for pair in pairs) == pytest.approx(expected)


def test_written_reviews_are_compared_with_those_on_their_change() -> None:
    items = [
        review("one", "senior", 1), review("one", "template 0", 1), review("one", "template 1", 1),
        review("two", "nits", 1), review("two", "summary", 1), review("two", "up to 5 lines", 1),
    ]  # fmt: skip
    pairs = {tuple(pair[:2]) for pair in preferences._written_pairs(items)}
    assert pairs == {(0, 1), (0, 2), (3, 4)}


def test_nothing_to_compare_is_an_input_error() -> None:
    for candidates in ([], [review("one", "senior", 1)]):
        with pytest.raises(InputError, match="no two texts"):
            preferences.fit(candidates)


def remark_of(item: MeasuredRemark) -> Remark:
    """The remark that a reader makes of the same measures."""
    is_on_topic = item.about >= headline.ON_TOPIC
    return Remark(
        comment=0,
        sentences=(0,),
        stance=Stance.REQUEST,
        gives=item.gives,
        importance=0.5,
        level=Importance.MINOR,
        about=item.about,
        worth=headline.join_parts(item.parts, WEIGHTS) if is_on_topic else 0.0,
    )


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_values_are_those_of_the_headline(count: int) -> None:
    for _ in range(20):
        remarks = [
            MeasuredRemark(RNG.normal(size=len(PARTS)).tolist(), *RNG.uniform(0, 1, 2).tolist())
            for _ in range(count)
        ]
        candidate = Candidate(group="a", kind="b", remarks=remarks)
        *_, expected = headline.sum_up(dict(enumerate(map(remark_of, remarks))))
        assert preferences.value_of(candidate, WEIGHTS) == pytest.approx(expected, abs=1e-6)


def test_value_in_a_batch_is_that_of_the_text_alone() -> None:
    candidates = [
        Candidate(group="a", kind="b", remarks=[measured(importance=at)] * at) for at in range(5)
    ]
    values = preferences._Batch(candidates).values(WEIGHTS.astype(float))
    assert values == pytest.approx([preferences.value_of(it, WEIGHTS) for it in candidates])
