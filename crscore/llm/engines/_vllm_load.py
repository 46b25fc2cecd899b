"""Loading of a model into vLLM, in this process.

vLLM (tried: 0.32) is configured by environment variables, read when it is imported or a model
loads. They are set for that time only, and never over what the user has set: no usage statistics,
log lines to standard error and errors only (its default, standard output, has our report), no
process for the engine: it starts in a third of the time, and none can be left behind.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crscore.errors import DependencyError, GenerationError, ModelNotFoundError
from crscore.llm import model_files

INSTALL = "pip install 'crscore[vllm]'"
SETTINGS = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}
STRUCTURED = {"backend": "guidance", "disable_any_whitespace": True}
"""Replacement for the default backend, whose JSON may have control characters or endless space."""
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Adapter ranks that vLLM can reserve memory for."""
_MIN_ROOM_BYTES = 512 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Identity of a loaded model."""

    model: str
    """Name on the hub, or a folder."""
    revision: str | None
    """Commit of the hub; None for a folder."""
    context: int
    """Maximum tokens of a chat and its answer together."""
    lora: Path | None
    """Folder of an adapter."""
    tensor_parallel: int
    """Number of devices that share the model."""
    quantization: str | None
    """Quantization method as named by vLLM; None for the model's own."""
    dtype: str
    """Numeric type as named by vLLM, or `auto`."""
    room_bytes: int
    """Memory of the key-value cache, where there is no GPU."""
    offline: bool
    """Never use the network."""


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables that are not set yet, for the duration of a block.

    vLLM sets some of its own and needs them; `LD_PRELOAD` is not for the programs that we start.
    """
    own_settings = {name: value for name, value in settings.items() if name not in os.environ}
    inherited = () if "LD_PRELOAD" in os.environ else ("LD_PRELOAD",)
    os.environ.update(own_settings)
    try:
        yield
    finally:
        for name in (*own_settings, *inherited):
            os.environ.pop(name, None)


_LOADED: dict[Weights, Any] = {}
"""Model in memory, at most one: most GPUs cannot hold a second one, and when the first of two is
released, vLLM ends what both share."""


def require() -> None:
    """Check that vLLM is installed, before downloading files that only it can use.

    Raises:
        DependencyError: vLLM is not installed.
    """
    if importlib.util.find_spec("vllm") is None:
        raise DependencyError("vllm", INSTALL)


def load(weights: Weights) -> Any:
    """Load a model, or return it if it is already in memory; any other one is released.

    Args:
        weights: The model and how to load it.

    Returns:
        A `vllm.LLM`.

    Raises:
        DependencyError: vLLM is not installed.
        ModelNotFoundError: The model's files are not here and cannot be fetched.
        GenerationError: vLLM cannot load it here.
    """
    if weights not in _LOADED:
        release()
        settings = SETTINGS | ({"HF_HUB_OFFLINE": "1"} if weights.offline else {})
        with environment(settings):
            _LOADED[weights] = _make_engine(weights)
    return _LOADED[weights]


def release() -> None:
    """Release the model in memory, if there is one."""
    while _LOADED:
        _, llm = _LOADED.popitem()
        llm.llm_engine.engine_core.shutdown()
        del llm
        from vllm.distributed.parallel_state import cleanup_dist_env_and_memory  # noqa: PLC0415

        cleanup_dist_env_and_memory()


def _make_engine(weights: Weights) -> Any:
    llm = _class()
    try:
        return llm(**_arguments(weights))
    except OSError as exc:
        command = model_files.download_command(weights.model, weights.revision)
        raise ModelNotFoundError(weights.model, command) from exc
    except errors() as exc:
        raise GenerationError(f"vLLM cannot load {weights.model}: {first_line(exc)}") from exc


def errors() -> tuple[type[Exception], ...]:
    """Return the errors that an installed vLLM raises."""
    from vllm import exceptions  # noqa: PLC0415

    # Newer versions have a root of its own; before, and in its parts, it is these.
    vllm_error = getattr(exceptions, "VLLMError", ValueError)
    return (vllm_error, ValueError, RuntimeError, AssertionError, ImportError, KeyError, TypeError)


def room(config: Any, context: int) -> int:
    """Compute the memory for two chats of full length in bytes, 512 MiB at least.

    Args:
        config: Configuration of the model, as read by the transformers library.
        context: Maximum tokens of a chat and its answer together.
    """
    heads = getattr(config, "num_attention_heads", None) or 1
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    width = getattr(config, "head_dim", None) or (getattr(config, "hidden_size", 4096) // heads)
    layers = getattr(config, "num_hidden_layers", None) or 32
    a_token = 2 * 2 * layers * kv_heads * width  # a key and a value, 16 bits each
    return max(_MIN_ROOM_BYTES, 2 * a_token * context)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, at most 300 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # pydantic puts a count of errors first
    informative = [line for line in lines if "validation error" not in line]
    return (informative or lines or [type(error).__name__])[0][:300]


def _class() -> Any:
    try:
        from vllm import LLM  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        if (exc.name or "").partition(".")[0] == "vllm":
            raise DependencyError("vllm", INSTALL) from exc
        raise GenerationError(f"vLLM cannot start: {first_line(exc)}") from exc
    except (ImportError, OSError, RuntimeError) as exc:  # made for other hardware than this
        raise GenerationError(f"vLLM cannot start: {first_line(exc)}") from exc
    return LLM


def _arguments(weights: Weights) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": weights.model,
        "revision": weights.revision,
        "tokenizer_revision": weights.revision,
        "load_format": "safetensors",
        "trust_remote_code": False,
        "enable_prefix_caching": True,
        "max_model_len": weights.context,
        "tensor_parallel_size": weights.tensor_parallel,
        "quantization": weights.quantization,
        "dtype": weights.dtype,
        "seed": 0,
        "structured_outputs_config": STRUCTURED,
        "disable_log_stats": False,  # else it counts no hits of the prefix cache
    }
    if weights.lora is not None:
        rank = model_files.adapter_rank(weights.lora)
        fitting = next((max_rank for max_rank in RANKS if max_rank >= rank), rank)
        arguments |= {"enable_lora": True, "max_lora_rank": fitting}
    if _on_cpu():
        # Compiling takes longer than it saves there, and half of all memory is no good default.
        arguments |= {"enforce_eager": True, "kv_cache_memory_bytes": weights.room_bytes}
    return arguments


def _on_cpu() -> bool:
    from vllm.platforms import current_platform  # noqa: PLC0415

    return bool(current_platform.is_cpu())
