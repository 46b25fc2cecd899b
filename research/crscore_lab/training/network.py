"""Fine-tunes the encoder's last layers to read reviews: stance, importance and other ratings.

The lower layers do not change, so their output is computed only once for each text. Tested with
torch 2.13 and transformers 5.23. Training takes about five minutes on one core for 20,000 texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.errors import DependencyError
from crscore.records import Stance
from crscore.usefulness.reading import OUTPUTS, PHRASED, RATINGS, STANCES, Phrases, TunedNetwork

Floats = npt.NDArray[np.float32]

FIRST_TUNED: Final = 3
"""Index of the first layer that is tuned, so that the upper three of six layers are tuned."""
LAYERS: Final = 6
EPOCHS: Final = 3
RATE: Final = 1.5e-4
"""Peak learning rate of the layers; that of the head is ten times as high."""
WARMUP: Final = 0.1
"""Share of the steps during which the rate rises."""
# On held-out texts, the rank correlation of the importance is 0.42 with averaged weights and 0.41
# with the last weights; two networks together are no better.
AVERAGED: Final = 0.5
"""Share of the steps after which the weights of all further steps are averaged (Izmailov et al.,
https://arxiv.org/abs/1803.05407)."""
BATCH_TOKENS: Final = 1_536
"""Maximum tokens of a batch, including padding."""
MAX_TOKENS: Final = 128
"""Maximum tokens of a text; longer texts are cut."""
FROZEN_BATCH: Final = 64
"""Maximum number of texts that run through the frozen layers at a time."""
SMOOTHING: Final = 0.05
"""Probability that a label of a stance is wrong."""
RATING_WEIGHTS: Final[Mapping[str, float]] = {
    "actionable": 1.5, "importance": 4.0, "worth": 4.0, "informative": 0.3, "relevant": 0.3,
    "clear": 0.2, "acted_on": 0.3, "functional": 0.5, "accepted": 0.2,
}  # fmt: skip
"""Weight of each rating in the loss, relative to 1 for the stance."""
UNTUNED: Final = TunedNetwork(
    layers=TunedLayers({}),
    head=np.zeros((0, 0), dtype=np.float32),
    phrases=Phrases((), np.zeros(0, np.float32), np.zeros((1, len(PHRASED)), np.float32)),
    worth=np.eye(len(OUTPUTS) + len(PHRASED) + 1, dtype=np.float32)[OUTPUTS.index("worth")],
)
"""Network that has learned nothing: it has neither layers nor phrases, and its worth is the output
`worth`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """Text with its known labels."""

    text: str
    group: str
    """Texts of the same group are in the same fold."""
    stance: Stance | None = None
    ratings: Mapping[str, float] = field(default_factory=dict)
    """Some of `RATINGS` -> probability, in [0, 1]."""
    weight: float = 1.0


def tune(rows: Sequence[LabelledText], encoder: MiniLM, *, seed: int = 0) -> TunedNetwork:
    """Tune the encoder's last layers on labelled texts.

    Args:
        rows: The texts.
        encoder: Encoder whose layers are tuned.
        seed: Seed of all random choices.

    Returns:
        The tuned network, without phrases.

    Raises:
        DependencyError: torch or transformers is not installed.
    """
    torch = require("torch")
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    ids = encoder.token_ids([row.text for row in rows], limit=MAX_TOKENS)
    network = Network(torch, encoder)
    states = network.run_frozen(ids)
    targets = _targets(torch, rows)
    groups = [
        {"params": network.layers.parameters(), "lr": RATE},
        {"params": network.head.parameters(), "lr": 10 * RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    lengths = [len(text) for text in ids]
    steps = EPOCHS * len(_batches(lengths, rng))
    scheduler = warm_up(torch, optimizer, steps)
    network.train()
    tuned = torch.nn.ModuleList([network.layers, network.head])
    averaged, step = torch.optim.swa_utils.AveragedModel(tuned), 0
    for _ in range(EPOCHS):
        for batch in _batches(lengths, rng):
            with in_16_bits(torch):
                outputs = network([states[index] for index in batch]).float()
            loss = _loss(torch, outputs, {name: values[batch] for name, values in targets.items()})
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            step += 1
            if step > AVERAGED * steps:
                averaged.update_parameters(tuned)
    tuned.load_state_dict(averaged.module.state_dict())
    return network.export()


def require_packages() -> None:
    """Check that the packages for tuning are installed.

    Raises:
        DependencyError: A package is not installed.
    """
    for package in ("torch", "transformers"):
        require(package)


def require(package: str) -> Any:
    """Import a package for tuning.

    Raises:
        DependencyError: The package is not installed.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise DependencyError(package, "pip install 'crscore-lab[train,finetune]'") from error


def in_16_bits(torch: Any) -> Any:
    """Return the context of a step, which computes in 16 bits if the processor supports that.

    On a processor with instructions for 16 bits, training takes a quarter of the time; on others,
    16 bits would take forty times as long as 32 bits.
    """
    capabilities = torch.cpu.get_capabilities()
    enabled = any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16"))
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled)


def warm_up(torch: Any, optimizer: Any, steps: int) -> Any:
    """Return a schedule of the rates, which rise during `WARMUP` of the steps and then fall."""
    # The factor is at least 0.02, because it would fall below 0 if later passes had more batches
    # than the first.
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (WARMUP * steps), max(0.02, 1 - step / steps))
    )


def _targets(torch: Any, rows: Sequence[LabelledText]) -> dict[str, Any]:
    stances = [-1 if row.stance is None else STANCES.index(row.stance) for row in rows]
    ratings = [[row.ratings.get(name, np.nan) for name in RATINGS] for row in rows]
    return {
        "stances": torch.tensor(stances),
        "ratings": torch.tensor(ratings, dtype=torch.float32),
        "weights": torch.tensor([row.weight for row in rows], dtype=torch.float32),
    }


def _loss(torch: Any, outputs: Any, targets: Mapping[str, Any]) -> Any:
    """Return the weighted sum of the cross-entropies of all known labels."""
    functional = torch.nn.functional
    split, weights = len(STANCES), targets["weights"]
    stance = functional.cross_entropy(
        outputs[:, :split], targets["stances"], ignore_index=-1, reduction="none",
        label_smoothing=SMOOTHING,
    )  # fmt: skip
    is_known = ~torch.isnan(targets["ratings"])
    rating = functional.binary_cross_entropy_with_logits(
        outputs[:, split:], targets["ratings"].nan_to_num(), reduction="none"
    )
    shares = torch.tensor([RATING_WEIGHTS[name] for name in RATINGS])
    total = (stance + (rating * is_known * shares).sum(dim=1)) * weights
    return total.mean()


def _batches(lengths: Sequence[int], rng: np.random.Generator) -> list[list[int]]:
    """Group texts of similar length, in random order."""
    # Random numbers are added, so that a text is in a batch with other texts in the next pass.
    order = np.argsort(np.array(lengths) + rng.uniform(0, 6, len(lengths)))
    batches: list[list[int]] = [[]]
    for index in order:
        if batches[-1] and (len(batches[-1]) + 1) * lengths[index] > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(int(index))
    return [batches[index] for index in rng.permutation(len(batches))]


class Network:
    """The encoder in PyTorch, with a linear head on the mean of its tokens."""

    def __init__(self, torch: Any, encoder: MiniLM) -> None:
        transformers = require("transformers")
        self._torch = torch
        config = transformers.BertConfig(
            num_hidden_layers=LAYERS, hidden_size=384, num_attention_heads=12,
            intermediate_size=1536, attn_implementation="eager",
        )  # fmt: skip
        bert = transformers.BertModel(config, add_pooling_layer=False)
        tensors = {name: torch.from_numpy(array) for name, array in encoder.tensors().items()}
        bert.load_state_dict(tensors, strict=False)
        self._embeddings = bert.embeddings.eval()
        self._frozen = bert.encoder.layer[:FIRST_TUNED].eval()
        self.layers = bert.encoder.layer[FIRST_TUNED:]
        self.head = torch.nn.Linear(384, len(OUTPUTS))
        self._dropout = torch.nn.Dropout(0.1)

    def parameters(self) -> list[Any]:
        """Return all parameters that are learned."""
        return [*self.layers.parameters(), *self.head.parameters()]

    def train(self) -> None:
        """Switch on dropout in the tuned layers."""
        self.layers.train()

    def run_frozen(self, ids: Sequence[Sequence[int]]) -> list[Any]:
        """Return the states of texts after the frozen layers, each of shape (tokens, 384)."""
        states: list[Any] = [None] * len(ids)
        # Only texts of the same length run together, because they need no mask.
        by_length: dict[int, list[int]] = {}
        for index, text in enumerate(ids):
            by_length.setdefault(len(text), []).append(index)
        for indices in by_length.values():
            for start in range(0, len(indices), FROZEN_BATCH):
                batch = indices[start : start + FROZEN_BATCH]
                with self._torch.no_grad():
                    hidden = self._embeddings(self._torch.tensor([list(ids[i]) for i in batch]))
                    for layer in self._frozen:
                        hidden = _first(layer(hidden))
                for index, state in zip(batch, hidden.half(), strict=True):
                    # Copied, because a view would keep the whole batch in memory.
                    states[index] = state.clone()
        return states

    def run_tuned(self, states: Sequence[Any]) -> tuple[Any, Any]:
        """Run the tuned layers on the states of N texts, each of at most T tokens.

        Returns:
            The vectors of the tokens, shape (N, T, 384), and a mask that is 1 for tokens and 0 for
            padding, shape (N, T).
        """
        torch = self._torch
        hidden = torch.nn.utils.rnn.pad_sequence([text.float() for text in states], True)
        lengths = torch.tensor([len(text) for text in states])
        present = (torch.arange(hidden.shape[1])[None] < lengths[:, None]).float()
        mask = (1 - present[:, None, None, :]) * -1e4
        for layer in self.layers:
            hidden = _first(layer(hidden, mask))
        return hidden, present

    def __call__(self, states: Sequence[Any]) -> Any:
        """Return the outputs for texts, given their states after the frozen layers."""
        hidden, present = self.run_tuned(states)
        means = (hidden * present[..., None]).sum(dim=1) / present.sum(dim=1, keepdim=True)
        return self.head(self._dropout(means))

    def export_layers(self) -> TunedLayers:
        """Return the tuned layers, in the precision of the weights file."""
        return TunedLayers(
            {
                f"encoder.layer.{FIRST_TUNED + int(number)}.{name}": weights.numpy().astype(
                    np.float16
                )
                for full_name, weights in self.layers.state_dict().items()
                for number, _, name in [full_name.partition(".")]
            }
        )

    def export(self) -> TunedNetwork:
        """Return the tuned network without phrases; its layers have the precision of the file."""
        weight, bias = (part.detach().numpy() for part in self.head.parameters())
        return replace(UNTUNED, layers=self.export_layers(), head=np.vstack([weight.T, bias]))


def _first(output: Any) -> Any:
    """Return the states in a layer's output, which is a tuple in older versions of transformers."""
    return output[0] if isinstance(output, tuple) else output
