"""`crscore bench`: scores of bots by the known problems that they found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from crscore import commands, io
from crscore.commands import _terminal
from crscore.reports import escape

if TYPE_CHECKING:
    from crscore.bench.records import Finding

FETCH: Final = "fetch"
"""Word in place of the golden set that reads a public set from a clone."""
_PATH: Final = click.Path(path_type=Path)
_SQLITE: Final = b"SQLite format 3\0"


@click.command(
    name="bench",
    cls=_terminal.GroupedCommand,
    examples=(
        "crscore bench golden.jsonl findings.jsonl",
        "crscore bench golden.jsonl a.jsonl crscore-audit.db --format html -o page.html",
        "crscore bench fetch martian CLONE  # writes martian.jsonl",
        "crscore bench --judgements judgements.jsonl",
    ),
)
@click.argument("golden", type=_PATH, required=False)
@click.argument("findings", type=_PATH, nargs=-1)
@click.option(
    "--list", "is_list", is_flag=True, help="Name the public sets, with licence and hash."
)
@click.option(
    "--judgements", type=_PATH, metavar="FILE",
    help="Compare the matching with judges' decisions instead.",
)  # fmt: skip
@click.option(
    "--decisions", type=_PATH, metavar="FILE",
    help="Decisions by hand on unsure pairs, as --format decisions writes them to fill in.",
)  # fmt: skip
@click.option(
    "--beta", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True,
    help="Weight of recall against precision in F.",
)  # fmt: skip
@click.option(
    "--min-f", type=click.FloatRange(0, 1), metavar="NUMBER",
    help="Exit with 1 when a bot's F is below this.",
)  # fmt: skip
@click.option("--resamples", type=click.IntRange(0), default=2000, show_default=True,
              help="Draws of the bootstrap.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option(
    "--format", "form", default="text", show_default=True,
    type=click.Choice(("text", "html", "json", "markdown", "decisions")),
)  # fmt: skip
@_terminal.output_option
@_terminal.quiet_option
def command(
    golden: Path | None,
    findings: tuple[Path, ...],
    *,
    is_list: bool,
    judgements: Path | None,
    decisions: Path | None,
    beta: float,
    min_f: float | None,
    resamples: int,
    seed: int,
    form: str,
    output: str | None,
) -> int:
    """Score FINDINGS of review bots against known problems.

    No language model is asked: a small encoder decides which finding is about which problem.
    FINDINGS may be a store of `crscore audit`. Formats and numbers: docs/bench.md.
    """
    # The products are small, and threads waiting for the next one use as much CPU as the work.
    # numpy's library reads this when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from crscore import bench  # noqa: PLC0415  (after --help and wrong options)
    from crscore.bench import reasons, report, sets  # noqa: PLC0415
    from crscore.reports import layout  # noqa: PLC0415

    if is_list:
        io.write_text(sets.describe_sets(), output)
        return 0
    if judgements is not None:
        compare = commands.load_research_command("bench.judgements")
        context = click.get_current_context()
        context.invoke(compare, path=judgements, form=form, output=output)
        return 0
    if golden is None or not findings:
        raise click.UsageError(
            "a golden set and findings are needed: crscore bench GOLDEN FINDINGS"
        )
    if str(golden) == FETCH:
        if len(findings) != 2:
            raise click.UsageError("a name and a clone or file are needed: bench fetch NAME CLONE")
        name = str(findings[0])
        io.write_text(sets.to_lines(sets.fetch(name, findings[1])), output or f"{name}.jsonl")
        return 0
    rows = [row for path in findings for row in _read_findings(path)]
    answers = reasons.read_decisions(decisions) if decisions else {}
    result = bench.score(
        bench.read_golden(golden), rows, beta=beta, resamples=resamples, seed=seed, answers=answers
    )
    if form == "decisions":
        text = reasons.write_decisions(result, answers)
    elif form == "json":
        text = escape.write_json(result)
    elif form == "markdown":
        text = report.render_short(result)
    elif form == "html":
        text = layout.to_html(report.lay_out(result))
    else:
        text = layout.to_text(
            report.lay_out(result, rows=report.FEW),
            **_terminal.report_style(to_terminal=output is None),
        )
    io.write_text(text, output)
    is_below = min_f is not None and any((row.f.value or 0.0) < min_f for row in result.bots)
    return _terminal.EXIT_GATE if is_below else 0


def _read_findings(path: Path) -> list[Finding]:
    from crscore import bench  # noqa: PLC0415
    from crscore.audit.posted import read_posted  # noqa: PLC0415

    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) == _SQLITE:
                return read_posted(path)
    return bench.read_findings(path)
