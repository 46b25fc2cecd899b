"""`crscore bench`: scores bots by the known problems that they find."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import commands, io
from crscore.commands import _terminal
from crscore.commands._options import (
    PATH,
    SHARE,
    format_option,
    option,
    output_option,
    quiet_option,
    write_document,
)
from crscore.commands._settings import load_settings, setting_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.bench.records import Finding
    from crscore.readers.model import ModelReader

FETCH: Final = "fetch"
"""First argument that makes the command convert a public set from its clone."""
# https://www.sqlite.org/fileformat.html#magic_header_string
_SQLITE: Final = b"SQLite format 3\0"


@click.command(name="bench", cls=_terminal.GroupedCommand)
@click.argument("golden", type=PATH, required=False)
@click.argument("findings", type=PATH, nargs=-1)
@option("--list", "List the public sets with their licences and hashes.", to="is_list")
@option("--judgements FILE", "Compare the matcher with the judges' decisions in FILE.", type=PATH)
@option(
    "--decisions FILE", "Manual decisions on unsure pairs, as written by --format decisions.",
    type=PATH,
)  # fmt: skip
@option(
    "--beta X", "Weight of recall relative to precision in F.",
    type=click.FloatRange(0, min_open=True), default=1.0,
)  # fmt: skip
@option("--min-f X", "Exit with 1 if the F of a bot is below X.", type=SHARE)
@option("--resamples N", "Number of bootstrap resamples.", type=click.IntRange(0), default=2000)
@option("--seed N", "Random seed.", type=click.IntRange(0), default=0)
@format_option("text", "html", "json", "markdown", "decisions", "requests")
@setting_options("reader", "reader_limit", "reader_price")
@output_option
@quiet_option
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
    fmt: str,
    output: str | None,
    **flags: Any,
) -> int:
    """Score the FINDINGS of review bots against known problems.

    A small encoder decides which finding is about which problem. With --reader, a language model
    decides about pairs of which the encoder is unsure; --format requests outputs the requests for
    it. FINDINGS may be a database of `crscore audit`. Formats and numbers: docs/bench.md.

    Examples:
        crscore bench golden.jsonl findings.jsonl
        crscore bench golden.jsonl a.jsonl crscore-audit.db --format html -o page.html
        crscore bench fetch martian CLONE  # writes martian.jsonl
        crscore bench --judgements judgements.jsonl
    """
    # One thread, because the matrix products are small, and threads that wait for the next product
    # use as much CPU as the work (https://github.com/OpenMathLib/OpenBLAS). The library reads this
    # variable when numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from crscore import bench  # noqa: PLC0415  (so that --help is fast)
    from crscore.bench import reasons, report, sets  # noqa: PLC0415
    from crscore.bench.judge import write_requests  # noqa: PLC0415
    from crscore.bench.results import find_unsure  # noqa: PLC0415
    from crscore.reports.layout import to_html, to_text  # noqa: PLC0415

    if is_list:
        io.write_text(sets.describe_sets(), output)
        return 0
    if judgements is not None:
        if compare := commands.load_command("bench.judgements"):
            context = click.get_current_context()
            context.invoke(
                compare, path=judgements, form=fmt, output=output, judge=_make_judge(flags)
            )
        return 0
    if golden is None or not findings:
        raise click.UsageError("give a golden set and findings: crscore bench GOLDEN FINDINGS")
    if str(golden) == FETCH:
        if len(findings) != 2:
            raise click.UsageError("give a name and a clone or file: bench fetch NAME CLONE")
        name = str(findings[0])
        io.write_text(sets.to_lines(sets.fetch(name, findings[1])), output or f"{name}.jsonl")
        return 0
    rows = [row for path in findings for row in _read_findings(path)]
    manual_decisions = reasons.read_decisions(decisions) if decisions else {}
    result = bench.score(
        bench.read_golden(golden), rows, beta=beta, resamples=resamples, seed=seed,
        answers=manual_decisions, judge=_make_judge(flags),
    )  # fmt: skip
    write_document(
        fmt,
        output,
        result,
        decisions=lambda: reasons.write_decisions(result, manual_decisions),
        requests=lambda: write_requests(
            find_unsure((change.problems, change.pairs) for change in result.changes).values()
        ),
        markdown=lambda: report.render_short(result),
        html=lambda: to_html(report.lay_out(result)),
        text=lambda **style: to_text(report.lay_out(result, rows=report.FEW), **style),
    )
    is_below = min_f is not None and any((row.f.value or 0.0) < min_f for row in result.bots)
    return _terminal.EXIT_GATE if is_below else 0


def _make_judge(flags: Mapping[str, Any]) -> ModelReader | None:
    """Return the language model that `--reader` names; a settings file cannot name one here."""
    if flags["reader"] is None:
        return None
    from crscore.scorer import make_model_reader  # noqa: PLC0415

    return make_model_reader(load_settings(None, dict(flags)))


def _read_findings(path: Path) -> list[Finding]:
    from crscore import bench  # noqa: PLC0415
    from crscore.audit.posted import read_posted  # noqa: PLC0415

    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) == _SQLITE:
                return read_posted(path)
    return bench.read_findings(path)
