import numpy as np
import pytest

from crscore.errors import InputError
from crscore.usefulness.headline import BOTS, COMMENTS, PEOPLE, REVIEWS
from crscore.usefulness.reading import OUTPUTS, PHRASED
from crscore_lab.training import worth
from crscore_lab.training.worth import KNOTS, Candidate, MeasuredRemark

RNG = np.random.default_rng(0)
WIDTH = len(OUTPUTS) + len(PHRASED)
WORTH, IMPORTANCE = OUTPUTS.index("worth"), OUTPUTS.index("importance")
ONLY_WORTH = np.eye(WIDTH + 1, dtype=np.float32)[WORTH]


def remark(about: float = 1.0, **logits: float) -> MeasuredRemark:
    measures = np.zeros(WIDTH, dtype=np.float32)
    for name, value in logits.items():
        measures[OUTPUTS.index(name)] = value
    return MeasuredRemark(measures, about)


def comments(count: int = 200, **fields: bool) -> list[Candidate]:
    """Comments whose worth goes with their importance; the network's own worth says nothing."""
    return [
        Candidate(
            kind=COMMENTS,
            worths=[share],
            remarks=[remark(importance=6 * share - 3 + RNG.normal() / 4, worth=RNG.normal())],
            **fields,
        )
        for share in np.linspace(0, 1, count)
    ]


def test_measure_that_correlates_with_the_worth_gets_a_weight() -> None:
    weights = worth.fit(comments(2_000, is_person=True))
    assert weights.shape == (WIDTH + 1,)
    assert weights[IMPORTANCE] > 5 * abs(weights[WORTH])


def test_targets_of_written_reviews_depend_on_their_kind() -> None:
    written = [
        Candidate(kind=kind, remarks=[remark(actionable=level + RNG.normal() / 4)])
        for kind, level in (("senior", 2.0), ("template 1", -2.0))
        for _ in range(500)
    ]
    weights = worth.fit(written)
    senior, template = (worth.worths_of(written[at], weights)[0] for at in (0, -1))
    assert 1 < template < 2 < senior < 5


def test_best_remark_represents_its_comment() -> None:
    low, high = remark(worth=-1.0, importance=2.0), remark(worth=1.0)
    assert worth.best_of([low, high]) is high.measures


def test_remark_about_something_else_is_worth_the_least() -> None:
    item = Candidate(kind=COMMENTS, remarks=[remark(0.1, worth=3.0), remark(worth=3.0)])
    away, own = worth.worths_of(item, ONLY_WORTH)
    assert away == 1
    assert own > 4.5


def test_texts_without_a_known_worth_are_an_input_error() -> None:
    with pytest.raises(InputError, match="no remark of the data has a known worth"):
        worth.fit([Candidate(kind=COMMENTS, remarks=[remark()])])


def test_scale_has_the_values_of_each_set_and_a_spread() -> None:
    reviews = [
        Candidate(kind=REVIEWS, is_person=at % 2 == 0, worths=[at / 40], remarks=[remark(worth=at)])
        for at in range(40)
    ]
    other = Candidate(kind="senior", remarks=[remark()])
    scale = worth.make_scale([*reviews, *comments(60), other], ONLY_WORTH)
    assert {key: len(row) for key, row in scale.values.items()} == {
        (REVIEWS, PEOPLE): 20, (REVIEWS, BOTS): 20, (COMMENTS, PEOPLE): 0, (COMMENTS, BOTS): 60,
    }  # fmt: skip
    for table in scale.spread.values():
        assert table.shape == (KNOTS, 4)
        assert (np.diff(table, axis=0) >= 0).all()


def test_spread_is_narrow_where_the_network_agrees_with_readers() -> None:
    def width(noise: float) -> float:
        items = [
            Candidate(kind=COMMENTS, worths=[share], remarks=[remark(worth=8 * share + noise * z)])
            for share, z in zip(np.linspace(0, 1, 400), RNG.normal(size=400), strict=True)
        ]
        table = worth.make_scale([*items, *reviews_of(items)], ONLY_WORTH).spread[COMMENTS]
        return float((table[:, 3] - table[:, 1]).mean())

    assert width(0.1) < width(3.0) / 2


def reviews_of(items: list[Candidate]) -> list[Candidate]:
    return [Candidate(kind=REVIEWS, worths=item.worths, remarks=item.remarks) for item in items]
