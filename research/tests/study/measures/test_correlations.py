import numpy as np
import pytest
import scipy.stats

from crscore_lab.statistics import ranks
from crscore_lab.study.data import study
from crscore_lab.study.measures.correlations import Correlation, correlate
from crscore_lab.study.measures.measurements import Measurements
from tests.helpers import measured as helper
from tests.helpers.slow_bootstrap import interval_of_rows

RNG = np.random.default_rng(5)
N = 120
SYSTEMS = tuple(RNG.choice(["gpt3.5", "llama3", "lstm"], N))
HUMAN = RNG.integers(1, 6, (N, 3)).astype(float)
# Junk: people rate most of its reviews 1.
HUMAN[np.array(SYSTEMS) == "lstm"] = np.where(HUMAN > 4, 2.0, 1.0)[np.array(SYSTEMS) == "lstm"]
VALUES = HUMAN + RNG.normal(0, 2, (N, 3))


ANNOTATORS = tuple("b" if i % 3 else None for i in range(N))


def measured(values: np.ndarray = VALUES, systems: tuple[str, ...] = SYSTEMS) -> Measurements:
    rows = [
        helper.row(
            str(i // 4),
            systems[i],
            tuple(HUMAN[i]),
            language="java" if i < 60 else "python",
            annotator=ANNOTATORS[i],
        )
        for i in range(N)
    ]
    return helper.measured(rows, helper.metric(values))


def row(name: str, dimension: str = "relevance", resamples: int = 0, **kwargs) -> Correlation:
    found = correlate(measured(**kwargs), resamples=resamples, seed=0)
    (one,) = [r for r in found if (r.slice, r.dimension) == (name, dimension)]
    return one


def expected(mask: np.ndarray, column: int = 2) -> float:
    return scipy.stats.spearmanr(VALUES[mask, column], HUMAN[mask, column]).statistic


def test_every_dimension_and_slice_has_one_row() -> None:
    found = correlate(measured(), resamples=0, seed=0)
    slices = ["pooled", "without-junk", "within-system", "language:java", "language:python"]
    slices += ["annotator:b"]
    assert [(r.dimension, r.slice) for r in found] == [
        (dimension, name) for dimension in study.DIMENSIONS for name in slices
    ]


@pytest.mark.parametrize(
    ("name", "mask"),
    [
        ("pooled", np.ones(N, bool)),
        ("without-junk", np.array(SYSTEMS) != "lstm"),
        ("language:java", np.arange(N) < 60),
        ("annotator:b", np.arange(N) % 3 > 0),
    ],
)
def test_slice_is_scipys_correlation_of_its_rows(name: str, mask: np.ndarray) -> None:
    assert row(name).spearman == pytest.approx(expected(mask))
    assert row(name).n == mask.sum()


def test_kendall_is_scipys() -> None:
    known = scipy.stats.kendalltau(VALUES[:, 0], HUMAN[:, 0]).statistic
    assert row("pooled", "conciseness").kendall == pytest.approx(known)


def test_pearson_is_scipys() -> None:
    known = scipy.stats.pearsonr(VALUES[:, 1], HUMAN[:, 1]).statistic
    assert row("pooled", "comprehensiveness").pearson == pytest.approx(known)


def test_within_system_is_the_mean_over_systems() -> None:
    each = [expected(np.array(SYSTEMS) == system) for system in ("gpt3.5", "llama3", "lstm")]
    assert row("within-system").spearman == pytest.approx(np.mean(each))


def test_system_in_which_the_metric_is_constant_counts_as_zero() -> None:
    values = VALUES.copy()
    values[np.array(SYSTEMS) == "lstm"] = 0.0
    each = [expected(np.array(SYSTEMS) == system) for system in ("gpt3.5", "llama3")]
    found = row("within-system", values=values)
    assert found.spearman == pytest.approx(sum(each) / 3)


def test_interval_contains_the_value() -> None:
    found = row("pooled", resamples=200)
    assert found.low < found.spearman < found.high


def test_constant_metric_has_no_correlation_and_no_interval() -> None:
    found = row("pooled", values=np.zeros((N, 3)), resamples=20)
    assert (found.spearman, found.kendall, found.low, found.high) == (None, None, None, None)


def slow_within_system(rows: np.ndarray) -> float:
    systems = np.array(SYSTEMS)[rows]
    return float(
        np.mean(
            [
                ranks.spearman(VALUES[rows[systems == one], 2], HUMAN[rows[systems == one], 2])
                or 0.0
                for one in np.unique(systems)
            ]
        )
    )


@pytest.mark.parametrize(
    ("name", "statistic"),
    [
        ("pooled", lambda rows: ranks.spearman(VALUES[rows, 2], HUMAN[rows, 2])),
        ("within-system", slow_within_system),
    ],
)
def test_interval_is_that_of_the_plain_bootstrap(name: str, statistic) -> None:
    # The same draws one by one: rows repeated, ranked anew, correlated.
    slow = interval_of_rows(statistic, measured().changes, resamples=50, seed=0)
    found = row(name, resamples=50)
    assert (found.low, found.high) == pytest.approx(slow)


def test_p_is_small_for_what_agrees_and_large_for_noise() -> None:
    assert row("pooled", resamples=200).p < 1e-3
    noise = np.random.default_rng(11).normal(size=(N, 3))
    assert row("pooled", resamples=200, values=noise).p > 0.05


def test_p_follows_from_fishers_z_of_the_draws() -> None:
    rng = np.random.default_rng(0)
    changes = np.array(measured().changes)
    members = [np.flatnonzero(changes == one) for one in np.unique(changes)]
    drawn = []
    for _ in range(50):
        rows = np.concatenate([members[i] for i in rng.integers(0, 30, 30)])
        drawn.append(scipy.stats.spearmanr(VALUES[rows, 2], HUMAN[rows, 2]).statistic)
    t = np.arctanh(expected(np.ones(N, bool))) / np.arctanh(drawn).std()
    assert row("pooled", resamples=50).p == pytest.approx(2 * scipy.stats.t.sf(t, 29), rel=1e-6)


def test_rows_of_one_change_do_not_make_a_correlation_surer() -> None:
    # 30 changes repeated four times over are still 30 changes.
    once = [helper.row(str(i), "s", tuple(HUMAN[i])) for i in range(30)]
    four = [one for one in once for _ in range(4)]
    values = VALUES[:30, 2]
    first = correlate(helper.measured(once, helper.metric(values)), resamples=200, seed=0)[0]
    second = correlate(
        helper.measured(four, helper.metric(np.repeat(values, 4))), resamples=200, seed=0
    )[0]
    assert second.p == pytest.approx(first.p, rel=0.2)


def test_without_resamples_there_is_neither_interval_nor_p() -> None:
    assert (row("pooled").low, row("pooled").high, row("pooled").p) == (None, None, None)


def test_row_of_a_metric_does_not_depend_on_other_metrics() -> None:
    alone = correlate(measured(), resamples=20, seed=3)
    both = helper.measured(
        list(measured().rows),
        helper.metric(VALUES),
        helper.metric(VALUES[:, 2], "n"),
    )
    found = correlate(both, resamples=20, seed=3)
    assert found[: len(alone)] == alone
    assert {r.metric for r in found[len(alone) :]} == {"n"}
