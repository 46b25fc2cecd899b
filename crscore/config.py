"""Settings: flags over environment over `[tool.crscore]` over defaults.

This module alone reads the environment. A preset stands for several settings and acts at
the level where it is given: `--preset paper` on the command line beats an `encoder` in the
file, and an `--encoder` beside it beats the preset.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from crscore.errors import ConfigError
from crscore.settings import AUTO, FIELDS, NOT_FROM_FILE, PRESETS, RANGES, Config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["AUTO", "ENVIRONMENT_PREFIX", "Config", "Text", "override", "resolve"]

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


def resolve(
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


def override(settings: Config, values: Mapping[str, Any]) -> Config:
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


def find_file(start: Path) -> Path | None:
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
