"""Reads SARIF 2.1.0: the output of a tool and, from a user's CI, findings in a change.

The content is not trusted, and a value of the wrong type counts as missing. The tests have output
of ruff 0.17, PMD 7.28 and oxlint 1.94, and files by the conventions of CodeQL (rules of extensions,
embedded links), semgrep (`suppressions`), ESLint and PMD (notifications about files that could not
be read).

A finding from CI belongs to the file of the change that has exactly the same path from the root of
the repository: `src/a.py` and `packages/web/src/a.py` are different files. The root of the checkout
is removed from an absolute path, such as `file:///home/runner/work/shop/shop/src/a.py`.

Source:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, sections 3.4
    (locations of artifacts), 3.11 (messages), 3.27 (results), 3.52 (looking up rules) and 3.58
    (notifications): https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from crscore.diff.paths import strip_workspace
from crscore.errors import ToolOutputError
from crscore.records import Analysis, Diff, Finding, Severity, ToolRun, ToolState
from crscore.static_analysis import change
from crscore.static_analysis.reports import RawFinding, RawReport, replace_surrogates
from crscore.static_analysis.wording import resolve_links, shorten

VERSION: Final = "2.1.0"
# GitHub's limit for one run: https://docs.github.com/en/code-security/code-scanning/
# integrating-with-code-scanning/sarif-support-for-code-scanning
MAX_RESULTS: Final = 25_000
"""Maximum number of results of all runs in a file."""
MAX_LINE: Final = 10_000_000
"""Maximum number of a line; a larger number counts as missing."""
MAX_NAME: Final = 60
"""Maximum characters of a tool's name or version; the rest is cut off."""
# `none` means that a result has no severity, but some tools write it for the lowest severity.
_LEVELS: Final = {
    "none": Severity.NOTE,
    "note": Severity.NOTE,
    "warning": Severity.WARNING,
    "error": Severity.ERROR,
}
# Results of these kinds report a success, or a check without a decision.
_NO_FINDING: Final = frozenset({"pass", "open", "informational", "notApplicable"})
# Rules of ruff, oxlint, Biome, flake8 and pylint that report a file which cannot be parsed.
_UNREAD: Final = re.compile(
    r"invalid-syntax|syntax-error|OXL0001|parse|E999|E0001|fatal|.*(?:^|[/.-])pars(?:e|ing)-?error",
    re.IGNORECASE,
)
# Characters that a name must not have, because it becomes part of the signature.
_UNSAFE: Final = re.compile(r"[^\w.+ -]")
# "{0}", and "{{" and "}}", which stand for braces
_PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|\{(\d{1,3})\}")
# "file:", "https:"; not "C:", a drive of Windows
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,30}):")
# "/srv/a.py", "\\a.py", "C:/a.py", "file:///a.py"; not "src/a.py"
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:|[/\\]")
# Names that tools give the root of the checkout; the specification uses %SRCROOT%.
_CHECKOUT: Final = ("%SRCROOT%", "SRCROOT", "PROJECTROOT", "ROOTPATH")
_MAX_MESSAGE: Final = 10_000
_MAX_ARGUMENT: Final = 1_000
_MAX_RULE: Final = 200
_MAX_NESTED_BASES: Final = 10
# The longest path on Linux. Without a maximum, a long base that many results share would be copied
# for each of them.
_MAX_PATH: Final = 4_096

Json = dict[str, Any]


def read_sarif(content: bytes, *, source: str) -> tuple[RawReport, ...]:
    """Read a SARIF file.

    Args:
        content: The file in UTF-8, with or without a byte order mark, or in UTF-16 or UTF-32.
        source: Name of the tool or path of the file, for errors.

    Returns:
        A report for each run, in the order of the file. Results are left out if they are not
        objects, their `kind` is not that of a finding, or they are absent since the baseline. A
        finding without a file has the path "". Files that the tool could not read are in
        `unparsed`.

    Raises:
        ToolOutputError: The content is not SARIF 2.1.0, has too many results, refers to another
            file for its results, or says that the tool failed and found nothing.
    """
    try:
        text = content.decode(json.detect_encoding(content), errors="replace")
        # NaN and Infinity are not JSON (https://www.rfc-editor.org/rfc/rfc8259#section-6).
        log = json.loads(text.removeprefix("\ufeff"), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as exc:
        raise ToolOutputError(source, f"it is not JSON: {exc}") from exc
    if not isinstance(log, dict) or not isinstance(log.get("runs"), list):
        raise ToolOutputError(source, "it is not SARIF: it has no list of runs")
    if log.get("version") != VERSION:
        problem = f"version {log['version']!r:.40}" if "version" in log else "no version"
        raise ToolOutputError(source, f"it has {problem}; only SARIF {VERSION} can be read")
    runs = _objects(log, "runs")
    results = sum(len(_objects(run, "results")) for run in runs)
    if results > MAX_RESULTS:
        raise ToolOutputError(
            source, f"it has {results:,} results and {MAX_RESULTS:,} is the maximum"
        )
    return tuple(replace_surrogates(_RunParser(run).report(source)) for run in runs)


class _RunParser:
    """Reads one run, with the rules and locations that its results refer to."""

    def __init__(self, run: Json) -> None:
        self.run = run
        self.driver = _object(run, "tool", "driver")
        self.rules: dict[str, Json] = {}
        for component in (self.driver, *_objects(_object(run, "tool"), "extensions")):
            for rule in _objects(component, "rules"):
                self.rules.setdefault(_text(rule, "id"), rule)
        self.artifacts = _objects(run, "artifacts")
        self.bases = _object(run, "originalUriBaseIds")
        # Paths are relative to the checkout around the working folder, or else to this folder.
        start = Path.cwd()
        folders = (folder for folder in (start, *start.parents) if (folder / ".git").exists())
        checkout = [f"{next(folders, start).as_posix().rstrip('/')}/"]
        # A relative base is ignored: Android Lint calls the folder of a module %SRCROOT%
        # (https://github.com/github/codeql-action/issues/2215).
        paths = (path_of(_text(self.bases, name, "uri"), checkout) for name in _CHECKOUT)
        bases = [f"{path.rstrip('/')}/" for path in paths if _ABSOLUTE.match(path)]
        self.roots = [*checkout, *bases]

    def report(self, source: str) -> RawReport:
        """Return the report of the run.

        Raises:
            ToolOutputError: The results are in another file, or the tool failed and found nothing.
        """
        if _object(self.run, "externalPropertyFileReferences").get("results"):
            raise ToolOutputError(source, "its results are in another file, which is not read")
        invocations = _objects(self.run, "invocations")
        notes = [
            note
            for invocation in invocations
            for kind in ("toolExecutionNotifications", "toolConfigurationNotifications")
            for note in _objects(invocation, kind)
        ]
        # PMD's notifications about unread files have an exception and no level (`addRunTimeError`
        # of its class `SarifLogBuilder`), so by section 3.58.6 they would be mere warnings.
        errors = [note for note in notes if note.get("level") == "error" or "exception" in note]
        findings = tuple(self._findings())
        unparsed = tuple(
            dict.fromkeys(path for note in errors if (path := self._location(note)[0]))
        )
        failed = any(invocation.get("executionSuccessful") is False for invocation in invocations)
        # Without an error, a tool that failed would look like a tool that found nothing.
        if failed and not findings and not unparsed:
            texts = (shorten(_message(note, {})) for note in notes)
            reason = next((f": {sentence}" for sentence in texts if sentence), "")
            raise ToolOutputError(source, f"it says that the tool failed{reason}")
        return RawReport(
            tool=_text(self.driver, "name") or None,
            version=_text(self.driver, "semanticVersion") or _text(self.driver, "version") or None,
            findings=findings,
            unparsed=unparsed,
        )

    def _findings(self) -> Iterator[RawFinding]:
        """Yield the findings among the results of the run."""
        for result in _objects(self.run, "results"):
            baseline = _text(result, "baselineState") or None
            # Sections 3.27.9 (`kind`) and 3.27.24 (`baselineState`).
            if not result or _text(result, "kind") in _NO_FINDING or baseline == "absent":
                continue
            # `ruleIndex` is ignored, because some tools write an index that contradicts the id.
            rule_id = _text(result, "ruleId") or _text(result, "rule", "id")
            name = rule_id[:_MAX_RULE]
            while name and name not in self.rules:  # `CA5350/md5` is part of `CA5350`
                name = name.rpartition("/")[0]
            rule = self.rules.get(name, {})
            path, line, end = self._location(result)
            yield RawFinding(
                path=path,
                rule=rule_id,
                message=_message(result, rule),
                line=line,
                end_line=end,
                level=_level(result, rule),
                suppressed=_is_suppressed(result),
                baseline=baseline,
            )

    def _location(self, result: Json) -> tuple[str, int, int]:
        """Return path, first line and last line of the first location with a file.

        If no location has a file, the lines are 0 and the path is that of the analyzed file or "".
        """
        for location in _objects(result, "locations"):
            physical = _object(location, "physicalLocation")
            path = self._path(_object(physical, "artifactLocation"))
            if path:
                region = _object(physical, "region")
                line = _read_count(region.get("startLine"), MAX_LINE) or 0
                end = _read_count(region.get("endLine"), MAX_LINE) or 0
                return path, line, max(line, end if line else 0)
        return self._path(_object(result, "analysisTarget")), 0, 0

    def _path(self, location: Json) -> str:
        """Return the path of a location, relative to the root of the checkout if it is known."""
        index = _read_count(location.get("index"), len(self.artifacts) - 1)
        if not _text(location, "uri") and index is not None:
            location = _object(self.artifacts[index], "location")
        uri, name = _text(location, "uri"), _text(location, "uriBaseId")
        for _ in range(_MAX_NESTED_BASES):  # bases may refer to each other
            base = _text(self.bases, name, "uri").strip()
            if not uri or not base or _ABSOLUTE.match(uri):
                break
            uri = f"{base[:_MAX_PATH].rstrip('/')}/{uri}"
            name = _text(self.bases, name, "uriBaseId")
        return path_of(uri, self.roots)


def _message(result: Json, rule: Json) -> str:
    """Return a result's message or, if it has none, its rule's description, with links resolved."""
    message = _object(result, "message")
    by_id = _text(rule, "messageStrings", _text(message, "id"), "text")
    text = _text(message, "text") or by_id or _text(message, "markdown")
    arguments = message.get("arguments")
    # If there are no arguments, braces are kept, because few tools double them as required.
    if isinstance(arguments, list) and arguments:
        texts = [value[:_MAX_ARGUMENT] if isinstance(value, str) else "" for value in arguments]

        def fill(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0][0]
            return texts[int(match[1])] if int(match[1]) < len(texts) else match[0]

        # Section 3.11.5 describes placeholders.
        text = _PLACEHOLDER.sub(fill, text[:_MAX_MESSAGE])
    if not text.strip():
        descriptions = (
            _text(rule, *keys)
            for keys in (("shortDescription", "text"), ("fullDescription", "text"), ("name",))
        )
        text = next(filter(str.strip, descriptions), "")
    return resolve_links(text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…")


def _level(result: Json, rule: Json) -> Severity:
    names = (_text(owner, "level") for owner in (result, _object(rule, "defaultConfiguration")))
    levels = (_LEVELS.get(name.lower()) for name in names)
    # `warning` is the default of section 3.27.10.
    return next(filter(None, levels), Severity.WARNING)


def _is_suppressed(result: Json) -> bool:
    """Return whether a result is suppressed, as sections 3.27.23 and 3.35 define it.

    At least one suppression is accepted or has no status, and none is under review or rejected.
    """
    suppressions = _objects(result, "suppressions")
    states = {_text(suppression, "status") or "accepted" for suppression in suppressions}
    return "accepted" in states and not {"underReview", "rejected"} & states


def _object(owner: Json, *keys: str) -> Json:
    for key in keys:
        value = owner.get(key)
        owner = value if isinstance(value, dict) else {}
    return owner


def _objects(owner: Json, key: str) -> list[Json]:
    """Return the objects of a list; an invalid entry becomes {}, so that indices stay right."""
    value = owner.get(key)
    items = value if isinstance(value, list) else []
    return [item if isinstance(item, dict) else {} for item in items]


def _text(owner: Json, *keys: str) -> str:
    value = _object(owner, *keys[:-1]).get(keys[-1])
    return value if isinstance(value, str) else ""


def _read_count(value: object, maximum: int) -> int | None:
    """Return a value that is an integer from 0 to `maximum`; None for any other value."""
    # `isinstance` would accept True.
    return value if type(value) is int and 0 <= value <= maximum else None


def path_of(uri: str, roots: Sequence[str] = ()) -> str:
    """Return the path of a file, relative to the root of the checkout if it is known.

    Args:
        uri: URI or path as a tool wrote it.
        roots: Roots of the checkout, each with a slash at the end. The usual workspaces of CI
            systems are known without them.

    Returns:
        The path without `.` and `..`. An absolute path stays absolute if its checkout is unknown.
        The result is "" for an empty or too long path and for a URI of another scheme than `file`.

    Example:
        >>> path_of("file:///home/runner/work/shop/shop/src/a%20b.py")
        'src/a b.py'
        >>> path_of("/srv/shop/src/a.py"), path_of("/tmp/shop/src/a.py", ["/tmp/shop/"])
        ('/srv/shop/src/a.py', 'src/a.py')
    """
    path = uri.strip()
    scheme = _SCHEME.match(path)
    if scheme:
        # In `file://host/share`, the host is no part of the path; `file:///a` and `file:/a` have no
        # host.
        location = re.split(r"[?#]", path[scheme.end() :], maxsplit=1)[0]
        path = re.sub(r"^//[^/]*(?=/)", "", location) if scheme[1].lower() == "file" else ""
    if not path or len(path) > _MAX_PATH:
        return ""
    path = posixpath.normpath(unquote(path, errors="replace").replace("\\", "/"))
    path = re.sub(r"^/(?=[A-Za-z]:/)", "", path)  # `file:///D:/a`
    for root in roots:
        if path.startswith(root):
            return path[len(root) :]
    # The slash is added for a path that is the workspace itself.
    return strip_workspace(f"{path}/").rstrip("/") if _ABSOLUTE.match(path) else path


def find_runs(reports: Sequence[RawReport], diff: Diff) -> tuple[Analysis, ...]:
    """Return the findings from SARIF files that are in the files of a change.

    Args:
        reports: Runs of the SARIF files.
        diff: The change.

    Returns:
        The analysis of each run, in order. Suppressed findings are left out, and a note counts the
        findings in other files.
    """
    by_path = {file.path: file for file in diff.files}
    analyses: list[Analysis] = []
    for report in reports:
        name = _UNSAFE.sub("_", report.tool or "sarif")[:MAX_NAME]
        findings: dict[str, list[Finding]] = {}
        unread = by_path.keys() & set(report.unparsed)
        outside_count = 0
        for raw in report.findings:
            if raw.path not in by_path:
                outside_count += 1
            elif _UNREAD.fullmatch(raw.rule):
                unread.add(raw.path)
            elif not raw.suppressed and raw.message.strip():
                finding = Finding(
                    tool=name,
                    rule=raw.rule,
                    path=raw.path,
                    line=raw.line,
                    end_line=raw.end_line,
                    message=raw.message,
                    text=shorten(raw.message),
                    severity=_LEVELS.get(raw.level or "", Severity.WARNING),
                    pre_existing=raw.baseline == "unchanged",
                )
                findings.setdefault(raw.path, []).append(finding)
        # The version includes a hash of the content, because findings of a version may differ.
        digest = hashlib.sha256(msgspec.json.encode(report)).hexdigest()[:8]
        version = _UNSAFE.sub("_", report.version or "")[:MAX_NAME]
        run = ToolRun(
            tool=name,
            version=f"{version}-{digest}" if version else digest,
            state=ToolState.RAN,
            files=len(findings),
            unread=tuple(sorted(unread)),
        )
        marked = tuple(
            finding
            for path, file_findings in findings.items()
            for finding in change.classify_findings(by_path[path], file_findings, None)
        )
        note = f"{name}: findings in files outside of the change: {outside_count:,}."
        notes = (note,) if outside_count else ()
        analyses.append(Analysis(findings=marked, tools=(run,), notes=notes))
    return tuple(analyses)
