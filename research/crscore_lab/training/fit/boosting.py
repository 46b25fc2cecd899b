"""Grows boosted trees over cells, with the gradients of the loss in `loss.py`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore.code import libraries
from crscore.errors import InputError
from crscore.matchers.trees import Trees
from crscore_lab.training.fit.loss import LOSS, Layout, gradient

Floats = npt.NDArray[np.float32]

START: Final = -0.5
"""Logit of every cell before the first tree."""
_PARAMETERS: Final = {
    "learning_rate": 0.05,
    "num_leaves": 12,
    "max_depth": 6,
    "lambda_l2": 1.0,
    "min_sum_hessian_in_leaf": 0.05,
    "min_data_in_leaf": 40,
    "bagging_freq": 1,
    "max_bin": 63,
    # With these three settings, every run adds floats in the same order and grows the same trees.
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "use_missing": False,
    "monotone_constraints_method": "basic",
    "verbose": -1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSettings:
    """Tree settings that a benchmark varies."""

    rounds: int = 250
    """Number of trees in one ensemble."""
    ensembles: int = 3
    """Number of ensembles with different seeds, whose logits are averaged."""
    features: float = 0.5
    """Share of the features that are available to a node."""
    rows: float = 0.7
    """Share of the cells that a tree is grown on."""
    random_thresholds: bool = True
    """Whether to try one random threshold of each feature (extremely randomised trees) instead of
    all, because diverse trees overfit a study less."""
    loss: tuple[float, float, float] = LOSS
    """Weights of the errors of conciseness, comprehensiveness and relevance."""


def require_lightgbm() -> Any:
    """Import lightgbm.

    Raises:
        DependencyError: lightgbm is not installed.
    """
    return libraries.load("lightgbm", "lightgbm", "pip install 'crscore[validate]'")


def grow_trees(
    rows: Floats, layout: Layout, *, directions: Sequence[int], settings: TreeSettings, seed: int
) -> Trees:
    """Grow the trees.

    Training is single-threaded and seeded, so the same rows give the same trees.

    Args:
        rows: Features of every cell, shape (M, F).
        layout: Layout of the cells.
        directions: Monotonicity, shape (F,): 1 where a higher feature may only raise a cell's
            logit, -1 where it may only lower the logit, 0 where it may do both.
        settings: Settings of the trees.
        seed: Seed of all random choices.

    Returns:
        The trees. The logit of a cell is the sum of their values and `START`.

    Raises:
        DependencyError: lightgbm is not installed.
        InputError: lightgbm cannot train on these cells.
    """
    lightgbm = require_lightgbm()
    structures: list[dict[str, Any]] = []
    for index in range(settings.ensembles):
        parameters = _PARAMETERS | {
            "feature_fraction_bynode": settings.features,
            "bagging_fraction": settings.rows,
            "extra_trees": settings.random_thresholds,
            "monotone_constraints": list(directions),
            # Runs with neighbouring seeds must not share an ensemble.
            "seed": seed * 1000 + index,
        }
        data = lightgbm.Dataset(
            rows, free_raw_data=False, params=parameters | {"objective": "none"}
        )
        # With a custom objective, lightgbm's logits start at 0 instead of at `START`.
        parameters["objective"] = lambda logits, _: gradient(
            logits + START, layout, loss=settings.loss
        )
        try:
            model = lightgbm.train(parameters, data, num_boost_round=settings.rounds)
        except lightgbm.basic.LightGBMError as exc:
            raise InputError(f"nothing can be learned from {len(rows):,} cells: {exc}") from exc
        structures += [tree["tree_structure"] for tree in model.dump_model()["tree_info"]]
    return flatten_trees(structures, scale=1 / settings.ensembles)


def flatten_trees(structures: Sequence[dict[str, Any]], *, scale: float) -> Trees:
    """Convert lightgbm's nested trees to flat arrays, and multiply their values by `scale`."""
    nodes: list[tuple[int, float, int, int, float]] = []

    def append(node: dict[str, Any]) -> int:
        """Append a node and its descendants; return its depth."""
        index = len(nodes)
        if "split_feature" not in node:
            # A leaf leads to itself, so that all rows can take the same number of steps.
            nodes.append((0, 0.0, index, index, node["leaf_value"] * scale))
            return 0
        nodes.append((0, 0.0, 0, 0, 0.0))
        left_depth = append(node["left_child"])
        right = len(nodes)
        right_depth = append(node["right_child"])
        nodes[index] = (node["split_feature"], node["threshold"], index + 1, right, 0.0)
        return 1 + max(left_depth, right_depth)

    roots, depth = [], 0
    for tree in structures:
        roots.append(len(nodes))
        depth = max(depth, append(tree))
    feature, threshold, left, right, value = map(np.array, zip(*nodes, strict=True))
    return Trees(
        roots=np.array(roots, dtype=np.int32),
        feature=feature.astype(np.int32),
        threshold=round_down(threshold),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        value=value.astype(np.float32),
        depth=depth,
    )


def round_down(thresholds: npt.NDArray[np.float64]) -> Floats:
    """Round to float32 such that `x <= threshold` is unchanged for every float32 `x`."""
    nearest = thresholds.astype(np.float32)
    is_above = nearest.astype(np.float64) > thresholds
    lower = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(is_above, lower, nearest).astype(np.float32)
