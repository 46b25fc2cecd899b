import sys

import lightgbm
import numpy as np
import pytest

from crscore.errors import DependencyError, InputError
from crscore_lab.training.data.study_examples import Target
from crscore_lab.training.fit import boosting
from crscore_lab.training.fit.boosting import TreeSettings
from crscore_lab.training.fit.loss import Layout

WIDTH = 5
SMALL = TreeSettings(rounds=8, ensembles=2, rows=0.7, features=0.6)


def study(reviews: int = 400, seed: int = 0) -> tuple[np.ndarray, Layout]:
    """Reviews of 2 x 3 cells; the first feature decides on what people said."""
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(size=(reviews * 6, WIDTH)), 2).astype(np.float32)
    # On average as high as where the boosting starts: it stops where the first tree has no cut.
    truth = 1 / (1 + np.exp(2 - 2 * rows[:, 0].reshape(reviews, 2, 3)))
    con, comp = truth.max(axis=1).mean(axis=1), truth.max(axis=2).mean(axis=1)
    targets = [Target(scores=(c, p, 2 * c * p / (c + p))) for c, p in zip(con, comp, strict=True)]
    return rows, Layout.of([(2, 3)] * reviews, targets)


def grown(seed: int = 0, directions=(1, 0, 0, 0, 0), settings: TreeSettings = SMALL):
    rows, layout = study()
    return boosting.grow_trees(rows, layout, directions=directions, settings=settings, seed=seed)


def equal(first, other) -> bool:
    names = ("roots", "feature", "threshold", "left", "right", "value")
    return all(np.array_equal(getattr(first, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("extra", [False, True])
def test_flat_trees_predict_as_lightgbm_does(extra: bool) -> None:
    rng = np.random.default_rng(3)
    # Few distinct values, so that many lie on both sides of a cut; and some off the grid.
    rows = np.round(rng.normal(size=(600, 4)), 1).astype(np.float32)
    truth = rows[:, 0] * rows[:, 1] + np.sin(3 * rows[:, 2])
    model = lightgbm.train(
        {
            "objective": "l2",
            "verbose": -1,
            "num_leaves": 15,
            "num_threads": 1,
            "extra_trees": extra,
        },
        lightgbm.Dataset(rows, truth),
        num_boost_round=25,
    )
    trees = boosting.flatten_trees(
        [tree["tree_structure"] for tree in model.dump_model()["tree_info"]], scale=0.5
    )
    cuts = trees.threshold[trees.left != np.arange(len(trees.left))]
    cuts = cuts[np.abs(cuts) > 1e-30]  # beside zero LightGBM keeps what its dump rounds away
    on_cuts = rng.choice(np.concatenate([cuts, np.nextafter(cuts, np.float32(9))]), (500, 4))
    for table in (rows, rng.normal(size=(500, 4)), on_cuts):
        asked = table.astype(np.float32)
        np.testing.assert_allclose(trees.sum(asked), 0.5 * model.predict(asked), atol=1e-5)


@pytest.mark.parametrize("value", [0.1, 1 / 3, -0.7, 1e-35, 2.0**-130, 0.5, -0.5, 0.0, 7e8])
def test_rounded_threshold_splits_every_float32_equally(value: float) -> None:
    (cut,) = boosting.round_down(np.array([value]))
    assert cut.dtype == np.float32
    near = np.float32(value)
    around = [near]
    for end in (np.float32(-np.inf), np.float32(np.inf)):
        at = near
        for _ in range(3):
            at = np.nextafter(at, end)
            around.append(at)
    for one in around:
        assert (one <= cut) == (float(one) <= value), one


def test_trees_depend_only_on_the_seed() -> None:
    assert equal(grown(0), grown(0))
    assert not equal(grown(0), grown(1))


def test_number_of_trees_is_rounds_times_ensembles() -> None:
    trees = grown()
    assert len(trees.roots) == 8 * 2
    assert trees.depth <= 6


def test_trees_learn_the_ratings_of_people() -> None:
    rows, layout = study()
    trees = boosting.grow_trees(
        rows,
        layout,
        directions=(0,) * WIDTH,
        settings=TreeSettings(rounds=120, ensembles=2, random_thresholds=False),
        seed=0,
    )
    logits = trees.sum(rows)
    assert np.corrcoef(logits, rows[:, 0])[0, 1] > 0.8
    unseen, _ = study(seed=8)
    assert np.corrcoef(trees.sum(unseen), unseen[:, 0])[0, 1] > 0.8


@pytest.mark.parametrize("direction", [1, -1])
def test_degrees_are_monotonic_in_the_directions(direction: int) -> None:
    settings = TreeSettings(rounds=40, ensembles=2)
    trees = grown(directions=(direction, 0, 0, 0, 0), settings=settings)
    rows, _ = study(seed=4)
    sums = []
    for value in np.linspace(-3, 3, 61, dtype=np.float32):
        rows[:, 0] = value
        sums.append(trees.sum(rows))
    assert (direction * np.diff(np.array(sums), axis=0) >= -1e-6).all()


def test_trees_of_a_small_study_are_leaves() -> None:
    rows, layout = study(reviews=16)
    trees = boosting.grow_trees(rows, layout, directions=(0,) * WIDTH, settings=SMALL, seed=0)
    assert trees.depth == 0
    assert len(trees.value) == len(trees.roots)
    assert set(trees.sum(rows)) == {trees.value.sum()}


def test_study_of_a_few_cells_is_an_input_error() -> None:
    rows, layout = study(reviews=2)
    with pytest.raises(InputError, match="nothing can be learned from 12 cells"):
        boosting.grow_trees(rows, layout, directions=(0,) * WIDTH, settings=SMALL, seed=0)


@pytest.mark.parametrize("seed", [3_000_000, 2**31 - 1, 10**12])
def test_any_seed_is_accepted(seed: int) -> None:
    assert len(grown(seed).roots) == 16


def test_error_of_missing_lightgbm_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(DependencyError, match=r"pip install 'crscore\[validate\]'"):
        boosting.require_lightgbm()
