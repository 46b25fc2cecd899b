"""Findings of tools outside of this run, from SARIF files of a team's own CI.

A finding counts for a file of the change only if it names exactly this file, from the root of the
repository: `src/a.py` and `packages/web/src/a.py` are different files. An absolute path, such as
`file:///home/runner/work/shop/shop/src/a.py`, is read from the root of its checkout.
"""

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec

from crscore.records import Diff, Finding, Severity, ToolRun, ToolState
from crscore.static_analysis import change
from crscore.static_analysis.reports import RawFinding, RawReport
from crscore.static_analysis.sarif import WORKSPACE
from crscore.static_analysis.wording import shorten

UNKNOWN = "sarif"
"""Name of a tool without a name in its file."""
UNCHANGED = "unchanged"
"""SARIF's `baselineState` of findings that existed before."""
# Rules that report an unreadable file: ruff, oxlint, Biome, flake8, pylint.
_UNREAD = re.compile(
    r"invalid-syntax|syntax-error|OXL0001|parse|E999|E0001|fatal|.*(?:^|[/.-])pars(?:e|ing)-?error",
    re.IGNORECASE,
)
# A name becomes part of the signature, where a comma separates tools.
_UNSAFE = re.compile(r"[^\w.+ -]")
MAX_NAME = 60
"""Maximum characters of a tool's name or version."""
_LEVELS = {"error": Severity.ERROR, "note": Severity.NOTE, "none": Severity.NOTE}


class ExternalRun(NamedTuple):
    """Run of a tool outside of crscore."""

    run: ToolRun
    """State of the run."""
    findings: tuple[Finding, ...]
    """Findings in the changed files, without suppressed ones."""
    note: str
    """Sentence with the number of findings left out; "" if none was."""


def find_runs(reports: Sequence[RawReport], diff: Diff) -> tuple[ExternalRun, ...]:
    """Find the findings of SARIF files that belong to a change.

    Args:
        reports: Runs of the files.
        diff: The change.

    Returns:
        Each run, in order.
    """
    # The root of the checkout that crscore runs in, else the working folder.
    start = Path.cwd() if reports else Path()
    folders = (folder for folder in (start, *start.parents) if (folder / ".git").exists())
    root = f"{next(folders, start).as_posix().rstrip('/')}/"
    return tuple(_find_run(report, diff, root) for report in reports)


def _find_run(report: RawReport, diff: Diff, root: str) -> ExternalRun:
    by_path = {file.path: file for file in diff.files}
    name = _UNSAFE.sub("_", report.tool or UNKNOWN)[:MAX_NAME]
    findings: dict[str, list[Finding]] = {}
    unread = {path for uri in report.unparsed if (path := path_of(uri, root)) in by_path}
    left_out = Counter(invalid=report.invalid)
    for raw in report.findings:
        path = path_of(raw.path, root)
        if path not in by_path:
            left_out["elsewhere"] += 1
        elif _UNREAD.fullmatch(raw.rule):
            unread.add(path)
        elif not raw.suppressed and raw.message.strip():
            findings.setdefault(path, []).append(_finding(raw, name, path))
    marked = [
        finding
        for path, file_findings in findings.items()
        for finding in change.classify(by_path[path], file_findings, None)
    ]
    # With a hash of the content, as two files may have the same version.
    digest = hashlib.sha256(msgspec.json.encode(report)).hexdigest()[:8]
    version = _UNSAFE.sub("_", report.version or "")[:MAX_NAME]
    run = ToolRun(
        tool=name,
        version=f"{version}-{digest}" if version else digest,
        state=ToolState.RAN,
        files=len(findings),
        unread=tuple(sorted(unread)),
    )
    counts = (f"{left_out[key]:,} {text}" for key, text in _LEFT_OUT.items() if left_out[key])
    note = f"{name}: findings left out: {', '.join(counts)}." if left_out.total() else ""
    return ExternalRun(run, tuple(marked), note)


_LEFT_OUT: Final = {"elsewhere": "in files outside of the change", "invalid": "invalid"}


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


def path_of(uri: str, root: str) -> str:
    """Return the path of a file from the root of the repository.

    Args:
        uri: URI or path as a tool wrote it.
        root: Folder of the repository on this machine, with a slash at the end. The workspaces of
            GitHub's runners are known, too.

    Returns:
        The path without `.` and `..`; an absolute path where the repository is unknown; "" for
        another scheme than `file`.

    Example:
        >>> path_of("file:///home/runner/work/shop/shop/src/a%20b.py", "/tmp/shop/")
        'src/a b.py'
        >>> path_of("/builds/shop/src/a.py", "/tmp/shop/")
        '/builds/shop/src/a.py'
    """
    text = uri.strip()
    scheme = _SCHEME.match(text)
    if scheme:
        # `file:///a`, `file:/a`; a host as in `file://host/share` is not part of the path.
        location = re.split(r"[?#]", text[scheme.end() :], maxsplit=1)[0]
        text = re.sub(r"^//[^/]*(?=/)", "", location)
        if scheme[1].lower() != "file":
            return ""
    path = posixpath.normpath(unquote(text, errors="replace").replace("\\", "/"))
    if path.count("/") > _MAX_STEPS:
        return ""
    path = re.sub(r"^/(?=[A-Za-z]:/)", "", path)  # `file:///D:/a`
    workspace = WORKSPACE.match(path)
    return path[workspace.end() :] if workspace else path.removeprefix(root)
