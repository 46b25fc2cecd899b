"""Reads and writes the learned weights of the headline, in one file of arrays."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore import arrays
from crscore.encoders.minilm import TunedLayers
from crscore.errors import InputError
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.reading import Phrases, TunedNetwork

Floats = npt.NDArray[np.float32]

FORMAT: Final = 4
"""Version of the file format."""
_LAYER: Final = "layer:"
_SPREAD: Final = "spread:"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scale:
    """Values of the real texts with which reviews and comments are compared.

    All values are by one reader: the network, or a language model.
    """

    values: Mapping[tuple[str, str], Floats]
    """One of `headline.KINDS`, and `headline.PEOPLE` or `BOTS` -> values of real texts in [0, 1],
    ascending."""
    spread: Mapping[str, Floats]
    """One of `headline.KINDS` -> table of shape (K, 4). The first column has standings that this
    reader gives to texts, ascending. The other columns have quantiles of the standings that readers
    who followed the guide gave to the same texts: 10 %, 50 % and 90 % for reviews, 12 %, 50 % and
    88 % for comments."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """All learned weights."""

    encoder: str
    """Name and model of the encoder whose layers were tuned."""
    data_sha256: str
    """Hash of the training data."""
    rarity: Rarity
    """Rarity of stems in changes."""
    network: TunedNetwork
    """Network that reads texts, for that encoder."""
    about: Floats
    """Weights of `evidence.FEATURES` in the log-odds that a text is about the change, shape
    (M + 1,), the bias last."""
    scale: Scale
    """Real comments and reviews, as the network values them."""
    guide: Mapping[tuple[str, str], Floats]
    """Values as in `Scale.values`, but as readers who followed a guide judged the texts; used if a
    language model, which follows such a guide, reads a review."""


def to_bytes(weights: Weights) -> bytes:
    """Serialize weights; the same weights give the same bytes.

    Returns:
        A NumPy archive (`.npz`), without pickled objects.
    """
    # Sorted, because the hash of the file is in the signature, so equal weights need equal bytes.
    frequency = dict(sorted(weights.rarity.frequency.items()))
    network, phrases, scale = weights.network, weights.network.phrases, weights.scale
    facts = {
        "format": FORMAT,
        "encoder": weights.encoder,
        "data_sha256": weights.data_sha256,
        "documents": weights.rarity.documents,
        "sets": [list(name) for name in scale.values],
    }
    content: dict[str, npt.NDArray[Any]] = {
        "facts": arrays.from_text(json.dumps(facts, sort_keys=True)),
        "stems": arrays.from_text("\n".join(frequency)),
        "frequency": np.array(list(frequency.values()), dtype=np.int32),
        "head": network.head.astype(np.float32),
        "about": weights.about.astype(np.float32),
        "worth": network.worth.astype(np.float32),
        "phrases": arrays.from_text("\n".join(phrases.terms)),
        "phrase_rarity": phrases.rarity.astype(np.float16),
        "phrase_weights": phrases.weights.astype(np.float16),
    }
    for name, tensor in sorted(network.layers.tensors.items()):
        content[_LAYER + name] = tensor.astype(np.float16)
    for kind, table in scale.spread.items():
        content[_SPREAD + kind] = table.astype(np.float32)
    for index, key in enumerate(scale.values):
        content[f"values_{index}"] = scale.values[key].astype(np.float32)
        content[f"guide_{index}"] = weights.guide[key].astype(np.float32)
    # Compressed, the file would be 8 % smaller but take 0.1 s longer at each start.
    return arrays.pack(content, compress=False)


def read_weights(path: Path) -> Weights:
    """Read a file of weights.

    Raises:
        InputError: The file cannot be read, or has another format.
    """

    def parse(content: arrays.Arrays) -> Weights:
        facts = json.loads(arrays.to_text(content["facts"]))
        if facts["format"] != FORMAT:
            raise InputError(f"{path}: weights of format {facts['format']}, not {FORMAT}")
        stems = arrays.to_lines(content["stems"])
        frequency = dict(zip(stems, content["frequency"].tolist(), strict=True))
        sets = [(kind, writer) for kind, writer in facts["sets"]]

        def with_prefix(prefix: str) -> dict[str, npt.NDArray[Any]]:
            return {
                name.removeprefix(prefix): array
                for name, array in content.items()
                if name.startswith(prefix)
            }

        return Weights(
            encoder=facts["encoder"],
            data_sha256=facts["data_sha256"],
            rarity=Rarity(frequency=frequency, documents=facts["documents"]),
            network=TunedNetwork(
                layers=TunedLayers(with_prefix(_LAYER)),
                head=content["head"].astype(np.float32),
                phrases=Phrases(
                    terms=tuple(arrays.to_lines(content["phrases"])),
                    rarity=content["phrase_rarity"].astype(np.float32),
                    weights=content["phrase_weights"].astype(np.float32),
                ),
                worth=content["worth"].astype(np.float32),
            ),
            about=content["about"].astype(np.float32),
            scale=Scale(
                values={name: content[f"values_{index}"] for index, name in enumerate(sets)},
                spread=with_prefix(_SPREAD),
            ),
            guide={name: content[f"guide_{index}"] for index, name in enumerate(sets)},
        )

    return arrays.unpack(path, parse, "usefulness weights")
