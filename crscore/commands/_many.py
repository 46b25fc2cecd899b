"""Scores the reviews in a file of JSON Lines: `crscore score PAIRS`."""

from __future__ import annotations

import codecs
import json
import statistics
import sys
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from crscore import io, jsonl, progress
from crscore.commands._terminal import EXIT_FAILED, print_message, print_note, safe_line
from crscore.errors import COMMAND_LINE, ConfigError, CRScoreError, InputError
from crscore.text import count_noun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crscore.records import Comment, Diff, Result
    from crscore.scorer import Scorer
    from crscore.settings import Config

    Pair: TypeAlias = tuple[Diff, tuple[Comment, ...]] | CRScoreError
    """Change and its review, or an error if they cannot be read."""

PAIRS_PER_BATCH = 32
"""Number of pairs that are scored together, so that equal texts are encoded once."""
# In another format, the reports would fill hundreds of pages of one file.
FORMATS = ("json", "text")


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """Line of the file. The first change and the first review that are not null are used."""

    id: str | int | None = None
    # `patch` of a file, and `diff_hunk` and `body` of a comment, are names in the API of GitHub
    # (https://docs.github.com/en/rest/pulls/comments).
    patch: str | None = None
    diff_hunk: str | None = None
    diff: str | None = None
    review: str | None = None
    comment: str | None = None
    body: str | None = None
    comments: list[dict[str, Any]] | None = None
    language: str | None = None
    path: str | None = None


def score_pairs(
    scorer: Scorer,
    settings: Config,
    name: str,
    target: str | None,
    *,
    gate: Callable[[Result, Config, str], int],
) -> int:
    """Score the pair on each line of a file, and write the result as soon as it is known.

    Args:
        scorer: Scorer with these settings.
        settings: `format` is `json` (one document per line, with the `id` of the pair) or `text` (a
            table and a summary).
        name: A file of JSON Lines, plain or gzip, or `-` for standard input. Each line has a change
            (`diff`, `patch` or `diff_hunk`) and a review, which is a text (`review`, `comment` or
            `body`), a list of comments as in GitHub's API (`comments`), or both. A line may also
            have `id`, `language` and `path`.
        target: File to write to; None for stdout.
        gate: Function that takes a result, the settings and the name of the pair, and returns an
            exit code.

    Returns:
        Exit code: 3 if a line could not be scored, otherwise the largest exit code of the gate.
        Each line that could not be scored is reported on stderr.

    Raises:
        ConfigError: The format is neither `json` nor `text`.
        InputError: The file cannot be read, has no pair, or is not JSON Lines.
        CRScoreError: A model, package or server that every pair needs is missing.
    """
    if settings.format not in FORMATS:
        raise ConfigError("format", COMMAND_LINE, "must be json or text for several reviews")
    pairs, total = read_pairs(scorer, name)
    if target is None and progress.is_terminal(sys.stdout):
        progress.ENABLED.clear()  # the results on the terminal show the progress
    report: list[str] = []
    standings: list[int | None] = []
    failed = code = 0
    with progress.track("scoring", total) as advance:
        while batch := list(islice(pairs, PAIRS_PER_BATCH)):
            readable = [pair for _, pair in batch if not isinstance(pair, CRScoreError)]
            results = iter(scorer.score_many(readable, on_error="keep"))
            for pair_name, pair in batch:
                if isinstance(pair, CRScoreError):
                    print_message(str(pair))
                    failed += 1
                elif isinstance(result := next(results), CRScoreError):
                    print_message(f"{pair_name}: {result}")
                    failed += 1
                else:
                    standings.append(result.standing)
                    report.append(_render_row(pair_name, result, settings.format))
                    code = max(code, gate(result, settings, pair_name))
            if target is None:  # stdout gets results at once, a file only in full
                io.write_text("".join(report), None)
                report.clear()
            advance(len(batch))
    if scorer.parts.model:
        print_note(f"note: {scorer.parts.model.total}")
    if settings.format == "text":
        scored = [standing for standing in standings if standing is not None]
        median = f", median standing {statistics.median(scored):g}" if scored else ""
        failure_note = f"; {failed} could not be scored" if failed else ""
        report.append(f"\n{count_noun(len(standings), 'review')}{median}{failure_note}\n")
    io.write_text("".join(report), target)
    # A line that could not be scored matters more than a failed gate, because no gate judged it.
    return EXIT_FAILED if failed else code


def read_pairs(scorer: Scorer, name: str) -> tuple[Iterator[tuple[str, Pair]], int | None]:
    """Read JSON Lines of pairs, and skip blank lines.

    Returns:
        An iterator over the pairs, and the number of lines that are not empty (None for standard
        input). The iterator yields the name of each pair, which is its `id` or the location of its
        line, and the pair itself or, if it cannot be read, the error.

    Raises:
        InputError: The file cannot be read, has no pair, or is not JSON Lines.
    """
    content: Iterable[bytes]
    if name == io.DASH:
        if sys.stdin is None:
            raise InputError("standard input is closed; give a file of pairs")
        source, content, total = "<stdin>", sys.stdin.buffer, None
    else:
        source, content = name, jsonl.read_bytes(Path(name), "pairs").split(b"\n")
        total = sum(map(bool, content))
    lines = (
        # Programs on Windows may write a byte order mark at the beginning of a file.
        (f"{source}:{number}", line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").strip())
        for number, line in enumerate(content, 1)
    )
    not_blank = ((location, line) for location, line in lines if line)
    first = next(not_blank, None)
    # If the file is of another kind, such as a diff, it is reported once and not for each line.
    if first is None or not first[1].startswith(b"{"):
        raise InputError(f'{name}: expected JSON Lines: {{"diff": ..., "review": ...}}')
    return (_read_pair(scorer, *line) for line in chain([first], not_blank)), total


def _read_pair(scorer: Scorer, location: str, line: bytes) -> tuple[str, Pair]:
    try:
        row = jsonl.parse_row(line.decode(), _Row, location)
        changes, texts = (row.patch, row.diff_hunk, row.diff), (row.review, row.comment, row.body)
        change = next((text for text in changes if text is not None), None)
        review, source = next((text for text in texts if text is not None), None), location
        if row.comments is not None:
            # Because of the suffix, the text is parsed as JSON and not as Markdown.
            comments = [{"body": review}, *row.comments]  # the review's text is first
            review, source = json.dumps(comments), f"{location}:comments.json"
        if change is None or review is None:
            raise InputError(f"{location}: the {'diff' if change is None else 'review'} is missing")
        diff = scorer.read_diff(change, source=location, language=row.language, path=row.path)
        pair = diff, scorer.read_review(review, source=source)
    except UnicodeDecodeError:
        return location, InputError(f"{location}: the line is not UTF-8")
    except CRScoreError as exc:
        return location, exc
    return location if row.id is None else str(row.id), pair


def _render_row(name: str, result: Result, fmt: str) -> str:
    from crscore.reports import escape, view  # noqa: PLC0415
    from crscore.reports.json import document  # noqa: PLC0415

    if fmt == "json":
        value = {"id": name, **msgspec.to_builtins(document(result))}
        return escape.write_json(value, indent=None)
    usefulness = f"{view.UNDEFINED} not scored"
    if result.usefulness is not None:
        usefulness, *_ = view.score_cells(result, result)
    standing, details = usefulness.split(" ", 1)
    relevance = view.hundred(result.relevance)
    reason = "" if result.scores.reason is None else f": {result.scores.reason}"
    return f"{standing:>3} {details:<27} relevance {relevance:>3}  {safe_line(name + reason)}\n"
