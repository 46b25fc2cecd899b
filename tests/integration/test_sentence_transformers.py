"""The encoders beside sentence-transformers itself, on models that really run."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from crscore.encoders import minilm, st
from crscore.errors import EncodingError, ModelNotFoundError
from crscore.text import IGNORED_PIECES
from tests.helpers.sentence_transformer import model_folder
from tests.helpers.tiny_model import WIDTH, save_tiny_model

pytestmark = pytest.mark.models  # PyTorch

# Written out again on purpose: the tiny vocabulary's part of the published stop list.
TINY_STOPS = {"the", "not", "is", "t", ".", ","}

TEXTS = (
    "Check the loop.",
    "unt",
    "rename, renaming, the variable is not unt",
    "null",
    "the loop is not the test " * 5,
    "naïve 日本 \U0001f600 words it never saw",
)

REVIEW = (
    "You're right, this shouldn't be null; it's the caller's job.",
    "Why not use `dict.setdefault(key, [])` here?",
    "Consider renaming getUserByIdOrThrow(), it doesn't throw.",
    "naïve 日本 \U0001f600 <b>bold</b> & \t tabs",
    "word " * 400,
    "x" * 500,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def packaged() -> Any:
    return SentenceTransformer(str(model_folder()), device="cpu")


def published_pooling(model: Any, text: str, stops: set[str] | frozenset[str]) -> Any:
    """One text the published way, with its own mask: a plain loop over its tokens."""
    vectors = model.encode([text], output_value="token_embeddings")[0]
    limit = model.max_seq_length
    ids = model.tokenizer(text, truncation=True, max_length=limit)["input_ids"]
    pieces = [model.tokenizer.decode([token]) for token in ids]
    kept = [vec for vec, piece in zip(vectors, pieces, strict=True) if piece.lower() not in stops]
    mean = torch.stack(kept).mean(dim=0)
    return (mean / mean.norm()).numpy()


def test_st_of_each_text_equals_the_published_pooling_with_its_own_mask(tiny: Path) -> None:
    model = SentenceTransformer(str(tiny), device="cpu")
    expected = np.stack([published_pooling(model, text, TINY_STOPS) for text in TEXTS])
    np.testing.assert_allclose(
        st.create(st.SentenceTransformers(model=str(tiny))).encode(TEXTS),
        expected,
        atol=1e-6,
    )


def test_st_of_stop_words_only_is_the_mean_of_all_tokens(tiny: Path) -> None:
    model = SentenceTransformer(str(tiny), device="cpu")
    tokens = model.encode(["the, not."], output_value="token_embeddings")[0].numpy()
    mean = tokens.mean(axis=0)
    [vector] = st.create(st.SentenceTransformers(model=str(tiny))).encode(["the, not."])
    np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_st_vector_does_not_depend_on_the_other_texts(tiny: Path) -> None:
    encoder = st.create(st.SentenceTransformers(model=str(tiny)))
    alone = np.vstack([encoder.encode([text]) for text in TEXTS])
    many = encoder.encode(TEXTS * 20)[: len(TEXTS)]
    np.testing.assert_allclose(many, alone, atol=1e-6)


def test_st_of_no_text_keeps_the_models_width(tiny: Path) -> None:
    assert st.create(st.SentenceTransformers(model=str(tiny))).encode([]).shape == (0, WIDTH)


def test_st_of_half_precision_weights_computes_in_full_precision(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path, half=True)
    model = SentenceTransformer(str(folder), device="cpu").float()
    [vector] = st.create(st.SentenceTransformers(model=str(folder))).encode(["rename loop"])
    np.testing.assert_allclose(
        vector, published_pooling(model, "rename loop", TINY_STOPS), atol=1e-6
    )


def test_st_of_a_folder_without_a_model_is_an_encoding_error(tmp_path: Path) -> None:
    with pytest.raises(EncodingError, match="cannot load"):
        st.create(st.SentenceTransformers(model=str(tmp_path))).encode(["a"])


@pytest.mark.parametrize(
    ("modules", "reason"),
    [
        ('[{"type": "payload.Boom", "path": ""}]', "'payload.Boom'"),
        ("{", "cannot load"),
        ("[1]", "cannot load"),
    ],
)
def test_st_of_a_folder_with_code_of_its_own_is_refused(
    tiny: Path, tmp_path: Path, modules: str, reason: str
) -> None:
    folder = shutil.copytree(tiny, tmp_path / "model")
    (folder / "modules.json").write_text(modules)
    (folder / "payload.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(EncodingError, match=reason):
        st.create(st.SentenceTransformers(model=str(folder))).encode(["a"])
    assert not (tmp_path / "ran").exists()


def test_st_of_pickled_weights_is_refused(tiny: Path, tmp_path: Path) -> None:
    for path in tiny.iterdir():
        if path.is_file() and path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises((ModelNotFoundError, EncodingError)):
        st.create(st.SentenceTransformers(model=str(tmp_path))).encode(["a"])


PROGRAM = """
import json, sys
sockets = []
sys.addaudithook(lambda event, _: sockets.append(event) if event == "socket.__new__" else None)
from crscore.encoders import st
from crscore.errors import CRScoreError
options = st.SentenceTransformers(model="org/tiny", revision=sys.argv[1], offline=True)
encoder = st.create(options)
try:
    outcome = encoder.encode(["rename the loop"]).tolist()
except CRScoreError as error:
    outcome = f"{type(error).__name__}: {error}"
print(json.dumps([outcome, sockets]))
"""
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def encode_offline(cache: Path, revision: str) -> list[Any]:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, revision],
        capture_output=True,
        text=True,
        check=True,
        env={"HF_HOME": str(cache)},
    )
    result: list[Any] = json.loads(run.stdout)
    return result


def test_st_offline_with_an_unknown_model_opens_no_socket(tmp_path: Path) -> None:
    assert encode_offline(tmp_path, "main") == [
        "ModelNotFoundError: model org/tiny is not on this machine; get it with: "
        "hf download org/tiny --revision main",
        [],
    ]


def test_st_offline_with_a_cached_model_opens_no_socket(tiny: Path, tmp_path: Path) -> None:
    # The layout of the hub's cache, as its documentation gives it.
    shutil.copytree(tiny, tmp_path / "hub" / "models--org--tiny" / "snapshots" / COMMIT)
    vectors, sockets = encode_offline(tmp_path, COMMIT)
    expected = st.create(st.SentenceTransformers(model=str(tiny), device="cpu")).encode(
        ["rename the loop"]
    )
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)
    assert sockets == []


def test_minilm_hidden_states_equal_those_of_sentence_transformers(packaged: Any) -> None:
    model = minilm._load(None, True, False)
    expected = packaged.encode(list(REVIEW), output_value="token_embeddings")
    encodings = model.tokenizer.encode_batch(list(REVIEW))
    ids, present = minilm._pad([encoding.ids for encoding in encodings])
    rows = minilm._run_layers(model, ids, present, np.ones(ids.shape, bool))
    hidden = rows.reshape(*ids.shape, -1)
    for vectors, tokens, encoding in zip(hidden, expected, encodings, strict=True):
        assert len(tokens) == len(encoding)
        np.testing.assert_allclose(vectors[: len(tokens)], tokens.numpy(), rtol=0, atol=1e-5)


def test_minilm_vectors_equal_the_published_pooling(packaged: Any) -> None:
    expected = np.stack([published_pooling(packaged, text, IGNORED_PIECES) for text in REVIEW])
    vectors = minilm.MiniLM(offline=True).encode(REVIEW)
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-5)


def test_minilm_vectors_equal_those_of_the_st_encoder_on_the_same_files() -> None:
    other = st.create(st.SentenceTransformers(model=str(model_folder()), device="cpu")).encode(
        REVIEW
    )
    vectors = minilm.MiniLM(offline=True).encode(REVIEW)
    np.testing.assert_allclose(vectors, other, rtol=0, atol=1e-5)


def test_minilm_pieces_decode_one_by_one_to_their_own_spelling(packaged: Any) -> None:
    # The reference decodes single tokens and compares those strings with the stop list.
    pieces = packaged.tokenizer.get_vocab()
    assert [p for p, token in pieces.items() if packaged.tokenizer.decode([token]) != p] == []
