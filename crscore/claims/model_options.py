"""Options of the claim generators that use a model: `openai`, `vllm` and `auto`."""

from typing import Annotated, Literal

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options for the prompt, the sampling and the cache, and options that the engine checks."""

    argument: str = ""
    """Model named in the generator's argument."""
    cache_dir: str | None = None
    """Folder of the cached claims; None to cache nothing."""
    prompt: str | None = None
    """Task and version; None for the prompt the model was trained with, or the default."""
    form: Literal["json", "sections"] | None = None
    """Form of an answer; None for the form the model was trained with, or `json`."""
    few_shots: bool | None = None
    """Whether the prompt's examples are shown; None for the training setting, or yes."""
    temperature: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Sampling temperature; 0 always takes the likeliest token."""
    max_new_tokens: Positive = 512
    """Maximum tokens of an answer; the paper uses 150, which truncates one answer in four."""

    model: str | None = None
    revision: str | None = None
    lora: str | None = None
    max_model_len: int | None = None
    tensor_parallel: int | None = None
    quantization: str | None = None
    dtype: str | None = None
    concurrency: int | None = None
    timeout_s: float | None = None
    base_url: str | None = None
    api_key: str | None = None
    offline: bool = False

    @property
    def has_model(self) -> bool:
        """Whether a model is named."""
        return bool(self.model or self.argument)


# The options of engines are the last fields; each engine takes some of them.
ENGINE_OPTIONS = ModelOptions.__struct_fields__[ModelOptions.__struct_fields__.index("model") :]
"""Fields that are options of an engine."""
