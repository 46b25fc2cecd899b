"""Claim generators that use an engine, made from options."""

from pathlib import Path
from typing import Final, Literal

import msgspec

from crscore import plugins
from crscore.cache import Store
from crscore.claims.llm.generator import ModelClaims
from crscore.claims.llm.options import ENGINE_OPTIONS, ModelOptions
from crscore.claims.llm.prompt import Prompt, answer_schema, load_prompt
from crscore.errors import ConfigError
from crscore.llm import model_files
from crscore.llm.engines.base import Engine, Sampling

DEFAULT_PROMPT: Final = "claims.v1"
CARD: Final = "training.json"
"""File that `crscore train claims` writes beside the weights."""
_SERVER_OPTIONS: Final = frozenset(("base_url", "api_key"))


class _TrainedPrompt(msgspec.Struct, frozen=True):
    """Prompt settings of a model's training: `prompt` of `training.json`."""

    name: str = DEFAULT_PROMPT
    sha256: str = ""
    form: Literal["json", "sections"] = "json"
    few_shots: bool = True


class _Card(msgspec.Struct, frozen=True):
    prompt: _TrainedPrompt = _TrainedPrompt()


def make_generator(engine: str, options: ModelOptions) -> ModelClaims:
    """Make a generator.

    Args:
        engine: The engine's name, recorded as the source of the claims.
        options: Options of the generator; those for the engine are passed on to it.

    Returns:
        A generator whose model is not yet loaded.

    Raises:
        ConfigError: An option is invalid.
    """
    engine_options = _engine_options(options)
    trained = _trained_prompt(engine_options) if engine == "vllm" else _TrainedPrompt()
    prompt = _load_prompt(options, trained)
    form = options.form or trained.form
    few_shots = trained.few_shots if options.few_shots is None else options.few_shots
    return ModelClaims(
        source=engine,
        engine=make_engine(engine, options),
        prompt=prompt,
        sampling=Sampling(
            max_tokens=options.max_new_tokens,
            temperature=options.temperature,
            schema=answer_schema(prompt) if form == "json" else None,
        ),
        form=form,
        few_shots=None if few_shots else 0,
        cache=Store(Path(options.cache_dir)) if options.cache_dir else None,
    )


def choose_engine(options: ModelOptions) -> str:
    """Return the name of the engine that the options call for."""
    return "openai" if options.base_url or options.api_key else "vllm"


def make_engine(name: str, options: ModelOptions, *, is_strict: bool = True) -> Engine:
    """Make an engine, without loading a model or sending a request.

    Args:
        name: The engine's name.
        options: Options of the generator; those for the engine are passed on to it.
        is_strict: Whether an option that the engine does not have is an error.

    Raises:
        ConfigError: An option is invalid.
    """
    engine_options = _engine_options(options)
    # An engine without a server ignores the server variables of the environment.
    offered = _SERVER_OPTIONS if is_strict else engine_options.keys()
    engine: Engine = plugins.create(
        "engines",
        name,
        {name: value for name, value in engine_options.items() if name not in offered},
        offered={name: value for name, value in engine_options.items() if name in offered},
    )
    return engine


def _engine_options(options: ModelOptions) -> dict[str, object]:
    values = {name: getattr(options, name) for name in ENGINE_OPTIONS}
    if options.argument:
        values["model"] = options.argument
    return {name: value for name, value in values.items() if value is not None}


def _trained_prompt(engine_options: dict[str, object]) -> _TrainedPrompt:
    """Return the prompt settings with which a crscore model or adapter was trained."""
    model, lora = engine_options.get("model"), engine_options.get("lora")
    # A model name is not a folder, even when a folder of that name exists in the working directory.
    model_folder = model_files.folder_of(str(model)) if model else None
    # An adapter is always a folder, even if its path looks like the name of a model.
    adapter = (model_files.folder_of(str(lora)) or Path(str(lora))) if lora else None
    for folder in filter(None, (adapter, model_folder)):
        file = folder / CARD
        if file.is_file():
            try:
                return msgspec.json.decode(file.read_bytes(), type=_Card).prompt
            except (OSError, msgspec.DecodeError) as exc:
                raise ConfigError("model", str(file), f"cannot be read: {exc}") from exc
    return _TrainedPrompt()


def _load_prompt(options: ModelOptions, trained: _TrainedPrompt) -> Prompt:
    prompt = load_prompt(options.prompt or trained.name)
    if trained.sha256 not in ("", prompt.sha256) and trained.name == prompt.name:
        expected = f"is not the {prompt.name} of this version: train it again, or name a prompt"
        raise ConfigError("prompt", f"the model's {CARD}", expected)
    return prompt
