"""Learned weights of the headline, in one file of arrays."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore import arrays
from crscore.encoders.minilm import TunedLayers
from crscore.errors import InputError
from crscore.records import Remark
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.phrases import Phrases
from crscore.usefulness.scale import GUIDE_SPREAD, Scale

Floats = npt.NDArray[np.float32]

FORMAT: Final = 4
"""Version of the file format."""
_ARRAYS: Final = ("head", "about", "worth")
_LAYER: Final = "layer:"
_SPREAD: Final = "spread:"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """All learned weights."""

    encoder: str
    """Name and model of the encoder whose layers were tuned."""
    data_sha256: str
    """Hash of the training data."""
    rarity: Rarity
    """Rarity of stems in changes."""
    layers: TunedLayers
    """Layers of the encoder, tuned to read reviews."""
    head: Floats
    """Linear map from the mean token vector to the outputs, shape (D + 1, K), the bias last."""
    phrases: Phrases
    """Linear model of the ratings, joined with the network."""
    about: Floats
    """Weights of the evidence in the logit of being on topic, shape (M + 1,), the bias last."""
    worth: Floats
    """Weights of `JoinedNetwork.measure` in the logit of the worth, shape (P + 1,), bias last."""
    scale: Scale
    """Values of real comments and reviews, as the network reads them."""
    guide: Mapping[tuple[str, str], Floats]
    """The same values as judged by readers with the guide, for a language model as the reader."""

    def choose_scale(self, remarks: Sequence[Remark]) -> Scale:
        """Return the scale of the reader of most remarks: a language model, or the network."""
        by_model = sum(remark.reading is not None for remark in remarks)
        if 2 * by_model <= len(remarks):
            return self.scale
        # As the model has the same guide as those readers (docs/design/010-usefulness.md).
        return Scale(values=self.guide, spread=dict.fromkeys(self.scale.spread, GUIDE_SPREAD))


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
        "sets": [list(name) for name in weights.scale.values],
    }
    content: dict[str, npt.NDArray[Any]] = {
        "facts": arrays.from_text(json.dumps(facts, sort_keys=True)),
        "stems": arrays.from_text("\n".join(frequency)),
        "frequency": np.array(list(frequency.values()), dtype=np.int32),
    }
    for name in _ARRAYS:
        content[name] = getattr(weights, name).astype(np.float32)
    content["phrases"] = arrays.from_text("\n".join(weights.phrases.terms))
    content["phrase_rarity"] = weights.phrases.rarity.astype(np.float16)
    content["phrase_weights"] = weights.phrases.weights.astype(np.float16)
    for name, tensor in sorted(weights.layers.tensors.items()):
        content[_LAYER + name] = tensor.astype(np.float16)
    for kind, table in weights.scale.spread.items():
        content[_SPREAD + kind] = table.astype(np.float32)
    for index, key in enumerate(weights.scale.values):
        content[f"values_{index}"] = weights.scale.values[key].astype(np.float32)
        content[f"guide_{index}"] = weights.guide[key].astype(np.float32)
    # Compressed, it would be 8 % smaller and cost each start 0.1 s.
    return arrays.pack(content, compress=False)


def read_weights(path: Path) -> Weights:
    """Read a file of weights.

    Raises:
        InputError: It cannot be read, or has another format.
    """

    def parse(content: arrays.Arrays) -> Weights:
        facts = json.loads(arrays.to_text(content["facts"]))
        if facts["format"] != FORMAT:
            raise InputError(f"{path}: weights of format {facts['format']}, not {FORMAT}")
        stems = arrays.to_lines(content["stems"])
        frequency = dict(zip(stems, content["frequency"].tolist(), strict=True))
        sets = [(kind, writer) for kind, writer in facts["sets"]]
        return Weights(
            encoder=facts["encoder"],
            data_sha256=facts["data_sha256"],
            rarity=Rarity(frequency=frequency, documents=facts["documents"]),
            layers=TunedLayers(
                {
                    name.removeprefix(_LAYER): tensor
                    for name, tensor in content.items()
                    if name.startswith(_LAYER)
                }
            ),
            phrases=Phrases(
                terms=tuple(arrays.to_lines(content["phrases"])),
                rarity=content["phrase_rarity"].astype(np.float32),
                weights=content["phrase_weights"].astype(np.float32),
            ),
            scale=Scale(
                values={name: content[f"values_{index}"] for index, name in enumerate(sets)},
                spread={
                    name.removeprefix(_SPREAD): table
                    for name, table in content.items()
                    if name.startswith(_SPREAD)
                },
            ),
            guide={name: content[f"guide_{index}"] for index, name in enumerate(sets)},
            **{name: content[name].astype(np.float32) for name in _ARRAYS},
        )

    return arrays.unpack(path, parse, "weights of the headline")
