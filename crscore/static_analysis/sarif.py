"""Reader of SARIF 2.1.0, from a tool's output or from a file of a team's CI.

Nothing in it is trusted. A value of the wrong type counts as absent, and a result that is not an
object is counted and dropped. Tested with the output of ruff 0.17, PMD 7.28 and oxlint 1.94, and
with the conventions of CodeQL (rules of extensions, embedded links), semgrep (`suppressions`),
ESLint and PMD (files that could not be read are in notifications).

Source:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, sections 3.4
    (locations of artifacts), 3.11 (messages), 3.27 (results), 3.52 (looking up rules) and 3.58
    (notifications). Beyond it: `security-severity`, as GitHub reads it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from crscore.errors import ToolOutputError
from crscore.static_analysis.reports import RawFinding, RawReport, replace_surrogates
from crscore.static_analysis.wording import resolve_links, shorten

VERSION: Final = "2.1.0"
MAX_RESULTS: Final = 25_000
"""Maximum results of all runs in a file; GitHub's limit for a run."""
MAX_LINE: Final = 10_000_000
"""Largest valid line number."""
HIGH: Final = 7.0
"""Minimum `security-severity` (0 to 10) of an error."""
MEDIUM: Final = 4.0
"""Minimum `security-severity` of a warning."""

_LEVELS: Final = ("note", "warning", "error")
# Results that report success or no decision are not findings. `review` marks results for a person
# to look at, so they are kept, as notes: they have no defined severity.
_NO_FINDING: Final = frozenset({"pass", "open", "informational", "notApplicable"})
_PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|\{(\d{1,3})\}")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]")
# Names that tools give the base of the checkout; %SRCROOT% is the specification's.
_CHECKOUT: Final = frozenset({"%SRCROOT%", "SRCROOT", "PROJECTROOT", "ROOTPATH"})
# /home/runner/work/shop/shop, D:/a/shop/shop and, in a container, /__w/shop/shop, /github/workspace
WORKSPACE: Final = re.compile(
    r"(?:(?:/(?:home|Users)/runner/work|/__w|[A-Za-z]:/a)/([^/]+)/\1|/github/workspace)/"
)
"""Root of a checkout on GitHub's runners."""
_MAX_MESSAGE: Final = 10_000
_MAX_ARGUMENT: Final = 1_000
_MAX_NESTED_BASES: Final = 10
_MAX_LEVELS: Final = 5
# Longest path on Linux. Many results can share one long base, and each would have its own copy.
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
    try:
        text = content.decode(json.detect_encoding(content), errors="replace")
        log = json.loads(text.removeprefix("\ufeff"), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as exc:
        raise ToolOutputError(source, f"it is not JSON: {exc}") from exc
    if not isinstance(log, dict) or not isinstance(log.get("runs"), list):
        raise ToolOutputError(source, "it is not SARIF: it has no list of runs")
    if log.get("version") != VERSION:
        problem = f"version {log['version']!r:.40}" if "version" in log else "no version"
        raise ToolOutputError(source, f"it has {problem} and only SARIF {VERSION} is read")
    runs = _objects(log, "runs")
    results = sum(len(_objects(run, "results")) for run in runs)
    if results > MAX_RESULTS:
        raise ToolOutputError(
            source, f"it has {results:,} results and {MAX_RESULTS:,} is the maximum"
        )
    return tuple(replace_surrogates(_RunReader(run).report(source)) for run in runs)


class _RunReader:
    """Run with the rules, texts and locations that its results refer to."""

    def __init__(self, run: Json) -> None:
        self.run = run
        self.driver = _object(run, "tool", "driver")
        components = [self.driver, *_objects(_object(run, "tool"), "extensions")]
        self.rules = [_objects(component, "rules") for component in components]
        self.rules_by_id: dict[str, Json] = {}
        self.strings: Json = {}
        for component, rules in zip(components, self.rules, strict=True):
            for rule in rules:
                self.rules_by_id.setdefault(_text(rule, "id"), rule)
            self.strings = _object(component, "globalMessageStrings") | self.strings
        self.bases = _object(run, "originalUriBaseIds")
        uris = {
            name: f"{uri.rstrip('/')}/"
            for name in sorted(_CHECKOUT)
            if (uri := _text(self.bases, name, "uri"))
        }
        # Android Lint calls the folder of a module %SRCROOT%:
        # https://github.com/github/codeql-action/issues/2215
        self.folders = {
            name: uri[root.end() :] for name, uri in uris.items() if (root := WORKSPACE.search(uri))
        }
        self.roots = [
            uri for name, uri in uris.items() if _ABSOLUTE.match(uri) and not self.folders.get(name)
        ]
        self.artifacts = _objects(run, "artifacts")

    def report(self, source: str) -> RawReport:
        """Read the run.

        Raises:
            ToolOutputError: Its results are elsewhere, or its tool failed and found nothing.
        """
        if _object(self.run, "externalPropertyFileReferences").get("results"):
            raise ToolOutputError(source, "its results are in another file, which is not read")
        findings, unparsed = tuple(self._findings()), tuple(dict.fromkeys(self._unparsed()))
        failed = [
            invocation
            for invocation in _objects(self.run, "invocations")
            if invocation.get("executionSuccessful") is False
        ]
        # Without a result, a failed tool would look like one that found nothing.
        if failed and not findings and not unparsed:
            texts = [_text(note, "message", "text") for note in _notifications(failed[0])]
            reasons = map(shorten, (*texts, _text(failed[0], "exitCodeDescription")))
            reason = next((f": {sentence}" for sentence in reasons if sentence), "")
            raise ToolOutputError(source, f"it says that the tool failed{reason}")
        return RawReport(
            tool=_text(self.driver, "name") or None,
            version=_text(self.driver, "semanticVersion") or _text(self.driver, "version") or None,
            findings=findings,
            unparsed=unparsed,
            invalid=_count_invalid(self.run),
        )

    def _findings(self) -> Iterator[RawFinding]:
        for result in _objects(self.run, "results"):
            kind = _text(result, "kind")
            baseline = _text(result, "baselineState") or None
            if not result or kind in _NO_FINDING or baseline == "absent":
                continue
            rule = self._rule(result)
            path, line, end = self._location(result)
            yield RawFinding(
                path=path,
                rule=_rule_id(result) or _text(rule, "id"),
                message=self._message(result, rule),
                line=line,
                end_line=end,
                level=_level(result, rule) if kind != "review" else "note",
                suppressed=_suppressed(result),
                baseline=baseline,
            )

    def _rule(self, result: Json) -> Json:
        """Look up the rule of a result by its id, or by its index if it has no id."""
        name = _rule_id(result)
        # `CA5350/md5` is a case of the rule `CA5350`.
        for _ in range(_MAX_LEVELS):
            if name in self.rules_by_id:
                return self.rules_by_id[name]
            name = name.rpartition("/")[0]
        reference = _object(result, "rule")
        index = _whole(reference.get("index", result.get("ruleIndex")))
        extension = _whole(_object(reference, "toolComponent").get("index"))
        component = 0 if extension is None else extension + 1
        if _rule_id(result) or index is None or component >= len(self.rules):
            return {}
        rules = self.rules[component]
        return rules[index] if index < len(rules) else {}

    def _message(self, result: Json, rule: Json) -> str:
        """Return a result's message; without one, its rule's description."""
        message = _object(result, "message")
        text = _text(message, "text")
        if not text and message.get("id"):
            name = _text(message, "id")
            strings = _object(rule, "messageStrings", name) or _object(self.strings, name)
            text = _text(strings, "text") or _text(strings, "markdown")
        text = text or _text(message, "markdown")
        arguments = message.get("arguments")
        if isinstance(arguments, list) and arguments:
            texts = [value[:_MAX_ARGUMENT] if isinstance(value, str) else "" for value in arguments]
            text = _filled(text[:_MAX_MESSAGE], texts)
        if not text.strip():
            descriptions = (_text(rule, key, "text") for key in _DESCRIPTIONS)
            text = next((text for text in descriptions if text.strip()), _text(rule, "name"))
        return resolve_links(text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…")

    def _location(self, result: Json) -> tuple[str, int, int]:
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
        """Return the path of a location, relative to the checkout if that is known."""
        index = _whole(location.get("index"))
        if not _text(location, "uri") and index is not None and index < len(self.artifacts):
            location = _object(self.artifacts[index], "location")
        uri = _text(location, "uri")
        for _ in range(_MAX_NESTED_BASES):
            name = _text(location, "uriBaseId")
            if not uri or _ABSOLUTE.match(uri):
                break
            if name in _CHECKOUT:
                uri = f"{self.folders.get(name, '')}{uri}"
                break
            location = _object(self.bases, name)
            base = _text(location, "uri").strip()
            # Checked before the pattern, which reads all of a long base again for each result.
            if len(base) + len(uri) >= _MAX_PATH:
                return ""
            if not base:
                break
            uri = f"{base.rstrip('/')}/{uri}"
        for root in self.roots:
            uri = uri.removeprefix(root)
        return uri if len(uri) <= _MAX_PATH else ""

    def _unparsed(self) -> Iterator[str]:
        """Yield the files that the tool reports as unreadable.

        Notifications of PMD have no level, only an exception.
        """
        for invocation in _objects(self.run, "invocations"):
            for note in _notifications(invocation):
                if _text(note, "level") == "error" or "exception" in note:
                    yield from filter(None, [self._location(note)[0]])


_DESCRIPTIONS: Final = ("shortDescription", "fullDescription")


def _count_invalid(run: Json) -> int:
    """Count the results that are not objects; an invalid run or list counts as one."""
    if not run or not isinstance(run.get("results"), list | None):
        return 1
    return sum(not result for result in _objects(run, "results"))


def _rule_id(result: Json) -> str:
    return _text(result, "ruleId") or _text(result, "rule", "id")


def _notifications(invocation: Json) -> list[Json]:
    configuration = _objects(invocation, "toolConfigurationNotifications")
    return [*_objects(invocation, "toolExecutionNotifications"), *configuration]


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
    # A security rating can raise the tool's level but never lowers it.
    return _LEVELS[max(_LEVELS.index(level or "warning"), min_level)]


def _known_level(owner: Json) -> str:
    level = _text(owner, "level").lower()
    # Some tools write `none` for their lowest severity, though it means "no severity".
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
    """Return a list of objects; an invalid entry becomes {}, because indices refer to positions."""
    value = owner.get(key)
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, dict) else {} for item in value]


def _text(owner: Json, *keys: str) -> str:
    value = _object(owner, *keys[:-1]).get(keys[-1])
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int | None:
    """Return a whole number from 0; None for another value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _line(value: object) -> int:
    line = _whole(value)
    return line if line is not None and line <= MAX_LINE else 0
