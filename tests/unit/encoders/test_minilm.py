import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crscore import plugins
from crscore.encoders import minilm
from crscore.encoders import minilm_files as files
from crscore.encoders.base import Encoder
from crscore.errors import ConfigError, DependencyError, EncodingError, ModelNotFoundError

TEXTS = (
    "Check for null before the loop.",
    "the",
    "",
    "This function is too long and should be split into smaller ones, I think.",
    "Rename `x`.",
    "word " * 400,
)


@pytest.fixture
def encoder() -> Encoder:
    return minilm.MiniLM(offline=True)


def model_folder() -> Path:
    return files.default_folder()


def test_vector_does_not_depend_on_the_batch(encoder: Encoder) -> None:
    together = encoder.encode(TEXTS)
    reversed_order = encoder.encode(TEXTS[::-1])[::-1]
    alone = np.vstack([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(reversed_order, together, rtol=0, atol=1e-6)
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-6)


def test_vector_does_not_depend_on_the_number_of_workers(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "_workers", lambda: 1)
    single = encoder.encode(TEXTS)
    monkeypatch.setattr(minilm, "_workers", lambda: 5)
    np.testing.assert_allclose(encoder.encode(TEXTS), single, rtol=0, atol=1e-6)


def test_vector_of_a_paraphrase_is_nearer_than_one_of_another_topic(encoder: Encoder) -> None:
    rows = encoder.encode(
        [
            "Check that the pointer is not null.",
            "The pointer could be null here, please verify it.",
            "Add a changelog entry.",
        ]
    )
    assert rows[0] @ rows[1] > 0.6 > 0.4 > rows[0] @ rows[2]


def test_encode_ignores_stop_words_in_the_mean_but_not_in_the_context(
    encoder: Encoder,
) -> None:
    rows = encoder.encode(["loop", "the loop", "not the loop"])
    similar = rows @ rows[0]
    assert (similar[1:] > 0.8).all()
    assert (similar[1:] < 0.9999).all()


def test_encode_of_text_past_256_tokens_ignores_the_rest(encoder: Encoder) -> None:
    # 254 one-piece words and the two markers fill the window.
    full = "loop " * 254
    rows = encoder.encode([full, full + "something else entirely", "loop " * 253 + "zebra"])
    np.testing.assert_allclose(rows[1], rows[0], rtol=0, atol=1e-6)
    assert np.abs(rows[2] - rows[0]).max() > 1e-4


def test_encoding_imports_neither_torch_nor_a_client_for_downloads() -> None:
    code = (
        "import sys; from crscore.encoders import minilm; "
        "e = minilm.MiniLM(offline=True); "
        "heavy = {'onnxruntime', 'tokenizers', 'torch', 'filelock', 'urllib.request'}; "
        "before = heavy & set(sys.modules); e.encode(['a']); "
        "print(sorted(before), sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[] ['onnxruntime', 'tokenizers']\n"
    assert run.stderr == ""


def test_identity_names_the_weights() -> None:
    assert minilm.MiniLM().identity == "minilm:all-MiniLM-L6-v2@53aa5117"


def test_create_with_a_folder_encodes_with_it_and_keeps_the_identity(
    encoder: Encoder, tmp_path: Path
) -> None:
    for name in files.SHA256:
        (tmp_path / name).symlink_to(model_folder() / name)
    local = minilm.create(model=str(tmp_path))
    np.testing.assert_array_equal(local.encode(["a loop"]), encoder.encode(["a loop"]))
    assert local.identity == encoder.identity


def test_weights_behind_a_link_of_another_name_give_the_same_vectors(
    encoder: Encoder, tmp_path: Path, own_layers: minilm.TunedLayers
) -> None:
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    shutil.copy(model_folder() / files.WEIGHTS, blobs / "0f3e")
    (tmp_path / files.WEIGHTS).symlink_to(blobs / "0f3e")
    (tmp_path / files.VOCABULARY).symlink_to(model_folder() / files.VOCABULARY)
    linked = minilm.MiniLM(folder=tmp_path)
    assert isinstance(encoder, minilm.MiniLM)
    np.testing.assert_array_equal(linked.encode(TEXTS), encoder.encode(TEXTS))
    np.testing.assert_array_equal(
        linked.tuned_means(TEXTS, own_layers), encoder.tuned_means(TEXTS, own_layers)
    )


def test_int8_vectors_are_close_and_have_their_own_identity(
    encoder: Encoder, own_layers: minilm.TunedLayers
) -> None:
    int8 = minilm.create(revision="int8")
    assert isinstance(int8, minilm.MiniLM)
    assert int8.identity == f"{encoder.identity}-int8"
    cosines = (int8.encode(TEXTS) * encoder.encode(TEXTS)).sum(axis=1)
    assert cosines.min() > 0.9
    assert cosines.max() < 0.999999  # integers were used
    means = int8.tuned_means(TEXTS, own_layers)
    expected = [vectors.mean(axis=0) for vectors in int8.tokens(TEXTS)]
    np.testing.assert_allclose(means, expected, rtol=0, atol=1e-5)


def test_row_of_zeros_stays_zero_in_int8() -> None:
    weights = np.array([[0, 0], [1, -1]], dtype=np.float32)
    values = minilm._to_values(pytest.importorskip("onnxruntime"), {"encoder.a": weights}, True)
    np.testing.assert_array_equal(values["encoder.a"].numpy(), weights.T * minilm.MAX_INT8)
    assert values["encoder.a.scale"].numpy().all()


@pytest.mark.parametrize("revision", ["53aa5117", files.COMMIT, files.SHA256[files.WEIGHTS]])
def test_create_with_a_known_revision_is_accepted(revision: str) -> None:
    assert minilm.create(revision=revision).identity.endswith("@53aa5117")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"revision": "main"}, "expected 53aa5117 or int8"),
        ({"model": "bert-base-uncased"}, "other models: st:bert-base-uncased"),
        ({"model": "revision=int8"}, "set the revision with --revision int8"),
        ({"modle": "x"}, "modle: is not an option"),
        ({"offline": "maybe"}, "Expected `bool`"),
    ],
)
def test_create_with_another_model_names_the_encoder_for_it(
    options: dict[str, str], expected: str
) -> None:
    with pytest.raises(ConfigError, match=expected):
        plugins.create("encoders", "minilm", options)


def test_encode_with_a_folder_without_the_files_is_model_not_found(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"CRSCORE_ENCODER_DIR=.* crscore encoder install"):
        minilm.create(model=str(tmp_path)).encode(["a"])


@pytest.mark.parametrize("name", sorted(files.SHA256))
def test_encode_with_a_changed_file_is_refused(tmp_path: Path, name: str) -> None:
    for each in files.SHA256:
        (tmp_path / each).symlink_to(model_folder() / each)
    content = bytearray((tmp_path / name).read_bytes())
    content[-1] ^= 1
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EncodingError, match=f"not the published {name}"):
        minilm.create(model=str(tmp_path)).encode(["a"])


def test_weights_that_are_not_a_tensor_file_are_refused(tmp_path: Path) -> None:
    shutil.copyfile(model_folder() / files.VOCABULARY, tmp_path / files.VOCABULARY)
    (tmp_path / files.WEIGHTS).write_bytes(b"an error page")
    with pytest.raises(EncodingError, match=r"not the published model\.safetensors"):
        minilm.create(model=str(tmp_path)).encode(["a"])


def test_encode_without_onnxruntime_names_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(DependencyError, match="pip install"):
        minilm.create(model=str(tmp_path)).encode(["a"])


def test_workers_are_at_least_one_and_at_most_eight() -> None:
    assert 1 <= minilm._workers() <= minilm.MAX_WORKERS


def test_batches_have_each_text_once_and_stay_within_the_budget() -> None:
    lengths = [5, 256, 17, 3, 3, 90, 256, 256, 40]
    batches = minilm._batches(lengths, workers=1)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        tokens = len(batch) * max(lengths[i] for i in batch)
        assert tokens <= minilm.BATCH_TOKENS
        assert tokens - sum(lengths[i] for i in batch) <= minilm.BATCH_PADDING


def test_few_texts_are_one_batch_for_each_worker() -> None:
    assert len(minilm._batches([10] * 8, workers=4)) == 4


def test_encode_pieces_gives_the_vectors_of_the_same_text() -> None:
    encoder = minilm.MiniLM(offline=True)
    words = TEXTS[0].rstrip(".").split()
    pieces = [piece for word in encoder.pieces(words) for piece in word]

    rows = encoder.encode_pieces([[minilm.BEGIN, *pieces, minilm.END], [pieces[0]]])

    expected = encoder.tokens([" ".join(words)])[0]
    np.testing.assert_allclose(rows[0], expected, rtol=0, atol=1e-5)
    assert rows[1].shape == (1, minilm.DIMENSIONS)


def test_encode_pieces_of_no_texts_is_empty() -> None:
    assert minilm.MiniLM(offline=True).encode_pieces([]) == []


def test_run_waits_for_the_model_that_it_preloads() -> None:
    code = """
import time
from crscore.encoders import minilm
def load(*_):
    time.sleep(0.3)
    print("loaded")
minilm._load = load
minilm.files.is_complete = lambda folder: True
minilm.MiniLM(offline=True).preload()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "loaded\n"


def test_preloaded_model_is_the_one_that_encodes() -> None:
    minilm._load.cache_clear()
    encoder = minilm.MiniLM(offline=True)
    encoder.preload()
    encoder.encode(["a loop"])
    encoder.preload()
    assert minilm._load.cache_info().misses == 1


@pytest.mark.parametrize("content", [b"", b"no model"])
def test_preload_of_wrong_weights_fails_at_the_first_text(tmp_path: Path, content: bytes) -> None:
    shutil.copyfile(model_folder() / files.VOCABULARY, tmp_path / files.VOCABULARY)
    (tmp_path / files.WEIGHTS).write_bytes(content)
    encoder = minilm.MiniLM(folder=tmp_path)
    encoder.preload()
    with pytest.raises(EncodingError, match=r"not the published model\.safetensors"):
        encoder.encode(["a loop"])


# Tuned layers


LAYER = "encoder.layer.5.output.LayerNorm."


@pytest.fixture
def own_layers() -> minilm.TunedLayers:
    """Tensors of the last layer as they are in the weights file."""
    tensors = minilm._tensors(np.memmap(model_folder() / files.WEIGHTS, mode="r"))
    return minilm.TunedLayers({name: tensors[name] for name in tensors if name.startswith(LAYER)})


def test_tuned_means_with_unchanged_layers_are_the_means_of_the_tokens(
    own_layers: minilm.TunedLayers,
) -> None:
    encoder = minilm.MiniLM(offline=True)
    means = encoder.tuned_means(TEXTS, own_layers)
    assert means.dtype == np.float32
    expected = [vectors.mean(axis=0) for vectors in encoder.tokens(TEXTS)]
    np.testing.assert_allclose(means, expected, rtol=0, atol=1e-5)


def test_tuned_means_with_other_layers_differ_and_do_not_change_the_model(
    own_layers: minilm.TunedLayers,
) -> None:
    encoder = minilm.MiniLM(offline=True)
    before = encoder.encode(TEXTS)
    # The last operation of the network: twice its weights are twice the vectors.
    doubled = minilm.TunedLayers({name: 2 * rows for name, rows in own_layers.tensors.items()})
    np.testing.assert_allclose(
        encoder.tuned_means(TEXTS, doubled),
        2 * encoder.tuned_means(TEXTS, own_layers),
        rtol=0,
        atol=1e-5,
    )
    np.testing.assert_array_equal(encoder.encode(TEXTS), before)


def test_session_has_copies_of_the_values_that_it_is_given(
    own_layers: minilm.TunedLayers, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[np.ndarray] = []
    to_values = minilm._to_values

    def keep(package: object, tensors: dict[str, np.ndarray], int8: bool) -> object:
        given.extend(tensors.values())
        return to_values(package, tensors, int8)

    encoder = minilm.MiniLM(offline=True)
    encoder.encode(TEXTS)  # loads the model
    monkeypatch.setattr(minilm, "_to_values", keep)
    minilm._tune.cache_clear()
    before = encoder.tuned_means(TEXTS, own_layers)
    assert given
    for values in given:
        values.fill(np.nan)
    np.testing.assert_array_equal(encoder.tuned_means(TEXTS, own_layers), before)


def test_tuned_means_in_half_precision_are_near(own_layers: minilm.TunedLayers) -> None:
    encoder = minilm.MiniLM(offline=True)
    halved = minilm.TunedLayers(
        {name: tensor.astype(np.float16) for name, tensor in own_layers.tensors.items()}
    )
    np.testing.assert_allclose(
        encoder.tuned_means(TEXTS, halved),
        encoder.tuned_means(TEXTS, own_layers),
        rtol=0,
        atol=1e-2,
    )


def test_tuned_means_alone_and_in_any_batch_are_the_same(own_layers: minilm.TunedLayers) -> None:
    encoder = minilm.MiniLM(offline=True)
    together = encoder.tuned_means(TEXTS, own_layers)
    alone = np.vstack([encoder.tuned_means([text], own_layers) for text in TEXTS])
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-5)


def test_tuned_means_of_encoded_texts_skip_the_lower_layers(
    own_layers: minilm.TunedLayers,
) -> None:
    encoder = minilm.MiniLM(offline=True)
    minilm._lower_states.cache_clear()
    expected = encoder.tuned_means(TEXTS, own_layers)
    misses = minilm._lower_states.cache_info().misses
    minilm._lower_states.cache_clear()
    encoder.encode(TEXTS)
    np.testing.assert_array_equal(encoder.tuned_means(TEXTS, own_layers), expected)
    assert minilm._lower_states.cache_info()[:2] == (misses, misses)


def test_tuned_means_of_no_texts_do_not_load_the_model(tmp_path: Path) -> None:
    encoder = minilm.MiniLM(folder=tmp_path)
    assert encoder.tuned_means([], minilm.TunedLayers({})).shape == (0, minilm.DIMENSIONS)


def test_same_layers_share_one_session(own_layers: minilm.TunedLayers) -> None:
    minilm._tune.cache_clear()
    for text in TEXTS[:2]:
        minilm.MiniLM(offline=True).tuned_means([text], own_layers)
    assert minilm._tune.cache_info().misses == 1
