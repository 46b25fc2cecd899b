"""The variables that a runner sets for a step, and the step's inputs among them.

This module alone reads `GITHUB_*`, `RUNNER_*` and `INPUT_*`. A Docker action gets its inputs as
`INPUT_FAIL-UNDER`, with the hyphen; a shell cannot set such a name, so the composite action
maps each to `INPUT_FAIL_UNDER`. Both are read.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from crscore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
MAX_PULL_REQUESTS: Final = 100
"""Most pull requests that one run may be asked for."""
_WORDS: Final = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "array": "names with commas",
    "str": "lines of NAME=TEXT",
}
"""Plain words for the types that msgspec names in its errors."""
# Expected `int | null`, got `str` - at `$.max-claims`; Expected `int` >= 1 - at `$.since-days`;
# Integer value out of range - at `$.since-days`
_MISMATCH: Final = re.compile(r"(?:Expected `(\w+).*?`([^,]*))?.* - at `\$\.([\w-]+)")

_Meta = msgspec.Meta
_Text = Annotated[str, _Meta(min_length=1)]
_Names = Annotated[tuple[str, ...], _Meta(min_length=1)]
_Share = Annotated[float, _Meta(ge=0, le=1)]


class Inputs(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Inputs of the action, each as `action.yml` describes it."""

    token: str | None = None
    """For GitHub's interface; never shown."""
    pull_request: Annotated[int, _Meta(ge=1, le=2**31 - 1)] | None = None
    """Number of the pull request; None for the event's."""
    comment: bool = False
    """Write one comment and keep it up to date."""
    annotations: bool = True
    """Annotate the lines of findings that nobody addressed."""
    fail_under: _Share | None = None
    """Relevance below which the step fails, in [0, 1]; None for no gate."""
    fail_on: _Names = ("together",)
    """Whose relevance the gate looks at: `together`, `each`, or patterns of reviewers."""
    fail_on_partial: bool = False
    """With a threshold, a partial run fails, too."""
    authors: _Names = ()
    """Patterns of the reviewers that count; empty for all."""
    bot_markers: tuple[tuple[_Text, _Text], ...] = ()
    """Name of a bot and a text that only its comments have."""
    analyzers: str | None = None
    """Static analysis, as `--analyzers` takes it; None for the settings'."""
    claims: str | None = None
    """Claim generator, as `--claims` takes it; None for the settings'."""
    matcher: str | None = None
    """Matcher, as `--matcher` takes it; None for the settings'."""
    max_claims: Annotated[int, _Meta(ge=1, le=1000)] | None = None
    """Most claims counted; None for the settings'."""
    post_from: Path | None = None
    """Result of another, untrusted job, to be posted; None to measure."""
    output_dir: str | None = None
    """Folder for the reports; None for one in the runner's temporary folder."""
    since_days: Annotated[int, _Meta(ge=1, le=365)] = 7
    """With a schedule: open pull requests that changed within so many days."""
    max_pull_requests: Annotated[int, _Meta(ge=1, le=MAX_PULL_REQUESTS)] = 20
    """With a schedule: at most so many."""
    wait_budget: Annotated[float, _Meta(ge=0, le=3600)] = 300.0
    """Seconds that the run may wait for GitHub in all."""
    working_directory: Path | None = None
    """A checkout of the repository, if there is one."""

    def __repr__(self) -> str:
        return "Inputs(...)"  # the token is one of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """One step's surroundings."""

    inputs: Inputs
    """Inputs of the action."""
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
    inputs = _read_inputs(variables)
    repository = _required(variables, "GITHUB_REPOSITORY")
    if not _REPOSITORY.fullmatch(repository):
        raise ConfigError("GITHUB_REPOSITORY", "environment", "must be OWNER/NAME")
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
        raise ConfigError(name, "environment", expected)
    return value


def _path(variables: Mapping[str, str], name: str) -> Path | None:
    return Path(variables[name]) if variables.get(name) else None


def _output_dir(inputs: Inputs, variables: Mapping[str, str]) -> Path:
    # A relative folder stays relative: in a container the workspace has another path than
    # outside, and a relative one is right for the steps on both sides.
    if inputs.output_dir is not None:
        return Path(inputs.output_dir)
    return Path(variables.get("RUNNER_TEMP") or ".") / "crscore"


INPUTS: Final = tuple(one.encode_name for one in msgspec.structs.fields(Inputs))
"""The inputs that the program reads, by their names in `action.yml`; an empty one is not given."""


def _read_inputs(variables: Mapping[str, str]) -> Inputs:
    # GitHub's runner turns spaces into _ and letters into capitals, and leaves hyphens alone.
    upper = {name: f"INPUT_{name.upper()}" for name in INPUTS}
    given = {
        name: (variables.get(key) or variables.get(key.replace("-", "_")) or "").strip()
        for name, key in upper.items()
    }
    values = {name: _split(name, text) for name, text in given.items() if text}
    try:
        return msgspec.convert(values, Inputs, strict=False, dec_hook=lambda kind, text: kind(text))
    except msgspec.ValidationError as exc:
        found = _MISMATCH.match(str(exc))
        kind, limit, name = found.groups()  # type: ignore[union-attr]
        limit = (limit or "").removesuffix(" of length >= 1")
        expected = f"must be {_WORDS[kind or 'int']}{limit}, not {given[name][:100]!r}"
        raise ConfigError(name, "action input", expected) from exc


def _split(name: str, value: str) -> object:
    if name == "bot-markers":
        lines = filter(str.strip, value.splitlines())
        return [[part.strip() for part in line.partition("=")[::2]] for line in lines]
    if name in ("fail-on", "authors"):
        return [part.strip() for part in re.split(r"[,\n]", value) if part.strip()]
    return value
