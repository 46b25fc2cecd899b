"""`crscore train`: learn a part of the score from data."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore import io
from crscore.commands import _settings, _train_claims, _train_labels

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = click.argument("data", type=click.Path(path_type=Path))


# Without a command click would take its whole help for the message of the error.
@click.group(name="train", no_args_is_help=False)
def command() -> None:
    """Learn a part of the score from data."""


def _encoder_options(chosen: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--encoder", metavar="NAME[:MODEL]", help="Sentence encoder to learn on."),
        click.option("--revision", metavar="REV", help="Revision of the encoder's model."),
        click.option("--offline/--online", default=None, help="Open no socket."),
    ):
        chosen = option(chosen)
    return chosen


@command.command(name="matcher")
@DATA
@click.option("-o", "--output", "target", required=True, metavar="FILE", help="Write here (.npz).")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all draws.")
@_encoder_options
def matcher(data: Path, *, target: str, seed: int, **flags: Any) -> int:
    """Learn the calibrated matcher's weights from the rated reviews in DATA.

    DATA is what `crscore validate` takes. The same data, encoder and seed give the same file,
    byte for byte.
    """
    from crscore import scorer  # noqa: PLC0415  (after --help and wrong options)
    from crscore.matchers.calibrated import weights  # noqa: PLC0415
    from crscore.study import study  # noqa: PLC0415
    from crscore.training import boosting, matcher  # noqa: PLC0415

    io.check_output(target)
    boosting.require_lightgbm()
    settings = _settings.load_settings(None, flags)
    rated = study.read_study(data)
    learned = matcher.train(rated, encoder=scorer.make_encoder(settings), seed=seed)
    content = weights.to_bytes(learned.weights)
    io.write_bytes(content, target)
    click.echo(
        f"{target}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}\n"
        f"learned from {len(rated.changes):,} changes (sha256 {rated.sha256}), "
        f"encoder {learned.weights.encoder}, seed {seed}"
    )
    return 0


command.add_command(_train_claims.command)
command.add_command(_train_labels.command)
