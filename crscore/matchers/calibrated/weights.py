"""Learned weights as one file of plain arrays."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore.arrays import BROKEN, pack
from crscore.errors import InputError
from crscore.matchers.calibrated import features
from crscore.matchers.calibrated.features import Background
from crscore.matchers.calibrated.trees import Trees

FORMAT: Final = 1
"""Version of the file format; changes when older code cannot read, or misreads, the file."""
_TREES: Final = ("roots", "feature", "threshold", "left", "right", "value")
_VECTORS: Final = ("claim", "remark", "axes", "centre")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Learned parts of the calibrated matcher."""

    encoder: str
    """Name and model of the encoder whose vectors were used in training."""
    data_sha256: str
    """Hash of the training study."""
    seed: int
    """Seed of all draws."""
    start: float
    """Logit of every cell before the trees."""
    discount: float
    """Amount subtracted from a cell's logit per unit of its comment's log-length."""
    decision: float
    """Degree from which a cell counts as addressed, in (0, 1)."""
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
    stems = sorted(background.frequency)
    facts = {
        "format": FORMAT,
        "features": features.feature_names(len(background.axes)),
        "encoder": weights.encoder,
        "data_sha256": weights.data_sha256,
        "seed": weights.seed,
        "start": weights.start,
        "discount": weights.discount,
        "decision": weights.decision,
        "depth": trees.depth,
        "documents": background.documents,
    }
    arrays = {
        "facts": _text(json.dumps(facts, sort_keys=True)),
        "stems": _text("\n".join(stems)),
        "frequency": np.array([background.frequency[stem] for stem in stems], dtype=np.int32),
        **{name: getattr(trees, name) for name in _TREES},
        **{name: getattr(background, name) for name in _VECTORS},
    }
    return pack(arrays)


def read_weights(path: Path) -> Weights:
    """Read weights.

    Args:
        path: File made by `to_bytes`.

    Returns:
        The weights.

    Raises:
        InputError: The file cannot be read, is of another format, or was made for other features.
    """
    try:
        # Not by its name: NumPy does not close a file that it cannot read.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            facts = json.loads(arrays["facts"].tobytes())
            return _weights(facts, {name: arrays[name] for name in arrays.files}, path)
    except BROKEN as exc:
        raise InputError(
            f"{path} cannot be read as weights of the calibrated matcher: {exc}"
        ) from exc


def _weights(facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], path: Path) -> Weights:
    known = list(features.feature_names(len(arrays["axes"])))
    if facts["format"] != FORMAT or facts["features"] != known:
        raise InputError(f"{path} was made by another version of crscore; train it again")
    text = arrays["stems"].tobytes().decode("utf-8")
    stems = text.split("\n") if text else []
    trees = Trees(depth=facts["depth"], **{name: arrays[name] for name in _TREES})
    _check(trees, features=len(known))
    return Weights(
        encoder=facts["encoder"],
        data_sha256=facts["data_sha256"],
        seed=facts["seed"],
        start=facts["start"],
        discount=facts["discount"],
        decision=facts["decision"],
        trees=trees,
        background=Background(
            frequency=dict(zip(stems, arrays["frequency"].tolist(), strict=True)),
            documents=facts["documents"],
            **{name: arrays[name] for name in _VECTORS},
        ),
    )


def _check(trees: Trees, *, features: int) -> None:
    nodes = len(trees.value)
    for name, limit in (("roots", nodes), ("left", nodes), ("right", nodes), ("feature", features)):
        values = getattr(trees, name)
        if values.dtype != np.int32 or (
            values.size and not 0 <= values.min() <= values.max() < limit
        ):
            raise ValueError(f"the trees' {name} point nowhere")
    sizes = {len(getattr(trees, name)) for name in _TREES if name != "roots"}
    if len(sizes) != 1:
        raise ValueError("the trees' arrays differ in length")


def _text(value: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(value.encode("utf-8"), dtype=np.uint8)
