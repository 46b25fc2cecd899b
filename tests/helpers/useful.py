"""Weights of the headline with values set by hand, and a network that says what it is told to."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import structs

from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.records import Stance
from crscore.usefulness import evidence, headline, reader
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.headline import BOTS, PEOPLE
from crscore.usefulness.model import Scale, Weights
from crscore.usefulness.reading import OUTPUTS, PHRASED, Phrases, TextReading, TunedNetwork

SETS = [(kind, writer) for kind in headline.KINDS for writer in (PEOPLE, BOTS)]
"""Comparison sets."""


def outputs(stance: Stance = Stance.REQUEST, **ratings: float) -> npt.NDArray[np.float32]:
    """Outputs of a network that is sure of a stance; each other rating is a half."""
    logits = dict.fromkeys(OUTPUTS, 0.0) | {stance.name: 9.0}
    logits |= {name: float(np.log(value / (1 - value))) for name, value in ratings.items()}
    return np.array([logits[name] for name in OUTPUTS], dtype=np.float32)


def text_reading(stance: Stance = Stance.REQUEST, **ratings: float) -> TextReading:
    return reader.read_text("", outputs(stance, **ratings))


class ScriptedNetwork(TunedNetwork, frozen=True, kw_only=True, eq=False):
    """Network whose outputs for a text, before the phrases, are those of a function."""

    script: Callable[[str], npt.NDArray[np.float32]]

    def raw_outputs(self, texts: Sequence[str], encoder: MiniLM) -> npt.NDArray[np.float32]:
        return np.hstack([np.stack([*map(self.script, texts)]), self.phrases.read(texts)])


def scripted(
    script: Callable[[str], npt.NDArray[np.float32]], **changes: object
) -> ScriptedNetwork:
    return ScriptedNetwork(script=script, **structs.asdict(network(**changes)))


def network(**changes: object) -> TunedNetwork:
    """Network that knows nothing: each probability is a half."""
    parts = {
        "layers": TunedLayers(
            {"second.bias": np.arange(4) / 3, "first.weight": np.ones((2, 3), dtype=np.float16)}
        ),
        "head": np.zeros((385, len(OUTPUTS)), dtype=np.float32),
        "phrases": Phrases(
            terms=("never clos", "typo"),
            rarity=np.array([2.0, 3.0], dtype=np.float32),
            # Its ratings are all a half.
            weights=np.array([[0.0], [0.0], [0.5]], dtype=np.float32).repeat(len(PHRASED), axis=1),
        ),
        # Its worth is what the network says.
        "worth": np.array([name == "worth" for name in (*OUTPUTS, *PHRASED, "")], dtype=np.float32),
    }
    return TunedNetwork(**(parts | changes))


def scale() -> Scale:
    """Comparison sets of evenly spread values; readers differ by up to ten points."""
    even = np.linspace(0, 1, 101, dtype=np.float32)
    knots = np.linspace(0, 100, 5, dtype=np.float32)
    table = np.stack([knots, np.maximum(knots - 10, 0), knots, np.minimum(knots + 10, 100)], axis=1)
    return Scale(values=dict.fromkeys(SETS, even), spread=dict.fromkeys(headline.KINDS, table))


def weights(**changes: object) -> Weights:
    """Weights that know nothing: each probability is a half."""
    parts = {
        "encoder": "hashing:256",
        "data_sha256": "ab" * 32,
        "rarity": Rarity(frequency={"limit": 4, "été": 9}, documents=99),
        "network": network(),
        "about": np.zeros(len(evidence.FEATURES) + 1, dtype=np.float32),
        "scale": scale(),
        "guide": scale().values,
    }
    return Weights(**(parts | changes))
