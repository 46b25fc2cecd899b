"""From settings to a generator that asks an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from crscore import plugins
from crscore.claims._model import prompt
from crscore.claims._model.generator import ModelClaims
from crscore.claims._model.remembered import Memory
from crscore.engines.base import Sampling
from crscore.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.claims._model.prompt import Form

DEFAULT_PROMPT: Final = "claims.v1"
DEFAULT_TOKENS: Final = 512
"""Most tokens of an answer; the paper takes 150, which cuts one answer in four off."""


def generator(engine: str, options: Mapping[str, str]) -> ModelClaims:
    """Make a generator.

    Args:
        engine: The engine's name; claims carry it as their source.
        options: `argument` (the model, where it is named beside the generator), what the engine
            takes (`crscore.engines.base.Engine`), and `prompt`, `form` (`json` or `sections`),
            `few_shots` (`true` or `false`), `temperature`, `max_new_tokens`, `context`,
            `cache_dir` (without it nothing is remembered).

    Returns:
        A generator whose model is not yet loaded.

    Raises:
        ConfigError: An option is wrong.
    """
    own = {
        "argument", "prompt", "temperature", "max_new_tokens", "context", "cache_dir", "few_shots",
        "form",
    }  # fmt: skip
    if engine != "openai":  # what the environment says of a server is nothing to the others
        own |= {"base_url", "api_key"}
    told = {key: value for key, value in options.items() if key not in own}
    if options.get("argument"):
        told["model"] = options["argument"]
    found = prompt.load(options.get("prompt", DEFAULT_PROMPT))
    folder = options.get("cache_dir")
    form: Form = "sections" if options.get("form") == "sections" else "json"
    return ModelClaims(
        source=engine,
        engine=plugins.load("engines", engine).create(told),
        prompt=found,
        sampling=Sampling(
            max_tokens=int(options.get("max_new_tokens", DEFAULT_TOKENS)),
            temperature=float(options.get("temperature", 0.0)),
            schema=prompt.schema(found) if form == "json" else None,
        ),
        form=form,
        few_shots=None if options.get("few_shots", "true") == "true" else 0,
        context=options.get("context", "hunk"),
        memory=Memory(Store(Path(folder))) if folder else None,
    )
