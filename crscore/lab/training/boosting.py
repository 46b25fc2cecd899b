"""Boosted trees over cells, grown on the gradient of the structured loss."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore.errors import DependencyError, InputError
from crscore.lab.training.loss import LOSS, Layout, gradient
from crscore.matchers.calibrated.trees import Trees

Floats = npt.NDArray[np.float32]

START: Final = -0.5
"""Logit of every cell before the first tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Settings of the trees."""

    rounds: int = 250
    """Number of trees in one ensemble."""
    ensembles: int = 3
    """Number of ensembles with independent draws, whose logits are averaged."""
    rate: float = 0.05
    """Learning rate."""
    leaves: int = 12
    """Maximum number of leaves of a tree."""
    depth: int = 6
    """Maximum depth of a leaf."""
    features: float = 0.5
    """Share of the features available to a node."""
    rows: float = 0.7
    """Share of the cells used by a tree."""
    ridge: float = 1.0
    """L2 penalty of a leaf."""
    random_thresholds: bool = True
    """Try one random threshold per feature (extremely randomised trees), not the best: diverse
    trees overfit a study less."""
    loss: tuple[float, float, float] = LOSS
    """Weights of the errors of conciseness, comprehensiveness and relevance."""


def require_lightgbm() -> Any:
    """Import lightgbm.

    Raises:
        DependencyError: lightgbm is not installed.
    """
    try:
        return importlib.import_module("lightgbm")
    except ImportError as exc:
        raise DependencyError("lightgbm", "pip install 'crscore[train]'") from exc


def grow_trees(
    rows: Floats, layout: Layout, *, directions: Sequence[int], growth: Growth, seed: int
) -> Trees:
    """Grow the trees.

    Training is single-threaded and seeded: the same rows give the same trees.

    Args:
        rows: Features of every cell, shape (M, F).
        layout: Layout of the cells.
        directions: Monotonicity, shape (F,): 1 where a higher feature may only raise a cell, -1
            where it may only lower it, 0 where it may do both.
        growth: Settings of the trees.
        seed: Seed of all draws.

    Returns:
        The trees; their sum, plus `START`, is a cell's logit.

    Raises:
        DependencyError: lightgbm is not installed.
        InputError: There are too few cells for a split.
    """
    lightgbm = require_lightgbm()
    made = []
    for index in range(growth.ensembles):
        parameters = {
            "objective": lambda logits, _: gradient(logits + START, layout, loss=growth.loss),
            "learning_rate": growth.rate,
            "num_leaves": growth.leaves,
            "max_depth": growth.depth,
            "feature_fraction_bynode": growth.features,
            "lambda_l2": growth.ridge,
            "min_sum_hessian_in_leaf": 0.05,
            "min_data_in_leaf": 40,
            "bagging_fraction": growth.rows,
            "bagging_freq": 1,
            "max_bin": 63,
            "seed": seed * 1000 + index,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "extra_trees": growth.random_thresholds,
            "use_missing": False,
            "monotone_constraints": list(directions),
            "monotone_constraints_method": "basic",
            "verbose": -1,
        }
        unmeasured = parameters | {"objective": "none"}
        data = lightgbm.Dataset(rows, free_raw_data=False, params=unmeasured)
        try:
            model = lightgbm.train(parameters, data, num_boost_round=growth.rounds)
        except lightgbm.basic.LightGBMError as exc:
            raise InputError(f"nothing can be learned from {len(rows):,} cells: {exc}") from exc
        made += [tree["tree_structure"] for tree in model.dump_model()["tree_info"]]
    return _flatten(made, scale=1 / growth.ensembles)


def _flatten(structures: list[dict[str, Any]], *, scale: float) -> Trees:
    columns: dict[str, list[float]] = {
        name: [] for name in ("feature", "threshold", "left", "right", "value")
    }
    roots, deepest = [], 0
    for tree in structures:
        roots.append(len(columns["value"]))
        deepest = max(deepest, _append(tree, columns, scale=scale))
    whole = {name: np.array(columns[name], dtype=np.int32) for name in ("feature", "left", "right")}
    return Trees(
        roots=np.array(roots, dtype=np.int32),
        threshold=_down(np.array(columns["threshold"], dtype=np.float64)),
        value=np.array(columns["value"], dtype=np.float32),
        depth=deepest,
        **whole,
    )


def _down(thresholds: npt.NDArray[np.float64]) -> Floats:
    """Round to float32 such that `x <= threshold` is unchanged for every float32 `x`."""
    near = thresholds.astype(np.float32)
    above = near.astype(np.float64) > thresholds
    return np.where(above, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float32)


def _append(node: dict[str, Any], columns: dict[str, list[float]], *, scale: float) -> int:
    """Append a node and its descendants; return its depth."""
    at = len(columns["value"])
    is_leaf = "split_feature" not in node
    for name, value in (
        ("feature", 0 if is_leaf else node["split_feature"]),
        ("threshold", 0.0 if is_leaf else node["threshold"]),
        ("left", at),
        ("right", at),
        ("value", node["leaf_value"] * scale if is_leaf else 0.0),
    ):
        columns[name].append(value)
    if is_leaf:
        return 0
    depths = []
    for side in ("left", "right"):
        columns[side][at] = len(columns["value"])
        depths.append(_append(node[f"{side}_child"], columns, scale=scale))
    return 1 + max(depths)
