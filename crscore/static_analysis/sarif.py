"""Reads SARIF 2.1.0: what a tool prints, or what a tool of a team's CI left in a file.

Nothing in it is trusted. A null, or a line or index that is no whole number, counts as absent;
any other value of the wrong type is a `ToolOutputError` that names its key. Tried with the
output of ruff 0.17, PMD 7.28 and oxlint 1.94, and with the habits of CodeQL (rules of
extensions, embedded links), semgrep (`suppressions`), ESLint and PMD (files that could not be
read stand in notifications).

Source:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, sections 3.4
    (locations of artifacts), 3.11 (messages), 3.27 (results), 3.52 (looking up rules) and 3.58
    (notifications). Beyond it: `security-severity`, as GitHub reads it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from crscore.errors import ToolOutputError
from crscore.static_analysis.reports import RawFinding, RawReport, replace_surrogates
from crscore.static_analysis.sarif_format import VERSION, Log, Rule
from crscore.static_analysis.wording import resolve_links, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crscore.static_analysis.sarif_format import (
        ArtifactLocation,
        Component,
        Invocation,
        Location,
        Reference,
        Result,
        Run,
    )

MOST_RESULTS: Final = 25_000
"""Results that GitHub takes in a run, and that we take in a file."""
MAX_LINE: Final = 10_000_000
"""A larger line number is no line number."""
HIGH: Final = 7.0
"""The `security-severity`, from 0 to 10, that makes an error."""
MEDIUM: Final = 4.0
"""The `security-severity` that makes a warning."""

_LEVELS: Final = ("note", "warning", "error")
# A tool that says it looked and found nothing, or could not decide, found nothing. `review` is
# for what a person should look at, so it stays, as a note: severity is not defined for it.
_NO_FINDING: Final = frozenset({"pass", "open", "informational", "notApplicable"})
_PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|\{(\d{1,3})\}")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]")
_MAX_NESTED_BASES: Final = 10
_MAX_LEVELS: Final = 5
_MAX_EXTENSIONS: Final = 100


def read_sarif(
    content: bytes, *, source: str, most_results: int = MOST_RESULTS
) -> tuple[RawReport, ...]:
    """Read a SARIF file.

    Args:
        content: UTF-8, with or without a byte order mark, or UTF-16 or UTF-32.
        source: Where it came from, for errors: a tool's name or a path.
        most_results: Results of all runs together that are let through.

    Returns:
        One report a run, in the file's order. Left out are results that are no finding by their
        `kind` and those that are gone since the baseline. A finding without a file has the path
        "", a file that the tool could not read stands in `unparsed`.

    Raises:
        ToolOutputError: The content is no SARIF 2.1.0, has too many results, keeps them in
            another file, or says that the tool failed and found nothing.
    """
    runs = _read_log(content, source).runs
    if any(run.external_property_file_references.get("results") for run in runs):
        raise ToolOutputError(source, "its results are in another file, which is not read")
    results = sum(len(run.results or ()) for run in runs)
    if results > most_results:
        raise ToolOutputError(
            source, f"it has {results:,} results and {most_results:,} are the most that is read"
        )
    return tuple(replace_surrogates(_RunReader(run, source).report()) for run in runs)


def _read_log(content: bytes, source: str) -> Log:
    try:
        text = content.decode(json.detect_encoding(content), errors="replace")
        log = json.loads(
            text.removeprefix("\ufeff"),
            parse_constant=lambda _: None,
            object_hook=lambda given: {key: one for key, one in given.items() if one is not None},
        )
    except (ValueError, RecursionError) as exc:
        raise ToolOutputError(source, f"it is no JSON: {exc}") from exc
    version = log.get("version", VERSION) if isinstance(log, dict) else VERSION
    if version != VERSION:
        found = f"version {version!r:.40}"
        raise ToolOutputError(source, f"it has {found} and only SARIF {VERSION} is read")
    try:
        return msgspec.convert(log, Log)
    except msgspec.ValidationError as exc:
        raise ToolOutputError(source, f"it is no SARIF {VERSION}: {exc!s:.200}") from exc


class _Part:
    """The driver or an extension of a tool, its rules by id."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.rules = component.rules
        self.by_id = {rule.id: rule for rule in reversed(self.rules)}


class _FoundRule(NamedTuple):
    """A rule and the part of the tool that defines it."""

    rule: Rule
    part: _Part


class _RunReader:
    """Reads the results of one run, with what they refer to."""

    def __init__(self, run: Run, source: str) -> None:
        self.run, self.source = run, source
        extensions = run.tool.extensions[:_MAX_EXTENSIONS]
        self.parts = [_Part(one) for one in (run.tool.driver, *extensions)]

    def report(self) -> RawReport:
        findings = tuple(self._findings())
        unparsed = tuple(dict.fromkeys(self._unparsed()))
        failed = [one for one in self.run.invocations if one.execution_successful is False]
        if failed and not findings and not unparsed:
            raise ToolOutputError(self.source, f"it says that the tool failed{_why(failed[0])}")
        driver = self.run.tool.driver
        return RawReport(
            tool=driver.name or None,
            version=driver.semantic_version or driver.version or None,
            findings=findings,
            unparsed=unparsed,
        )

    def _findings(self) -> Iterator[RawFinding]:
        for result in self.run.results or ():
            if result.kind in _NO_FINDING or result.baseline_state == "absent":
                continue
            found = self._rule(result)
            path, line, end = self._place(result.locations)
            yield RawFinding(
                path=path or self._path(result.analysis_target),
                rule=result.rule_id or result.rule.id or found.rule.id,
                message=_message(result, found),
                line=line,
                end_line=end,
                level=_level(result, found.rule) if result.kind != "review" else "note",
                suppressed=_suppressed(result),
                baseline=result.baseline_state or None,
            )

    def _rule(self, result: Result) -> _FoundRule:
        """Look up the rule of a result: by its index where the ids agree, else by its id."""
        part = self._part(result.rule.tool_component)
        name = result.rule_id or result.rule.id
        given = result.rule_index if result.rule.index is None else result.rule.index
        index = _whole(given)
        if index is not None and index < len(part.rules):
            rule = part.rules[index]
            if not name or name == rule.id or name.startswith(rule.id + "/"):
                return _FoundRule(rule, part)
        # `CA5350/md5` is a case of the rule `CA5350`.
        for _ in range(_MAX_LEVELS):
            for other in (part, *self.parts):
                if name in other.by_id:
                    return _FoundRule(other.by_id[name], other)
            name = name.rpartition("/")[0]
        return _FoundRule(Rule(), part)

    def _part(self, reference: Reference | None) -> _Part:
        """Find the part of the tool that defines a result's rule: the driver by default."""
        if reference is None:
            return self.parts[0]
        extensions = self.parts[1:]
        index = _whole(reference.index)
        if index is not None and index < len(extensions):
            return extensions[index]
        for key in ("guid", "name"):
            name = getattr(reference, key)
            for part in extensions:
                if name and getattr(part.component, key) == name:
                    return part
        return self.parts[0]

    def _place(self, locations: tuple[Location, ...]) -> tuple[str, int, int]:
        """Take the first location that names a file: path, first line and last line."""
        for location in locations:
            physical = location.physical_location
            path = self._path(physical.artifact_location)
            if path:
                line = _line(physical.region.start_line)
                end = _line(physical.region.end_line) if line else 0
                return path, line, max(line, end)
        return "", 0, 0

    def _path(self, location: ArtifactLocation) -> str:
        index = _whole(location.index)
        if not location.uri and index is not None and index < len(self.run.artifacts):
            location = self.run.artifacts[index].location
        uri = location.uri
        # Relative bases belong to the path; an absolute one says only where the checkout lay.
        for _ in range(_MAX_NESTED_BASES):
            base = self.run.original_uri_base_ids.get(location.uri_base_id)
            if not uri or _ABSOLUTE.match(uri) or base is None:
                break
            location, start = base, base.uri.strip()
            if not start or _ABSOLUTE.match(start):
                break
            uri = f"{start.rstrip('/')}/{uri}"
        return uri

    def _unparsed(self) -> Iterator[str]:
        """Find the files that the tool says it could not read.

        PMD gives such notifications no level, only the exception.
        """
        for invocation in self.run.invocations:
            for note in invocation.notifications:
                if note.level == "error" or note.exception is not None:
                    yield from filter(None, [self._place(note.locations)[0]])


def _why(invocation: Invocation) -> str:
    messages = [note.message.text for note in invocation.notifications]
    sentences = map(shorten, (*messages, invocation.exit_code_description))
    return next((f": {sentence}" for sentence in sentences if sentence), "")


def _message(result: Result, found: _FoundRule) -> str:
    """Find a result's words; those of its rule where it has none of its own."""
    rule, message = found.rule, result.message
    text = message.text
    if not text and message.id:
        own, general = rule.message_strings, found.part.component.global_message_strings
        named = own.get(message.id) or general.get(message.id) or message
        text = named.text or named.markdown
    text = text or message.markdown
    if message.arguments:
        text = _fill(text, [one if isinstance(one, str) else "" for one in message.arguments])
    if not text.strip():
        words = (rule.short_description.text, rule.full_description.text, rule.name)
        text = next((one for one in words if one.strip()), "")
    return resolve_links(text)


def _fill(text: str, arguments: list[str]) -> str:
    def fill(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        at = int(found[1])
        return arguments[at] if at < len(arguments) else found[0]

    return _PLACEHOLDER.sub(fill, text)


def _level(result: Result, rule: Rule) -> str:
    level = _known_level(result.level) or _known_level(rule.default_configuration.level)
    severity = _security(result.properties)
    severity = _security(rule.properties) if severity is None else severity
    least = 0
    if severity is not None:
        least = (severity >= MEDIUM) + (severity >= HIGH)
    return _LEVELS[max(_LEVELS.index(level or "warning"), least)]


def _known_level(level: str) -> str:
    # Some tools write `none` for their least severity, though it means that there is none.
    level = "note" if level.lower() == "none" else level.lower()
    return level if level in _LEVELS else ""


def _security(properties: Mapping[str, Any]) -> float | None:
    """Read `security-severity`, a number from 0 to 10 that is written as a text."""
    value = properties.get("security-severity")
    if isinstance(value, str) and re.fullmatch(r"\d{1,2}(?:\.\d{1,6})?", value):
        return float(value)
    return float(value) if isinstance(value, int | float) and 0 <= value <= 10 else None


def _suppressed(result: Result) -> bool:
    """Return whether somebody silenced a result and nobody objected.

    As the makers of the format decide it: one suppression that is accepted or says nothing, and
    none that is under review or was rejected.
    """
    states = {one.status or "accepted" for one in result.suppressions}
    return "accepted" in states and not {"underReview", "rejected"} & states


def _whole(value: object) -> int | None:
    """Read a whole number from 0, also one written as a text or with a fraction of 0."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value >= 0 else None


def _line(value: object) -> int:
    line = _whole(value)
    return line if line is not None and line <= MAX_LINE else 0
