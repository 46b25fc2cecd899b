"""Options of the claim generators that use a model: `openai`, `vllm` and `auto`."""

from typing import Annotated, Any, Literal

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the prompt, the sampling, the cache and, in `engine`, of the engine."""

    argument: str = ""
    """Name of the model after the colon, as in `openai:MODEL`; "" if there is none."""
    cache_dir: str | None = None
    """Folder of the cache of claims; None to cache nothing."""
    prompt: str | None = None
    """Name of the prompt; None for that of the model's training or else the default."""
    form: Literal["json", "sections"] | None = None
    """Form of an answer; None for that of the model's training or else `json`."""
    few_shots: bool | None = None
    """Whether the model sees the prompt's examples; None as in the model's training or else yes."""
    temperature: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Sampling temperature, at least 0; with 0, the likeliest token is always taken."""
    # The paper's limit of 150 tokens cuts off one answer in four.
    max_new_tokens: Positive = 512
    """Maximum tokens of an answer."""
    engine: dict[str, Any] = {}
    """Options of the engine by name, which the engine checks; the value None means its default."""

    @property
    def model(self) -> str | None:
        """Name or folder of the model; None if no model is configured."""
        return self.argument or self.engine.get("model")
