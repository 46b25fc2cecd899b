"""Learned weights: linear models over phrases, measures and a vector, in one file of arrays."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore.arrays import BROKEN, pack
from crscore.errors import InputError
from crscore.usefulness.evidence import Rarity

Floats = npt.NDArray[np.float32]

FORMAT: Final = 1
"""Version of the file format."""
LAYERS: Final = ("about", "sentence", "comment")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linear:
    """Linear models with K outputs over the same features."""

    phrases: Mapping[str, int]
    """Phrase -> its row of `rows`."""
    rows: Floats
    """Weights of the phrases, shape (P, K)."""
    measures: Floats
    """Weights of the measures, shape (M, K)."""
    vector: Floats
    """Weights of the unit vector, shape (D, K); D is 0 for a model without it."""
    bias: Floats
    """Shape (K,)."""

    def logits(self, found: Iterable[str], measures: Sequence[float], vector: Floats) -> Floats:
        """Return the sums of the weights of one text.

        Args:
            found: Its distinct phrases; unknown ones count nothing.
            measures: Shape (M,).
            vector: Its unit vector, shape (D,) or longer where the model has none.

        Returns:
            Shape (K,).
        """
        total = self.bias + np.asarray(measures, dtype=np.float32) @ self.measures
        # Sorted: the order of a set would change the last bit of the sum.
        known = sorted(self.phrases[one] for one in found if one in self.phrases)
        if known:
            total = total + self.rows[known].sum(axis=0) / math.sqrt(len(known))
        if len(self.vector):
            total = total + vector @ self.vector
        summed: Floats = total.astype(np.float32)
        return summed

    def top_phrases(self, found: Iterable[str], output: int, *, most: int) -> tuple[str, ...]:
        """Return the phrases that speak most for an output, the most telling first.

        A phrase within a longer one that is told is left out.
        """
        known = [one for one in found if one in self.phrases]
        weight = {one: float(self.rows[self.phrases[one], output]) for one in known}
        told: list[str] = []
        for one in sorted(known, key=lambda one: (-weight[one], one)):
            if weight[one] <= 0 or len(told) == most:
                break
            if not any(f" {one} " in f" {other} " or f" {other} " in f" {one} " for other in told):
                told.append(one)
        return tuple(told)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Everything that is learned."""

    encoder: str
    """Name and model of the encoder whose vectors were used in training."""
    data_sha256: str
    """Hash of the training data."""
    rarity: Rarity
    """How rare stems are in changes."""
    about: Linear
    """One output: whether a text is about the change."""
    sentence: Linear
    """The kinds, in their order, and whether there is something to act on."""
    comment: Linear
    """The aspects, in their order."""
    reference: Mapping[str, Floats]
    """Size of change -> values of real comments of people, ascending."""


def to_bytes(weights: Weights) -> bytes:
    """Serialize weights; the same weights give the same bytes.

    Returns:
        A NumPy archive (`.npz`), without pickled objects.
    """
    stems = sorted(weights.rarity.frequency)
    facts = {
        "format": FORMAT,
        "encoder": weights.encoder,
        "data_sha256": weights.data_sha256,
        "documents": weights.rarity.documents,
        "sizes": list(weights.reference),
    }
    arrays: dict[str, Any] = {
        "facts": _text(json.dumps(facts, sort_keys=True)),
        "stems": _text("\n".join(stems)),
        "frequency": np.array([weights.rarity.frequency[one] for one in stems], dtype=np.int32),
    }
    for name in LAYERS:
        layer: Linear = getattr(weights, name)
        arrays[f"{name}_phrases"] = _text("\n".join(sorted(layer.phrases, key=layer.phrases.get)))  # type: ignore[arg-type]
        for part in ("rows", "measures", "vector", "bias"):
            arrays[f"{name}_{part}"] = getattr(layer, part).astype(np.float16)
    for index, values in enumerate(weights.reference.values()):
        arrays[f"reference_{index}"] = values.astype(np.float32)
    return pack(arrays)


def read_weights(path: Path) -> Weights:
    """Read a file of weights.

    Raises:
        InputError: It cannot be read, or is of another format.
    """
    try:
        # From memory: NumPy leaves the file of a broken archive open.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = dict(file)
        facts = json.loads(_string(arrays["facts"]))
        if facts["format"] != FORMAT:
            raise InputError(f"{path}: weights of format {facts['format']}, not {FORMAT}")
        layers = {}
        for name in LAYERS:
            known = _lines(arrays[f"{name}_phrases"])
            layers[name] = Linear(
                phrases={one: at for at, one in enumerate(known)},
                **{
                    part: arrays[f"{name}_{part}"].astype(np.float32)
                    for part in ("rows", "measures", "vector", "bias")
                },
            )
        stems = _lines(arrays["stems"])
        return Weights(
            encoder=facts["encoder"],
            data_sha256=facts["data_sha256"],
            rarity=Rarity(
                frequency=dict(zip(stems, arrays["frequency"].tolist(), strict=True)),
                documents=facts["documents"],
            ),
            reference={
                size: arrays[f"reference_{index}"] for index, size in enumerate(facts["sizes"])
            },
            **layers,
        )
    except BROKEN as error:
        raise InputError(f"{path}: not a file of weights: {error}") from error


def _text(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _string(array: npt.NDArray[Any]) -> str:
    return array.tobytes().decode()


def _lines(array: npt.NDArray[Any]) -> list[str]:
    text = _string(array)
    return text.split("\n") if text else []
