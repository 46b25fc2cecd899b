"""What every encoder promises (`crscore/encoders/base.py`)."""

from pathlib import Path

import numpy as np
import pytest

from crscore import plugins
from crscore.encoders.base import Encoder
from crscore.errors import ConfigError
from tests.helpers.tiny_model import save_tiny_model

STRANGE = (
    "the and of",
    "Rename this variable.",
    "naïve 日本語 \U0001f469\u200d\U0001f4bb \u202eabc\u0000",
    "word " * 5_000,
    "x" * 20_000,
    "half a surrogate \ud83d pair",
    " \n\t ",
    "",
    "...",
    "[CLS] [PAD] [MASK] [SEP]",
)


def _param(name: str) -> object:
    """Mark the encoder that needs PyTorch."""
    return pytest.param(name, marks=pytest.mark.models if name == "st" else ())


@pytest.fixture(scope="module", params=map(_param, plugins.names("encoders")))
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    options: dict[str, object] = {}
    if request.param == "st":
        # Its published model is not in any package: a tiny one of the same kind stands in.
        options["model"] = str(save_tiny_model(tmp_path_factory.mktemp("model")))
    encoder: Encoder = plugins.create("encoders", request.param, options, offered={"offline": True})
    return encoder


def test_encode_gives_float32_rows_of_one_width(encoder: Encoder) -> None:
    vectors = encoder.encode(STRANGE)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(STRANGE), encoder.encode(["a"]).shape[1])


def test_encode_gives_rows_of_length_one_or_zero_and_no_nan(encoder: Encoder) -> None:
    lengths = np.linalg.norm(encoder.encode(STRANGE), axis=1)
    unit_or_zero = (np.abs(lengths - 1) < 1e-5) | (lengths == 0)
    assert unit_or_zero.all()


def test_encode_of_a_text_with_words_is_not_the_zero_vector(encoder: Encoder) -> None:
    assert encoder.encode(STRANGE[:5]).any(axis=1).all()


def test_encode_of_no_text_has_no_row_and_the_usual_width(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.encode(["a"]).shape[1])


def test_encode_keeps_the_order_of_the_texts(encoder: Encoder) -> None:
    forward = encoder.encode(STRANGE)
    backward = encoder.encode(STRANGE[::-1])
    np.testing.assert_allclose(backward[::-1], forward, rtol=0, atol=1e-6)
    assert np.abs(forward[1] - forward[4]).max() > 0.01


def test_encode_twice_gives_the_same_bytes(encoder: Encoder) -> None:
    np.testing.assert_array_equal(encoder.encode(STRANGE), encoder.encode(STRANGE))


def test_encode_of_a_repeated_text_repeats_its_row(encoder: Encoder) -> None:
    rows = encoder.encode(["Rename it.", "other words here", "Rename it."])
    np.testing.assert_allclose(rows[2], rows[0], rtol=0, atol=1e-6)


def test_encode_takes_a_tuple_and_leaves_a_list_alone(encoder: Encoder) -> None:
    texts = ["b", "a a a a", ""]
    np.testing.assert_array_equal(encoder.encode(tuple(texts)), encoder.encode(texts))
    assert texts == ["b", "a a a a", ""]


def test_identity_is_stable_and_begins_with_the_plugins_name(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = encoder.identity
    monkeypatch.chdir(tmp_path)
    assert encoder.identity == before
    assert before.partition(":")[0] in plugins.names("encoders")


@pytest.mark.parametrize("name", plugins.names("encoders"))
@pytest.mark.parametrize("values", [{"colour": "blue"}, {"offline": "perhaps"}])
def test_wrong_option_is_named(name: str, values: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=f"^encoder {name}: {next(iter(values))}: "):
        plugins.create("encoders", name, values)
