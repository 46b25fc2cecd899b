"""`crscore read DIFF REVIEW --requests FILE`: the requests to a model that reads a review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crscore import io
from crscore.commands import _terminal
from crscore.commands._inputs import (
    add_sources,
    check_stdin,
    read_both,
    read_sarif_files,
    sarif_option,
)
from crscore.commands._settings import FILE, load_settings, setting_options
from crscore.errors import CRScoreError
from crscore.text import count_noun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from crscore.readers.requests import Request
    from crscore.scorer import Scorer

EXIT_FAILED = 3


@click.command(
    name="read",
    cls=_terminal.GroupedCommand,
    groups={"Code": ("language", "path", "source_root", "old", "new")},
    short_help="Write the requests to a language model that reads a review.",
    examples=(
        "crscore read change.diff review.md --requests requests.jsonl --source-root .",
        "crscore read pairs.jsonl --requests requests.jsonl",
    ),
)
@click.argument("diff", type=FILE, metavar="DIFF")
@click.argument("review", required=False, type=FILE, metavar="REVIEW")
@click.option(
    "--requests",
    "target",
    required=True,
    metavar="FILE",
    help="File to write the requests to, one JSON object per line; - for standard output.",
)
@click.option("--language", metavar="NAME", help="Language of a bare hunk.")
@click.option("--path", metavar="PATH", help="Path of a bare hunk.")
@click.option(
    "--source-root", metavar="DIR", help="Folder with the code after (or before) the change."
)
@click.option("--old", metavar="FILE", help="Complete old file, for a change of one file.")
@click.option("--new", metavar="FILE", help="Complete new file, for a change of one file.")
@sarif_option
@_terminal.quiet_option
@setting_options("analyzers", "tools_dir", "cache_dir", "cache", "offline", "config")
def command(
    diff: str,
    review: str | None,
    *,
    target: str,
    config_file: Path | None,
    language: str | None,
    path: str | None,
    source_root: str | None,
    old: str | None,
    new: str | None,
    sarif_files: tuple[str, ...],
    **flags: Any,
) -> int:
    """Write the requests about REVIEW, a code review of the change DIFF, or about many pairs.

    A single argument PAIRS.jsonl has one pair per line, as for crscore score. Another program or a
    batch service answers them; `--reader replay:ANSWERS.jsonl` reads the answers, one JSON object
    per line with the `id` of a request and the `answer`. Score with the same options that determine
    what a model sees: analyzers and complete files.
    """
    settings = load_settings(config_file, flags)
    output = None if target == io.STDIN else target
    io.check_output(output)
    check_stdin([diff, review, old, new, *sarif_files])
    from crscore.reports import escape  # noqa: PLC0415
    from crscore.scorer import Scorer  # noqa: PLC0415

    scorer = Scorer(settings, reports=read_sarif_files(settings, sarif_files))
    failed: list[CRScoreError] = []
    if review is None:
        if language or path or source_root or old or new:
            raise click.UsageError("the options for a single change need a REVIEW")
        batches = _of_pairs(scorer, diff, failed)
    else:
        (data, source), (review_data, review_source) = read_both(settings, diff, review)
        change = scorer.read_diff(data, source=source, language=language, path=path)
        comments = scorer.read_review(review_data, source=review_source)
        change = add_sources(change, settings, source_root, old, new)
        batches = iter([(review_source, scorer.requests([(change, comments)])[0])])
    lines, tokens = [], 0
    for name, requests in batches:
        for request in requests:
            lines.append(escape.write_json({"pair": name, **request.document()}, indent=None))
            tokens += request.tokens
    io.write_text("".join(lines), output)
    for error in failed:
        _terminal.print_message(str(error))
    _terminal.print_note(f"{count_noun(len(lines), 'request')}, about {tokens:,} tokens.")
    return EXIT_FAILED if failed else 0


def _of_pairs(
    scorer: Scorer, name: str, failed: list[CRScoreError]
) -> Iterator[tuple[str, Iterable[Request]]]:
    """Yield the name and the requests of each pair of a file."""
    from crscore.commands._many import Pair, read_lines, read_pair  # noqa: PLC0415

    for location, line in read_lines(name)[0]:
        pair = read_pair(scorer, location, line)
        if isinstance(pair, Pair):
            yield pair.name, scorer.requests([(pair.diff, pair.review)])[0]
        else:
            failed.append(pair)
