"""What one team acts on: a linear layer over the reader's outputs, learned from its own history.

`crscore audit learn` writes the file, and `crscore triage --team` reads it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.errors import InputError
from crscore.usefulness.reading import OUTPUTS, Network

Doubles = npt.NDArray[np.float64]

SCHEMA: Final = "urn:crscore:team:1"
_WIDTH: Final = len(OUTPUTS) + 2


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """Weights of one team, and how much they gain."""

    schema: Literal["urn:crscore:team:1"] = SCHEMA
    reader: str
    """Identity of the reader whose outputs they are for."""
    comments: int
    """Comments that they were learned from."""
    held_out: int
    """Newer comments that they were measured on."""
    auc: float
    """Chance that the weights put one of these that was acted on before one that was not."""
    shipped_auc: float
    """The same of the shipped reader."""
    low: float
    """Interval of the difference, 95 %."""
    high: float
    weights: Annotated[tuple[float, ...], msgspec.Meta(min_length=_WIDTH, max_length=_WIDTH)]
    """From `measure` to the logit, the bias last."""

    def judge(self, network: Network, texts: Sequence[str]) -> list[float]:
        """Return the probability that the team acts on each text, in (0, 1)."""
        logits = measure(network, texts) @ np.array(self.weights)
        return [float(value) for value in probabilities(logits)]


def measure(network: Network, texts: Sequence[str]) -> Doubles:
    """Return the reader's outputs of N texts, the logarithm of their words, and a one: (N, F)."""
    if not texts:
        return np.zeros((0, _WIDTH))
    words = [np.log1p(len(text.split())) for text in texts]
    outputs = np.clip(network.read(texts).astype(np.float64), -30, 30)
    return np.column_stack([outputs, words, np.ones(len(texts))])


def probabilities(logits: Doubles) -> Doubles:
    """Return the probabilities of logits, in (0, 1)."""
    result: Doubles = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return result


def read_team(path: Path, reader: str) -> Team:
    """Read a file of weights.

    Args:
        path: The file.
        reader: Identity of the present reader.

    Raises:
        InputError: It cannot be read, is no such file, or is for another reader.
    """
    try:
        team = msgspec.json.decode(path.read_bytes(), type=Team)
    except (OSError, msgspec.MsgspecError) as exc:
        raise InputError(f"{path}: no weights of a team: {exc}") from exc
    if team.reader != reader:
        raise InputError(
            f"{path}: learned with another version ({team.reader}, not {reader}): "
            "run crscore audit learn again"
        )
    return team
