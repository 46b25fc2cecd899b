"""Findings of tools outside of this run, from SARIF files of a team's own CI.

Tools name files relative to their working folder, or by the path of the checkout on another
machine: `file:///home/runner/work/shop/shop/src/a.py`.
"""

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final
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


_MAX_STEPS: Final = 100
"""Maximum number of folders in a path."""
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def match_paths(uris: Iterable[str], paths: Collection[str]) -> Mapping[str, str]:
    """Match the URIs of one report to the files of a change.

    A URI matches if it is one of `paths`, or ends with one of them. The ending must be unique in
    both directions: no other path ends the URI, and no other URI means the path. A path without a
    folder, such as `index.js`, could end many: it matches only in the folder that contains all
    absolute paths of the report.

    Args:
        uris: URIs or paths as a tool wrote them, in any order.
        paths: Paths of the change's files, case-sensitive.

    Returns:
        URI -> path of the change's file, for each URI that matches.
    """
    changed_paths = frozenset(paths)
    names = {uri: _file_name(uri) for uri in uris}
    exact = {uri: name for uri, name in names.items() if name in changed_paths}
    absolute = [posixpath.dirname(name) for name in names.values() if name.startswith("/")]
    top = posixpath.commonpath(absolute) if absolute else None
    path_by_name: dict[str, str] = {}
    for name in {*names.values()}:
        steps = name.split("/")
        endings = changed_paths.intersection("/".join(steps[start:]) for start in range(len(steps)))
        if len(endings) == 1:
            (path,) = endings
            if name in changed_paths or "/" in path or posixpath.dirname(name) == top:
                path_by_name[name] = path
    uses = Counter(path_by_name.values())
    unique = {
        uri: path_by_name[name]
        for uri, name in names.items()
        if name in path_by_name and uses[path_by_name[name]] == 1
    }
    return unique | exact


def _file_name(uri: str) -> str:
    """Return the path in a URI, without `.` and `..`; "" if it is not a file."""
    text = uri.strip()
    scheme = _SCHEME.match(text)
    if scheme:
        # `file:///a`, `file:/a`; a host as in `file://host/share` is not part of the path.
        location = re.split(r"[?#]", text[scheme.end() :], maxsplit=1)[0]
        text = re.sub(r"^//[^/]*(?=/)", "", location)
        if scheme[1].lower() != "file":
            return ""
    path = posixpath.normpath(unquote(text, errors="replace").replace("\\", "/"))
    return path if path.count("/") <= _MAX_STEPS else ""
