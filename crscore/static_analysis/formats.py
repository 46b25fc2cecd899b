"""Parsers of tool output: checkstyle's XML, JSON through jmespath, CSV; SARIF in `sarif`.

Output comes from tools that read hostile code, so nothing in it is trusted: a value of the wrong
type is a `ToolOutputError`, and XML goes through defusedxml.
"""

import csv
import io
import json
from typing import Any

from crscore.errors import ToolOutputError
from crscore.static_analysis import sarif
from crscore.static_analysis.analyzer import CsvOutput, JsonOutput, Output
from crscore.static_analysis.reports import RawFinding, RawReport, replace_surrogates

MAX_FINDINGS = 25_000
"""Maximum findings of one process; more are an error, as leaving some out would hide them."""


def read_report(content: bytes, output: Output, *, tool: str) -> RawReport:
    """Parse the output of a tool.

    Args:
        content: Standard output of the tool.
        output: Description of the format in the manifest.
        tool: The tool's name, for errors.

    Returns:
        The report, in output order.

    Raises:
        ToolOutputError: The content has another format, or too many findings.
    """
    if output.json:
        report = _json(content, output.json, tool)
    elif output.csv:
        report = _csv(content, output.csv, tool)
    elif output.format == "checkstyle":
        report = _checkstyle(content, tool)
    else:
        runs = sarif.read_sarif(content, source=tool)
        report = RawReport(
            findings=tuple(finding for run in runs for finding in run.findings),
            unparsed=tuple(path for run in runs for path in run.unparsed),
        )
    if len(report.findings) > MAX_FINDINGS:
        raise ToolOutputError(tool, f"it has more than {MAX_FINDINGS:,} findings")
    # Only SARIF allows a finding that is about no file.
    if output.format != "sarif" and not all(finding.path for finding in report.findings):
        raise ToolOutputError(tool, "a finding names no file")
    return report


def _checkstyle(content: bytes, tool: str) -> RawReport:
    # Entities of untrusted XML can take gigabytes or read files:
    # https://docs.python.org/3/library/xml.html#xml-security
    from xml.etree.ElementTree import ParseError  # noqa: PLC0415 - only the error class

    from defusedxml import ElementTree  # noqa: PLC0415
    from defusedxml.common import DefusedXmlException  # noqa: PLC0415

    try:
        root = ElementTree.fromstring(content)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as exc:
        raise ToolOutputError(tool, f"it is not valid or allowed XML: {exc!r}") from exc
    findings: list[RawFinding] = []
    for file in root.iter("file"):
        for error in file.iter("error"):
            line = _whole(error.get("line", "0"), tool)
            findings.append(
                RawFinding(
                    path=file.get("name", ""),
                    rule=error.get("source", ""),
                    message=error.get("message", ""),
                    line=line,
                    end_line=line,
                    level=error.get("severity"),
                )
            )
    return RawReport(findings=tuple(findings))


def _json(content: bytes, shape: JsonOutput, tool: str) -> RawReport:
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
    for group in [root] if shape.groups is None else _required(search(shape.groups, root), tool):
        for item in _required(search(shape.findings, group), tool):
            line = _whole(search(shape.line, item), tool)
            end = _whole(search(shape.end_line, item), tool) if shape.end_line else line
            level = search(shape.severity, item) if shape.severity else None
            finding = RawFinding(
                path=_text(search(shape.path, item if shape.groups is None else group), tool),
                rule=_text(search(shape.rule, item), tool),
                message=_text(search(shape.message, item), tool),
                line=line,
                end_line=max(line, end),
                level=None if level is None else str(level),
            )
            findings.append(finding)
    unparsed = _list(search(shape.unparsed, root), tool) if shape.unparsed else []
    paths = tuple(_text(path, tool) for path in unparsed)
    return replace_surrogates(RawReport(findings=tuple(findings), unparsed=paths))


# For lizard, whose checkstyle XML lacks the last line of a function
# (https://github.com/terryyin/lizard/blob/master/lizard_ext/checkstyleoutput.py): a change in the
# middle of a long function would not be on a line of its finding.
def _csv(content: bytes, shape: CsvOutput, tool: str) -> RawReport:
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
        line = _whole(row[shape.line], tool)
        for rule, (column, limit) in shape.measures.items():
            value = _whole(row[column], tool)
            if value > limit:
                finding = RawFinding(
                    path=row[shape.path],
                    rule=rule,
                    message=f"{row[shape.name]}: {value} > {limit}",
                    line=line,
                    end_line=max(line, _whole(row[shape.end_line], tool)),
                )
                findings.append(finding)
    return RawReport(findings=tuple(findings))


def _required(value: Any, tool: str) -> list[Any]:
    """Return a list that must be there, even if empty: without it, the code is not known clean."""
    if value is None:
        raise ToolOutputError(tool, "it has no list of findings")
    return _list(value, tool)


def _list(value: Any, tool: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ToolOutputError(tool, f"a list was expected, not {str(value)[:80]!r}")
    return value


def _text(value: Any, tool: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int):
        raise ToolOutputError(tool, f"a string was expected, not {str(value)[:80]!r}")
    return str(value)


def _whole(value: Any, tool: str) -> int:
    """Read a line number or a measure; an unknown one counts as 0.

    Raises:
        ToolOutputError: The value is not a non-negative integer.
    """
    if value is None or value == "":
        return 0
    try:
        number = int(value) if isinstance(value, str | int) else -1
    except ValueError:
        number = -1
    # JSON's `true` is a whole number to Python.
    if number < 0 or isinstance(value, bool):
        raise ToolOutputError(tool, f"a line number was expected, not {str(value)[:80]!r}")
    return number
