"""The option `--judge`: a language model that rates the reviews, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import click

from crscore import plugins
from crscore import settings as config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crscore.llm.engines.base import Engine
    from crscore.settings import Config
    from crscore.study.run import Extra
    from crscore.study.study import Study

FLAG: Final = "--judge"
METAVAR: Final = "ENGINE:MODEL"
_FROM_ENVIRONMENT: Final = {"openai": frozenset({"base_url", "api_key"})}
"""Address and key, `OPENAI_*`, by the engine that they are for: another one is not told."""
_OF_A_MACHINE: Final = frozenset(
    {"max_model_len", "tensor_parallel", "quantization", "dtype", "concurrency", "timeout_s"}
)
"""What a judge takes of the settings; prompt, sampling and adapter are those of claims."""


class Named(NamedTuple):
    """A judge as the user named it."""

    engine: str
    """A plugin's name."""
    model: str
    """The model's name for it."""

    def __str__(self) -> str:
        return f"{self.engine}:{self.model}"


def named(texts: Sequence[str]) -> tuple[Named, ...]:
    """Read the option.

    Args:
        texts: As given, each ENGINE:MODEL; one given twice is one.

    Raises:
        UsageError: One is something else, or there is no such engine.
    """
    found = []
    for text in dict.fromkeys(texts):
        engine, _, model = text.partition(":")
        known = plugins.names("engines")
        if engine not in known or not model:
            engines = " or ".join(f"{name}:MODEL" for name in known)
            raise click.UsageError(f"{FLAG} takes {engines}, not {text!r}")
        found.append(Named(engine, model))
    return tuple(found)


def ask(
    judges: Sequence[Named], rated: Study, settings: Config, *, tell: Callable[[str], None]
) -> list[Extra]:
    """Ask judges about a study's reviews.

    Args:
        judges: One after the other.
        rated: The study.
        settings: How engines are run, and where answers are remembered.
        tell: Is told when a judge has answered.

    Returns:
        What puts each beside the score.

    Raises:
        DependencyError: An engine's package is not installed.
        ModelNotFoundError: A model is not here and may not be fetched.
        GenerationError: A model can answer nothing.
    """
    if not judges:
        return []
    from crscore import scorer  # noqa: PLC0415
    from crscore.study import judge  # noqa: PLC0415

    store = scorer.make_store(settings) if settings.cache else None
    return [
        judge.ask_judge(rated, judge.make_judge(str(one), engine(one, settings), store), tell=tell)
        for one in judges
    ]


def engine(judge: Named, settings: Config) -> Engine:
    """Make a judge's engine; no model is loaded and nobody is asked yet.

    Raises:
        ConfigError: A setting means nothing to it, or it lacks one.
    """
    from crscore import scorer  # noqa: PLC0415

    given, unset = scorer.model_options(settings), scorer.model_options(config.Config())
    taken = _FROM_ENVIRONMENT.get(judge.engine, frozenset()) | {"offline"}
    # What nobody set is the engine's to choose: it refuses an option that means nothing to it.
    taken |= {key for key in _OF_A_MACHINE if given.get(key) != unset.get(key)}
    if judge.model == settings.model:  # a revision is one model's
        taken |= {"revision"}
    own = {key: value for key, value in given.items() if key in taken}
    made: Engine = plugins.load("engines", judge.engine).create(own | {"model": judge.model})
    return made
