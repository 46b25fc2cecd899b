"""Learned weights: linear models over phrases, measures and a vector, in one file of arrays."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore import arrays
from crscore.errors import InputError
from crscore.usefulness.evidence import Rarity

Floats = npt.NDArray[np.float32]

FORMAT: Final = 1
"""Version of the file format."""
LAYERS: Final = ("about", "sentence", "comment")
_PARTS: Final = ("rows", "measures", "vector", "bias")


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

    def logits(self, phrases: Iterable[str], measures: Sequence[float], vector: Floats) -> Floats:
        """Return the sums of the weights of one text.

        Args:
            phrases: Its distinct phrases; unknown ones count nothing.
            measures: Shape (M,).
            vector: Its unit vector, shape (D,) or longer where the model has none.

        Returns:
            Shape (K,).
        """
        total = self.bias + np.asarray(measures, dtype=np.float32) @ self.measures
        # Sorted: the order of a set would change the last bit of the sum.
        rows = sorted(self.phrases[phrase] for phrase in phrases if phrase in self.phrases)
        if rows:
            # By the root of their number: a long text would otherwise always have large sums.
            total = total + self.rows[rows].sum(axis=0) / math.sqrt(len(rows))
        if len(self.vector):
            total = total + vector @ self.vector
        logits: Floats = total.astype(np.float32)
        return logits

    def top_phrases(self, phrases: Iterable[str], output: int, *, limit: int) -> tuple[str, ...]:
        """Return the phrases with the highest positive weights for an output, the highest first.

        A phrase that contains, or is contained in, one already listed is left out.
        """
        weights = {
            phrase: float(self.rows[self.phrases[phrase], output])
            for phrase in phrases
            if phrase in self.phrases
        }
        top: list[str] = []
        for phrase in sorted(weights, key=lambda phrase: (-weights[phrase], phrase)):
            if weights[phrase] <= 0 or len(top) == limit:
                break
            # Blanks around both: "it is" is no part of "it isn't".
            if not any(
                f" {phrase} " in f" {listed} " or f" {listed} " in f" {phrase} " for listed in top
            ):
                top.append(phrase)
        return tuple(top)


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
    # Sorted: equal weights must give equal bytes, since their hash is in the signature.
    frequency = dict(sorted(weights.rarity.frequency.items()))
    facts = {
        "format": FORMAT,
        "encoder": weights.encoder,
        "data_sha256": weights.data_sha256,
        "documents": weights.rarity.documents,
        "sizes": list(weights.reference),
    }
    content: dict[str, npt.NDArray[Any]] = {
        "facts": arrays.from_text(json.dumps(facts, sort_keys=True)),
        "stems": arrays.from_text("\n".join(frequency)),
        "frequency": np.array(list(frequency.values()), dtype=np.int32),
    }
    for name in LAYERS:
        layer: Linear = getattr(weights, name)
        # A phrase is stored by position: line `n` belongs to row `n` of the weights.
        phrases = sorted(layer.phrases, key=layer.phrases.__getitem__)
        content[f"{name}_phrases"] = arrays.from_text("\n".join(phrases))
        for part in _PARTS:
            content[f"{name}_{part}"] = getattr(layer, part).astype(np.float16)
    for index, values in enumerate(weights.reference.values()):
        content[f"reference_{index}"] = values.astype(np.float32)
    return arrays.pack(content)


def read_weights(path: Path) -> Weights:
    """Read a file of weights.

    Raises:
        InputError: It cannot be read, or is of another format.
    """

    def parse(content: arrays.Arrays) -> Weights:
        facts = json.loads(arrays.to_text(content["facts"]))
        if facts["format"] != FORMAT:
            raise InputError(f"{path}: weights of format {facts['format']}, not {FORMAT}")
        stems = arrays.to_lines(content["stems"])
        frequency = dict(zip(stems, content["frequency"].tolist(), strict=True))
        return Weights(
            encoder=facts["encoder"],
            data_sha256=facts["data_sha256"],
            rarity=Rarity(frequency=frequency, documents=facts["documents"]),
            reference={
                size: content[f"reference_{index}"] for index, size in enumerate(facts["sizes"])
            },
            **{name: _layer(content, name) for name in LAYERS},
        )

    return arrays.unpack(path, parse, "weights of the headline")


def _layer(content: arrays.Arrays, name: str) -> Linear:
    phrases = arrays.to_lines(content[f"{name}_phrases"])
    return Linear(
        phrases={phrase: row for row, phrase in enumerate(phrases)},
        **{part: content[f"{name}_{part}"].astype(np.float32) for part in _PARTS},
    )
