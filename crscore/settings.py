"""Settings of a run: flags over environment over `[tool.crscore]` over defaults."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from crscore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

AUTO = "auto"
"""A matcher's name: the best one for the encoder. A claim generator's: the configured model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One run's settings, each with its default."""

    preset: str = "default"
    """A named set of settings: `default` or `paper`."""
    encoder: str = "minilm"
    """Encoder plugin, with an optional model: NAME[:MODEL]."""
    revision: str | None = None
    """Revision of the encoder's model; None for the plugin's pinned or newest one."""
    claims: str = AUTO
    """Claim generators, joined by `+`, each with an optional argument: NAME[:ARGUMENT]. `auto` is
    the configured model's, and `structural` where no model is configured."""
    model: str | None = None
    """Language model that writes claims: its name for the engine; None for none."""
    model_revision: str | None = None
    """Revision of that model; None for the engine's pinned or newest one."""
    lora: str | None = None
    """Folder of a LoRA adapter of that model."""
    max_model_len: int | None = None
    """Most tokens of a prompt and its answer together; None for the model's own."""
    tensor_parallel: int | None = None
    """GPUs that share the model; None for one."""
    quantization: str | None = None
    """How the model's weights are quantised, by the engine's name for it."""
    dtype: str | None = None
    """Type of the model's numbers, such as `bfloat16`; None for the model's own."""
    concurrency: int | None = None
    """Requests to a model server at the same time; None for the engine's default."""
    model_timeout: float | None = None
    """Seconds that a model server may take for one answer; None for the engine's default."""
    temperature: float = 0.0
    """Temperature of the model, from 0, which is greedy, to 2."""
    max_new_tokens: int = 512
    """Most tokens of one answer of the model."""
    prompt: str | None = None
    """Prompt for claims, a file in `prompts/`; None for the one that the model was trained with,
    else `claims.v1`."""
    form: str | None = None
    """What the model's answer looks like: `json`, or `sections`, the published two; None for how
    the model was trained, else `json`."""
    few_shots: bool | None = None
    """Show the model the prompt's examples; None for how it was trained, else yes."""
    context: str = "hunk"
    """What the model sees of the code: `hunk`, or `function` for the enclosing function, too."""
    matcher: str = AUTO
    """Matcher plugin; `auto` is `calibrated` for the encoder it knows, else `published`.
    `calibrated:FILE` takes weights of one's own."""
    threshold: float | None = None
    """Cosine cut-off of the published matcher, in (-1, 1); None for the encoder's own."""
    splitter: str = "markdown"
    """How a review becomes sentences: `markdown`, or `paper` for the published rule."""
    max_claims: int = 12
    """Most claims and implications a score counts; issues come on top."""
    analyzers: str = "auto"
    """Static analysis: `auto`, `none`, or names and folders of analyzers, with commas."""
    max_issues: int = 3
    """Most issues of one hunk that a score counts, the worst ones."""
    issues: str = "lines"
    """Issues of the changed lines: `lines`, or `paper` for the published way of finding them."""
    tools_dir: str | None = None
    """Folder of the analyzers' own programs; None for one in the Python environment."""
    cache_dir: str | None = None
    """Folder of the store; None for the system's folder for caches."""
    cache: bool = True
    """Remember findings from run to run."""
    format: str = "text"
    """Report plugin."""
    explain: bool = False
    """Show every cell that decided the score."""
    offline: bool = False
    """Use no network: models come from this disk. The command line then refuses every socket."""
    fail_under: float | None = None
    """Exit with code 1 when relevance is below this, in [0, 1]."""
    max_diff_bytes: int = 10_000_000
    """Largest diff read, in bytes."""
    max_files: int = 3_000
    """Most files in a diff."""
    max_hunks: int = 20_000
    """Most hunks in a diff."""
    max_line_length: int = 100_000
    """Longest line of a diff, in characters."""
    max_review_bytes: int = 10_000_000
    """Largest review file read, in bytes."""
    max_sarif_bytes: int = 20_000_000
    """Largest SARIF file read, in bytes."""
    max_source_bytes: int = 2_000_000
    """Largest whole source file read for context, in bytes; a larger one is left out."""


FORMS = ("json", "sections")
"""What a model's answer looks like."""
CONTEXTS = ("hunk", "function")
"""What a model sees of the code."""
ISSUES = ("lines", "paper")
"""Ways of choosing the findings that count."""
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": {
        "encoder": "minilm",
        "claims": AUTO,
        "matcher": AUTO,
        "splitter": "markdown",
        "issues": "lines",
        "threshold": None,
        "revision": None,
    },
    "paper": {
        "encoder": "st:mixedbread-ai/mxbai-embed-large-v1",
        "matcher": "published",
        "splitter": "paper",
        "issues": "paper",
        "threshold": 0.7314,
        "revision": None,
    },
}
"""What each preset stands for. `paper` leaves the claims to the user: they are a model's."""


def _names_a_folder(value: object) -> str | None:
    plain = re.fullmatch(r"[\w\s,-]*", value) if isinstance(value, str) else None
    return None if plain else "may name analyzers but no folder, as what is in one is run"


# "owner/model", "model", "model:7b"; no path.
_MODEL = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?(:[\w.-]+)?", re.ASCII)


def _is_a_folder(value: object) -> str | None:
    plain = isinstance(value, str) and _MODEL.fullmatch(value)
    return None if plain else "may name a model but no folder, as what is in one is loaded"


def _claims_of_a_file(value: object) -> str | None:
    """Refuse arguments but a model's name; what is no text is refused later."""
    parts = value.split("+") if isinstance(value, str) else []
    for name, _, argument in (part.partition(":") for part in parts):
        if argument and name.strip() == "replay":
            return "may not replay claims, as a change would bring its own"
        if argument and (wrong := _is_a_folder(argument)):
            return wrong
    return None


def _encoder_of_a_file(value: object) -> str | None:
    _, _, model = value.partition(":") if isinstance(value, str) else ("", "", "")
    return _is_a_folder(model) if model else None


def _matcher_of_a_file(value: object) -> str | None:
    if isinstance(value, str) and ":" in value:
        return "may name a matcher but no file of weights, as a change would bring its own"
    return None


NOT_FROM_FILE: Mapping[str, Callable[[object], str | None]] = {
    "analyzers": _names_a_folder,
    "tools_dir": lambda _: "may not stand in a file, as what is in the folder is run",
    "cache_dir": lambda _: "may not stand in a file, as what is in the folder is believed",
    "lora": lambda _: "may not stand in a file, as what is in the folder is loaded",
    "model": _is_a_folder,
    "claims": _claims_of_a_file,
    "encoder": _encoder_of_a_file,
    "matcher": _matcher_of_a_file,
}
"""The file may be part of the change that is scored, and a change must not choose programs."""
FIELDS = {field.name: field for field in fields(Config)}
"""The settings by name."""
MAX_LIMIT = 2**40
"""Largest value of a limit; far above any use, far below what a file offset can be."""


def _positive(value: int) -> str | None:
    return None if 0 < value <= MAX_LIMIT else f"above 0 and at most {MAX_LIMIT}"


RANGES: Mapping[str, Callable[[Any], str | None]] = {
    "preset": lambda value: None if value in PRESETS else f"one of {', '.join(PRESETS)}",
    "concurrency": lambda value: None if 1 <= value <= 1000 else "from 1 to 1000",
    "context": lambda value: None if value in CONTEXTS else f"one of {', '.join(CONTEXTS)}",
    "form": lambda value: None if value in FORMS else f"one of {', '.join(FORMS)}",
    "model_timeout": lambda value: None if 0 < value <= 86_400 else "above 0 and at most 86400",
    "temperature": lambda value: None if 0 <= value <= 2 else "from 0 to 2",
    "tensor_parallel": lambda value: None if 1 <= value <= 1024 else "from 1 to 1024",
    "issues": lambda value: None if value in ISSUES else f"one of {', '.join(ISSUES)}",
    "threshold": lambda value: None if -1 < value < 1 else "between -1 and 1",
    "fail_under": lambda value: None if 0 <= value <= 1 else "from 0 to 1",
    **{name: _positive for name in FIELDS if name.startswith("max_")},
}
"""What is wrong with a value: what would have been right, or None when it is fine."""


__all__ = ["AUTO", "ENVIRONMENT_PREFIX", "Config", "Text", "override_settings", "resolve_settings"]

ENVIRONMENT_PREFIX = "CRSCORE_"


def llm_address() -> str | None:
    """Where the model server is (`OPENAI_BASE_URL`); None for the client's own default."""
    return os.environ.get("OPENAI_BASE_URL") or None


def llm_key() -> str | None:
    """The key for the model server (`OPENAI_API_KEY`); None without one."""
    return os.environ.get("OPENAI_API_KEY") or None


class Text(NamedTuple):
    """A settings file that was read elsewhere, such as on the base branch of a pull request."""

    toml: str
    """What it says."""
    origin: str
    """What to call it in messages."""


def resolve_settings(
    flags: Mapping[str, Any],
    *,
    environment: Mapping[str, str] | None = None,
    file: Path | Text | None,
) -> Config:
    """Merge the levels into one configuration.

    Args:
        flags: Settings given on the command line, by field name; None values are not given.
        environment: Environment variables; the process's own when None. Every variable that
            starts with `CRSCORE_` must name a setting.
        file: A `pyproject.toml` or its text, or None. A text without `[tool.crscore]` sets
            nothing.

    Returns:
        The merged settings.

    Raises:
        ConfigError: An unknown key, or a value of the wrong type or range.
    """
    environment = os.environ if environment is None else environment
    levels = (
        (_from_file(file), file.origin if isinstance(file, Text) else str(file)),
        (_from_environment(environment), "environment"),
        ({key: value for key, value in flags.items() if value is not None}, "command line"),
    )
    merged: dict[str, Any] = {}
    for level, origin in levels:
        checked = {key: _check(key, value, origin) for key, value in level.items()}
        merged |= PRESETS[checked["preset"]] if "preset" in checked else {}
        merged |= checked
    return Config(**merged)


def override_settings(settings: Config, values: Mapping[str, Any]) -> Config:
    """Change single settings.

    Args:
        settings: What to start from.
        values: New values by field name; a `preset` among them acts before the others.

    Returns:
        The changed settings.

    Raises:
        ConfigError: An unknown key, or a value of the wrong type or range.
    """
    checked = {key: _check(key, value, "argument") for key, value in values.items()}
    preset = PRESETS[checked["preset"]] if "preset" in checked else {}
    return replace(settings, **{**preset, **checked})


def search_path() -> str:
    """The folders that this system searches for programs (`PATH`)."""
    return os.environ.get("PATH", os.defpath)


def host_token() -> str | None:
    """The token for the code host (`GITHUB_TOKEN`, else `GH_TOKEN`); None without one."""
    return os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN") or None


def host_address() -> str:
    """Where the code host's interface is (`GITHUB_API_URL`); GitHub's own by default."""
    return os.environ.get("GITHUB_API_URL") or "https://api.github.com"


def no_color() -> bool:
    """Say whether the environment asks for output without colour (`NO_COLOR`)."""
    return bool(os.environ.get("NO_COLOR"))


def find_settings_file(start: Path) -> Path | None:
    """Find the nearest `pyproject.toml` that has `[tool.crscore]`.

    Args:
        start: The folder to start in; its parents follow.

    Returns:
        The file, or None.

    Raises:
        ConfigError: A file on the way cannot be read as TOML.
    """
    for folder in (start, *start.parents):
        candidate = folder / "pyproject.toml"
        if candidate.is_file() and "crscore" in _tools(candidate):
            return candidate
    return None


def _read(file: Path | Text) -> dict[str, Any]:
    origin = file.origin if isinstance(file, Text) else str(file)
    try:
        text = file.toml if isinstance(file, Text) else file.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ConfigError("[tool.crscore]", origin, f"cannot be read: {exc}") from exc


def _tools(file: Path | Text) -> dict[str, Any]:
    tools = _read(file).get("tool", {})
    return tools if isinstance(tools, dict) else {}


def _from_file(file: Path | Text | None) -> dict[str, Any]:
    if file is None:
        return {}
    origin = file.origin if isinstance(file, Text) else str(file)
    table = _tools(file).get("crscore", {} if isinstance(file, Text) else None)
    if not isinstance(table, dict):
        raise ConfigError("[tool.crscore]", origin, "must be a table in this file")
    found = {key.replace("-", "_"): value for key, value in table.items()}
    for key, value in found.items():
        if key in NOT_FROM_FILE and (wrong := NOT_FROM_FILE[key](value)):
            flag, variable = f"--{key.replace('_', '-')}", f"{ENVIRONMENT_PREFIX}{key.upper()}"
            raise ConfigError(key, origin, f"{wrong}; use {flag} or {variable}")
    if len(found) < len(table):
        raise ConfigError("[tool.crscore]", origin, "sets a key twice, with - and with _")
    return found


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower(): value
        for name, value in sorted(environment.items())
        if name.startswith(ENVIRONMENT_PREFIX)
    }


def _check(key: str, value: Any, origin: str) -> Any:
    if value is None and origin == "argument":
        return None
    shown = f"{ENVIRONMENT_PREFIX}{key.upper()}" if origin == "environment" else key
    if key not in FIELDS:
        known = ", ".join(sorted(FIELDS))
        raise ConfigError(shown, origin, f"is no setting; there are: {known}")
    declared = str(FIELDS[key].type)
    convert, expected = _CONVERTERS[declared.removesuffix(" | None")]
    try:
        converted = convert(value)
    except (TypeError, ValueError):
        raise ConfigError(shown, origin, f"must be {expected}, not {value!r}") from None
    wrong = RANGES.get(key, lambda _: None)(converted)
    if wrong:
        raise ConfigError(shown, origin, f"must be {wrong}, not {value!r}")
    return converted


def _boolean(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(value)
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(value)
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(value)
    return value


_CONVERTERS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "bool": (_boolean, "true or false"),
    "int": (_whole, "a whole number"),
    "float": (_number, "a number"),
    "str": (_text, "a text"),
}
