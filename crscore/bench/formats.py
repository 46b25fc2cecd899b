"""Reads golden sets and findings from their formats: JSON Lines, JSON, and SARIF.

Published sets name their fields differently, and a row may be a change, a problem, or all findings
of one bot for a change. What a row is follows from its fields. The same functions therefore read
Martian's golden comments, candidates and collected reviews, AACR-Bench's samples, ReviewBench's
golden sets and findings, and GitHub's review comments.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from crscore import jsonl
from crscore.bench.records import SEVERITIES, Change, Finding, GoldenSet, Problem, make_set
from crscore.errors import InputError
from crscore.review.sentences import strip_source_labels
from crscore.static_analysis.sarif import read_sarif
from crscore.text import count_noun

MAX_BYTES: Final = 2**26
"""Maximum number of bytes of one unpacked file: about 100,000 findings."""
SUFFIXES: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz", ".sarif")
"""Suffixes of the files that are read from a folder."""
# Each tuple below lists the names that a field may have. If a row has several of them, the first
# one is read, so the names that crscore writes come before those of published sets.
TEXT: Final = ("text", "body", "comment", "description", "message", "note", "issue", "title")
PROBLEMS: Final = ("problems", "golden", "golden_comments", "comments", "findings", "issues")
CHANGE: Final = (
    "change", "pull", "pull_request_url", "pr_url", "pr", "github_pr_url", "githubPrUrl", "url",
    "instance_id", "id",
)  # fmt: skip
GITHUB_CHANGE: Final = ("pull_request_url", "issue_url", "html_url")
"""Fields that name the change in a review comment from GitHub, whose `id` and `url` are those of
the comment.
"""
BOT: Final = ("bot", "tool", "reviewer", "agent", "producer", "author", "user", "writer")
PATH: Final = ("path", "file", "file_path", "filename")
LINE: Final = ("line", "end_line", "to_line", "original_line")
START: Final = ("start_line", "from_line")
CATEGORY: Final = ("category", "type")
LANGUAGE: Final = ("language", "project_main_language")
SECONDS: Final = {"seconds": 1, "duration_seconds": 1, "duration_ms": 1000}
"""Fields with the time of a bot's run, each with the number of its units in a second."""
COST: Final = {"cost": 1, "price": 1}
FINDINGS: Final = ("findings", "candidates", "review_comments")
"""Fields that list the findings of one bot for a change; the last one has undivided comments."""
_SEVERITY_NAMES: Final = {
    **{name: name for name in ("", *SEVERITIES)},
    "blocker": "critical", "severe": "critical", "error": "high", "major": "high",
    "warning": "medium", "moderate": "medium", "minor": "low", "nit": "low", "note": "low",
    "trivial": "low", "info": "low", "style": "low", "lowest": "low", "highest": "critical",
    "p0": "critical", "p1": "high", "p2": "medium", "p3": "low", "p4": "low",
    "s0": "critical", "s1": "critical", "s2": "high", "s3": "medium", "s4": "low",
}  # fmt: skip
# Address of a page or in the API, also of a GitHub Enterprise Server ("/api/v3/repos/o/r/pulls/7"),
# or of a merge request ("/-/merge_requests/7").
_PULL: Final = re.compile(
    r"^https?://[^/]+/(?:api/v3/)?(?:repos/)?(\S+?)/(?:pulls?|issues|(-/merge_requests))/(\d+)"
)
_Row = dict[str, Any]


def name_change(name: str) -> str:
    """Return the name of a change; for any address of a pull request, it is `owner/name#number`.

    Example:
        >>> name_change("https://api.github.com/repos/o/r/pulls/7"), name_change("o/r#7")
        ('o/r#7', 'o/r#7')
    """
    match = _PULL.match(name)
    return f"{match[1]}{'!' if match[2] else '#'}{match[3]}" if match else name.strip()


def read_golden(path: Path, *, pattern: str = "**/*") -> GoldenSet:
    """Read a golden set.

    Args:
        path: A file of JSON Lines or JSON, plain or gzip, in which each row is a change with a list
            of problems, or a problem with its change; a first row
            `{"set": NAME, "version": VERSION}` may name the set. Or a SARIF file with the problems
            of one change, which is named like the file. Or a folder, whose files are all read.
        pattern: Glob pattern of the files to read from a folder.

    Raises:
        InputError: A file cannot be read, is too large, or has a row that is neither a change nor
            a problem; or there are no problems.
    """
    name, version = path.name.partition(".")[0], ""
    problems = defaultdict[str, dict[Any, Problem]](dict)
    repeated: Counter[str] = Counter()
    languages: dict[str, str] = {}
    rows = (row for file in list_files(path, pattern) for row in _rows(file, "a golden set"))
    for location, row in rows:
        if "set" in row and not languages:
            name, version = str(row["set"]), str(row.get("version", ""))
            continue
        listed = _find_first(row, PROBLEMS)
        change = name_change(_read_text(row, CHANGE, location, "the id of its change"))
        entries = [(location, row)]
        if isinstance(listed, list):
            entries = [(f"{location}: problem {n}", item) for n, item in enumerate(listed, 1)]
        languages[change] = str(_find_first(row, LANGUAGE) or "").lower()
        for position, entry in entries:
            # Some sets list findings that no reviewer should report.
            if isinstance(entry, dict) and (
                entry.get("accepted") is False or str(entry.get("label")).upper() == "FP"
            ):
                continue
            problem = read_problem(entry, position)
            # Copies of a problem may differ in case, spaces and the last full stop.
            key = (" ".join(problem.text.lower().split()).rstrip("."), problem.path, problem.line)
            repeated[change] += key in problems[change]
            problems[change][key] = _merge(problem, problems[change].get(key, problem))
    for change, listed in problems.items():
        # A set may list a problem once with its location and once without.
        located = {key[0]: key for key in sorted(listed, key=str, reverse=True) if key[1]}
        for key in [key for key in listed if not key[1] and key[0] in located]:
            listed[located[key[0]]] = _merge(listed[located[key[0]]], listed.pop(key))
            repeated[change] += 1
    if not any(problems.values()):
        raise InputError(f"{path} has no problems, so it is not a golden set")
    changes = [
        Change(id=id_, problems=tuple(problems[id_].values()), language=language)
        for id_, language in languages.items()
    ]
    notes = tuple(
        f"merged: {count_noun(count, 'problem')} of {change} that {path.name} lists twice"
        for change, count in repeated.items()
        if count
    )
    return make_set(name, version, changes, notes)


def read_problem(entry: Any, location: str) -> Problem:
    """Read a problem from parsed JSON.

    Raises:
        InputError: The problem has no text, or another field has an invalid value.
    """
    row = {"text": entry} if isinstance(entry, str) else entry
    if not isinstance(row, dict):
        raise InputError(f"{location}: expected an object with text, got {type(entry).__name__}")
    severity = str(row.get("severity") or "").strip().lower()
    # "Sev 1", "severity-2"
    severity = re.sub(r"^sev(?:erity)?[- ]?(?=\d)", "s", severity)
    if severity not in _SEVERITY_NAMES:
        raise InputError(
            f"{location}: severity is {severity[:40]!r}; expected one of {', '.join(SEVERITIES)}, "
            "or P0 to P3, or S1 to S4"
        )
    return Problem(
        text=strip_source_labels(_read_text(row, TEXT, location, "text")),
        severity=_SEVERITY_NAMES[severity],
        category=str(_find_first(row, CATEGORY) or "").lower(),
        path=_read_path(row),
        start_line=_read_line(row, START, location),
        line=_read_line(row, LINE, location),
        also_right=bool(row.get("also_right") or row.get("optional")),
        excluded=bool(row.get("excluded") or row.get("exclude"))
        or str(row.get("status")).lower() == "excluded",
    )


def read_findings(path: Path) -> list[Finding]:
    """Read the findings of one or several bots.

    Args:
        path: A file of JSON Lines or JSON, plain or gzip. Each row is a finding with its change and
            bot, a list of `findings` with their change and bot, or a review comment as GitHub's API
            returns it; the entire file may also be `{change: {bot: [findings]}}`. Or a SARIF file
            that is named like the change; its tool is the bot. Or a folder, whose files are all
            read.

    Raises:
        InputError: A file cannot be read, is too large, or has a row that is not a finding.
    """
    rows = (row for file in list_files(path) for row in _rows(file, "findings"))
    return [read_finding(entry, location) for location, row in rows for entry in _findings_of(row)]


def read_finding(row: Mapping[str, Any], location: str) -> Finding:
    """Read a finding from parsed JSON.

    Raises:
        InputError: The finding has no change, bot or text, or another field has an invalid value.
    """
    user = row.get("user")
    # The API of GitHub has null for a deleted account, which its pages show as "ghost".
    is_comment = isinstance(user, dict) or (user is None and "html_url" in row)
    bot = (user or {"login": "ghost"}).get("login") if is_comment else _find_first(row, BOT)
    if not isinstance(bot, str) or not bot.strip():
        raise InputError(f"{location}: the bot is missing; expected one of: {', '.join(BOT)}")
    is_raw = bool(row.get("raw", is_comment))
    change_fields = GITHUB_CHANGE if is_comment else CHANGE
    text = _read_text(row, TEXT, location, "text")
    return Finding(
        change=name_change(_read_text(row, change_fields, location, "the id of its change")),
        # GitHub adds "[bot]" to the login of an app. The suffix is removed, so that a bot has the
        # same name in all files.
        bot=bot.strip().removesuffix("[bot]"),
        text=text if is_raw else strip_source_labels(text),
        path=_read_path(row),
        # For a comment on a removed line, GitHub gives the number of the line in the old file.
        line=None if str(row.get("side")).upper() == "LEFT" else _read_line(row, LINE, location),
        raw=is_raw,
        seconds=_read_amount(row, SECONDS, location),
        cost=_read_amount(row, COST, location),
    )


def list_files(path: Path, pattern: str = "**/*") -> list[Path]:
    """List the files of a folder that match `pattern` and have one of `SUFFIXES`, sorted by name.

    If `path` is not a folder, the list consists of `path`.

    Raises:
        InputError: The folder has no such file.
    """
    if not path.is_dir():
        return [path]
    files = sorted(p for p in path.glob(pattern) if p.name.lower().endswith(SUFFIXES))
    if not files:
        raise InputError(f"{path} has no file {pattern} with the suffix {' or '.join(SUFFIXES)}")
    return files


def _rows(path: Path, content_name: str) -> Iterator[tuple[str, _Row]]:
    """Yield each row of a file, as its location for messages and its parsed JSON object."""
    content = jsonl.read_bytes(path, content_name)
    if len(content) > MAX_BYTES:
        size = f"{len(content):,} bytes, and at most {MAX_BYTES:,} are read; split the file"
        raise InputError(f"{path} is too large for {content_name}: {size}")
    if path.name.lower().endswith((".sarif", ".sarif.json")):
        name = path.name.partition(".")[0]
        for report in read_sarif(content, source=str(path)):
            for raw in report.findings:
                row = {"id": name, "bot": report.tool or "sarif", "text": raw.message}
                yield str(path), row | {"path": raw.path, "line": raw.line}
        return
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as exc:
        raise InputError(f"{path} cannot be read as {content_name}: it is not UTF-8") from exc
    except (ValueError, RecursionError):
        # The file is not a single JSON value, so it is read as JSON Lines; if it is neither, the
        # error names the line.
        text = content.removeprefix(b"\xef\xbb\xbf")
        yield from jsonl.read_rows(text, dict, path, content_name)
        return
    if isinstance(document, dict) and all(isinstance(row, dict) for row in document.values()):
        document = list(_split_by_change(document))
    for number, row in enumerate(document if isinstance(document, list) else [document], 1):
        location = f"{path}: entry {number}"
        if not isinstance(row, dict):
            raise InputError(f"{location}: expected an object, got {type(row).__name__}")
        yield location, row


def _split_by_change(document: _Row) -> Iterator[_Row]:
    """Yield the rows of `{change: {bot: [findings]}}`, or of `{change: {problems, reviews}}`."""
    for change, entry in document.items():
        if "reviews" in entry or isinstance(_find_first(entry, PROBLEMS), list):
            yield {**entry, "change": change}
            continue
        for bot, listed in entry.items():
            if isinstance(listed, list):
                yield {"change": change, "bot": bot, "findings": listed}
            elif listed:
                raise InputError(f"{change}: {bot}: expected a list, got {type(listed).__name__}")


def _findings_of(row: _Row) -> Iterator[_Row]:
    """Yield the findings of a row: the row itself, those that it lists, or those of its reviews."""
    common: _Row = {name: row[name] for name in (*CHANGE, *BOT, *SECONDS, *COST) if name in row}
    if isinstance(row.get("reviews"), list):
        for review in (review for review in row["reviews"] if isinstance(review, dict)):
            # The change is that of the row, because the address in a review is that of a copy of
            # the pull request.
            origin = {"change": _find_first(row, CHANGE), "bot": _find_first(review, BOT)}
            present = {*FINDINGS, *SECONDS, *COST} & review.keys()
            yield from _findings_of({**{name: review[name] for name in present}, **origin})
        return
    name = next((name for name in FINDINGS if isinstance(row.get(name), list)), None)
    if name is None:
        yield dict(row)
        return
    for entry in row[name]:
        fields = entry if isinstance(entry, dict) else {"text": entry}
        yield {"raw": name == FINDINGS[-1], **fields, **common}


def _merge(original: Problem, duplicate: Problem) -> Problem:
    """Merge two entries of one problem.

    The result is the more severe entry, at the location of the original. It is required if one of
    the entries is.
    """
    worse = min(original, duplicate, key=lambda problem: (*SEVERITIES, "").index(problem.severity))
    facts = {name: getattr(original, name) for name in ("path", "start_line", "line")}
    for name in ("also_right", "excluded"):
        facts[name] = getattr(original, name) and getattr(duplicate, name)
    return msgspec.structs.replace(worse, **facts)


def _find_first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _read_text(row: Mapping[str, Any], names: Sequence[str], location: str, noun: str) -> str:
    value = _find_first(row, names)
    if isinstance(value, dict) and "repo" in value:
        value = f"{value['repo']}/pull/{value.get('pr_number')}"
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"{location}: {noun} is missing; expected one of: {', '.join(names)}")
    # A text that was truncated within a character ends with a lone surrogate, which UTF-8 cannot
    # encode.
    return str(value).encode(errors="replace").decode().strip()


def _read_path(row: Mapping[str, Any]) -> str | None:
    path = _find_first(row, PATH)
    # Tools on Windows write paths with backslashes; diffs and golden sets have slashes.
    return path.replace("\\", "/") if isinstance(path, str) else None


def _read_line(row: Mapping[str, Any], names: Sequence[str], location: str) -> int | None:
    value = _find_first(row, names)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{location}: {names[0]} is {str(value)[:40]!r}; expected a line >= 1")
    return value or None


def _read_amount(row: Mapping[str, Any], units: Mapping[str, int], location: str) -> float | None:
    for name in (name for name in units if row.get(name) is not None):
        # The comparison also rejects NaN.
        if type(row[name]) not in (int, float) or not 0 <= row[name] < 1e12:
            raise InputError(f"{location}: {name} is {row[name]!r:.40}; expected a number >= 0")
        return float(row[name] / units[name])
    return None
