"""`crscore code study`: agreement of metrics of code with people, or with tests."""

from pathlib import Path
from typing import Any

import click

from crscore.commands._terminal import GroupedCommand
from crscore.commands.code import (
    WrittenDocument,
    as_report,
    document_command,
    metrics_option,
    preset_option,
    resamples_option,
    seed_option,
)


@click.command("study", cls=GroupedCommand, examples=("crscore code study graded.jsonl --tables",))
@click.argument("data", type=click.Path(path_type=Path))
@metrics_option
@preset_option
@click.option(
    "--grades", type=click.Choice(("mean", "aggregated", "mmsr")), default="mean",
    show_default=True, help="How to combine the grades of several people.",
)  # fmt: skip
@click.option(
    "--all-completions", is_flag=True, help="Include programs of all numbers, not only 1 to 99."
)
@click.option("--tables", is_flag=True, help='Show tables 2 to 4 of "Out of the BLEU".')
@click.option(
    "--bins", type=click.Choice(("conala", "hearthstone")), default="conala", show_default=True,
    help="Bins of differences in --tables: the paper's for this data set.",
)  # fmt: skip
@resamples_option(500)
@seed_option
@document_command
def command(
    *,
    data: Path,
    grades: Any,
    all_completions: bool,
    tables: bool,
    bins: str,
    resamples: int,
    seed: int,
    **options: Any,
) -> WrittenDocument:
    """Correlate metrics with the grades of people, or the tests of programs, in DATA.

    Kendall's tau is within a problem, Pearson and Spearman over all. A constant answer, the length
    and the similarity of characters are the baselines.
    """
    from crscore_lab.code import correlation, graded, out_of_the_bleu  # noqa: PLC0415

    if tables:
        # The paper's tables are of aggregated grades, and "mean" is the option's default.
        people = graded.read_graded(data, grades="aggregated" if grades == "mean" else grades)
        bounds = out_of_the_bleu.BINS[bins]
        document = out_of_the_bleu.make_tables(people, bins=bounds, resamples=resamples, seed=seed)
        return document, as_report(out_of_the_bleu.tables_report)
    read = graded.read_graded(data, grades=grades, all_completions=all_completions)
    agreement = correlation.correlate(read, resamples=resamples, seed=seed, **options)
    return agreement, as_report(correlation.study_report)
