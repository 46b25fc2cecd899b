from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from crscore import Scorer
from crscore.lab.study import measure, study
from crscore.lab.study.levels import GRID, measure_levels, sweep
from tests.helpers import measured as helper
from tests.helpers import study as studies


def rated(human: list[float], values: list[float]) -> measure.Measurements:
    rows = [helper.row(str(i), "s", (h,) * 3) for i, h in enumerate(human)]
    return helper.measured(rows, helper.metric(values))


def test_mean_of_each_level_is_over_its_reviews() -> None:
    row = measure_levels(rated([1, 1, 2, 5], [0.0, 0.2, 0.3, 0.9]))[2]
    assert (row.metric, row.dimension, row.primary) == ("m", "relevance", True)
    assert [(one.level, one.n) for one in row.levels] == [(1, 2), (2, 1), (3, 0), (4, 0), (5, 1)]
    assert [one.mean for one in row.levels] == [pytest.approx(0.1), 0.3, None, None, 0.9]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.1, 0.3, 0.9], True), ([0.1, 0.9, 0.3], False), ([0.1, 0.3, 0.3], False)],
)
def test_monotone_is_a_rise_at_every_level_there_is(values, expected) -> None:
    assert measure_levels(rated([1, 3, 5], values))[0].monotone is expected


def test_one_level_alone_can_neither_rise_nor_fall() -> None:
    assert measure_levels(rated([3, 3], [0.1, 0.2]))[0].monotone is None


def test_rating_between_two_levels_goes_to_the_nearer_half_up() -> None:
    row = measure_levels(rated([1.5, 2.4, 4.6], [0.1, 0.2, 0.3]))[0]
    assert [one.n for one in row.levels] == [0, 2, 0, 0, 1]


def test_sweep_at_the_threshold_of_the_run_is_the_run(tmp_path: Path) -> None:
    rated_study = study.read_study(studies.write(tmp_path / "study.jsonl"))
    scorer = Scorer(
        encoder="hashing", threshold=0.43, generator=study.recorded(rated_study), analyzers="none"
    )
    measured = measure.measure(rated_study, scorer, name="m", sources=True)
    step = next(one for one in sweep(measured, also=[0.43]) if one.threshold == 0.43)
    human, values = measured.human[:, 2], measured.primary.values[:, 2]
    assert step.mean == pytest.approx(values.mean())
    assert step.spearman == pytest.approx(scipy.stats.spearmanr(values, human).statistic)
    assert step.kendall == pytest.approx(scipy.stats.kendalltau(values, human).statistic)


def test_threshold_is_strict_and_the_mean_falls_with_it() -> None:
    # 0.5 is above 0.45 and not above 0.5.
    rows = [helper.row("a", "s", sentences=(0.5, 0.1), references=(0.5, 0.5))]
    steps = {s.threshold: s for s in sweep(helper.measured(rows, helper.metric([0.0])))}
    assert (steps[0.45].mean, steps[0.5].mean) == (pytest.approx(2 / 3), 0.0)
    assert [steps[tau].mean for tau in GRID] == sorted(
        (step.mean for step in steps.values()), reverse=True
    )


def test_constant_relevance_has_no_correlation_in_the_sweep() -> None:
    rows = [helper.row("a", "s", sentences=()), helper.row("b", "s", (1.0, 1.0, 1.0))]
    step = sweep(helper.measured(rows, helper.metric(np.zeros(2))))[-1]
    assert (step.mean, step.spearman, step.kendall) == (0.0, None, None)
