"""Loading of a model into vLLM, in this process.

vLLM (tested: 0.32) reads environment variables when it is imported and when a model loads. They are
set for that time only, and never override the user's: no usage statistics; only errors are logged,
to standard error, because its default, standard output, has our report; and no separate process for
the engine, which then starts in a third of the time and cannot outlive this process.
"""

import importlib.util
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crscore.errors import DependencyError, GenerationError, ModelNotFoundError
from crscore.llm import model_files

INSTALL_COMMAND = "pip install 'crscore[vllm]'"
ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}
STRUCTURED_OUTPUTS = {"backend": "guidance", "disable_any_whitespace": True}
"""Replaces the default backend, whose JSON may contain control characters or endless spaces."""
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Adapter ranks that vLLM can reserve memory for."""
_MIN_KV_CACHE_BYTES = 512 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Model and how it is loaded; the key of the model in memory."""

    model: str
    """Name on the hub, or path of a folder."""
    revision: str | None
    """Commit of the hub; None for a folder."""
    context: int
    """Maximum tokens of a chat and its answer together."""
    lora: Path | None
    """Folder of an adapter; None for the model alone."""
    tensor_parallel: int
    """Number of devices that share the model."""
    quantization: str | None
    """Quantization method as named by vLLM; None for the model's own."""
    dtype: str
    """Numeric type as named by vLLM, or `auto`."""
    kv_cache_bytes: int
    """Memory of the key-value cache, used only without a GPU."""
    offline: bool
    """Never use the network."""


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables that are not set yet, for the duration of a block.

    The variables that vLLM sets itself are left in place, as it needs them; only `LD_PRELOAD` is
    removed, because the programs that we start would inherit it.
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
"""Model in memory, at most one: most GPUs cannot hold a second one, and releasing the first of two
shuts down state of vLLM that both share."""


def require_vllm() -> None:
    """Check that vLLM is installed, before downloading files that only it can use.

    Raises:
        DependencyError: vLLM is not installed.
    """
    if importlib.util.find_spec("vllm") is None:
        raise DependencyError("vllm", INSTALL_COMMAND)


def load(weights: Weights) -> Any:
    """Load a model, or return it if it is already in memory; release any other one.

    Args:
        weights: The model and how to load it.

    Returns:
        A `vllm.LLM`.

    Raises:
        DependencyError: vLLM is not installed.
        ModelNotFoundError: The model's files are not on this machine and cannot be downloaded.
        GenerationError: vLLM cannot load it on this machine.
    """
    if weights not in _LOADED:
        release()
        settings = ENVIRONMENT | ({"HF_HUB_OFFLINE": "1"} if weights.offline else {})
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
    llm = _import_llm_class()
    try:
        return llm(**_llm_arguments(weights))
    except OSError as exc:
        command = model_files.download_command(weights.model, weights.revision)
        raise ModelNotFoundError(weights.model, command) from exc
    except vllm_errors() as exc:
        raise GenerationError(f"vLLM cannot load {weights.model}: {first_line(exc)}") from exc


def vllm_errors() -> tuple[type[Exception], ...]:
    """Return the errors that an installed vLLM raises."""
    from vllm import exceptions  # noqa: PLC0415

    # Newer versions have a base class; older ones, and the dependencies, raise the built-in ones.
    vllm_error = getattr(exceptions, "VLLMError", ValueError)
    return (vllm_error, ValueError, RuntimeError, AssertionError, ImportError, KeyError, TypeError)


def compute_kv_cache_bytes(config: Any, context: int) -> int:
    """Compute the size of a key-value cache for two chats of full length: bytes, at least 512 MiB.

    Args:
        config: Configuration of the model, as read by the transformers library.
        context: Maximum tokens of a chat and its answer together.
    """
    heads = getattr(config, "num_attention_heads", None) or 1
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    width = getattr(config, "head_dim", None) or (getattr(config, "hidden_size", 4096) // heads)
    layers = getattr(config, "num_hidden_layers", None) or 32
    bytes_per_token = 2 * 2 * layers * kv_heads * width  # a key and a value, 16 bits each
    return max(_MIN_KV_CACHE_BYTES, 2 * bytes_per_token * context)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, at most 300 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # pydantic's first line is only a count of errors
    informative = [line for line in lines if "validation error" not in line]
    return (informative or lines or [type(error).__name__])[0][:300]


def _import_llm_class() -> Any:
    try:
        from vllm import LLM  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        if (exc.name or "").partition(".")[0] == "vllm":
            raise DependencyError("vllm", INSTALL_COMMAND) from exc
        raise GenerationError(f"vLLM cannot start: {first_line(exc)}") from exc
    except (ImportError, OSError, RuntimeError) as exc:  # built for other hardware
        raise GenerationError(f"vLLM cannot start: {first_line(exc)}") from exc
    return LLM


def _llm_arguments(weights: Weights) -> dict[str, Any]:
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
        "structured_outputs_config": STRUCTURED_OUTPUTS,
        "disable_log_stats": False,  # else hits of the prefix cache are not counted
    }
    if weights.lora is not None:
        rank = model_files.adapter_rank(weights.lora)
        reserved_rank = next((max_rank for max_rank in LORA_RANKS if max_rank >= rank), rank)
        arguments |= {"enable_lora": True, "max_lora_rank": reserved_rank}
    if _on_cpu():
        # On a CPU, compiling takes longer than it saves, and the default cache, half of all memory,
        # is too large.
        arguments |= {"enforce_eager": True, "kv_cache_memory_bytes": weights.kv_cache_bytes}
    return arguments


def _on_cpu() -> bool:
    from vllm.platforms import current_platform  # noqa: PLC0415

    return bool(current_platform.is_cpu())
