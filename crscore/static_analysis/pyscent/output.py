"""Findings as text, JSON or SARIF 2.1.0."""

from __future__ import annotations

import json
import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import msgspec

from crscore.static_analysis import sarif_format
from crscore.static_analysis.pyscent.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.static_analysis.pyscent.rules import FileReport, Smell

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
UNPARSED: Final = "unparsed"


def text(reports: Sequence[FileReport], version: str) -> str:  # noqa: ARG001 - as the others
    """Render a line a finding: `path:line: level: sentence [rule]`."""
    lines = []
    for report in reports:
        path = report.path if report.path.isprintable() else ascii(report.path)
        if report.unparsed is not None:
            lines.append(f"{path}: not read: {_printable(report.unparsed)}\n")
        for smell in report.smells:
            place = path if smell.line < 1 else f"{path}:{smell.line}"
            lines.append(f"{place}: {smell.level}: {smell.text} [{smell.rule.id}]\n")
    return "".join(lines)


def as_json(reports: Sequence[FileReport], version: str) -> str:
    """Render one object: `version`, `findings`, `unparsed`; a file-level finding has line -1."""
    findings = [
        {
            "path": report.path,
            "line": smell.line,
            "end_line": smell.end_line,
            "rule": smell.rule.id,
            "level": smell.level,
            "measure": smell.measure,
            "limit": smell.rule.limit or None,
            "message": smell.text,
        }
        for report in reports
        for smell in report.smells
    ]
    unparsed = [
        {"path": report.path, "reason": _printable(report.unparsed)}
        for report in reports
        if report.unparsed is not None
    ]
    return _indented({"version": version, "findings": findings, "unparsed": unparsed})


def sarif(reports: Sequence[FileReport], version: str) -> str:
    """Render SARIF; files that could not be read are notifications of the run."""
    rules = tuple(
        _rule(rule.id, rule.title, sarif_format.Configuration(level=rule.level)) for rule in RULES
    )
    unparsed = _rule(UNPARSED, "A file could not be read as Python")
    driver = sarif_format.Component(
        name="pyscent", version=version, rules=rules, notifications=(unparsed,)
    )
    invocation = sarif_format.Invocation(
        execution_successful=True,
        tool_execution_notifications=tuple(
            _notification(report, report.unparsed)
            for report in reports
            if report.unparsed is not None
        ),
    )
    run = sarif_format.Run(
        tool=sarif_format.Tool(driver=driver),
        invocations=(invocation,),
        column_kind="unicodeCodePoints",
        results=tuple(_result(report.path, smell) for report in reports for smell in report.smells),
    )
    log = sarif_format.Log(schema=SCHEMA, version=sarif_format.VERSION, runs=(run,))
    return _indented(msgspec.to_builtins(log))


FORMATS: Final = MappingProxyType({"text": text, "json": as_json, "sarif": sarif})


def _rule(
    name: str,
    title: str,
    configuration: sarif_format.Configuration = sarif_format.NO_CONFIGURATION,
) -> sarif_format.Rule:
    description = sarif_format.Message(text=f"{title}.")
    return sarif_format.Rule(
        id=name, short_description=description, default_configuration=configuration
    )


def _result(path: str, smell: Smell) -> sarif_format.Result:
    # A region cannot say "the whole file".
    region = sarif_format.Region(start_line=smell.line, end_line=smell.end_line)
    return sarif_format.Result(
        rule_id=smell.rule.id,
        rule_index=RULES.index(smell.rule),
        level=smell.level,
        message=sarif_format.Message(text=smell.text),
        locations=_locations(path, region if smell.line >= 1 else sarif_format.NO_REGION),
    )


def _notification(report: FileReport, reason: str) -> sarif_format.Notification:
    return sarif_format.Notification(
        descriptor=sarif_format.Reference(id=UNPARSED, index=0),
        level="error",
        message=sarif_format.Message(text=f"The file is not read: {_printable(reason)}."),
        locations=_locations(report.path, sarif_format.NO_REGION),
    )


def _locations(path: str, region: sarif_format.Region) -> tuple[sarif_format.Location, ...]:
    artifact = sarif_format.ArtifactLocation(uri=quote(os.fsencode(path)))
    physical = sarif_format.PhysicalLocation(artifact_location=artifact, region=region)
    return (sarif_format.Location(physical_location=physical),)


def _printable(reason: str) -> str:
    """Spell out what the code could have smuggled into a message."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in reason)


def _indented(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"
