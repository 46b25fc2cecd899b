"""From settings to a generator that asks an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from crscore import plugins
from crscore.cache import Store
from crscore.claims.llm import prompt
from crscore.claims.llm.cache import Memory
from crscore.claims.llm.generator import ModelClaims
from crscore.errors import ConfigError
from crscore.llm.engines.base import Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.claims.llm.prompt import Form

DEFAULT_PROMPT: Final = "claims.v1"
CARD: Final = "training.json"
"""What `crscore train claims` writes beside the weights."""
DEFAULT_TOKENS: Final = 512
"""Most tokens of an answer; the paper takes 150, which cuts one answer in four off."""


_OWN: Final = frozenset(
    {
        "argument", "prompt", "temperature", "max_new_tokens", "context", "cache_dir", "few_shots",
        "form", "several",
    }
)  # fmt: skip
_OF_SERVERS: Final = frozenset({"base_url", "api_key"})


class _Trained(msgspec.Struct, frozen=True):
    """How a model was asked while it was trained: `prompt` of `training.json`."""

    name: str = ""
    sha256: str = ""
    form: str = "json"
    few_shots: bool = True


class _Card(msgspec.Struct, frozen=True):
    prompt: _Trained = _Trained()


def _trained(told: Mapping[str, str]) -> _Trained:
    """Look how a model or adapter of ours was trained; it is asked in the same way.

    Returns:
        What the first folder with a `training.json` says; the defaults where none has one.
    """
    model = told.get("model", "")
    # A model's name is no folder, even where one of that name lies here.
    is_folder = Path(model).is_absolute() or model.startswith(("./", "../", "~"))
    for folder in (told.get("lora"), model if is_folder else None):
        file = Path(folder).expanduser() / CARD if folder else None
        if file is not None and file.is_file():
            try:
                return msgspec.json.decode(file.read_bytes(), type=_Card).prompt
            except (OSError, msgspec.DecodeError) as exc:
                raise ConfigError("model", str(file), f"cannot be read: {exc}") from exc
    return _Trained()


def generator(engine: str, options: Mapping[str, str]) -> ModelClaims:
    """Make a generator.

    Args:
        engine: The engine's name; claims carry it as their source.
        options: `argument` (the model, where it is named beside the generator), what the engine
            takes (`crscore.llm.engines.base.Engine`), and `prompt`, `form` (`json` or `sections`),
            `few_shots` (`true` or `false`), `temperature`, `max_new_tokens`, `context`,
            `cache_dir` (without it nothing is remembered), `several` (`true` where other
            generators take a part of the options).

    Returns:
        A generator whose model is not yet loaded.

    Raises:
        ConfigError: An option is wrong.
    """
    module = plugins.load("engines", engine)
    told = {key: value for key, value in options.items() if key not in _OWN}
    # What the environment says of a server is nothing to an engine without one; with several
    # generators, each takes of the settings what it knows.
    known, several = frozenset(module.OPTIONS), options.get("several") == "true"
    dropped = {key for key in told if key not in known and (several or key in _OF_SERVERS)}
    told = {key: value for key, value in told.items() if key not in dropped}
    if options.get("argument"):
        told["model"] = options["argument"]
    trained = _trained(told) if engine == "vllm" else _Trained()
    found = prompt.load_prompt(options.get("prompt", trained.name or DEFAULT_PROMPT))
    if trained.sha256 not in ("", found.sha256) and trained.name == found.name:
        expected = f"is not the {found.name} of this version: train it anew, or name a prompt"
        raise ConfigError("prompt", f"the model's {CARD}", expected)
    folder = options.get("cache_dir")
    form: Form = "sections" if options.get("form", trained.form) == "sections" else "json"
    few_shots = options.get("few_shots", str(trained.few_shots).lower()) == "true"
    return ModelClaims(
        source=engine,
        engine=module.create(told),
        prompt=found,
        sampling=Sampling(
            max_tokens=int(options.get("max_new_tokens", DEFAULT_TOKENS)),
            temperature=float(options.get("temperature", 0.0)),
            schema=prompt.schema(found) if form == "json" else None,
        ),
        form=form,
        few_shots=None if few_shots else 0,
        context=options.get("context", "hunk"),
        memory=Memory(Store(Path(folder))) if folder else None,
    )
