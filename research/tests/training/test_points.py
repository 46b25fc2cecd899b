"""Tuning on a handful of points, with the real weights of the encoder."""

from pathlib import Path

import numpy as np
import pytest

from crscore.bench.pairs import measure_pairs, view_texts
from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.errors import InputError
from crscore.usefulness.evidence import Rarity
from crscore_lab.training import points
from crscore_lab.training.points import Change, Point

pytestmark = pytest.mark.research  # PyTorch

ENCODER = MiniLM(offline=True)
CHANGES = [
    Change(
        points=(
            Point(
                problem="`sendAll` never stops retrying.",
                findings=("no limit on the attempts", "A dead host is asked for ever."),
            ),
            Point(
                problem="`sendAll` hides the error of the last attempt.",
                findings=("log the exception", "Nobody learns why it failed."),
            ),
        )
    ),
    Change(
        points=(
            Point(problem="`mean` divides by zero for an empty list.", findings=("empty input?",)),
            Point(problem="`mean` reads the list twice."),
            Point(findings=("Nice use of a generator.",)),
        )
    ),
]


def margin(layers: TunedLayers | None) -> float:
    """Return by how much own problems are nearer than others, in cosine."""
    problems, findings = CHANGES[0].texts()
    views = view_texts([*problems, *findings], ENCODER, Rarity(frequency={}, documents=0), layers)
    table = measure_pairs([views[text] for text in findings], [views[text] for text in problems])
    cosines, own = table[..., 0], CHANGES[0].labels() > 0
    return float(cosines[own].mean() - cosines[~own].mean())


def test_findings_have_the_problem_of_their_point() -> None:
    assert CHANGES[0].labels().tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert CHANGES[1].labels().tolist() == [[1, 0], [0, 0]]


def test_tuning_separates_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "EPOCHS", 8)
    tuned = points.tune(CHANGES, ENCODER)
    assert margin(tuned) > margin(None) + 0.1
    again = points.tune(CHANGES, ENCODER)
    for name, tensor in tuned.tensors.items():
        np.testing.assert_array_equal(tensor, again.tensors[name])


def test_measures_are_those_of_the_pair_model() -> None:
    network = points.Network(points.require("torch"), ENCODER)
    network.layers.eval()
    sides = []
    for texts in reversed(CHANGES[0].texts()):
        states = network.run_frozen(ENCODER.token_ids(texts, limit=points.MAX_TOKENS))
        sides.append(points._encode(points.require("torch"), network, states))
    measured = points._measure(points.require("torch"), *sides).detach().numpy()
    problems, findings = CHANGES[0].texts()
    views = view_texts([*problems, *findings], ENCODER, Rarity(frequency={}, documents=0), None)
    table = measure_pairs([views[text] for text in findings], [views[text] for text in problems])
    # The network runs in 16 bits.
    np.testing.assert_allclose(measured, table[..., :3], atol=0.03)


def test_shipped_points_can_be_read() -> None:
    changes = points.read_changes()
    assert all(change.texts()[1] for change in changes)


def test_wrong_row_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    path.write_text('{"points": [{"findings": "one"}]}\n', "utf-8")
    with pytest.raises(InputError, match=r"points\.jsonl:1"):
        points.read_changes(path)
