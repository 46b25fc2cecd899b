"""Options of the claim generators that use a model: `openai`, `vllm` and `auto`."""

from typing import Annotated, Any, Literal

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options for the prompt, the sampling and the cache, and those that the engine checks."""

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
    # The paper's 150 truncate one answer in four.
    max_new_tokens: Positive = 512
    """Maximum tokens of an answer."""
    engine: dict[str, Any] = {}
    """Options of the engine, by name; None for its default."""

    @property
    def model(self) -> str | None:
        """Name or folder of the model; None if none is named."""
        return self.argument or self.engine.get("model")
