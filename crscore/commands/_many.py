"""Many pairs of a change and a review in one run: `crscore score PAIRS`, JSON Lines."""

from __future__ import annotations

import codecs
import json
import statistics
import sys
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from crscore import io, jsonl, progress
from crscore.commands._terminal import one_line, print_message, print_note
from crscore.errors import COMMAND_LINE, ConfigError, CRScoreError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crscore.records import Comment, Diff, Result
    from crscore.scorer import Scorer
    from crscore.settings import Config

EXIT_FAILED = 3
FORMATS = ("json", "text")


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line; the first change and the first review that are not null are used."""

    id: str | int | None = None
    patch: str | None = None
    diff_hunk: str | None = None
    diff: str | None = None
    review: str | None = None
    comment: str | None = None
    body: str | None = None
    comments: list[dict[str, Any]] | None = None
    language: str | None = None
    path: str | None = None


class Pair(NamedTuple):
    """Change with a review of it, from one line."""

    name: str
    diff: Diff
    review: tuple[Comment, ...]


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
        name: JSON Lines, plain or gzip, or `-`: a change (`diff`, `patch` or `diff_hunk`) and a
            review (`review`, `comment` or `body`, a text; or `comments`, a list of objects as
            GitHub gives them), and optionally `id`, `language` and `path`.
        target: File to write to; None for stdout.
        gate: Called with each result, the settings and its name; returns an exit code.

    Returns:
        0, the largest code of the gate, or 3 when a line could not be scored; each such line is
        reported on stderr.

    Raises:
        ConfigError: The format is neither `json` nor `text`.
        InputError: The file cannot be read, has no pair, or is not JSON Lines.
        CRScoreError: Something that every pair needs is missing.
    """
    if settings.format not in FORMATS:
        raise ConfigError("format", COMMAND_LINE, "must be json or text for several reviews")
    from crscore.scorer import PAIRS_PER_BATCH  # noqa: PLC0415

    lines, total = read_lines(name)
    if target is None and progress.is_terminal(sys.stdout):
        progress.ENABLED.clear()  # the printed results show the progress
    report: list[str] = []
    standings: list[int | None] = []
    failed = code = 0
    with progress.track("scoring", total) as advance:
        while batch := list(islice(lines, PAIRS_PER_BATCH)):
            for pair, result in _score(scorer, batch):
                if isinstance(result, CRScoreError):
                    print_message(str(result))
                    failed += 1
                    continue
                standings.append(result.usefulness.standing if result.usefulness else None)
                report.append(_line(pair, result, settings.format))
                code = max(code, gate(result, settings, pair))
            if target is None:  # printed at once; a file is written in full or not at all
                io.write_text("".join(report), None)
                report.clear()
            advance(len(batch))
    if scorer.parts.model:
        print_note(f"note: {scorer.parts.model.total}")
    if settings.format == "text":
        report.append(_summary(standings, failed))
    io.write_text("".join(report), target)
    # A line without a score outweighs the gate, which did not judge it.
    return EXIT_FAILED if failed else code


def _score(
    scorer: Scorer, batch: Sequence[tuple[str, bytes]]
) -> Iterator[tuple[str, Result | CRScoreError]]:
    """Yield each line's name and its result, or the error that prevented it."""
    read = [read_pair(scorer, location, line) for location, line in batch]
    pairs = [(pair.diff, pair.review) for pair in read if isinstance(pair, Pair)]
    results = iter(scorer.score_many(pairs, on_error="keep"))
    for (location, _), pair in zip(batch, read, strict=True):
        if not isinstance(pair, Pair):
            yield location, pair
            continue
        result = next(results)
        yield (
            pair.name,
            (InputError(f"{pair.name}: {result}") if isinstance(result, CRScoreError) else result),
        )


def read_lines(name: str) -> tuple[Iterator[tuple[str, bytes]], int | None]:
    """Return the lines that are not blank, each with its location, and their number if known."""
    if name == io.STDIN:
        if sys.stdin is None:
            raise InputError("standard input is closed; give a file of pairs")
        lines, total = _numbered("<stdin>", sys.stdin.buffer), None
    else:
        content = jsonl.read_bytes(Path(name), "pairs").split(b"\n")
        lines, total = _numbered(name, content), sum(map(bool, content))
    first = next(lines, None)
    # Another kind of file, such as a diff, is reported once and not for each line.
    if first is None or not first[1].startswith(b"{"):
        raise InputError(f'{name}: expected JSON Lines, {{"diff": ..., "review": ...}} in each')
    return chain([first], lines), total


def _numbered(name: str, lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    for number, line in enumerate(lines, 1):
        # Programs on Windows may begin a file with a byte order mark.
        if text := line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").strip():
            yield f"{name}:{number}", text


def read_pair(scorer: Scorer, location: str, line: bytes) -> Pair | CRScoreError:
    """Read one line, or return the error."""
    try:
        row = jsonl.parse_row(line.decode(), _Row, location)
        change = next(
            (text for text in (row.patch, row.diff_hunk, row.diff) if text is not None), None
        )
        texts = (row.review, row.comment, row.body)
        review = next((text for text in texts if text is not None), None)
        source = location
        if review is None and row.comments is not None:
            # The suffix makes the reader of reviews take the text as JSON, never as Markdown.
            review, source = json.dumps(row.comments), f"{location}:comments.json"
        if change is None or review is None:
            raise InputError(f"{location}: there is no {'diff' if change is None else 'review'}")
        diff = scorer.read_diff(change, source=location, language=row.language, path=row.path)
        comments = scorer.read_review(review, source=source)
    except UnicodeDecodeError:
        return InputError(f"{location}: not UTF-8")
    except CRScoreError as exc:
        return exc
    return Pair(location if row.id is None else str(row.id), diff, comments)


def _line(name: str, result: Result, form: str) -> str:
    from crscore.reports import escape, view  # noqa: PLC0415
    from crscore.reports.json import document  # noqa: PLC0415

    if form == "json":
        value = {"id": name, **msgspec.to_builtins(document(result))}
        return escape.write_json(value, indent=None)
    standing, relevance = map(view.hundred, (view.standing(result.usefulness), result.relevance))
    word = "not scored" if result.usefulness is None else result.usefulness.word
    reason = "" if result.scores.reason is None else f": {result.scores.reason}"
    return f"{standing:>3}  {word:<18} relevance {relevance:>3}  {one_line(name + reason)}\n"


def _summary(standings: list[int | None], failed: int) -> str:
    scored = [standing for standing in standings if standing is not None]
    middle = f", median standing {statistics.median(scored):g}" if scored else ""
    failure_note = f"; {failed} could not be scored" if failed else ""
    return f"\n{len(standings)} review{'s'[: len(standings) != 1]}{middle}{failure_note}\n"
