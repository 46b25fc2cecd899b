"""`crscore bench --judgements`: agreement of the matching of findings with judges."""

from pathlib import Path

import click
import msgspec

from crscore import io
from crscore.readers.model import ModelReader


@click.command("judgements")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--format", "form")
@click.option("--output")
def command(*, path: Path, form: str, output: str | None, judge: ModelReader | None = None) -> None:
    """Compare the matching of findings with judges' decisions."""
    from crscore_lab import judgements  # noqa: PLC0415  (not needed for --help)

    if form == "requests":
        io.write_text(judgements.write_judged_requests(path), output)
        return
    agreement = judgements.check_judgements(path, judge)
    if form == "json":
        text = msgspec.json.format(msgspec.json.encode(agreement), indent=2).decode()
    else:
        text = judgements.render_agreement(agreement, "crscore bench")
    io.write_text(text + "\n", output)
