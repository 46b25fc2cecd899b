"""Tuning on a handful of texts, with the real weights of the encoder."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
import torch

from crscore.encoders.minilm import MiniLM
from crscore.errors import DependencyError
from crscore.records import Stance
from crscore.usefulness.reading import OUTPUTS, RATINGS, STANCES, TunedNetwork
from crscore_lab.training import network
from crscore_lab.training.network import FIRST_TUNED, LabelledText

pytestmark = pytest.mark.research  # PyTorch

ENCODER = MiniLM(offline=True)
ASKED = (
    "Please close the file.", "This leaks when the second call throws.",
    "Check `limit` for null before the loop, otherwise it crashes.", "Why is the lock dropped?",
)  # fmt: skip
EMPTY = ("Looks good to me!", "Nice.", "This change raises the limit to 20.", "Thanks for this.")
ROWS = [
    LabelledText(
        text=text,
        group=text,
        stance=Stance.REQUEST if actionable else Stance.PRAISE,
        ratings={"actionable": actionable, "importance": 0.75 * actionable},
    )
    for actionable, texts in ((1.0, ASKED), (0.0, EMPTY))
    for text in texts
]
ACTIONABLE = len(STANCES) + RATINGS.index("actionable")


def targets(rows: list[LabelledText]) -> dict[str, torch.Tensor]:
    return network._targets(torch, rows)


def loss(outputs: object, rows: list[LabelledText]) -> torch.Tensor:
    return network._loss(torch, torch.as_tensor(outputs), targets(rows))


def loss_of(reader: TunedNetwork) -> float:
    return loss(outputs_of(reader, [row.text for row in ROWS]), ROWS).item()


def outputs_of(reader: TunedNetwork, texts: Sequence[str]) -> np.ndarray:
    """The outputs of the tuned layers alone."""
    return reader.raw_outputs(texts, ENCODER)[:, : len(OUTPUTS)]


@pytest.fixture(scope="module")
def tuned() -> TunedNetwork:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "EPOCHS", 12)
        patch.setattr(network, "BATCH_TOKENS", 40)
        return network.tune(ROWS, ENCODER)


@pytest.fixture(scope="module")
def untuned() -> network.Network:
    torch.manual_seed(0)
    return network.Network(torch, ENCODER)


def test_loss_falls_and_texts_are_distinguished(tuned, untuned) -> None:
    assert loss_of(tuned) < 0.7 * loss_of(untuned.export())
    logits = outputs_of(tuned, [*ASKED, *EMPTY])[:, ACTIONABLE]
    assert min(logits[: len(ASKED)]) > max(logits[len(ASKED) :])


def test_exported_layers_give_the_outputs_of_the_network(untuned) -> None:
    texts = [*ASKED, *EMPTY, "word " * 60]
    states = untuned.run_frozen(ENCODER.token_ids(texts, limit=network.MAX_TOKENS))
    untuned.layers.eval()
    untuned._dropout.eval()
    with torch.no_grad():
        expected = untuned(states).numpy()
    # Layers are exported, and states kept, in half precision.
    np.testing.assert_allclose(outputs_of(untuned.export(), texts), expected, rtol=0, atol=5e-3)


def test_export_has_only_the_tuned_layers_in_half_precision(tuned) -> None:
    own = ENCODER.tensors()
    assert tuned.layers.tensors.keys() == {
        name
        for name in own
        if name.startswith("encoder.layer.") and int(name.split(".")[2]) >= FIRST_TUNED
    }
    for name, tensor in tuned.layers.tensors.items():
        assert tensor.dtype == np.float16
        assert tensor.shape == own[name].shape
    changed = [
        not np.array_equal(tensor, own[name].astype(np.float16))
        for name, tensor in tuned.layers.tensors.items()
    ]
    assert sum(changed) > 0.9 * len(changed)
    assert tuned.head.shape == (385, len(OUTPUTS))


def test_tuning_does_not_change_the_encoder(tuned) -> None:
    before = MiniLM(offline=True).encode(ASKED)
    tuned.read(ASKED, ENCODER)
    np.testing.assert_array_equal(ENCODER.encode(ASKED), before)


def test_weights_depend_only_on_the_seed(monkeypatch) -> None:
    monkeypatch.setattr(network, "EPOCHS", 1)
    first, again, other = (network.tune(ROWS[2:6], ENCODER, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.head, again.head)
    for name, tensor in first.layers.tensors.items():
        np.testing.assert_array_equal(tensor, again.layers.tensors[name])
    assert not np.array_equal(first.head, other.head)


def test_unknown_labels_do_not_change_the_loss() -> None:
    row = replace(ROWS[0], stance=None, ratings={"actionable": 1.0})
    outputs = torch.zeros((1, len(OUTPUTS)), requires_grad=True)
    loss(outputs, [row]).backward()
    moved = outputs.grad[0].nonzero().flatten().tolist()
    assert moved == [ACTIONABLE]
    with_stance = torch.zeros((1, len(OUTPUTS)), requires_grad=True)
    loss(with_stance, [replace(row, stance=Stance.REQUEST, ratings={})]).backward()
    assert with_stance.grad[0].nonzero().flatten().tolist() == list(range(len(STANCES)))
    nothing = replace(row, stance=None, ratings={})
    assert loss(np.ones((1, len(OUTPUTS)), dtype=np.float32), [nothing]).item() == 0


def test_loss_is_weighted_by_row_and_rating() -> None:
    outputs = np.zeros((1, len(OUTPUTS)), dtype=np.float32)
    for name, weight in network.RATING_WEIGHTS.items():
        for target in (0.0, 0.25, 1.0):
            row = replace(ROWS[0], stance=None, ratings={name: target}, weight=0.5)
            assert loss(outputs, [row]).item() == pytest.approx(0.5 * weight * np.log(2))


def test_every_rating_has_a_weight() -> None:
    assert network.RATING_WEIGHTS.keys() == set(RATINGS)


@pytest.mark.parametrize("lengths", [[5], [3, 200, 7, 128, 9, 9, 60], list(range(2, 129))])
def test_batches_have_each_text_once_within_the_token_limit(lengths: list[int]) -> None:
    batches = network._batches(lengths, np.random.default_rng(0))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        # Lengths of one batch differ by the jitter.
        most = max(lengths[index] for index in batch)
        assert len(batch) * (most - 6) <= network.BATCH_TOKENS


def test_text_of_any_length_is_cut_and_read() -> None:
    rows = [replace(row, text=text) for row, text in zip(ROWS, ("", "word " * 900), strict=False)]
    reader = network.tune(rows, ENCODER)
    assert np.isfinite(reader.read([row.text for row in rows], ENCODER)).all()


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_error_of_a_missing_package_names_the_command(monkeypatch, package: str) -> None:
    for name in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    network.require_packages()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DependencyError, match=r"crscore-lab\[train,finetune\]"):
        network.require_packages()
