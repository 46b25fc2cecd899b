"""Findings as SARIF 2.1.0."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from crscore.static_analysis.pyscent.rules import RULES, FileReport, Smell

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
UNPARSED: Final = "unparsed"


def sarif(reports: Sequence[FileReport], version: str) -> str:
    """Render SARIF; files that could not be read are notifications of the run."""
    run = {
        "tool": {"driver": _driver(version)},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    _notification(report) for report in reports if report.unparsed is not None
                ],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_result(report.path, smell) for report in reports for smell in report.smells],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _driver(version: str) -> dict[str, Any]:
    return {
        "name": "pyscent",
        "version": version,
        "rules": [
            {
                "id": rule.id,
                "shortDescription": {"text": f"{rule.title}."},
                "defaultConfiguration": {"level": rule.level},
            }
            for rule in RULES.values()
        ],
        "notifications": [
            {"id": UNPARSED, "shortDescription": {"text": "A file could not be read as Python."}}
        ],
    }


def _result(path: str, smell: Smell) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if smell.line >= 1:  # a region cannot mean "the whole file"
        location["region"] = {"startLine": smell.line, "endLine": smell.end_line}
    return {
        "ruleId": smell.rule.id,
        "ruleIndex": list(RULES).index(smell.rule.id),
        "level": smell.level,
        "message": {"text": smell.text},
        "locations": [{"physicalLocation": location}],
    }


def _notification(report: FileReport) -> dict[str, Any]:
    return {
        "descriptor": {"id": UNPARSED, "index": 0},
        "level": "error",
        "message": {"text": f"The file is not read: {_printable(report.unparsed or '')}."},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(report.path)}}}],
    }


def _uri(path: str) -> str:
    return quote(os.fsencode(path))


def _printable(reason: str) -> str:
    """Escape unprintable characters that the code may have put into a message."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in reason)
