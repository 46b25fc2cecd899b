"""The option `--split`: what is held out from what is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from crscore import settings as config

if TYPE_CHECKING:
    from crscore.settings import Config
    from crscore.study.run import Trainer
    from crscore.study.splits import Split

FLAG: Final = "--split"
METAVAR: Final = "grouped-cv K | leave-one-system-out | leave-one-language-out"
TRAINED: Final = "calibrated"
"""The matcher that learns."""


class Command(click.Command):
    """A command with `--split`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let `--split grouped-cv 5` mean `--split grouped-cv:5`."""
        joined: list[str] = []
        for word in args:
            is_number = word.isascii() and word.isdigit()
            before = joined[-1] if joined else ""
            follows = joined[-2:-1] == [FLAG] or before.startswith(f"{FLAG}=")
            if is_number and follows and ":" not in before:
                joined[-1] += f":{word}"
            else:
                joined.append(word)
        return super().parse_args(ctx, joined)


def choose_split(text: str | None, folds: int | None) -> Split | None:
    """Read the option and `--folds`.

    Raises:
        UsageError: They cannot be, or there are folds of nothing.
    """
    if text is None:
        if folds is not None:
            raise click.UsageError(f"--folds counts the groups of {FLAG}, which is not there")
        return None
    from crscore.study import splits  # noqa: PLC0415  (after --help and wrong options)

    try:
        return splits.parse_split(text, folds)
    except ValueError as exc:
        raise click.UsageError(f"{FLAG}: {exc}") from exc


def trainer(settings: Config) -> Trainer:
    """Take what learns the matcher that the settings name.

    Raises:
        UsageError: It learns nothing.
    """
    # As in a score: a threshold that somebody gave belongs to the rule.
    is_learned = settings.matcher == TRAINED or (
        settings.matcher == config.AUTO and settings.threshold is None
    )
    if not is_learned:
        name = "published" if settings.matcher == config.AUTO else settings.matcher
        raise click.UsageError(
            f"{FLAG} is for what is trained; the matcher {name} learns nothing, so nothing can "
            f"be held out from it (take --matcher {TRAINED} without --threshold)"
        )
    from crscore.training import matcher  # noqa: PLC0415  (heavy, needed here only)

    return matcher.train
