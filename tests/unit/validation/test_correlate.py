import numpy as np
import pytest
import scipy.stats

from crscore.validation.correlate import Correlation, correlations
from crscore.validation.measure import Measurements, Metric

RNG = np.random.default_rng(5)
N = 120
SYSTEMS = tuple(RNG.choice(["gpt3.5", "llama3", "lstm"], N))
HUMAN = RNG.integers(1, 6, (N, 3)).astype(float)
VALUES = HUMAN + RNG.normal(0, 2, (N, 3))


def measured(values: np.ndarray = VALUES, systems: tuple[str, ...] = SYSTEMS) -> Measurements:
    return Measurements(
        changes=tuple(str(i // 4) for i in range(N)),
        systems=systems,
        languages=tuple("java" if i < 60 else "python" for i in range(N)),
        human=HUMAN,
        metrics=(Metric(name="m", values=values, primary=True),),
        blank=0,
        excluded=(),
        references=3.0,
        tau_by_procedure=None,
    )


def row(name: str, dimension: str = "relevance", resamples: int = 0, **kwargs) -> Correlation:
    found = correlations(measured(**kwargs), resamples=resamples, seed=0)
    (one,) = [r for r in found if (r.slice, r.dimension) == (name, dimension)]
    return one


def expected(mask: np.ndarray, column: int = 2) -> float:
    return scipy.stats.spearmanr(VALUES[mask, column], HUMAN[mask, column]).statistic


def test_every_dimension_and_slice_has_one_row() -> None:
    found = correlations(measured(), resamples=0, seed=0)
    slices = {"pooled", "without-junk", "within-system", "language:java", "language:python"}
    assert {r.slice for r in found} == slices
    assert len(found) == 3 * len(slices)


@pytest.mark.parametrize(
    ("name", "mask"),
    [
        ("pooled", np.ones(N, bool)),
        ("without-junk", np.array(SYSTEMS) != "lstm"),
        ("language:java", np.arange(N) < 60),
    ],
)
def test_slice_is_scipys_correlation_of_its_rows(name: str, mask: np.ndarray) -> None:
    assert row(name).spearman == pytest.approx(expected(mask))
    assert row(name).n == mask.sum()


def test_kendall_is_scipys() -> None:
    known = scipy.stats.kendalltau(VALUES[:, 0], HUMAN[:, 0]).statistic
    assert row("pooled", "conciseness").kendall == pytest.approx(known)


def test_within_system_is_the_mean_over_systems() -> None:
    each = [expected(np.array(SYSTEMS) == system) for system in ("gpt3.5", "llama3", "lstm")]
    assert row("within-system").spearman == pytest.approx(np.mean(each))


def test_system_in_which_the_metric_is_constant_counts_as_zero() -> None:
    values = VALUES.copy()
    values[np.array(SYSTEMS) == "lstm"] = 0.0
    each = [expected(np.array(SYSTEMS) == system) for system in ("gpt3.5", "llama3")]
    found = row("within-system", values=values)
    assert found.spearman == pytest.approx(sum(each) / 3)


def test_interval_holds_the_value() -> None:
    found = row("pooled", resamples=200)
    assert found.low < found.spearman < found.high


def test_constant_metric_has_no_correlation_and_no_interval() -> None:
    found = row("pooled", values=np.zeros((N, 3)), resamples=20)
    assert (found.spearman, found.kendall, found.low, found.high) == (None, None, None, None)
