"""Options that several commands share, and how flags become settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore import offline, plugins
from crscore import settings as config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[..., Any]
    Option = Callable[[Command], Command]

_ANALYZERS = click.option(
    "--analyzers",
    metavar="NAMES",
    help="Static analysis: auto, none, or names and folders of analyzers, with commas.",
)
_TOOLS_DIR = click.option(
    "--tools-dir", metavar="DIR", help="Where the analyzers of npm are installed."
)
_CACHE_DIR = click.option("--cache-dir", metavar="DIR", help="Where things are remembered.")
_CONFIG = click.option(
    "--config",
    "config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Settings file (default: the nearest pyproject.toml with [tool.crscore]).",
)


_CLAIMS = click.option(
    "--claims",
    metavar="NAMES",
    help="Claim generators, joined by +: auto, structural, vllm[:MODEL], openai[:MODEL], "
    "replay:PATH.",
)
_MODEL = (
    click.option("--model", metavar="NAME", help="Language model that writes claims."),
    click.option("--model-revision", metavar="REV", help="Revision of that model."),
    click.option("--lora", metavar="DIR", help="LoRA adapter of that model."),
    click.option("--max-model-len", type=int, metavar="N", help="Tokens of prompt and answer."),
    click.option("--tensor-parallel", type=int, metavar="N", help="GPUs that share the model."),
    click.option("--quantization", metavar="NAME", help="How the weights are quantised."),
    click.option("--dtype", metavar="NAME", help="Type of the model's numbers."),
    click.option("--concurrency", type=int, metavar="N", help="Requests at the same time (16)."),
    click.option("--model-timeout", type=float, metavar="S", help="Seconds an answer may take."),
    click.option("--temperature", type=float, metavar="T", help="0, the default, is greedy."),
    click.option("--max-new-tokens", type=int, metavar="N", help="Tokens of one answer (512)."),
    click.option("--form", metavar="NAME", help="The answer's form: json, or sections."),
    click.option("--few-shots/--no-few-shots", default=None, help="Show the model examples."),
    click.option("--prompt", metavar="NAME", help="Prompt for claims (claims.v1)."),
    click.option(
        "--context", metavar="NAME", help="What the model sees: hunk, or function as well."
    ),
)


_THRESHOLD = click.option(
    "--threshold", type=float, help="Cosine cut-off (default: the encoder's own)."
)


def _choices() -> tuple[Option, ...]:
    return (
        click.option("--preset", metavar="NAME", help="A set of settings: paper or default."),
        click.option(
            "--encoder",
            metavar="NAME[:MODEL]",
            help=f"Sentence encoder: {', '.join(plugins.names('encoders'))}.",
        ),
        click.option("--revision", metavar="REV", help="Revision of the encoder's model."),
        click.option(
            "--matcher",
            metavar="NAME[:FILE]",
            help=f"What matches a sentence: {config.AUTO}, {', '.join(plugins.names('matchers'))}; "
            "calibrated takes a FILE of weights.",
        ),
        click.option("--splitter", metavar="NAME", help="Sentences by: markdown or paper."),
        click.option(
            "--max-claims", type=int, metavar="N", help="Most claims counted (default 12)."
        ),
        _ANALYZERS,
        click.option(
            "--max-issues", type=int, metavar="N", help="Most issues counted in a hunk (default 3)."
        ),
        click.option(
            "--issues", metavar="NAME", help="Issues of the changed lines, or paper: as published."
        ),
        _TOOLS_DIR,
        click.option(
            "--cache/--no-cache",
            default=None,
            help="Remember findings, claims and answers of hosts on this disk.",
        ),
        _CACHE_DIR,
    )


def shared_options(command: Command) -> Command:
    """Add the options that choose the parts of a run."""
    offline = click.option("--offline/--online", default=None, help="Open no socket.")
    return _with(command, (*_choices(), offline, _CONFIG))


def scoring_options(command: Command) -> Command:
    """Add the options that choose how a review is scored: claims, their model, threshold."""
    return _with(command, (_CLAIMS, _THRESHOLD, *_MODEL))


def model_options(command: Command) -> Command:
    """Add the options that choose a language model and how it answers."""
    return _with(command, _MODEL)


def pull_request_options(command: Command) -> Command:
    """Add the options that choose the parts of a run on a pull request.

    There is no settings file among them: it is read from the base branch.
    """
    return _with(command, (_CLAIMS, _THRESHOLD, *_MODEL, *_choices()))


def analyzer_options(command: Command) -> Command:
    """Add the options that choose the analyzers."""
    return _with(command, (_ANALYZERS, _TOOLS_DIR, _CONFIG))


def cache_options(command: Command) -> Command:
    """Add the options that say where things are remembered."""
    return _with(command, (_CACHE_DIR, _CONFIG))


def _with(command: Command, options: Sequence[Option]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def settings(config_file: Path | None, flags: dict[str, Any]) -> config.Config:
    """Merge flags, environment and file, and go offline where that was asked for.

    Args:
        config_file: The file named on the command line, or None to look for one.
        flags: Settings from the command line; None values were not given.

    Returns:
        The settings of this run.

    Raises:
        ConfigError: A setting is unknown or wrong.
    """
    file = config_file or _nearest_file()
    resolved = config.resolve_settings(flags, file=file)
    if resolved.offline:
        offline.forbid_sockets()
    return resolved


def _nearest_file() -> Path | None:
    try:
        return config.find_settings_file(Path.cwd())
    except FileNotFoundError:  # the folder was deleted while the shell stood in it
        return None
