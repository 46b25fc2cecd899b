"""Encodes texts with all-MiniLM-L6-v2 (Apache-2.0), the default encoder, on the CPU.

A vector has 384 dimensions, and a text is cut at 256 tokens. The weights and the vocabulary are in
the user's data folder (`minilm_files`). The network is split into a lower and an upper half, whose
graphs are next to this module; onnxruntime runs them in 32-bit floats. Tested with onnxruntime 1.31
and tokenizers 0.23.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.resources
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.encoders import minilm_files as files
from crscore.encoders._pooling import kept_tokens, pool_rows
from crscore.encoders.base import Encoder, Floats
from crscore.errors import ConfigError, DependencyError, ModelNotFoundError, requires
from crscore.settings import ENCODER_DIR
from crscore.text import IGNORED_PIECES, replace_surrogates

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Mask = npt.NDArray[np.bool_]
TokenIds = npt.NDArray[np.int64]

DIMENSIONS = 384
# https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
MAX_TOKENS = 256
"""Maximum tokens of a text, including the two special tokens, as in the authors' configuration."""

# The activations of this many tokens fit in a core's cache.
BATCH_TOKENS = 512
"""Maximum tokens of one batch, including padding."""
# Each further batch reads all weights again, which takes as long as encoding this many tokens.
BATCH_PADDING = 8
"""Maximum tokens of padding in one batch."""

# After `encode`, a tuned network reads the same sentences in the same batches, and the lower layers
# are the same.
KEPT_BATCHES = 32
"""Number of batches whose outputs of the lower layers are kept, at most 0.8 MB each."""

# [UNK], [CLS] and [SEP] of BERT's vocabulary.
UNKNOWN, BEGIN, END = 100, 101, 102
"""Ids of the token for unknown pieces, and of the tokens at the start and the end of a text."""

MAX_WORKERS = 8
UPPER_LAYERS = ("encoder.layer.3.", "encoder.layer.4.", "encoder.layer.5.")
"""Prefixes of the names of the upper half's weights, which `TunedLayers` may replace."""
REVISION = files.SHA256[files.WEIGHTS][:8]
INT8 = "int8"
"""Name of the revision that computes dense layers in 8-bit integers."""
# With 127, the 16-bit sums of AVX2 would overflow, so that vectors would depend on the machine
# ("reduce_range" in
# https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html).
MAX_INT8 = 63
"""Largest absolute value of a weight in 8-bit integers."""


class TunedLayers(msgspec.Struct, frozen=True, eq=False):
    """Weights of some upper layers, tuned for a task. Each object has one session."""

    tensors: Mapping[str, npt.NDArray[Any]]
    """Name in the weights file -> weights, of any float type."""


class MiniLM(msgspec.Struct, frozen=True, kw_only=True):
    """MiniLM encoder. The model is loaded for the first text and shared within the process."""

    folder: Path | None = None
    """Folder of the files; None for the default folder, into which they are downloaded."""

    offline: bool = False
    """Never use the network."""

    threads: int | None = None
    """Number of encoding threads; None for one per core."""

    int8: bool = False
    """Compute dense layers in 8-bit integers."""

    @property
    def identity(self) -> str:
        """Name of the model and start of the weights' SHA-256, which is verified on loading."""
        return f"minilm:{files.MODEL}@{REVISION}{f'-{INT8}' if self.int8 else ''}"

    def encode(self, texts: Sequence[str]) -> Floats:
        """Encode texts. The other texts change the vector of a text by at most about 1e-7.

        Args:
            texts: Any number of texts; each is cut at 256 tokens.

        Returns:
            Float32, shape (N, 384), rows of length 1, in the order of `texts`.

        Raises:
            ModelNotFoundError: The model is not available and cannot, or may not, be downloaded.
            DependencyError: onnxruntime or tokenizers is not installed.
            EncodingError: The model's files are not the published ones.
        """

        def encode_batch(model: _Model, ids: TokenIds, present: Mask) -> Floats:
            # The tokenizer adds the first and the last token.
            marker = np.zeros_like(present)
            marker[:, 0] = marker[np.arange(len(ids)), present.sum(axis=1) - 1] = True
            averaged = kept_tokens(ids, present, marker, model.ignored)
            # About half of the tokens are left out of the mean, and skip most of the last layer.
            return pool_rows(_run_layers(model, ids, present, averaged), averaged.sum(axis=1))

        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for indices, rows in self._run(self._tokenized(texts), encode_batch):
            vectors[indices] = rows
        return vectors

    def tokens(self, texts: Sequence[str], tuned: TunedLayers | None = None) -> list[Floats]:
        """Return the vectors of the tokens of texts.

        `encode` scales their mean without stop words to length 1.

        Args:
            texts: Any number of texts; each is cut at 256 tokens, including the two special tokens.
            tuned: Weights that replace the weights of some layers.

        Returns:
            Vectors of each text's tokens, shape (L, 384), in the order of `texts`; the first and
            the last token are the special ones.

        Raises:
            ModelNotFoundError: The model is not available and cannot, or may not, be downloaded.
            DependencyError: onnxruntime or tokenizers is not installed.
            EncodingError: The model's files are not the published ones.
        """
        return self._run_tokens(self._tokenized(texts), tuned)

    def pieces(self, words: Sequence[str]) -> list[list[int]]:
        """Return the ids of the word pieces of words; a word of over 100 characters is one piece.

        Args:
            words: Any number of words, each cut at 256 pieces; no special tokens are added.

        Raises:
            ModelNotFoundError, DependencyError, EncodingError: As in `encode`.
        """
        encodings = self._model().tokenizer.encode_batch(
            [replace_surrogates(word) for word in words], add_special_tokens=False
        )
        return [encoding.ids for encoding in encodings]

    def encode_pieces(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        """Encode texts that are given as ids of word pieces.

        Args:
            rows: Ids of each text, 1 to 512, including its special tokens.

        Returns:
            Vectors of each text's pieces, shape (L, 384), in the order of `rows`.

        Raises:
            ModelNotFoundError, DependencyError, EncodingError: As in `encode`.
        """
        return self._run_tokens(rows)

    def tuned_means(self, texts: Sequence[str], tuned: TunedLayers) -> Floats:
        """Return the mean token vectors of texts, computed with layers that were tuned for a task.

        Args:
            texts: Any number of texts; each is cut at 256 tokens.
            tuned: Weights that replace the weights of some upper layers.

        Returns:
            Float32, shape (N, 384), in the order of `texts`.

        Raises:
            ModelNotFoundError, DependencyError, EncodingError: As in `encode`.
        """

        def encode_means(model: _Model, ids: TokenIds, present: Mask) -> Floats:
            lengths = present.sum(axis=1)
            rows = _run_layers(model, ids, present, present)
            starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
            batch_means: Floats = np.add.reduceat(rows, starts) / lengths[:, None]
            return batch_means

        means = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for indices, rows in self._run(self._tokenized(texts), encode_means, tuned):
            means[indices] = rows
        return means

    def token_ids(self, texts: Sequence[str], *, limit: int) -> list[list[int]]:
        """Return the ids of the tokens of each text, at most `limit`, with the special tokens."""
        # A text that is cut still ends with the end token.
        return [
            ids if len(ids) <= limit else [*ids[: limit - 1], END] for ids in self._tokenized(texts)
        ]

    def tensors(self) -> dict[str, Floats]:
        """Return copies of all weights by name, from which training starts."""
        weights = _locate(self.folder, offline=self.offline) / files.WEIGHTS
        return {n: tensor.copy() for n, tensor in _tensors(np.memmap(weights, mode="r")).items()}

    def preload(self) -> None:
        """Begin to load the model in another thread, if its files are on this machine.

        If loading fails, `encode` raises the error later.
        """
        if files.is_complete(self.folder or files.default_folder()):
            # The packages are imported in this thread: imports in two threads would wait for each
            # other.
            with contextlib.suppress(DependencyError):
                _import_packages()

            def load() -> None:
                with contextlib.suppress(Exception):  # `encode` tries again, and raises the error
                    self._model()

            # Not a daemon thread: if a run ends with an error, Python ends daemon threads, and C++
            # code that is ended this way aborts the process with exit code 134.
            # https://docs.python.org/3/c-api/init.html#c.PyEval_RestoreThread
            threading.Thread(target=load).start()

    def _model(self, tuned: TunedLayers | None = None) -> _Model:
        with _LOADING:
            model = _load(self.folder, self.offline, self.int8)
            return model if tuned is None else _tune(model, tuned)

    def _tokenized(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encodings = self._model().tokenizer.encode_batch(list(map(replace_surrogates, texts)))
        return [encoding.ids for encoding in encodings]

    def _run_tokens(
        self, rows: Sequence[Sequence[int]], tuned: TunedLayers | None = None
    ) -> list[Floats]:
        """Return the vectors of the tokens of each text, in the order of `rows`."""

        def encode_tokens(model: _Model, ids: TokenIds, present: Mask) -> list[Floats]:
            ends = np.cumsum(present.sum(axis=1))[:-1]
            return np.split(_run_layers(model, ids, present, present), ends)

        tokens: dict[int, Floats] = {}
        for indices, vectors in self._run(rows, encode_tokens, tuned):
            tokens.update(zip(indices, vectors, strict=True))
        return [tokens[index] for index in range(len(rows))]

    def _run(
        self,
        rows: Sequence[Sequence[int]],
        encode: Callable[[_Model, TokenIds, Mask], Any],
        tuned: TunedLayers | None = None,
    ) -> Iterator[tuple[list[int], Any]]:
        """Yield the results of batches of texts, each with the indices of its texts.

        Args:
            rows: Ids of the tokens of each text.
            encode: Encodes a batch, given its ids and which of them are not padding, shape (N, T).
            tuned: Weights that replace the weights of some layers.
        """
        if not rows:
            return
        model = self._model(tuned)
        workers = self.threads or _workers()
        batches = _batches(list(map(len, rows)), workers=workers)
        # Each batch is encoded by one thread alone: threads that share a batch wait for the slowest
        # at every layer, and stall when another process wants a core.
        with ThreadPoolExecutor(workers) as threads:
            encoded = threads.map(
                lambda batch: encode(model, *_pad([rows[index] for index in batch])), batches
            )
            yield from zip(batches, encoded, strict=True)


def create(
    *,
    model: str = files.MODEL,
    revision: str = REVISION,
    offline: bool = False,
    threads: Annotated[int, msgspec.Meta(ge=1)] | None = None,
) -> Encoder:
    """Create the encoder.

    Args:
        model: The model's name, or a folder with its two files.
        revision: First 8 digits or all of the weights' SHA-256, the hub's commit, or `int8`.
        offline: Never use the network.
        threads: Number of encoding threads; None for one per core. It changes vectors by about
            1e-7.

    Raises:
        ConfigError: An option requests another model or revision.
    """
    if revision not in (files.COMMIT, files.SHA256[files.WEIGHTS], REVISION, INT8):
        allowed = f"expected {REVISION} or {INT8}; other revisions: st:{files.REPOSITORY}"
        raise ConfigError("revision", "encoder minilm", allowed)
    folder = None
    if model not in (files.MODEL, files.REPOSITORY):
        folder = Path(model)
        if not folder.is_dir():
            expected = f"expected {files.MODEL} or a folder; other models: st:{model}"
            if model.startswith("revision="):
                expected = f"set the revision with --{model.replace('=', ' ', 1)}"
            raise ConfigError("model", "encoder minilm", expected)
    return MiniLM(folder=folder, offline=offline, threads=threads, int8=revision == INT8)


def missing() -> str | None:
    """Describe the missing files and how to install them; return None if none is missing."""
    is_complete = files.is_complete(files.default_folder())
    return None if is_complete else f"weights not installed; install: {files.INSTALL_COMMAND}"


class _Model(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Loaded model: the sessions of both halves of the network, and the tokenizer."""

    tokenizer: Tokenizer
    lower: Any
    """Session of the embeddings and the lower layers, shared with the tuned networks."""
    upper: Any
    """Session of the upper layers."""
    ignored: Mask
    """True for the ids of tokens that are left out of the mean."""
    folder: Path | None
    """Folder of the weights file that the sessions map; None if they have copies of all weights."""
    replaced: Mapping[str, Any]
    """Upper weights that a session gets as values instead of reading them from the file."""
    int8: bool


_LOADING = threading.Lock()


def _locate(folder: Path | None, *, offline: bool) -> Path:
    """Return the folder with the model's files; fetch them into the default folder if missing.

    Raises:
        ModelNotFoundError: The files are not local and cannot, or may not, be fetched.
    """
    location = folder or files.default_folder()
    if files.is_complete(location):
        return location
    if folder is not None:
        command = f"{ENCODER_DIR}={folder} {files.INSTALL_COMMAND}"
        raise ModelNotFoundError(f"{files.MODEL} in {folder}", command)
    if offline:
        raise ModelNotFoundError(files.MODEL, files.INSTALL_COMMAND)
    return files.fetch(location)


@functools.cache
def _load(folder: Path | None, offline: bool, int8: bool) -> _Model:
    """Load the model, once for each folder and precision."""
    onnxruntime, tokenizers = _import_packages()
    location = _locate(folder, offline=offline)
    files.verify(location, files.VOCABULARY)
    with ThreadPoolExecutor(1) as thread:
        # The weights are verified before they are used, so that a wrong file is reported as such.
        verifying = thread.submit(files.verify, location, files.WEIGHTS)
        tokenizer = tokenizers.Tokenizer.from_file(str(location / files.VOCABULARY))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        verifying.result()
    weights = (location / files.WEIGHTS).resolve()
    # onnxruntime does not map a file that a link of another name points to, as in the cache of a
    # model hub, so it gets copies of the weights.
    is_mapped = weights.name == files.WEIGHTS
    # The pooler is left out, because it is not used for the mean of the tokens.
    tensors = {
        name: tensor
        for name, tensor in _tensors(np.memmap(weights, mode="r")).items()
        if (not is_mapped or (int8 and _is_dense(name, tensor))) and not name.startswith("pooler.")
    }
    folder = weights.parent if is_mapped else None
    values = _to_values(onnxruntime, tensors, int8)
    upper = {name: values.pop(name) for name in [*values] if name.startswith(UPPER_LAYERS)}
    # Only the ignored pieces are looked up, because reading the whole vocabulary would take 0.03 s.
    # All pieces of the vocabulary are in lower case, as these are.
    pieces = map(tokenizer.token_to_id, IGNORED_PIECES)
    ignored = np.zeros(tokenizer.get_vocab_size(), dtype=np.bool_)
    ignored[[token for token in pieces if token is not None]] = True
    return _Model(
        tokenizer=tokenizer,
        lower=_start_session(onnxruntime, "lower", folder, values, int8),
        upper=_start_session(onnxruntime, "upper", folder, upper, int8),
        ignored=ignored,
        folder=folder,
        replaced=upper,
        int8=int8,
    )


def _import_packages() -> tuple[Any, Any]:
    # onnxruntime (1.31, 1.32) looks up a telemetry host some seconds after its import, even after
    # `disable_telemetry_events`; it reads this variable when it is imported.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    with requires("onnxruntime or tokenizers", "pip install crscore"):
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # noqa: PLC0415
    return onnxruntime, tokenizers


def _tensors(content: npt.NDArray[np.uint8]) -> dict[str, Floats]:
    """Return the float tensors of a safetensors file by name, as views of its content.

    The file has the length of its header in 8 bytes, the header in JSON, and the numbers. The
    package `safetensors` is not used, because it would copy the numbers.
    """
    # https://huggingface.co/docs/safetensors/index#format
    start = 8 + int.from_bytes(content[:8].tobytes(), "little")
    header = json.loads(content[8:start].tobytes())
    return {
        name: content[slice(*(start + offset for offset in entry["data_offsets"]))]
        .view(np.float32)
        .reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def _is_dense(name: str, tensor: Floats) -> bool:
    return name.startswith("encoder.") and tensor.ndim == 2


def _to_values(onnxruntime: Any, tensors: Mapping[str, Floats], int8: bool) -> dict[str, Any]:
    """Convert tensors to values of a session; with `int8`, dense weights become integers."""
    values: dict[str, npt.NDArray[Any]] = {}
    for name, tensor in tensors.items():
        if int8 and _is_dense(name, tensor):
            scale = np.abs(tensor).max(axis=1) / MAX_INT8
            scale[scale == 0] = 1  # a row of zeros
            values[f"{name}.scale"] = scale
            values[name] = np.ascontiguousarray(np.rint(tensor / scale[:, None]).T.astype(np.int8))
        else:
            values[name] = tensor
    return {name: onnxruntime.OrtValue.ortvalue_from_numpy(value) for name, value in values.items()}


def _start_session(
    onnxruntime: Any, half: str, folder: Path | None, replaced: Mapping[str, Any], int8: bool
) -> Any:
    """Start a session of one half of the network.

    `replaced` has the weights that the session gets as values instead of reading them from the
    file.
    """
    name = f"all-minilm-l6-v2-{half}{'-int8' if int8 else ''}.onnx"
    graph = (importlib.resources.files("crscore.encoders") / name).read_bytes()
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3  # errors only
    # https://onnxruntime.ai/docs/performance/tune-performance/threading.html; see `MiniLM._run`.
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    # A memory pattern would keep a plan for each shape of a batch without saving time.
    settings.enable_mem_pattern = False
    # Sessions map the weights file, so that they share the system's copy of it. Weights that are
    # passed as values are copied, 88 MB for each network (onnxruntime 1.32).
    # https://github.com/microsoft/onnxruntime/blob/main/include/onnxruntime/core/session/onnxruntime_session_options_config_keys.h
    if folder:
        entry = "session.model_external_initializers_file_folder_path"
        settings.add_session_config_entry(entry, str(folder))
    settings.add_external_initializers([*replaced], [*replaced.values()])
    onnxruntime.disable_telemetry_events()
    return onnxruntime.InferenceSession(graph, settings, providers=["CPUExecutionProvider"])


@functools.lru_cache(maxsize=2)
def _tune(model: _Model, tuned: TunedLayers) -> _Model:
    """Return the model with an upper half that uses tuned weights."""
    onnxruntime, _ = _import_packages()
    # One array for all weights, because its memory returns to the system when it is freed. Of the
    # memory of separate arrays, 21 MB would stay allocated.
    tensors = tuned.tensors.values()
    block = np.concatenate([*tensors], axis=None, dtype=np.float32)
    parts = np.split(block, np.cumsum([tensor.size for tensor in tensors])[:-1])
    floats = {
        name: part.reshape(tensor.shape)
        for (name, tensor), part in zip(tuned.tensors.items(), parts, strict=True)
    }
    replaced = {**model.replaced, **_to_values(onnxruntime, floats, model.int8)}
    upper = _start_session(onnxruntime, "upper", model.folder, replaced, model.int8)
    return msgspec.structs.replace(model, upper=upper)


def _workers() -> int:
    # Not every system reports the cores available to a process.
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(cores, MAX_WORKERS)


def _batches(lengths: Sequence[int], *, workers: int) -> list[list[int]]:
    """Group texts of similar length, the longest first, to minimize padding."""
    budget = min(BATCH_TOKENS, max(1, sum(lengths) // workers))
    batches: list[list[int]] = []
    width = padding = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        padding += width - lengths[index]
        if not batches or (len(batches[-1]) + 1) * width > budget or padding > BATCH_PADDING:
            batches.append([])
            width, padding = lengths[index], 0
        batches[-1].append(index)
    return batches


def _run_layers(model: _Model, ids: TokenIds, present: Mask, selected: Mask) -> Floats:
    """Return the vectors of the selected tokens, text after text."""
    mask = present.astype(np.int32)
    states = _lower_states(model.lower, ids.shape, ids.tobytes(), mask.tobytes())
    feed = {"states": states, "attention_mask": mask, "wanted": np.flatnonzero(selected)}
    rows: Floats = model.upper.run(None, feed)[0]
    return rows


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _lower_states(session: Any, shape: tuple[int, int], ids: bytes, mask: bytes) -> Floats:
    """Return the outputs of the lower layers, given the bytes of both inputs of a batch."""
    tokens, present = np.frombuffer(ids, np.int64), np.frombuffer(mask, np.int32)
    feed = {"input_ids": tokens.reshape(shape), "attention_mask": present.reshape(shape)}
    states: Floats = session.run(None, feed)[0]
    return states


def _pad(rows: Sequence[Sequence[int]]) -> tuple[TokenIds, Mask]:
    """Pad N texts to T tokens; return their ids, and False for padding, both of shape (N, T)."""
    shape = (len(rows), max(map(len, rows)))
    ids, present = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = tokens
        present[row, : len(tokens)] = True
    return ids, present
