import contextlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crscore.encoders.minilm import TunedLayers
from crscore.errors import InputError
from crscore.usefulness import model
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.model import Scale
from tests.helpers.useful import network, weights

CONTENT = model.to_bytes(weights())


def written(folder: Path, content: bytes) -> Path:
    path = folder / "w.npz"
    path.write_bytes(content)
    return path


def rewritten(folder: Path, entry: str, values: np.ndarray | None) -> Path:
    """The same archive with one array replaced, or left out."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(CONTENT)) as old,
        zipfile.ZipFile(target, "w") as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            if name == f"{entry}.npy":
                if values is None:
                    continue
                part = io.BytesIO()
                np.save(part, values, allow_pickle=True)
                content = part.getvalue()
            new.writestr(name, content)
    return written(folder, target.getvalue())


def text(value: str) -> np.ndarray:
    return np.frombuffer(value.encode(), dtype=np.uint8)


def test_weights_read_and_written_again_are_the_same_bytes(tmp_path: Path) -> None:
    assert model.to_bytes(model.read_weights(written(tmp_path, CONTENT))) == CONTENT


def test_written_weights_are_read(tmp_path: Path) -> None:
    before, after = weights(), model.read_weights(written(tmp_path, CONTENT))
    assert (after.encoder, after.data_sha256) == (before.encoder, before.data_sha256)
    assert after.rarity.frequency == before.rarity.frequency
    assert after.rarity.documents == before.rarity.documents
    for array, written_array in (
        (after.about, before.about),
        (after.network.head, before.network.head),
        (after.network.worth, before.network.worth),
    ):
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, written_array)
    assert list(after.scale.values) == list(before.scale.values)
    for kind, table in before.scale.spread.items():
        np.testing.assert_array_equal(after.scale.spread[kind], table)
    for name in before.scale.values:
        np.testing.assert_array_equal(after.scale.values[name], before.scale.values[name])


def test_layers_are_kept_by_name_in_half_precision(tmp_path: Path) -> None:
    before = weights().network.layers
    after = model.read_weights(written(tmp_path, CONTENT)).network.layers
    assert set(after.tensors) == set(before.tensors)
    for name, tensor in before.tensors.items():
        assert after.tensors[name].dtype == np.float16
        np.testing.assert_allclose(after.tensors[name], tensor, rtol=1e-3)


def test_bytes_do_not_depend_on_the_order_of_the_stems() -> None:
    turned = Rarity(frequency=dict(reversed(weights().rarity.frequency.items())), documents=99)
    assert model.to_bytes(weights(rarity=turned)) == CONTENT
    assert model.to_bytes(weights(encoder="other")) != CONTENT


def test_bytes_do_not_depend_on_the_order_of_the_layers() -> None:
    turned = TunedLayers(dict(reversed(weights().network.layers.tensors.items())))
    assert model.to_bytes(weights(network=network(layers=turned))) == CONTENT


def test_weights_without_stems_and_layers_are_read(tmp_path: Path) -> None:
    rarity = Rarity(frequency={}, documents=0)
    empty = weights(rarity=rarity, network=network(layers=TunedLayers({})))
    content = model.to_bytes(empty)
    result = model.read_weights(written(tmp_path, content))
    assert (result.rarity.frequency, result.network.layers.tensors) == ({}, {})
    assert model.to_bytes(result) == content


def test_empty_reference_is_read(tmp_path: Path) -> None:
    key, none = ("reviews", "bots"), np.zeros(0, dtype=np.float32)
    scale = Scale(values={key: none}, spread={})
    result = model.read_weights(
        written(tmp_path, model.to_bytes(weights(scale=scale, guide={key: none})))
    )
    assert len(result.scale.values[key]) == 0


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_file_is_an_input_error(tmp_path: Path, share: float) -> None:
    with pytest.raises(InputError, match="cannot be read as usefulness weights"):
        model.read_weights(written(tmp_path, CONTENT[: int(len(CONTENT) * share)]))


@pytest.mark.parametrize("content", [b"", b"PK", b"garbage" * 99, b"\x93NUMPY", b"PK\x03\x04" * 9])
def test_garbage_is_an_input_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="cannot be read as usefulness weights"):
        model.read_weights(written(tmp_path, content))


def test_missing_file_and_a_single_array_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        model.read_weights(tmp_path / "none.npz")
    part = io.BytesIO()
    np.save(part, np.zeros(3))
    with pytest.raises(InputError):
        model.read_weights(written(tmp_path, part.getvalue()))


@pytest.mark.parametrize("entry", ["facts", "stems", "frequency", "about", "values_2"])
def test_missing_array_is_an_input_error(tmp_path: Path, entry: str) -> None:
    with pytest.raises(InputError, match=entry):
        model.read_weights(rewritten(tmp_path, entry, None))


@pytest.mark.parametrize(
    ("entry", "values"),
    [
        ("facts", text("[]")),
        ("facts", text("{")),
        ("facts", np.array([255, 254], dtype=np.uint8)),
        ("facts", np.array([{"a": 1}], dtype=object)),
        ("stems", text("one")),
        ("about", np.array(["x"])),
    ],
)
def test_wrong_array_is_an_input_error(tmp_path: Path, entry: str, values: np.ndarray) -> None:
    with pytest.raises(InputError, match="cannot be read as usefulness weights"):
        model.read_weights(rewritten(tmp_path, entry, values))


def test_error_names_the_other_format(tmp_path: Path) -> None:
    facts = text(json.dumps({"format": 99}))
    with pytest.raises(InputError, match=f"format 99, not {model.FORMAT}"):
        model.read_weights(rewritten(tmp_path, "facts", facts))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(CONTENT) - 1), st.integers(1, 255))
@example(at=1491, by=55)  # a header of an array that ends in the middle
def test_flipped_byte_is_read_or_an_input_error(tmp_path: Path, at: int, by: int) -> None:
    broken = bytearray(CONTENT)
    broken[at] ^= by
    with contextlib.suppress(InputError):
        model.read_weights(written(tmp_path, bytes(broken)))
