"""Scores of many reviews in one run: `crscore score PAIRS`, a file of JSON Lines."""

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
    """Change and its review, or the error if they cannot be read."""

PAIRS_PER_BATCH = 32
"""Number of pairs that are scored together, and share their texts."""
# The other formats would write hundreds of pages into one file.
FORMATS = ("json", "text")


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line: the first change and the first review that are not null are used."""

    id: str | int | None = None
    # Some names are those of GitHub's API: `patch` of a file, `diff_hunk` and `body` of a comment
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
    """Score each line of a file, and write each result as soon as it is known.

    Args:
        scorer: Scorer with the settings.
        settings: `format` is `json` (one document a line, with the line's `id`) or `text` (a
            table and a summary).
        name: A file of JSON Lines, plain or gzip, or `-` for standard input. Each line has a change
            (`diff`, `patch` or `diff_hunk`), a review (`review`, `comment` or `body`, a text; or
            `comments`, a list of objects as GitHub gives them), and optionally `id`, `language` and
            `path`.
        target: File to write to; None for stdout.
        gate: Called with a result, the settings and the name of the pair; returns an exit code.

    Returns:
        3 if a line could not be scored, which is reported on stderr; otherwise the largest exit
        code of the gate.

    Raises:
        ConfigError: The format is neither `json` nor `text`.
        InputError: The file cannot be read, has no pair, or is not JSON Lines.
        CRScoreError: Something that every pair needs is missing.
    """
    if settings.format not in FORMATS:
        raise ConfigError("format", COMMAND_LINE, "must be json or text for several reviews")
    pairs, total = read_pairs(scorer, name)
    if target is None and progress.is_terminal(sys.stdout):
        progress.ENABLED.clear()  # the printed results show the progress
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
                    report.append(_line(pair_name, result, settings.format))
                    code = max(code, gate(result, settings, pair_name))
            if target is None:  # printed at once; a file is written in full or not at all
                io.write_text("".join(report), None)
                report.clear()
            advance(len(batch))
    if scorer.parts.model:
        print_note(f"note: {scorer.parts.model.total}")
    if settings.format == "text":
        scored = [standing for standing in standings if standing is not None]
        middle = f", median standing {statistics.median(scored):g}" if scored else ""
        failure_note = f"; {failed} could not be scored" if failed else ""
        report.append(f"\n{count_noun(len(standings), 'review')}{middle}{failure_note}\n")
    io.write_text("".join(report), target)
    # A line without a score outweighs a failed gate, because the gate did not judge that line.
    return EXIT_FAILED if failed else code


def read_pairs(scorer: Scorer, name: str) -> tuple[Iterator[tuple[str, Pair]], int | None]:
    """Read JSON Lines of pairs; blank lines are skipped.

    Returns:
        For each pair its name, which is its id or else its location, and the pair, or the error if
        it cannot be read. Also the number of lines; None for standard input.

    Raises:
        InputError: The file cannot be read, has no pair, or is not JSON Lines.
    """
    content: Iterable[bytes]
    if name == io.STDIN:
        if sys.stdin is None:
            raise InputError("standard input is closed; give a file of pairs")
        source, content, total = "<stdin>", sys.stdin.buffer, None
    else:
        source, content = name, jsonl.read_bytes(Path(name), "pairs").split(b"\n")
        total = sum(map(bool, content))
    lines = (
        # Programs on Windows may begin a file with a byte order mark.
        (f"{source}:{number}", line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").strip())
        for number, line in enumerate(content, 1)
    )
    filled = ((location, line) for location, line in lines if line)
    first = next(filled, None)
    # Another kind of file, such as a diff, is reported once and not for each line.
    if first is None or not first[1].startswith(b"{"):
        raise InputError(f'{name}: expected JSON Lines: {{"diff": ..., "review": ...}}')
    return (_read_pair(scorer, *line) for line in chain([first], filled)), total


def _read_pair(scorer: Scorer, location: str, line: bytes) -> tuple[str, Pair]:
    try:
        row = jsonl.parse_row(line.decode(), _Row, location)
        changes, texts = (row.patch, row.diff_hunk, row.diff), (row.review, row.comment, row.body)
        change = next((text for text in changes if text is not None), None)
        review, source = next((text for text in texts if text is not None), None), location
        if row.comments is not None:
            # The suffix makes the reader of reviews take the text as JSON, never as Markdown.
            comments = [{"body": review}, *row.comments]  # a review's own text comes first
            review, source = json.dumps(comments), f"{location}:comments.json"
        if change is None or review is None:
            raise InputError(f"{location}: there is no {'diff' if change is None else 'review'}")
        diff = scorer.read_diff(change, source=location, language=row.language, path=row.path)
        pair = diff, scorer.read_review(review, source=source)
    except UnicodeDecodeError:
        return location, InputError(f"{location}: not UTF-8")
    except CRScoreError as exc:
        return location, exc
    return location if row.id is None else str(row.id), pair


def _line(name: str, result: Result, form: str) -> str:
    from crscore.reports import escape, view  # noqa: PLC0415
    from crscore.reports.json import document  # noqa: PLC0415

    if form == "json":
        value = {"id": name, **msgspec.to_builtins(document(result))}
        return escape.write_json(value, indent=None)
    place = f"{view.UNDEFINED} not scored"
    if result.usefulness is not None:
        place, *_ = view.score_cells(result, result)
    standing, rest = place.split(" ", 1)
    relevance = view.hundred(result.relevance)
    reason = "" if result.scores.reason is None else f": {result.scores.reason}"
    return f"{standing:>3} {rest:<27} relevance {relevance:>3}  {safe_line(name + reason)}\n"
