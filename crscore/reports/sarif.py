"""Report for code scanning: SARIF 2.1.0 with remarks and unaddressed points at their lines.

Each scored change has its own run, because each has its own scores and signature; a host
distinguishes the runs by `automationDetails.id`. GitHub's code scanning accepts 20 runs, shows
5,000 results of each run, rejects a file if a result has no location, and distinguishes alerts only
by `primaryLocationLineHash`. Below, "result" means
a SARIF result.

- A remark that needs an answer is one result, as severe as the remark is important.
- A remark that the code refutes is a note that says why; the lines that prove it are related
  locations.
- An unmentioned topic is one result at its lines, even if it has several pseudo-references. An
  issue is one result per location.
- A point on removed lines is located at the line that replaced them, because a host shows the new
  version only. A point on a deleted file or the whole change has a file but no line as location.
- A review without a score has no results; a note in `invocations` says why.
- Text is cleaned as in reports for people. Embedded links are escaped.

Tested with the validator of Sarif.Multitool 5.7, which also checks GitHub's rules.
"""

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from msgspec import to_builtins

from crscore.records import (
    LEAST_WORTH,
    MAX_WORTH,
    ChangedFile,
    Diff,
    FileStatus,
    Importance,
    LineSpan,
    ReferenceKind,
    Result,
    Side,
    Verdict,
)
from crscore.reports import escape, view
from crscore.version import __version__

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
# https://docs.github.com/en/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit
MAX_RESULTS: Final = 5_000
"""Maximum number of results in a run."""
MAX_NOTES: Final = 100
"""Maximum number of notes of a scored change that are included."""
MAX_CHARS: Final = 1_000
"""Maximum characters of a message."""
MAX_RELATED: Final = 10
"""Maximum number of further locations of a result."""
# SARIF 2.1.0, section 3.14.14, uses this name in its examples; GitHub resolves it to the
# repository.
ROOT: Final = "%SRCROOT%"
"""Conventional SARIF name for the root of the repository."""
_SOURCE_CHARS: Final = 300

_REMARK: Final = "remark"
_REFUTED: Final = "refuted-remark"
_RULES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["rules"]
_LEVELS: Final = {rule["id"]: rule["level"] for rule in _RULES}
# SARIF has only three levels for the four of importance, so a nit is a note like a minor remark.
_REMARK_LEVELS: Final = dict(zip(Importance, ("error", "warning", "note", "note"), strict=True))


def render(results: Sequence[Result], category: str = "crscore") -> str:
    """Render one run for each scored change.

    Args:
        results: The scored changes.
        category: Category of the alerts; an upload replaces the earlier alerts of its category.
    """
    is_several = len(results) > 1
    runs = [
        _run(result, f"{category}{f'/change-{number}' * is_several}")
        for number, result in enumerate(results, start=1)
    ]
    return escape.write_json({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=1)


def _run(result: Result, category: str) -> dict[str, Any]:
    """Make the run of one scored change."""
    notices = [_notice("note", note) for note in view.notes(result)[:MAX_NOTES]]
    entries: list[dict[str, Any]] = []
    if result.scores.reason is None:
        results = list(_results(result))
        entries = results[:MAX_RESULTS]  # the first ones matter most
        if len(entries) < len(results):
            missing = view.count_noun(len(results) - len(entries), "result")
            text = f"Left out the {missing} of least weight: the limit is {MAX_RESULTS:,}."
            notices.insert(0, _notice("warning", text))
    else:
        notices.insert(0, _notice("warning", f"No score: {result.scores.reason}."))
    return {
        "tool": {
            "driver": {
                "name": "crscore",
                "semanticVersion": __version__,
                "rules": [*map(_rule, _RULES)],
            }
        },
        # GitHub takes the text before the last slash as the category and the rest as the name of
        # the run:
        # https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning#runautomationdetails-object
        "automationDetails": {"id": f"{category}/{result.diff.sha256[:16]}"},
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        # The run is successful even without a score; a notification then says why there is none.
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notices}],
        "results": entries,
        # Code scanning ignores these, but other programs may read them.
        "properties": {
            "signature": result.signature,
            "usefulness": to_builtins(result.usefulness),
            "scores": to_builtins(result.scores),
        },
    }


def _notice(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _message(text)}}


def _message(text: str) -> str:
    r"""Clean a text and escape what could be an embedded link: `\[text\](target)` is not a link.

    If the text contains `](`, every bracket and backslash up to the last `](` is escaped, so that
    `crscore.static_analysis.wording.resolve_links` can restore the text exactly.
    """
    head, mark, tail = escape.one_line(text, MAX_CHARS).rpartition("](")
    return re.sub(r"[\[\]\\]", r"\\\g<0>", head) + mark.replace("]", r"\]") + tail


def _rule(rule: dict[str, str]) -> dict[str, Any]:
    full, advice, level = rule["full"], rule["advice"], rule["level"]
    return {
        "id": rule["id"],
        "name": rule["name"],
        "shortDescription": {"text": rule["short"]},
        "fullDescription": {"text": full},
        "help": {"text": f"{full} {advice}", "markdown": f"{full}\n\n{advice}"},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["code-review"],
            "problem.severity": "warning" if level == "warning" else "recommendation",
        },
    }


class _Finding(NamedTuple):
    rule: str
    level: str
    text: str
    spans: Sequence[LineSpan]
    key: tuple[str, str, str]
    """Identity of the finding, independent of its lines."""
    rank: float
    properties: dict[str, Any]


def _results(result: Result) -> Iterator[dict[str, Any]]:
    rules = [*_LEVELS]
    # GitHub treats results of two uploads with the same fingerprint as one alert ("SARIF
    # support for code scanning" on docs.github.com). The fingerprint does not depend on lines, so
    # that an alert stays the same when lines move.
    digest_counts: Counter[str] = Counter()
    for item in chain(_remarks(result), _points(result)):
        locations = make_locations(result.diff, item.spans)
        key = "\0".join(item.key).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(key).hexdigest()[:16]
        # Two results with the same text in a file get different fingerprints, for two alerts.
        digest_counts[digest] += 1
        yield {
            "ruleId": item.rule,
            "ruleIndex": rules.index(item.rule),
            "level": item.level,
            "message": {"text": item.text},
            # GitHub shows an alert at its first location only, and lists related locations below.
            "locations": locations[:1],
            **({"relatedLocations": locations[1:]} if locations[1:] else {}),
            "partialFingerprints": {"primaryLocationLineHash": f"{digest}:{digest_counts[digest]}"},
            # A rank is from 0 to 100: SARIF 2.1.0, section 3.27.25.
            "rank": round(100 * item.rank, 1),
            "properties": item.properties,
        }


def _remarks(result: Result) -> Iterator[_Finding]:
    for remark, _ in view.rank_remarks(result):
        receipt = remark.receipt
        text = _message(view.remark_text(result, remark)) or "A remark without words."
        spans = view.remark_spans(result, remark)
        path = spans[0].path if spans else ""
        facts = {"stance": remark.stance.value}
        rank = (remark.worth - LEAST_WORTH) / (MAX_WORTH - LEAST_WORTH)
        if receipt:
            facts |= {"verdict": receipt.verdict.value, "fact": _message(receipt.fact)}
        if receipt and receipt.verdict is Verdict.REFUTED:
            claim_text = f"Says that {receipt.says}; the code says" if receipt.says else "Refuted"
            message = _message(f"{claim_text}: {receipt.fact}")
            spans = (*spans, *receipt.lines)
            key = (_REFUTED, path, text)
            facts |= {"remark": text}
            yield _Finding(_REFUTED, "note", message, spans, key, rank, facts)
        elif remark.is_valuable:
            level = _REMARK_LEVELS[remark.level]
            key = (_REMARK, path, text)
            facts |= {"importance": remark.level.value}
            yield _Finding(_REMARK, level, text, spans, key, rank, facts)


def _points(result: Result) -> Iterator[_Finding]:
    """Yield the unaddressed points, issues first."""
    points = (point for _, point in view.list_unaddressed(result))
    for point in sorted(points, key=lambda point: point.kind is not ReferenceKind.ISSUE):
        topic = point.topic
        # GitHub requires that a message is not empty ("SARIF support for code scanning" on
        # docs.github.com, "Supported SARIF output file properties").
        text = _message("Nobody mentioned " * bool(topic) + point.text) or "A point without words."
        name = text if topic is None else f"{topic.noun} {topic.name}"
        # GitHub shows an alert at its first location only, so an issue has one result per location.
        is_issue = point.kind is ReferenceKind.ISSUE
        for spans in [(span,) for span in point.spans] if is_issue else [point.spans]:
            rule = f"unaddressed-{point.kind.value}"
            yield _Finding(
                rule,
                view.severity(result, point) or _LEVELS[rule],
                text,
                spans,
                (point.kind.value, spans[0].path if spans else "", name),
                point.weight,
                {"source": escape.one_line(point.source, _SOURCE_CHARS)},
            )


def make_locations(diff: Diff, spans: Sequence[LineSpan]) -> list[dict[str, Any]]:
    """Return the locations of spans in the new version, each once.

    Args:
        diff: The change.
        spans: Spans in any order. A span of the old version is mapped to the line that replaced it.
            Without spans, the location is the first file that is not deleted or, if all are, the
            first file.

    Returns:
        At most `MAX_RELATED` + 1 locations, those of spans of the new version first; empty if the
        file of each span is unknown.
    """
    places: list[tuple[str, int, int]] = []
    for span in sorted(spans, key=lambda span: span.side is not Side.NEW):
        if span.side is Side.NEW:
            places.append((span.path, span.start, span.end))
            continue
        file = next((file for file in diff.files if span.path == file.path_on(Side.OLD)), None)
        line = 0
        if file is not None and file.status is not FileStatus.DELETED:
            line = _find_new_line(file, span.start)
        places.append((file.path if file else span.path, line, line))
    if not spans:
        files = sorted(diff.files, key=lambda file: file.status is FileStatus.DELETED)
        places = [(file.path, 0, 0) for file in files[:1]]
    locations = []
    for path, start, end in [*dict.fromkeys(place for place in places if place[0])]:
        # RFC 3986 forbids spaces and `#` in a path, and GitHub shows no alert for a URI with one.
        # `surrogatepass`, because a byte of a path that is not UTF-8 was read as a lone surrogate.
        uri = quote(path.lstrip("/").encode("utf-8", "surrogatepass"))
        physical: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": ROOT}}
        # A region starts at line 1 or later (section 3.30.5), so a location without lines has none.
        if start > 0:
            physical["region"] = {"startLine": start, "endLine": max(start, end)}
        locations.append({"physicalLocation": physical})
    return locations[: MAX_RELATED + 1]


def _find_new_line(file: ChangedFile, old: int) -> int:
    """Find the new line that takes the place of an old line.

    It is the next new line of the hunk or, at the end of the hunk, the last one before.

    Returns:
        Line number in the new version; 0 if the diff shows no such line.
    """
    for hunk in file.hunks:
        if not old or old >= hunk.old_start + hunk.old_length:
            continue
        before = 0
        is_reached = False
        for line in hunk.lines:
            is_reached = is_reached or (line.old is not None and line.old >= old)
            if line.new is not None:
                if is_reached:
                    return line.new
                before = line.new
        return before
    return 0


def create() -> Callable[[Sequence[Result]], str]:
    """Create the report; it takes no options."""
    return render
