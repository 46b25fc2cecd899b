"""Findings of tools outside of this run, from SARIF files of a team's own CI.

Tools name files relative to their working folder, or by the path of the checkout on another
machine: `file:///home/runner/work/shop/shop/src/a.py`. A scan of a whole repository names many
files that the change does not touch, so a common suffix of two paths is not sufficient: all
absolute paths of a report must agree on one checkout folder.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec

from crscore.records import Diff, Finding, Severity, ToolRun, ToolState
from crscore.static_analysis import change
from crscore.static_analysis.reports import RawFinding, RawReport
from crscore.static_analysis.wording import shorten

UNKNOWN = "sarif"
"""Name of a tool that the file does not name."""
UNCHANGED = "unchanged"
"""SARIF's `baselineState` of findings that existed before."""
# Rules by which tools report an unreadable file: ruff, oxlint, Biome, flake8, pylint.
_UNREAD = re.compile(
    r"invalid-syntax|syntax-error|OXL0001|parse|E999|E0001|fatal|.*(?:^|[/.-])pars(?:e|ing)-?error",
    re.IGNORECASE,
)
# A name goes into the signature, where a comma separates tools.
_UNSAFE = re.compile(r"[^\w.+ -]")
MAX_NAME = 60
"""Maximum characters of a tool's name or version."""
_LEVELS = {"error": Severity.ERROR, "note": Severity.NOTE, "none": Severity.NOTE}


def find_runs(
    reports: Sequence[RawReport], diff: Diff
) -> tuple[tuple[ToolRun, tuple[Finding, ...]], ...]:
    """Find the findings of SARIF files that belong to a change.

    Args:
        reports: Runs of the files.
        diff: The change.

    Returns:
        For each run its state and its findings in the changed files, without suppressed ones.
    """
    by_path = {file.path: file for file in diff.files}
    results = []
    for report in reports:
        name = _UNSAFE.sub("_", report.tool or UNKNOWN)[:MAX_NAME]
        # All paths of a report together: matching one depends on the others' common root.
        reported_paths = [*(raw.path for raw in report.findings), *report.unparsed]
        paths = match_paths(reported_paths, by_path)
        by_file: dict[str, list[Finding]] = {}
        unread = {paths[path] for path in report.unparsed if path in paths}
        for raw in report.findings:
            path = paths.get(raw.path)
            if path is None or raw.suppressed or not raw.message.strip():
                continue
            if _UNREAD.fullmatch(raw.rule):
                unread.add(path)
            else:
                by_file.setdefault(path, []).append(_finding(raw, name, path))
        run = ToolRun(
            tool=name,
            version=_versioned(report),
            state=ToolState.RAN,
            files=len(by_file),
            unread=tuple(sorted(unread)),
        )
        marked = [
            finding
            for path, findings in by_file.items()
            for finding in change.classify(by_path[path], findings, None, sources=None)
        ]
        results.append((run, tuple(marked)))
    return tuple(results)


def _versioned(report: RawReport) -> str:
    """Return the version and content hash: two files of one version are two sources of issues."""
    digest = hashlib.sha256(msgspec.json.encode(report)).hexdigest()[:8]
    version = _UNSAFE.sub("_", report.version or "")[:MAX_NAME]
    return f"{version}-{digest}" if version else digest


def _finding(raw: RawFinding, tool: str, path: str) -> Finding:
    return Finding(
        tool=tool,
        rule=raw.rule,
        path=path,
        line=raw.line,
        end_line=raw.end_line,
        message=raw.message,
        text=shorten(raw.message),
        severity=_LEVELS.get(raw.level or "", Severity.WARNING),
        pre_existing=raw.baseline == UNCHANGED,
    )


_MAX_URI: Final = 4_096
_MAX_STEPS: Final = 100
"""Maximum number of folders in a path."""
_MAX_ROOTS: Final = 20
"""Maximum number of candidate checkout folders."""
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVE: Final = re.compile(r"/?([A-Za-z]:)(?:/|$)")
# `/home/runner/work/shop/shop/`, `/__w/shop/shop/`, `D:/a/shop/shop/`, `/github/workspace/`
_RUNNER: Final = re.compile(
    r"(?:/home/runner/work|/Users/runner/work|/__w|/[a-z]:/a|/opt/[^/]+/_work)/([^/]+)/\1/"
    r"|/github/workspace/",
    re.IGNORECASE,
)


class _ParsedUri(NamedTuple):
    """Parsed URI."""

    path: str
    """Path with slashes, without `.` and `..`; begins with a slash when absolute."""
    raw: str
    """The same path before percent-decoding."""


def match_paths(uris: Iterable[str], paths: Collection[str]) -> Mapping[str, str]:
    """Match the URIs of one report to the files of a change.

    A path matches if it is one of `paths`, directly or relative to the checkout folder. For known
    kinds of runners this folder is known; otherwise it is the one that contains most of the
    report's files and most files of the change. In a tie, neither folder counts.

    Args:
        uris: URIs or paths as a tool wrote them, in any order.
        paths: Paths of the change's files, case-sensitive.

    Returns:
        URI -> path of the change's file, for each URI that matches.
    """
    changed_paths = frozenset(paths)
    parsed_uris = {uri: _parse_uri(uri) for uri in dict.fromkeys(uris)}
    reported = {parsed.path for parsed in parsed_uris.values() if parsed is not None}
    absolute = {path for path in reported if path.startswith("/")}
    roots = {True: _root(absolute, changed_paths), False: _root(reported - absolute, changed_paths)}
    matches = {}
    for uri, parsed in parsed_uris.items():
        if parsed is not None:
            path = _below(parsed, roots[parsed.path.startswith("/")], changed_paths)
            if path is not None:
                matches[uri] = path
    return matches


def _parse_uri(uri: str) -> _ParsedUri | None:
    """Parse a URI or a path; return None if it is not a file, such as a web address."""
    if not uri or len(uri) > _MAX_URI or uri.count("/") + uri.count("\\") > _MAX_STEPS:
        return None
    text = uri.strip()
    scheme = _SCHEME.match(text)
    if scheme:
        if scheme[1].lower() != "file":
            return None
        text = text[scheme.end() :]
        # `file:///a`, `file:/a`; a host as in `file://host/share` is not part of the path.
        text = re.sub(r"^//[^/]*(?=/)", "", text) if text.startswith("//") else text
        text = re.sub(r"[?#].*$", "", text, flags=re.DOTALL)
    return _ParsedUri(_normal(unquote(text, errors="replace")), _normal(text))


def _normal(path: str) -> str:
    path = path.replace("\\", "/")
    drive = _DRIVE.match(path)
    if drive:
        path = f"/{drive[1].lower()}/{path[drive.end() :]}"
    steps: list[str] = []
    for step in path.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    return ("/" if path.startswith("/") else "") + "/".join(steps)


def _below(parsed: _ParsedUri, root: str | None, changed_paths: Collection[str]) -> str | None:
    for path in (parsed.raw, parsed.path):
        runner = _RUNNER.match(path)
        tail = path[runner.end() :] if runner else path.removeprefix(root or "")
        for candidate in (path, tail):
            if candidate in changed_paths:
                return candidate
    return None


def _root(reported: Collection[str], changed_paths: Collection[str]) -> str | None:
    """Find the checkout folder, with a trailing slash.

    Args:
        reported: Paths in a report, absolute or relative.
        changed_paths: The files of the change.

    Returns:
        The folder; None when there is none or a tie.
    """
    if any(path in changed_paths for path in reported):
        return None
    votes: Counter[str] = Counter()
    for name in reported:
        steps = name.split("/")
        for count in range(1, len(steps)):
            path = "/".join(steps[-count:])
            # A relative `lib/index.js` is hardly the change's `index.js`: a match needs a folder.
            if path in changed_paths and (count > 1 or name.startswith("/")):
                votes[name[: -len(path)]] += 1
    roots = sorted(votes, key=lambda root: (-votes[root], root))[:_MAX_ROOTS]
    inside = {root: sum(name.startswith(root) for name in reported) for root in roots}
    best = sorted(((inside[root], votes[root], root) for root in roots), reverse=True)[:2]
    if not best or 2 * best[0][0] <= len(reported):
        return None
    return best[0][2] if len(best) == 1 or best[0][:2] != best[1][:2] else None
