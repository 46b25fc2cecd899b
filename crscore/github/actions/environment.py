"""Reads the variables that a runner sets for a step, including the step's inputs.

Only this module reads `GITHUB_*`, `RUNNER_*` and `INPUT_*`. A Docker action gets its inputs as
`INPUT_FAIL-UNDER`, with the hyphen. A shell cannot set such a name, so the composite action uses
`INPUT_FAIL_UNDER`. Both forms are read.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from crscore.errors import ConfigError

# "acme/shop", "a-b/c.d_e"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)

_Meta = msgspec.Meta
_Text = Annotated[str, _Meta(min_length=1)]
_Names = Annotated[tuple[str, ...], _Meta(min_length=1)]


class Inputs(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Inputs of the action, as described in `action.yml`."""

    token: str | None = None
    """Token for GitHub's API; never shown."""
    # `Int` of GraphQL has 32 bits: https://spec.graphql.org/October2021/#sec-Int
    pull_request: Annotated[int, _Meta(ge=1, le=2**31 - 1)] | None = None
    """Number of the pull request; None for the pull request that the event is about."""
    comment: bool = False
    """Whether to write one comment and keep it up to date."""
    annotations: bool = True
    """Whether to annotate the lines of findings that no review addresses."""
    fail_under: Annotated[float, _Meta(ge=0, le=100)] | None = None
    """Minimum usefulness (a percentile, 0 to 100) to pass; None for no gate."""
    fail_on: _Names = ("together",)
    """Reviewers to which the gate applies: `together`, `each`, or patterns of names."""
    fail_on_partial: bool = False
    """Whether the gate also fails a partial run; without a threshold, there is no gate."""
    reviewed_by: _Names = ()
    """Patterns of reviewers who must have reviewed the newest commit; empty if none must."""
    review_wait: Annotated[float, _Meta(ge=0, le=3600)] = 0.0
    """Seconds to wait for the reviews that `reviewed_by` requires."""
    authors: _Names = ()
    """Patterns of the reviewers to include; empty for all."""
    bot_markers: tuple[tuple[_Text, _Text], ...] = ()
    """Names of bots, each with a text found only in its comments."""
    sarif: _Names = ()
    """Files and glob patterns with findings of other tools."""
    post_from: Path | None = None
    """File with the untrusted result of another job, which is posted; None to score."""
    working_directory: Path | None = None
    """Checkout of the repository; None if there is none."""

    def __repr__(self) -> str:
        return "Inputs(...)"  # the token is one of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Environment of one step."""

    inputs: Inputs
    """Inputs of the action."""
    event: str
    """Name of the event: `pull_request`, `schedule`, ..."""
    event_path: Path | None
    """JSON file with the event."""
    repository: str
    """`owner/name` of the workflow's repository."""
    api_url: str = "https://api.github.com"
    """Address of GitHub's API; servers of GitHub Enterprise have addresses of their own."""
    output_dir: Path = Path("crscore")
    """Folder for the reports."""


def runner_files(variables: Mapping[str, str] | None = None) -> tuple[Path | None, Path | None]:
    """Return the runner's files for the step's outputs and for the job summary.

    This never fails, so that all other failures can be reported in these files.

    Args:
        variables: Environment variables; None for those of this process.

    Returns:
        The two files, each None if the runner does not provide the file.
    """
    variables = os.environ if variables is None else variables
    return _read_path(variables, "GITHUB_OUTPUT"), _read_path(variables, "GITHUB_STEP_SUMMARY")


def read_environment(
    variables: Mapping[str, str] | None = None, *, output_dir: Path | None = None
) -> Environment:
    """Read the variables set by the runner.

    Args:
        variables: Environment variables; None for those of this process.
        output_dir: Folder for the reports; None for a folder in the runner's temporary folder. A
            relative path stays relative, because it must also be valid in later steps, where the
            workspace has another path than in a container.

    Returns:
        The step's environment.

    Raises:
        ConfigError: A variable that only a runner sets is missing, or an input is invalid.
    """
    variables = os.environ if variables is None else variables
    inputs = _read_inputs(variables)
    repository = _read_required(variables, "GITHUB_REPOSITORY")
    if not _REPOSITORY.fullmatch(repository):
        raise ConfigError("GITHUB_REPOSITORY", "environment", "must be OWNER/NAME")
    return Environment(
        inputs=inputs,
        event=_read_required(variables, "GITHUB_EVENT_NAME"),
        event_path=_read_path(variables, "GITHUB_EVENT_PATH"),
        repository=repository,
        api_url=variables.get("GITHUB_API_URL") or "https://api.github.com",
        output_dir=output_dir or Path(variables.get("RUNNER_TEMP") or ".") / "crscore",
    )


def _read_required(variables: Mapping[str, str], name: str) -> str:
    value = variables.get(name, "")
    if not value:
        expected = (
            "is not set; `crscore action` runs on GitHub's runners; use `crscore pr` elsewhere"
        )
        raise ConfigError(name, "environment", expected)
    return value


def _read_path(variables: Mapping[str, str], name: str) -> Path | None:
    return Path(variables[name]) if variables.get(name) else None


INPUTS: Final = tuple(field.encode_name for field in msgspec.structs.fields(Inputs))
"""Names of the inputs in `action.yml`; an empty input counts as absent."""


def _read_inputs(variables: Mapping[str, str]) -> Inputs:
    texts: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name in INPUTS:
        # https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax#inputs
        # The runner converts names to upper case and keeps hyphens.
        key = f"INPUT_{name.upper()}"
        text = (variables.get(key) or variables.get(key.replace("-", "_")) or "").strip()
        if text:
            texts[name] = values[name] = text
        if text and name == "bot-markers":
            lines = filter(str.strip, text.splitlines())
            values[name] = [[part.strip() for part in line.partition("=")[::2]] for line in lines]
        elif text and name in ("fail-on", "reviewed-by", "authors", "sarif"):
            values[name] = [part.strip() for part in re.split(r"[,\n]", text) if part.strip()]
    try:
        # Not strict, because every input is a string.
        return msgspec.convert(values, Inputs, strict=False, dec_hook=lambda kind, text: kind(text))
    except msgspec.ValidationError as exc:
        # Expected `float` <= 100.0 - at `$.fail-under`
        fault, _, path = str(exc).rpartition(" - at `$.")
        name = path.strip("`").partition("[")[0]  # `bot-markers[0]`
        expected = f"cannot be {texts[name][:100]!r}: {fault}"
        raise ConfigError(name, "action input", expected) from exc
