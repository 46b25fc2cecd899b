"""`crscore train labels`: make training rows with a stronger model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore import settings
from crscore.commands import _settings

if TYPE_CHECKING:
    from crscore.training.claims.changes import Changes
    from crscore.training.claims.labels import Labelled

_COUNT = click.IntRange(1)
_PRICE = click.FloatRange(0)


@click.command(name="labels", context_settings={"show_default": True})
@click.argument("diffs", type=click.Path(path_type=Path))
@click.option("--model", required=True, metavar="NAME", help="The model, as the server names it.")
@click.option(
    "-o",
    "--output",
    "target",
    required=True,
    metavar="ROWS",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Add rows here; changes that have theirs are not asked about again.",
)
@click.option("--limit", type=_COUNT, help="Ask about so many changes, drawn by --seed.")
@click.option("--min-chars", type=_COUNT, default=10, help="Characters of a patch, at least.")
@click.option("--max-chars", type=_COUNT, default=1000, help="Characters of a patch, at most.")
@click.option("--seed", type=click.IntRange(0), default=42, help="Of all that is drawn.")
@click.option("--temperature", type=click.FloatRange(0, 2), default=0.2, help="Of the answers.")
@click.option(
    "--top-p", type=click.FloatRange(0, 1, min_open=True), default=0.95, help="Of the answers."
)
@click.option("--max-new-tokens", type=_COUNT, default=256, help="Most tokens of an answer.")
@click.option("--prompt", default="claims.v1", metavar="NAME", help="What the model is asked.")
@click.option(
    "--form", type=click.Choice(["json", "sections"]), default="json", help="How it answers."
)
@click.option("--concurrency", type=_COUNT, help="Requests at a time (default: the engine's).")
@click.option("--timeout", type=click.FloatRange(1), help="Seconds for one answer.")
@click.option("--price-in", type=_PRICE, help="Dollars for a million tokens of questions.")
@click.option("--price-out", type=_PRICE, help="Dollars for a million tokens of answers.")
def command(diffs: Path, *, target: Path, **given: Any) -> int:
    """Make training rows for DIFFS with a model behind an OpenAI-compatible server.

    DIFFS is JSON Lines with `patch` or `diff`, or a folder of .diff files. The server's address
    and key are in OPENAI_BASE_URL and OPENAI_API_KEY. Sampling and lengths are the paper's. Run
    it again to go on after a stop, or to ask again where the server failed.
    """
    if (given["price_in"] is None) != (given["price_out"] is None):
        raise click.UsageError("--price-in and --price-out go together")
    from crscore import plugins  # noqa: PLC0415  (after --help and wrong options)
    from crscore.claims.llm import prompt  # noqa: PLC0415
    from crscore.llm.engines.base import Sampling  # noqa: PLC0415
    from crscore.training.claims import changes, labels  # noqa: PLC0415
    from crscore.training.claims.append_log import Journal  # noqa: PLC0415

    offline = _settings.settings(None, {}).offline
    asked = prompt.load_prompt(given["prompt"])
    engine = plugins.create("engines", "openai", _engine(given, offline=offline))
    wanted = {key: given[key] for key in ("min_chars", "max_chars", "limit", "seed")}
    found = changes.read_changes(diffs, changes.Wanted(**wanted))
    _tell(found)
    sampling = Sampling(
        max_tokens=given["max_new_tokens"],
        temperature=given["temperature"],
        top_p=given["top_p"],
        seed=given["seed"],
        schema=prompt.answer_schema(asked) if given["form"] == "json" else None,
    )
    with Journal(target) as journal:
        done = labels.label(
            found.chosen,
            journal,
            engine=engine,
            prompt=asked,
            sampling=sampling,
            form=given["form"],
            say=_say,
        )
    click.echo("\n".join(_summary_lines(done, target, given)))
    return 0


def _say(line: str) -> None:
    click.echo(f"crscore: {line}", err=True)


def _engine(given: dict[str, Any], *, offline: bool) -> dict[str, str]:
    options = {
        "model": given["model"],
        "base_url": settings.llm_address(),
        "api_key": settings.llm_key(),
        "concurrency": given["concurrency"],
        "timeout_s": given["timeout"],
        "offline": "true" if offline else None,
    }
    return {key: str(value) for key, value in options.items() if value is not None}


def _tell(found: Changes) -> None:
    for problem in found.unreadable:
        _say(f"left out: {problem}")
    _say(
        f"{len(found.chosen):,} changes to label; left out {found.unfit:,} of another length, "
        f"{found.copies:,} copies, {found.several:,} that are asked about in parts, "
        f"{len(found.unreadable):,} that are no diff"
    )


def _summary_lines(done: Labelled, target: Path, given: dict[str, Any]) -> list[str]:
    lines = [f"{target}: {done.made:,} rows added, {done.known:,} were there"]
    lines += [
        f"{count:,} without a row: {why}; run again to ask again"
        for why, count in done.failed.most_common()
    ]
    spent = done.spent
    used = f"{spent.input_tokens:,} tokens in, {spent.output_tokens:,} out"
    if given["price_in"] is not None:
        used += f": {spent.dollars(given['price_in'], given['price_out']):.4f} dollars"
    lines.append(used)
    if spent.uncounted:
        lines.append(f"the server did not count {spent.uncounted:,} of its answers")
    return lines
