import sys

import numpy as np
import pytest

from crscore.errors import DependencyError
from crscore.lab.training.fit import logistic
from crscore.lab.training.fit.logistic import LayerSettings, Rows
from crscore.usefulness.reading import sigmoid

RNG = np.random.default_rng(0)
N = 400
MEASURES = RNG.normal(size=(N, 3)) * [1, 10, 0] + [0, 5, 7]
VECTORS = RNG.normal(size=(N, 4)).astype(np.float32)
YES = (MEASURES[:, 0] + VECTORS[:, 0] > 0.8).astype(float)
FOUND = [["should be"] if yes else ["nice"] for yes in YES]
ONES = np.ones(N)


def fitted(targets=YES[:, None], *, phrases=None, weights=ONES, **recipe):
    rows = Rows(phrases or [()] * N, MEASURES, VECTORS)
    return logistic.fit_layer(
        rows, targets, weights=weights, settings=LayerSettings(**({"strength": 1.0} | recipe))
    )


def read(layer, output: int = 0, phrases=None) -> np.ndarray:
    phrases = phrases or [()] * N
    logits = [layer.logits(*row)[output] for row in zip(phrases, MEASURES, VECTORS, strict=True)]
    return np.array([sigmoid(float(logit)) for logit in logits])


def test_layer_tells_what_it_was_fitted_on() -> None:
    probabilities = read(fitted())
    assert np.mean((probabilities >= 0.5) == (YES == 1)) > 0.95


def test_probabilities_are_those_of_the_data_balanced_or_not() -> None:
    assert 0.1 < YES.mean() < 0.4
    for balanced in (False, True):
        assert read(fitted(balanced=balanced)).mean() == pytest.approx(YES.mean(), abs=0.05)


def test_phrases_seen_often_are_kept_in_order() -> None:
    phrases = [
        [*words, *(["rare"] if at < logistic.MIN_TEXTS - 1 else [])]
        for at, words in enumerate(FOUND)
    ]
    layer = fitted(phrases=phrases)
    assert layer.phrases == {"nice": 0, "should be": 1}
    assert layer.rows[1, 0] > 0 > layer.rows[0, 0]


def test_outputs_of_a_softmax_share_one_distribution() -> None:
    targets = np.column_stack([YES, 1 - YES, YES])
    layer = fitted(targets, softmax=2)
    joint = np.array([layer.logits(*row) for row in zip([()] * N, MEASURES, VECTORS, strict=True)])
    share = 1 / (1 + np.exp(joint[:, 1] - joint[:, 0]))
    assert np.mean((share >= 0.5) == (YES == 1)) > 0.95
    assert np.mean((joint[:, 2] >= 0) == (YES == 1)) > 0.95


def test_rows_that_say_nothing_of_an_output_do_not_count() -> None:
    silent = YES.copy()
    silent[: N // 2] = np.nan
    other = YES.copy()
    other[: N // 2] = 1 - other[: N // 2]
    mixed = fitted(np.column_stack([silent, YES]))
    assert np.mean((read(mixed) >= 0.5) == (YES == 1)) > 0.9
    without = fitted(other[:, None], weights=np.r_[np.zeros(N // 2), np.ones(N // 2)])
    np.testing.assert_allclose(mixed.vector[:, 0], without.vector[:, 0], atol=0.05)


def test_same_rows_give_the_same_weights() -> None:
    first, second = (fitted(phrases=FOUND, balanced=True) for _ in range(2))
    for part in ("rows", "measures", "vector", "bias"):
        np.testing.assert_array_equal(getattr(first, part), getattr(second, part))


def test_weights_are_in_the_precision_of_the_file() -> None:
    layer = fitted(phrases=FOUND)
    for part in ("rows", "measures", "vector", "bias"):
        values = getattr(layer, part)
        assert values.dtype == np.float32
        np.testing.assert_array_equal(values, values.astype(np.float16))


def test_layer_without_vectors_has_none() -> None:
    rows = Rows([()] * N, MEASURES, None)
    layer = logistic.fit_layer(
        rows, YES[:, None], weights=ONES, settings=LayerSettings(strength=1.0)
    )
    assert layer.vector.shape == (0, 1)


@pytest.mark.parametrize("side", [0.0, 1.0])
@pytest.mark.parametrize("balanced", [False, True])
def test_output_of_one_side_alone_stays_finite(side: float, balanced: bool) -> None:
    layer = fitted(np.full((N, 1), side), balanced=balanced)
    assert np.isfinite(layer.bias).all()
    assert ((read(layer) > 0.5) == bool(side)).all()


def test_output_that_nothing_is_said_of_stays_finite() -> None:
    layer = fitted(np.column_stack([YES, np.full(N, np.nan)]), balanced=True)
    assert np.isfinite(layer.bias).all()
    assert np.isfinite(layer.vector).all()


def test_slope_is_that_of_the_loss(monkeypatch) -> None:
    kept = {}

    class Watching:
        @staticmethod
        def minimize(loss, start, **_):
            kept["loss"], kept["start"] = loss, start
            return type("Done", (), {"x": start})

    monkeypatch.setattr(logistic, "require_scipy", Watching)
    targets = np.column_stack([YES, 1 - YES, np.where(MEASURES[:, 1] > 5, np.nan, YES)])
    logistic.fit(MEASURES, targets, weights=ONES, ridge=0.1, softmax=2)
    at = RNG.normal(size=kept["start"].size) / 10
    slope = kept["loss"](at)[1]
    for index in range(at.size):
        step = np.zeros(at.size)
        step[index] = 1e-5
        rise = (kept["loss"](at + step)[0] - kept["loss"](at - step)[0]) / 2e-5
        assert slope[index] == pytest.approx(rise, abs=1e-5)


def test_missing_scipy_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(DependencyError, match=r"crscore\[train\]"):
        logistic.require_scipy()
