import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore_lab.training.data.study_examples import Target
from crscore_lab.training.fit import loss as structure
from crscore_lab.training.fit.loss import ADDRESSED, LOSS, SHARPNESS, Layout


def target(con: float, comp: float, rel: float, addressed=None, weight: float = 1.0) -> Target:
    return Target(
        scores=(con, comp, rel),
        addressed=None if addressed is None else frozenset(addressed),
        weight=weight,
    )


# Two reviews: 2 pseudo-references x 3 sentences, and 3 x 1.
SHAPES = ((2, 3), (3, 1))
TARGETS = (target(0.5, 0.25, 0.75), target(1, 0, 0.5, {0, 2}, weight=0.5))


def layout() -> Layout:
    return Layout.of(SHAPES, TARGETS)


def test_layout_of_two_reviews_by_hand() -> None:
    cells = layout()
    assert cells.sentence.tolist() == [0, 1, 2, 0, 1, 2, 3, 3, 3]
    assert cells.reference.tolist() == [0, 0, 0, 1, 1, 1, 2, 3, 4]
    assert cells.review_of_sentence.tolist() == [0, 0, 0, 1]
    assert cells.review_of_reference.tolist() == [0, 0, 1, 1, 1]
    assert cells.targets.tolist() == [[0.5, 0.25, 0.75], [1, 0, 0.5]]
    assert cells.weights.tolist() == [1, 0.5]
    assert np.isnan(cells.addressed[:2]).all()
    assert cells.addressed[2:].tolist() == [1, 0, 1]


def soft_shares(logits: np.ndarray, axis: int) -> np.ndarray:
    raised = np.exp(SHARPNESS * (logits - logits.max(axis=axis, keepdims=True)))
    return raised / raised.sum(axis=axis, keepdims=True)


def loss(logits: np.ndarray, base: np.ndarray, shapes, targets, costs=LOSS) -> float:
    """The loss, written out review by review; the shares are those of `base`."""
    total, start = 0.0, 0
    for (rows, columns), wanted in zip(shapes, targets, strict=True):
        size = rows * columns
        here = logits[start : start + size].reshape(rows, columns)
        there = base[start : start + size].reshape(rows, columns)
        start += size
        degrees = 1 / (1 + np.exp(-here))
        con = (soft_shares(there, 0) * degrees).sum(axis=0).mean()
        best = (soft_shares(there, 1) * degrees).sum(axis=1)
        comp = best.mean()
        rel = 2 * con * comp / (con + comp)
        for cost, value, goal in zip(costs, (con, comp, rel), wanted.scores, strict=True):
            total += wanted.weight * cost * (value - goal) ** 2
        if wanted.addressed is not None:
            for index, value in enumerate(best):
                hit = value if index in wanted.addressed else 1 - value
                total -= wanted.weight * ADDRESSED * np.log(hit)
    return total


def numerical(logits: np.ndarray, shapes, targets, costs=LOSS) -> np.ndarray:
    step = 1e-5
    slopes = []
    for index in range(len(logits)):
        up, down = logits.copy(), logits.copy()
        up[index] += step
        down[index] -= step
        sides = [loss(side, logits, shapes, targets, costs) for side in (up, down)]
        slopes.append((sides[0] - sides[1]) / (2 * step))
    return np.array(slopes)


@pytest.mark.parametrize("seed", range(5))
def test_gradient_matches_finite_differences_of_the_loss(seed: int) -> None:
    logits = np.random.default_rng(seed).normal(scale=1.5, size=9)
    first, _ = structure.gradient(logits, layout())
    np.testing.assert_allclose(first, numerical(logits, SHAPES, TARGETS), atol=1e-6)


def test_gradient_depends_on_the_weights_of_the_loss() -> None:
    logits = np.random.default_rng(9).normal(size=9)
    costs = (3.0, 0.0, 0.5)
    first, _ = structure.gradient(logits, layout(), loss=costs)
    np.testing.assert_allclose(first, numerical(logits, SHAPES, TARGETS, costs), atol=1e-6)
    assert not np.allclose(first, structure.gradient(logits, layout())[0])


shapes = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4)


@given(shapes, st.integers(0, 2**32 - 1), st.floats(0.1, 40))
def test_second_order_is_positive_and_both_are_finite(cells, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    goals = [
        target(*rng.uniform(size=3), addressed=range(int(rng.integers(0, rows + 1))))
        for rows, _ in cells
    ]
    size = sum(rows * columns for rows, columns in cells)
    first, second = structure.gradient(rng.normal(scale=scale, size=size), Layout.of(cells, goals))
    assert (second > 0).all()
    assert np.isfinite(first).all()


def test_gradient_is_zero_for_a_review_with_its_target_scores() -> None:
    # One cell: conciseness, comprehensiveness and relevance are its degree.
    for degree in (0.2, 0.5, 0.9):
        logit = np.array([np.log(degree / (1 - degree))])
        first, _ = structure.gradient(logit, Layout.of([(1, 1)], [target(*[degree] * 3)]))
        assert first == pytest.approx([0], abs=1e-6)


def test_gradient_lowers_high_degrees_and_raises_low_ones() -> None:
    single = Layout.of([(1, 1)], [target(0.5, 0.5, 0.5)])
    assert structure.gradient(np.array([2.0]), single)[0] > 0
    assert structure.gradient(np.array([-2.0]), single)[0] < 0


def test_annotation_raises_the_best_cell_of_its_reference() -> None:
    linked = Layout.of([(2, 2)], [target(0.5, 0.5, 0.5, {0})])
    free = Layout.of([(2, 2)], [target(0.5, 0.5, 0.5)])
    logits = np.array([1.0, -1.0, 1.0, -1.0])
    extra = structure.gradient(logits, linked)[0] - structure.gradient(logits, free)[0]
    # Reference 0 is addressed: its cells go up (a negative slope), most of all its best.
    assert extra[0] < extra[1] < 0 < extra[3] < extra[2]


def test_weight_scales_only_the_gradient_of_its_review() -> None:
    logits = np.random.default_rng(1).normal(size=9)
    light = Layout.of(SHAPES, (target(0.5, 0.25, 0.75, weight=0.25), TARGETS[1]))
    full, other = structure.gradient(logits, layout())[0], structure.gradient(logits, light)[0]
    np.testing.assert_allclose(other[:6], full[:6] / 4)
    np.testing.assert_allclose(other[6:], full[6:])


def test_reviews_do_not_depend_on_each_other() -> None:
    logits = np.random.default_rng(2).normal(size=9)
    alone = [
        structure.gradient(logits[:6], Layout.of(SHAPES[:1], TARGETS[:1]))[0],
        structure.gradient(logits[6:], Layout.of(SHAPES[1:], TARGETS[1:]))[0],
    ]
    np.testing.assert_allclose(
        structure.gradient(logits, layout())[0], np.concatenate(alone), atol=1e-12
    )
