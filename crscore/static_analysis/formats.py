"""Parses the output of tools: XML of checkstyle, JSON, CSV and, with `sarif`, SARIF.

The output is not trusted, because it comes from tools that read hostile code: a value of the wrong
type raises `ToolOutputError`, and XML is parsed by defusedxml.
"""

import csv
import io
import json
from typing import Any

import msgspec
from msgspec.structs import replace

from crscore.errors import ToolOutputError
from crscore.static_analysis import sarif
from crscore.static_analysis.analyzer import CsvOutput, JsonOutput, Output
from crscore.static_analysis.reports import RawFinding, RawReport, replace_surrogates
from crscore.static_analysis.wording import resolve_links

MAX_FINDINGS = 25_000
"""Maximum findings of one process; more are an error, because a cut list would hide defects."""
# `int` raises ValueError for more than 4,300 digits
# (https://github.com/python/cpython/issues/95778).
_MAX_DIGITS = 9


def read_report(content: bytes, output: Output, *, tool: str) -> RawReport:
    """Parse the output of a tool.

    Args:
        content: Standard output of the tool.
        output: Description of the format, from the manifest.
        tool: Name of the tool, for errors.

    Returns:
        The report, in the order of the output.

    Raises:
        ToolOutputError: The content has another format or too many findings, or it is not SARIF and
            a finding names no file.
    """
    if output.json:
        report = _parse_json(content, output.json, tool)
    elif output.csv:
        report = _parse_csv(content, output.csv, tool)
    elif output.format == "checkstyle":
        report = _parse_checkstyle(content, tool)
    else:
        runs = sarif.read_sarif(content, source=tool)
        report = RawReport(
            findings=tuple(finding for run in runs for finding in run.findings),
            unparsed=tuple(path for run in runs for path in run.unparsed),
        )
    if len(report.findings) > MAX_FINDINGS:
        raise ToolOutputError(tool, f"it has more than {MAX_FINDINGS:,} findings")
    # Only in SARIF, a finding may be about no file.
    if output.format != "sarif" and not all(finding.path for finding in report.findings):
        raise ToolOutputError(tool, "a finding names no file")
    return report


def _parse_checkstyle(content: bytes, tool: str) -> RawReport:
    """Parse XML in the format of checkstyle."""
    # Entities in untrusted XML can expand to gigabytes or read files:
    # https://docs.python.org/3/library/xml.html#xml-security
    from xml.etree.ElementTree import ParseError  # noqa: PLC0415 - only the error

    from defusedxml import ElementTree  # noqa: PLC0415
    from defusedxml.common import DefusedXmlException  # noqa: PLC0415

    try:
        root = ElementTree.fromstring(content)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as exc:
        raise ToolOutputError(tool, f"it is not valid or allowed XML: {exc!r}") from exc
    findings = [
        _make_finding(
            tool,
            path=file.get("name"),
            rule=error.get("source"),
            message=error.get("message"),
            line=error.get("line"),
            level=error.get("severity"),
        )
        for file in root.iter("file")
        for error in file.iter("error")
    ]
    return RawReport(findings=tuple(findings))


def _parse_json(content: bytes, shape: JsonOutput, tool: str) -> RawReport:
    """Parse JSON with the expressions in `[output.json]` of the manifest."""
    import jmespath  # noqa: PLC0415
    from jmespath.exceptions import JMESPathError  # noqa: PLC0415

    def search(expression: str, value: Any) -> Any:
        try:
            return jmespath.search(expression, value)
        except JMESPathError as exc:
            raise ToolOutputError(tool, f"{expression} cannot be applied to it: {exc}") from exc

    try:
        root = json.loads(content)
    except (ValueError, RecursionError) as exc:
        raise ToolOutputError(tool, f"it is not JSON: {exc}") from exc
    findings: list[RawFinding] = []
    for group in [root] if shape.groups is None else _as_list(search(shape.groups, root), tool):
        for item in _as_list(search(shape.findings, group), tool):
            level = search(shape.severity, item) if shape.severity else None
            finding = _make_finding(
                tool,
                path=search(shape.path, item if shape.groups is None else group),
                rule=search(shape.rule, item),
                message=search(shape.message, item),
                line=search(shape.line, item),
                end_line=search(shape.end_line, item) if shape.end_line else None,
                level=None if level is None else str(level),
            )
            findings.append(finding)
    unparsed = search(shape.unparsed, root) if shape.unparsed else None
    try:
        paths = msgspec.convert(() if unparsed is None else unparsed, tuple[str, ...])
    except msgspec.ValidationError as exc:
        raise ToolOutputError(tool, f"its list of unparsed files: {exc}") from exc
    return replace_surrogates(RawReport(findings=tuple(findings), unparsed=paths))


# lizard needs CSV, because its checkstyle XML lacks the last line of a function
# (https://github.com/terryyin/lizard/blob/master/lizard_ext/checkstyleoutput.py). Without the last
# line, a finding about a long function would not be on the changed lines in its middle.
def _parse_csv(content: bytes, shape: CsvOutput, tool: str) -> RawReport:
    """Parse CSV with the columns and limits in `[output.csv]` of the manifest."""
    columns = [shape.path, shape.line, shape.end_line, shape.name]
    columns += [column for column, _ in shape.measures.values()]
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8", errors="replace"))))
    except csv.Error as exc:
        raise ToolOutputError(tool, f"it is not CSV: {exc}") from exc
    findings: list[RawFinding] = []
    for row in filter(None, rows):
        if len(row) <= max(columns):
            raise ToolOutputError(tool, f"a row has {len(row)} columns: {','.join(row)[:80]!r}")
        for rule, (column, limit) in shape.measures.items():
            value = row[column]
            if not value.isdecimal() or len(value) > _MAX_DIGITS:
                raise ToolOutputError(tool, f"a number was expected, not {value[:80]!r}")
            if int(value) > limit:
                finding = _make_finding(
                    tool,
                    path=row[shape.path],
                    rule=rule,
                    message=f"{row[shape.name]}: {value} > {limit}",
                    line=row[shape.line],
                    end_line=row[shape.end_line],
                )
                findings.append(finding)
    return RawReport(findings=tuple(findings))


def _as_list(value: Any, tool: str) -> list[Any]:
    """Return a list of findings; a missing list is an error, because it does not mean clean code.

    Raises:
        ToolOutputError: The value is not a list.
    """
    if not isinstance(value, list):
        raise ToolOutputError(tool, f"it has no list of findings, but {str(value)[:80]!r}")
    return value


def _make_finding(tool: str, **values: Any) -> RawFinding:
    """Check the values of a finding and resolve the links in its message.

    For a missing value, the default of `RawFinding` is used.

    Raises:
        ToolOutputError: A value has another type, or a line number is negative.
    """
    present = {name: value for name, value in values.items() if value not in (None, "")}
    try:
        finding = msgspec.convert(present, RawFinding, strict=False)
    except msgspec.ValidationError as exc:
        raise ToolOutputError(tool, f"a finding: {exc}") from exc
    message, end = resolve_links(finding.message), max(finding.line, finding.end_line)
    return replace(finding, message=message, end_line=end)
