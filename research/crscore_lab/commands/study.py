"""`crscore code study`: agreement of metrics of code with people, or with tests."""

from pathlib import Path
from typing import Any

import click

from crscore.commands._options import option
from crscore.commands._terminal import GroupedCommand
from crscore.commands.code import (
    WrittenDocument,
    document_command,
    metrics_option,
    preset_option,
    resamples_option,
    seed_option,
)


@click.command("study", cls=GroupedCommand)
@click.argument("data", type=click.Path(path_type=Path))
@metrics_option
@preset_option
@option(
    "--grades", "Mean of several people's grades, or the field `aggregated`.", default="mean",
    type=click.Choice(("mean", "aggregated")),
)  # fmt: skip
@resamples_option(500)
@seed_option
@document_command
def command(*, data: Path, grades: Any, **options: Any) -> WrittenDocument:
    """Correlate metrics of code with people's grades, or with the results of tests, in DATA.

    Kendall's tau compares candidates of the same problem, Pearson and Spearman compare all. The
    baselines are a constant score, the ratio of lengths and the edit similarity of the characters.

    Examples:
        crscore code study graded.jsonl
    """
    from crscore_lab.code import correlation, graded  # noqa: PLC0415  (not needed for --help)

    read = graded.read_graded(data, grades=grades)
    agreement = correlation.correlate(read, **options)
    return agreement, correlation.render_study
