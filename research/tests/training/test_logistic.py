from types import SimpleNamespace

import numpy as np
import pytest

from crscore_lab.training import logistic

RNG = np.random.default_rng(0)
N = 400
# The scales differ, and the last measure is constant.
MEASURES = RNG.normal(size=(N, 3)) * [1, 10, 0] + [0, 5, 7]
TARGETS = (MEASURES[:, 0] + RNG.normal(size=N) / 2 > 0.8).astype(float)
ONES = np.ones(N)


def fitted(targets=TARGETS, weights=ONES) -> np.ndarray:
    return logistic.fit_logistic(MEASURES, targets, weights=weights)


def probabilities(weights: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(MEASURES @ weights[:-1] + weights[-1])))


def test_classes_are_separated() -> None:
    learned = fitted()
    assert learned.shape == (4,)
    assert learned.dtype == np.float32
    assert np.mean((probabilities(learned) >= 0.5) == (TARGETS == 1)) > 0.85
    assert learned[0] > 2
    assert abs(learned[1]) < 0.1


def test_predicted_probabilities_match_the_frequencies() -> None:
    assert 0.1 < TARGETS.mean() < 0.4
    assert probabilities(fitted()).mean() == pytest.approx(TARGETS.mean(), abs=1e-3)


def test_target_may_be_a_probability() -> None:
    assert probabilities(fitted(np.full(N, 0.3))) == pytest.approx(np.full(N, 0.3), abs=1e-3)


def test_rows_of_weight_zero_have_no_effect() -> None:
    spoilt = np.where(np.arange(N) < N // 2, 1 - TARGETS, TARGETS)
    halved = np.repeat([0.0, 1.0], N // 2)
    np.testing.assert_allclose(fitted(spoilt, halved), fitted(TARGETS, halved), atol=1e-5)
    assert probabilities(fitted(weights=1 + 9 * TARGETS)).mean() > 1.5 * TARGETS.mean()


def test_same_rows_give_the_same_weights() -> None:
    np.testing.assert_array_equal(fitted(), fitted())


@pytest.mark.parametrize("side", [0.0, 1.0])
def test_weights_for_a_single_class_are_finite(side: float) -> None:
    learned = fitted(np.full(N, side))
    assert np.isfinite(learned).all()
    assert ((probabilities(learned) > 0.5) == bool(side)).all()


def test_gradient_matches_the_loss(monkeypatch) -> None:
    kept = {}

    def watch(loss, start, **_):
        kept["loss"] = loss
        return SimpleNamespace(x=start)

    monkeypatch.setattr(logistic, "require_scipy", lambda _: SimpleNamespace(minimize=watch))
    logistic.fit_logistic(MEASURES, TARGETS, weights=1 + RNG.random(N))
    at = RNG.normal(size=4)
    slope = kept["loss"](at)[1]
    for index, step in enumerate(np.eye(4) * 1e-5):
        rise = (kept["loss"](at + step)[0] - kept["loss"](at - step)[0]) / 2e-5
        assert slope[index] == pytest.approx(rise, abs=1e-6)
