"""Parser of SARIF 2.1.0, from a tool's output or from a file of a team's CI.

Nothing in it is trusted. A value of the wrong type counts as absent; an invalid document is a
`ToolOutputError`. Tried with the output of ruff 0.17, PMD 7.28 and oxlint 1.94, and with the
conventions of CodeQL (rules of extensions, embedded links), semgrep (`suppressions`), ESLint and
PMD (files that could not be read are in notifications).

Source:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, sections 3.4
    (locations of artifacts), 3.11 (messages), 3.27 (results), 3.52 (looking up rules) and 3.58
    (notifications). Beyond it: `security-severity`, as GitHub reads it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from crscore.errors import ToolOutputError
from crscore.static_analysis.reports import RawFinding, RawReport, replace_surrogates
from crscore.static_analysis.wording import resolve_links, shorten

VERSION: Final = "2.1.0"
MAX_RESULTS: Final = 25_000
"""Maximum results of all runs in a file; GitHub's limit for a run."""
MAX_LINE: Final = 10_000_000
"""Largest valid line number."""
HIGH: Final = 7.0
"""Minimum `security-severity`, from 0 to 10, of an error."""
MEDIUM: Final = 4.0
"""Minimum `security-severity` of a warning."""

_LEVELS: Final = ("note", "warning", "error")
# A tool that reports that it found nothing, or could not decide, found nothing. `review` marks
# results for a person to look at, so they stay, as notes: they have no defined severity.
_NO_FINDING: Final = frozenset({"pass", "open", "informational", "notApplicable"})
_PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|\{(\d{1,3})\}")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]")
_MAX_MESSAGE: Final = 10_000
_MAX_ARGUMENT: Final = 1_000
_MAX_NESTED_BASES: Final = 10
_MAX_LEVELS: Final = 5
_MAX_EXTENSIONS: Final = 100
_MAX_ROOTS: Final = 100
# Longest path of Linux. Many results can share one long base, and each would have its own copy.
_MAX_PATH: Final = 4_096

Json = dict[str, Any]


def read_sarif(content: bytes, *, source: str) -> tuple[RawReport, ...]:
    """Read a SARIF file.

    Args:
        content: UTF-8, with or without a byte order mark, or UTF-16 or UTF-32.
        source: Origin, for errors: a tool's name or a path.

    Returns:
        One report per run, in file order. Results whose `kind` is not a finding and those absent
        since the baseline are left out. A finding without a file has the path "", a file that the
        tool could not read is in `unparsed`.

    Raises:
        ToolOutputError: The content is not SARIF 2.1.0, has too many results, keeps them in another
            file, or reports that the tool failed and found nothing.
    """
    log = _log(content, source)
    runs = _array(log, "runs", source)
    for run in runs:
        if _object(run, "externalPropertyFileReferences").get("results"):
            raise ToolOutputError(source, "its results are in another file, which is not read")
    results = sum(len(_array(run, "results", source)) for run in runs)
    if results > MAX_RESULTS:
        raise ToolOutputError(
            source, f"it has {results:,} results and {MAX_RESULTS:,} is the maximum"
        )
    return tuple(replace_surrogates(_Run(run, source).report()) for run in runs)


def _log(content: bytes, source: str) -> Json:
    try:
        text = content.decode(json.detect_encoding(content), errors="replace")
        log = json.loads(text.removeprefix("\ufeff"), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as exc:
        raise ToolOutputError(source, f"it is not JSON: {exc}") from exc
    if not isinstance(log, dict):
        raise ToolOutputError(source, "it is not SARIF: it is not a JSON object")
    version = log.get("version")
    if version != VERSION:
        problem = f"version {version!r:.40}" if "version" in log else "no version"
        raise ToolOutputError(source, f"it has {problem} and only SARIF {VERSION} is read")
    if not isinstance(log.get("runs"), list):
        raise ToolOutputError(source, "it has no list of runs")
    return log


def _rule_id(result: Json) -> str:
    return _text(result, "ruleId") or _text(result, "rule", "id")


class _Part:
    """Driver or extension of a tool."""

    def __init__(self, component: Json) -> None:
        self.component = component
        self.rules = _objects(component, "rules")
        # Reversed, so that the first of several rules with one id stays.
        self.by_id = {_text(rule, "id"): rule for rule in reversed(self.rules)}


class _Rule(NamedTuple):
    """Rule with the part of the tool that defines it."""

    rule: Json
    part: _Part


class _Run:
    """Run with the parts that its results refer to."""

    def __init__(self, run: Json, source: str) -> None:
        self.run, self.source = run, source
        self.driver = _object(run, "tool", "driver")
        extensions = _objects(_object(run, "tool"), "extensions")[:_MAX_EXTENSIONS]
        self.parts = [_Part(component) for component in (self.driver, *extensions)]
        self.bases = _object(run, "originalUriBaseIds")
        uris = [_text(self.bases, name, "uri") for name in self.bases]
        self.roots = [f"{uri.rstrip('/')}/" for uri in uris if _ABSOLUTE.match(uri)][:_MAX_ROOTS]
        self.artifacts = _objects(run, "artifacts")

    def report(self) -> RawReport:
        findings = tuple(self._findings())
        unparsed = tuple(dict.fromkeys(self._unparsed()))
        invocations = _objects(self.run, "invocations")
        failed = [run for run in invocations if run.get("executionSuccessful") is False]
        # Without a result, a failed tool would look like one that found nothing.
        if failed and not findings and not unparsed:
            reason = f"it says that the tool failed{_failure_reason(failed[0])}"
            raise ToolOutputError(self.source, reason)
        return RawReport(
            tool=_text(self.driver, "name") or None,
            version=_text(self.driver, "semanticVersion") or _text(self.driver, "version") or None,
            findings=findings,
            unparsed=unparsed,
        )

    def _findings(self) -> Iterator[RawFinding]:
        for result in _array(self.run, "results", self.source):
            kind = _text(result, "kind")
            baseline = _text(result, "baselineState") or None
            if kind in _NO_FINDING or baseline == "absent":
                continue
            rule = self._rule(result)
            path, line, end = self._place(result)
            yield RawFinding(
                path=path,
                rule=_rule_id(result) or _text(rule.rule, "id"),
                message=_message(result, rule),
                line=line,
                end_line=end,
                level=_level(result, rule.rule) if kind != "review" else "note",
                suppressed=_suppressed(result),
                baseline=baseline,
            )

    def _rule(self, result: Json) -> _Rule:
        """Look up the rule of a result: by index where the ids agree, else by id."""
        reference = _object(result, "rule")
        part = self._part(_object(reference, "toolComponent"))
        name = _rule_id(result)
        index = _whole(reference.get("index", result.get("ruleIndex")))
        if index is not None and index < len(part.rules):
            rule = part.rules[index]
            rule_id = _text(rule, "id")
            if not name or name == rule_id or name.startswith(rule_id + "/"):
                return _Rule(rule, part)
        # `CA5350/md5` is a case of the rule `CA5350`.
        for _ in range(_MAX_LEVELS):
            for candidate in (part, *self.parts):
                if name in candidate.by_id:
                    return _Rule(candidate.by_id[name], candidate)
            name = name.rpartition("/")[0]
        return _Rule({}, part)

    def _part(self, reference: Json) -> _Part:
        """Return the part of the tool that defines a result's rule: the driver by default."""
        extensions = self.parts[1:]
        index = _whole(reference.get("index"))
        if index is not None and index < len(extensions):
            return extensions[index]
        name = _text(reference, "name")
        matches = (part for part in extensions if name and _text(part.component, "name") == name)
        return next(matches, self.parts[0])

    def _place(self, result: Json) -> tuple[str, int, int]:
        """Return the first location that names a file: path, first line and last line."""
        for location in _objects(result, "locations"):
            physical = _object(location, "physicalLocation")
            path = self._path(_object(physical, "artifactLocation"))
            if path:
                region = _object(physical, "region")
                line = _line(region.get("startLine"))
                end = _line(region.get("endLine")) if line else 0
                return path, line, max(line, end)
        return self._path(_object(result, "analysisTarget")), 0, 0

    def _path(self, location: Json) -> str:
        index = _whole(location.get("index"))
        if not _text(location, "uri") and index is not None and index < len(self.artifacts):
            location = _object(self.artifacts[index], "location")
        uri = _text(location, "uri")
        if len(uri) > _MAX_PATH:
            return ""
        for base in self.roots:
            uri = uri.removeprefix(base)
        # Relative bases belong to the path; an absolute one is only the location of the checkout.
        for _ in range(_MAX_NESTED_BASES):
            if not uri or _ABSOLUTE.match(uri):
                break
            location = _object(self.bases, _text(location, "uriBaseId"))
            base = _text(location, "uri").strip()
            # Before the search, which reads all of a long base again for each result.
            if len(base) + len(uri) >= _MAX_PATH:
                return ""
            if not base or _ABSOLUTE.match(base):
                break
            uri = f"{base.rstrip('/')}/{uri}"
        return uri

    def _unparsed(self) -> Iterator[str]:
        """Yield the files that the tool reports as unreadable.

        PMD gives such notifications no level, only the exception.
        """
        for invocation in _objects(self.run, "invocations"):
            for note in _notifications(invocation):
                if _text(note, "level") == "error" or "exception" in note:
                    yield from filter(None, [self._place(note)[0]])


def _failure_reason(invocation: Json) -> str:
    messages = [_text(note, "message", "text") for note in _notifications(invocation)]
    sentences = map(shorten, (*messages, _text(invocation, "exitCodeDescription")))
    return next((f": {sentence}" for sentence in sentences if sentence), "")


def _notifications(invocation: Json) -> list[Json]:
    configuration = _objects(invocation, "toolConfigurationNotifications")
    return [*_objects(invocation, "toolExecutionNotifications"), *configuration]


def _message(result: Json, rule: _Rule) -> str:
    """Return a result's message, or its rule's where it has none of its own."""
    message = _object(result, "message")
    text = _text(message, "text")
    if not text and message.get("id"):
        name = _text(message, "id")
        strings = _object(rule.rule, "messageStrings", name)
        strings = strings or _object(rule.part.component, "globalMessageStrings", name)
        text = _text(strings, "text") or _text(strings, "markdown")
    text = text or _text(message, "markdown")
    arguments = message.get("arguments")
    if isinstance(arguments, list) and arguments:
        texts = [value[:_MAX_ARGUMENT] if isinstance(value, str) else "" for value in arguments]
        text = _filled(text[:_MAX_MESSAGE], texts)
    if not text.strip():
        for key in ("shortDescription", "fullDescription"):
            text = text.strip() or _text(rule.rule, key, "text")
        text = text or _text(rule.rule, "name")
    return resolve_links(text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…")


def _filled(text: str, arguments: list[str]) -> str:
    def fill(match: re.Match[str]) -> str:
        if match[1] is None:
            # "{{" and "}}" are escaped braces.
            return match[0][0]
        index = int(match[1])
        return arguments[index] if index < len(arguments) else match[0]

    return _PLACEHOLDER.sub(fill, text)


def _level(result: Json, rule: Json) -> str:
    level = _known_level(result) or _known_level(_object(rule, "defaultConfiguration"))
    severity = _security(result)
    severity = _security(rule) if severity is None else severity
    min_level = 0
    if severity is not None:
        min_level = (severity >= MEDIUM) + (severity >= HIGH)
    # A security rating can raise the tool's level and never lowers it.
    return _LEVELS[max(_LEVELS.index(level or "warning"), min_level)]


def _known_level(owner: Json) -> str:
    level = _text(owner, "level").lower()
    # Some tools write `none` for their lowest severity, though it means that there is none.
    level = "note" if level == "none" else level
    return level if level in _LEVELS else ""


def _security(owner: Json) -> float | None:
    """Read `security-severity`, a number from 0 to 10 written as text."""
    value = _object(owner, "properties").get("security-severity")
    if isinstance(value, str) and re.fullmatch(r"\d{1,2}(?:\.\d{1,6})?", value):
        return float(value)
    return float(value) if isinstance(value, int | float) and 0 <= value <= 10 else None


def _suppressed(result: Json) -> bool:
    """Return whether a result was suppressed without objection.

    As the format defines it: at least one suppression that is accepted or has no status, and none
    that is under review or rejected.
    """
    suppressions = _objects(result, "suppressions")
    states = [_text(suppression, "status") or "accepted" for suppression in suppressions]
    return "accepted" in states and not {"underReview", "rejected"} & set(states)


def _object(owner: Json, *keys: str) -> Json:
    for key in keys:
        value = owner.get(key)
        owner = value if isinstance(value, dict) else {}
    return owner


def _objects(owner: Json, key: str) -> list[Json]:
    """Return a list of objects; invalid entries keep their place, because indices refer to it."""
    value = owner.get(key)
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, dict) else {} for item in value]


def _array(owner: Json, key: str, source: str) -> list[Json]:
    """Return a list of objects that must be valid, absent or null.

    Raises:
        ToolOutputError: The value is something else.
    """
    value = owner.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ToolOutputError(source, f"its {key} are not a list of objects")
    return value


def _text(owner: Json, *keys: str) -> str:
    value = _object(owner, *keys[:-1]).get(keys[-1])
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int | None:
    """Return a whole number from 0; None for another value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _line(value: object) -> int:
    line = _whole(value)
    return line if line is not None and line <= MAX_LINE else 0
