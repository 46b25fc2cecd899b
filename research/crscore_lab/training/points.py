"""Tunes the encoder's last layers to distinguish points that are made about the same code.

Texts that make the same point get similar vectors, whatever their words, and texts that make
different points about the same code do not. Each text is encoded alone, so that comparing many
pairs is cheap. The examples (`data/points.jsonl`) are made-up changes, each with some problems, and
findings that name one of the problems in other words. Because nearly every finding matches one
problem and does not match the others, its style says nothing about whether a pair matches. Tested
with torch 2.13 and transformers 5.23. Training takes about ten minutes on one core.
"""

from collections.abc import Sequence
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from crscore import jsonl
from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore_lab.training.network import AVERAGED, MAX_TOKENS, Network, in_16_bits, require, warm_up

SHIPPED: Final = Path(str(resources.files("crscore_lab.training.data"))) / "points.jsonl"
"""Made-up changes on which the layers are tuned."""
FOR_WEIGHTS: Final = SHIPPED.with_name("points-weights.jsonl")
"""Further changes, from which the weights of the measures are learned."""
EPOCHS: Final = 4
RATE: Final = 1e-4
"""Peak learning rate of the layers."""
SCALE_RATE: Final = 0.01
"""Peak learning rate of the temporary weights of the measures, which are discarded after tuning."""
BATCH: Final = 4
"""Number of changes in a batch."""
OTHER_CHANGE: Final = 0.1
"""Weight of a pair from two changes, relative to 1 for a pair from the same change."""
PAIR_WEIGHT: Final = 4.0
"""Weight of the decision about each pair, relative to the choice among the problems of a change."""
START: Final = (6.0, 3.0, 3.0, -5.0)
"""Initial weights of the three measures of `_measure`, and the initial bias."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """Problem of a made-up change, and findings that name the problem."""

    problem: str | None = None
    """The problem; None if the findings name none of the change's problems."""
    findings: tuple[str, ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Made-up change with all points that are made about it."""

    points: tuple[Point, ...]

    def texts(self) -> tuple[list[str], list[str]]:
        """Return the P problems and the F findings of the change."""
        problems = [point.problem for point in self.points if point.problem is not None]
        return problems, [text for point in self.points for text in point.findings]

    def labels(self) -> npt.NDArray[np.float32]:
        """Return 1 if a finding names a problem and 0 otherwise, shape (F, P)."""
        has_problem = [point.problem is not None for point in self.points]
        rows = [index for index, point in enumerate(self.points) for _ in point.findings]
        return np.eye(len(has_problem), dtype=np.float32)[rows][:, has_problem]


def read_changes(path: Path = SHIPPED) -> list[Change]:
    """Read a JSON Lines file of made-up changes.

    Raises:
        InputError: The file cannot be read, or a row has another format.
    """
    content = jsonl.read_bytes(path, "points")
    return [row for _, row in jsonl.read_rows(content, Change, path, "points")]


def tune(changes: Sequence[Change], encoder: MiniLM, *, seed: int = 0) -> TunedLayers:
    """Tune the encoder's last layers, and return them.

    Args:
        changes: Made-up changes.
        encoder: Encoder whose layers are tuned.
        seed: Seed of all random choices.

    Raises:
        DependencyError: torch or transformers is not installed.
    """
    torch = require("torch")
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = Network(torch, encoder)
    texts = sorted({text for change in changes for side in change.texts() for text in side})
    states = dict(
        zip(texts, network.run_frozen(encoder.token_ids(texts, limit=MAX_TOKENS)), strict=True)
    )
    weights = torch.nn.Parameter(torch.tensor(START))
    layers = [*network.layers.parameters()]
    groups = [
        {"params": layers, "lr": RATE, "weight_decay": 0.01},
        {"params": [weights], "lr": SCALE_RATE, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups)
    steps = EPOCHS * -(-len(changes) // BATCH)
    scheduler = warm_up(torch, optimizer, steps)
    network.train()
    averaged = torch.optim.swa_utils.AveragedModel(network.layers)
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(changes))
        for start in range(0, len(order), BATCH):
            batch = [changes[index] for index in order[start : start + BATCH]]
            problems, findings = (
                _encode(torch, network, [states[text] for text in chain.from_iterable(side)])
                for side in zip(*(change.texts() for change in batch), strict=True)
            )
            logits = _measure(torch, findings, problems) @ weights[:-1] + weights[-1]
            loss = _loss(torch, logits, batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(layers, 1.0)
            optimizer.step()
            scheduler.step()
            step += 1
            if step > AVERAGED * steps:
                averaged.update_parameters(network.layers)
    network.layers.load_state_dict(averaged.module.state_dict())
    return network.export_layers()


def _encode(torch: Any, network: Network, states: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Encode N texts from their states after the frozen layers.

    Returns:
        Unit vectors of the texts, shape (N, D), and of their tokens, shape (N, T, D), and a mask
        that is 1 for each token except the special tokens and padding, shape (N, T).
    """
    with in_16_bits(torch):
        hidden, present = network.run_tuned(states)
    inner = present.clone()
    inner[:, 0] = 0
    inner[torch.arange(len(states)), present.sum(dim=1).long() - 1] = 0
    hidden = hidden.float()
    means = (hidden * inner[..., None]).sum(dim=1)
    normalize = torch.nn.functional.normalize
    return normalize(means, dim=1), normalize(hidden, dim=2), inner


def _measure(torch: Any, findings: tuple[Any, Any, Any], problems: tuple[Any, Any, Any]) -> Any:
    """Return the measures of `crscore.bench.pairs` that need only vectors, shape (F, P, 3).

    They are the cosine of the texts, and how well the problem's tokens match the finding's, and
    vice versa.
    """
    cosines = torch.einsum("fad,pbd->fpab", findings[1], problems[1])
    of_finding, of_problem = findings[2][:, None], problems[2][None]
    inside = of_finding[..., None] * of_problem[:, :, None, :]
    cosines = cosines.masked_fill(inside == 0, -1e4)
    measures = [findings[0] @ problems[0].T]
    for axis, counted in ((2, of_problem), (3, of_finding)):
        best = (cosines.amax(dim=axis) * counted).sum(dim=2)
        measures.append(best / counted.sum(dim=2).clamp(min=1))
    return torch.stack(measures, dim=2)


def _loss(torch: Any, logits: Any, batch: Sequence[Change]) -> Any:
    """Return the loss of the decisions about pairs and of the choices among a change's problems."""
    labels = torch.block_diag(*(torch.from_numpy(change.labels()) for change in batch))
    same_change = torch.block_diag(*(torch.ones(change.labels().shape) for change in batch))
    pair_weights = same_change + OTHER_CHANGE * (1 - same_change)
    decisions = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, labels, weight=pair_weights, reduction="sum"
    )
    names_problem = labels.sum(dim=1) > 0
    choices = torch.log_softmax(logits.masked_fill(same_change == 0, -30.0), dim=1)
    choice = -(choices * labels).sum(dim=1)[names_problem].mean()
    return PAIR_WEIGHT * decisions / pair_weights.sum() + choice
