"""Learned weights as one file of plain arrays."""

import json
from pathlib import Path
from typing import Annotated, Final

import msgspec
import numpy as np

from crscore import arrays
from crscore.errors import InputError
from crscore.matchers import features
from crscore.matchers.features import Background
from crscore.matchers.trees import Trees

FORMAT: Final = 1
"""Version of the file format, incremented if older code would fail on a file or misread it."""
_SCALAR_FIELDS: Final = ("encoder", "data_sha256", "seed", "start", "discount", "decision")
_TREE_ARRAYS: Final = ("roots", "feature", "threshold", "left", "right", "value")
_VECTOR_ARRAYS: Final = ("claim", "remark", "axes", "centre")


_Finite = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]


class Weights(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Learned parts of the calibrated matcher, with the ranges in which a run can use them."""

    encoder: str
    """Name and model of the encoder whose vectors were used in training."""
    data_sha256: str
    """Hash of the training study."""
    seed: int
    """Seed of all draws."""
    start: _Finite
    """Logit of every cell before the trees."""
    discount: _Finite
    """Amount subtracted from a cell's logit per unit of its comment's log-length."""
    decision: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    """Minimum degree at which a sentence addresses a pseudo-reference, in (0, 1)."""
    trees: Trees
    """Trees whose sum is a cell's logit."""
    background: Background
    """Statistics of the training changes."""


def to_bytes(weights: Weights) -> bytes:
    """Serialize weights; the same weights give the same bytes.

    Returns:
        A NumPy archive (`.npz`), without pickled objects.
    """
    background, trees = weights.background, weights.trees
    # Sorted, so that the same weights give the same bytes.
    frequency = dict(sorted(background.frequency.items()))
    facts = {name: getattr(weights, name) for name in _SCALAR_FIELDS} | {
        "format": FORMAT,
        "features": features.feature_names(len(background.axes)),
        "depth": trees.depth,
        "documents": background.documents,
    }
    return arrays.pack(
        {
            "facts": arrays.from_text(json.dumps(facts, sort_keys=True)),
            "stems": arrays.from_text("\n".join(frequency)),
            "frequency": np.array(list(frequency.values()), dtype=np.int32),
            **{name: getattr(trees, name) for name in _TREE_ARRAYS},
            **{name: getattr(background, name) for name in _VECTOR_ARRAYS},
        }
    )


def read_weights(path: Path) -> Weights:
    """Read weights.

    Args:
        path: File made by `to_bytes`.

    Raises:
        InputError: The file cannot be read, has another format, or was made for other features.
    """

    def parse(content: arrays.Arrays) -> Weights:
        facts = json.loads(arrays.to_text(content["facts"]))
        names = list(features.feature_names(len(content["axes"])))
        if facts["format"] != FORMAT or facts["features"] != names:
            raise InputError(f"{path} was made by another version of crscore; train it again")
        _check(content, features=len(names))
        stems, counts = arrays.to_lines(content["stems"]), content["frequency"].tolist()
        background = {name: content[name] for name in _VECTOR_ARRAYS} | {
            "frequency": dict(zip(stems, counts, strict=True)),
            "documents": facts["documents"],
        }
        trees = {name: content[name] for name in _TREE_ARRAYS} | {"depth": facts["depth"]}
        return msgspec.convert(facts | {"trees": trees, "background": background}, Weights)

    return arrays.unpack(path, parse, "weights of the calibrated matcher")


def _check(content: arrays.Arrays, *, features: int) -> None:
    """Reject values that would make a run fail later, or make its results undefined."""
    # The file may be the user's (`calibrated:FILE`), or damaged.
    axes, nodes = content["axes"], len(content["value"])
    if axes.ndim != 2 or any(
        content[name].shape != axes.shape[1:] for name in ("claim", "remark", "centre")
    ):
        raise ValueError("the vectors differ in length")
    for name in (*_VECTOR_ARRAYS, "threshold", "value"):
        if content[name].dtype != np.float32 or not np.isfinite(content[name]).all():
            raise ValueError(f"{name} has something other than finite numbers")
    if any(content[name].ndim != 1 for name in (*_TREE_ARRAYS, "frequency")):
        raise ValueError("the trees' arrays are not one-dimensional")
    limits = {"roots": nodes, "left": nodes, "right": nodes, "feature": features}
    for name, limit in (limits | {"frequency": 2**31}).items():
        values = content[name]
        # NumPy would accept a negative index and count it from the end.
        is_inside = not values.size or 0 <= values.min() <= values.max() < limit
        if values.dtype != np.int32 or not is_inside:
            raise ValueError(f"the numbers of {name} are out of range")
    if len({len(content[name]) for name in _TREE_ARRAYS if name != "roots"}) != 1:
        raise ValueError("the trees' arrays differ in length")
