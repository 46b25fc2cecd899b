"""The variables that a runner sets for a step, and the step's inputs among them.

This module alone reads `GITHUB_*`, `RUNNER_*` and `INPUT_*`. A Docker action gets its inputs as
`INPUT_FAIL-UNDER`, with the hyphen; a shell cannot set such a name, so the composite action
maps each to `INPUT_FAIL_UNDER`. Both are read.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crscore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ORIGIN: Final = "action input"
_RUNNER: Final = "environment"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_WORDS: Final[Mapping[str, bool]] = {"true": True, "false": False}
MAX_PULL_REQUESTS: Final = 100
"""Most pull requests that one run may be asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the workflow's author asked for, each as `action.yml` describes it."""

    token: str | None = field(default=None, repr=False)
    """For GitHub's interface; never shown."""
    pull_request: int | None = None
    """Number of the pull request; None for the event's."""
    comment: bool = False
    """Write one comment and keep it up to date."""
    annotations: bool = True
    """Annotate the lines of findings that nobody addressed."""
    fail_under: float | None = None
    """Relevance below which the step fails, in [0, 1]; None for no gate."""
    fail_on: tuple[str, ...] = ("together",)
    """Whose relevance the gate looks at: `together`, `each`, or patterns of reviewers."""
    fail_on_partial: bool = False
    """With a threshold, a partial run fails, too."""
    authors: tuple[str, ...] = ()
    """Patterns of the reviewers that count; empty for all."""
    bot_markers: tuple[tuple[str, str], ...] = ()
    """Name of a bot and a text that only its comments have."""
    analyzers: str | None = None
    """Static analysis, as `--analyzers` takes it; None for the settings'."""
    claims: str | None = None
    """Claim generator, as `--claims` takes it; None for the settings'."""
    matcher: str | None = None
    """Matcher, as `--matcher` takes it; None for the settings'."""
    max_claims: int | None = None
    """Most claims counted; None for the settings'."""
    post_from: Path | None = None
    """What another, untrusted job measured, to be posted; None to measure."""
    output_dir: str | None = None
    """Folder for the reports; None for one in the runner's temporary folder."""
    since_days: int = 7
    """With a schedule: open pull requests that changed within so many days."""
    max_pull_requests: int = 20
    """With a schedule: at most so many."""
    wait_budget: float = 300.0
    """Seconds that the run may wait for GitHub in all."""
    working_directory: Path | None = None
    """A checkout of the repository, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """One step's surroundings."""

    inputs: Inputs
    """What the workflow's author asked for."""
    event: str
    """Name of the event: `pull_request`, `schedule`, ..."""
    event_path: Path | None
    """File with the event as JSON."""
    repository: str
    """`owner/name` that the workflow belongs to."""
    api_url: str = "https://api.github.com"
    """Where GitHub's interface is; another on GitHub Enterprise."""
    output_dir: Path = Path("crscore")
    """Folder for the reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlets:
    """The files through which a runner takes what a step has to say."""

    output: Path | None = None
    """Takes the step's outputs; None for a runner that has none."""
    summary: Path | None = None
    """Takes the job summary; None as above."""


def outlets(variables: Mapping[str, str] | None = None) -> Outlets:
    """Find the runner's files; that never fails, so that every other failure can be told there.

    Args:
        variables: Environment variables; the process's own when None.
    """
    variables = os.environ if variables is None else variables
    return Outlets(
        output=_path(variables, "GITHUB_OUTPUT"),
        summary=_path(variables, "GITHUB_STEP_SUMMARY"),
    )


def read_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """Read what the runner set.

    Args:
        variables: Environment variables; the process's own when None.

    Returns:
        The step's surroundings.

    Raises:
        ConfigError: A variable that only a runner sets is missing, or an input is wrong.
    """
    variables = os.environ if variables is None else variables
    inputs = _inputs(variables)
    repository = _required(variables, "GITHUB_REPOSITORY")
    if not _REPOSITORY.fullmatch(repository):
        raise ConfigError("GITHUB_REPOSITORY", _RUNNER, "must be OWNER/NAME")
    return Environment(
        inputs=inputs,
        event=_required(variables, "GITHUB_EVENT_NAME"),
        event_path=_path(variables, "GITHUB_EVENT_PATH"),
        repository=repository,
        api_url=variables.get("GITHUB_API_URL") or "https://api.github.com",
        output_dir=_output_dir(inputs, variables),
    )


def _required(variables: Mapping[str, str], name: str) -> str:
    value = variables.get(name, "")
    if not value:
        expected = (
            "is not set; `crscore action` is for GitHub's runners, use `crscore pr` elsewhere"
        )
        raise ConfigError(name, _RUNNER, expected)
    return value


def _path(variables: Mapping[str, str], name: str) -> Path | None:
    return Path(variables[name]) if variables.get(name) else None


def _output_dir(inputs: Inputs, variables: Mapping[str, str]) -> Path:
    # A relative folder stays relative: in a container the workspace has another path than
    # outside, and a relative one is right for the steps on both sides.
    if inputs.output_dir is not None:
        return Path(inputs.output_dir)
    return Path(variables.get("RUNNER_TEMP") or ".") / "crscore"


def _inputs(variables: Mapping[str, str]) -> Inputs:
    given = {name: _input(variables, name) for name in INPUTS}
    return Inputs(
        **{
            name.replace("-", "_"): INPUTS[name](name, value)
            for name, value in given.items()
            if value
        }
    )


def _input(variables: Mapping[str, str], name: str) -> str:
    # GitHub's runner turns spaces into _ and letters into capitals, and leaves hyphens alone.
    upper = f"INPUT_{name.upper()}"
    return (variables.get(upper) or variables.get(upper.replace("-", "_")) or "").strip()


def _wrong(name: str, expected: str, value: str) -> ConfigError:
    return ConfigError(name, _ORIGIN, f"must be {expected}, not {value[:100]!r}")


def _boolean(name: str, value: str) -> bool:
    if value.lower() not in _WORDS:
        raise _wrong(name, "true or false", value)
    return _WORDS[value.lower()]


def _whole(low: int, high: int) -> Callable[[str, str], int]:
    def read_whole(name: str, value: str) -> int:
        digits = value.isascii() and value.isdigit() and len(value) <= len(str(high))
        if not digits or not low <= int(value) <= high:
            raise _wrong(name, f"a whole number from {low} to {high}", value)
        return int(value)

    return read_whole


def _number(low: float, high: float) -> Callable[[str, str], float]:
    def read_number(name: str, value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = low - 1
        if not low <= number <= high:  # NaN is neither
            raise _wrong(name, f"a number from {low:g} to {high:g}", value)
        return number

    return read_number


def _names(name: str, value: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in re.split(r"[,\n]", value) if part.strip())
    if not names:
        raise _wrong(name, "names with commas", value)
    return names


def _markers(name: str, value: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for line in filter(str.strip, value.splitlines()):
        bot, sign, text = (part.strip() for part in line.partition("="))
        if not (bot and sign and text):
            raise _wrong(name, "lines of NAME=TEXT", line)
        pairs.append((bot, text))
    return tuple(pairs)


def _text(_name: str, value: str) -> str:
    return value


def _file(_name: str, value: str) -> Path:
    return Path(value)


INPUTS: Final[Mapping[str, Callable[[str, str], Any]]] = {
    "token": _text,
    "pull-request": _whole(1, 2**31 - 1),
    "comment": _boolean,
    "annotations": _boolean,
    "fail-under": _number(0, 1),
    "fail-on": _names,
    "fail-on-partial": _boolean,
    "authors": _names,
    "bot-markers": _markers,
    "analyzers": _text,
    "claims": _text,
    "matcher": _text,
    "max-claims": _whole(1, 1000),
    "post-from": _file,
    "output-dir": _text,
    "since-days": _whole(1, 365),
    "max-pull-requests": _whole(1, MAX_PULL_REQUESTS),
    "wait-budget": _number(0, 3600),
    "working-directory": _file,
}
"""The inputs that the program reads, by their names in `action.yml`; an empty one is not given."""
