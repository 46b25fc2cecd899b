import pytest

from crscore_lab.study.measures.ranking import HUMAN as PEOPLE
from crscore_lab.study.measures.ranking import Systems, join, rank_systems
from tests.helpers import measured as helper

# Two reviews a system. Means of people: x 4, y 3, z 2, w 1; of the metric: .8, .9, .3, .1.
HUMAN = {"x": (5, 3), "y": (3, 3), "z": (2, 2), "w": (1, 1)}
VALUES = {"x": (0.9, 0.7), "y": (0.9, 0.9), "z": (0.6, 0.0), "w": (0.1, 0.1)}


def ranked(names: str = "xyzw", values: dict = VALUES) -> Systems:
    rows = [
        helper.row(str(i), name, (float(HUMAN[name][i]),) * 3) for name in names for i in range(2)
    ]
    metric = helper.metric([values[name][i] for name in names for i in range(2)])
    return rank_systems(helper.measured(rows, metric))


def test_table_has_means_and_ranks_best_for_people_first() -> None:
    table = [
        (one.system, one.reviews, one.mean, one.rank)
        for one in ranked("wzyx").means
        if (one.metric, one.dimension) == ("m", "relevance")
    ]
    assert table == [("x", 2, 0.8, 2.0), ("y", 2, 0.9, 1.0), ("z", 2, 0.3, 3.0), ("w", 2, 0.1, 4.0)]


def test_people_are_in_the_table_on_their_own_scale() -> None:
    people = [one for one in ranked().means if one.metric == "human"][:4]
    assert [(one.mean, one.rank) for one in people] == [(4, 1), (3, 2), (2, 3), (1, 4)]


def test_rank_correlation_is_that_of_the_means() -> None:
    row = ranked().ranking[2]
    assert row.dimension == "relevance"
    # One swap of neighbours among four: 1 - 6 * 2 / 60.
    assert row.spearman == pytest.approx(0.8)


def test_equal_means_share_a_rank() -> None:
    # 0.1 + 0.2 + 0.3 in another order is not the same number; the means are.
    values = VALUES | {"x": (0.7, 0.9), "y": (0.9, 0.7)}
    ranks = [one.rank for one in ranked(values=values).means if one.metric == "m"][:4]
    assert ranks == [1.5, 1.5, 3, 4]


@pytest.mark.parametrize("names", ["x", "xy"])
def test_too_few_systems_have_no_rank_correlation(names: str) -> None:
    assert ranked(names).ranking[0].spearman is None


def test_metric_that_ties_all_systems_has_no_rank_correlation() -> None:
    assert ranked(values=dict.fromkeys(VALUES, (0.5, 0.5))).ranking[0].spearman is None


def test_joined_tables_have_people_once_and_over_all_reviews() -> None:
    first, other = ranked(), ranked("xyz")
    joined = join([first, other])
    assert joined.ranking == first.ranking + other.ranking
    people = [one for one in joined.means if one.metric == PEOPLE]
    assert people == [one for one in first.means if one.metric == PEOPLE]
    assert [one.system for one in joined.means if one.metric == "m"][-3:] == ["x", "y", "z"]
