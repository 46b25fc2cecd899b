"""Rendering of the documents of `crscore validate`: JSON, text for a terminal, or a web page."""

import json
import re
from typing import Any, Final

import msgspec
from msgspec import Struct

from crscore.reports import escape, layout
from crscore.reports.layout import Report
from crscore_lab.study.measures.comparison import Comparison
from crscore_lab.study.measures.separation import SeparationResult
from crscore_lab.study.report.comparison import comparison_report
from crscore_lab.study.report.separation import separation_report
from crscore_lab.study.report.validation import validation_report
from crscore_lab.study.results import ValidationResult

# `[`, numbers one per line, `]`: a JSON string has no raw line break, so this is not text.
_NUMBERS: Final = re.compile(r"\[\n\s+([-+\d.e]+(?:,\n\s+[-+\d.e]+)*)\n\s+\]")


def render(document: Struct, form: str) -> str:
    """Render a run, a comparison of two, or a run over comments as `json`, `text` or `html`."""
    if form == "json":
        return to_json(document)
    report = _report(document)
    return layout.to_html(report) if form == "html" else layout.to_text(report)


def _report(document: Struct) -> Report:
    match document:
        case ValidationResult():
            return validation_report(document)
        case Comparison():
            return comparison_report(document)
        case SeparationResult():
            return separation_report(document)
    raise TypeError(type(document))


def to_json(document: Struct) -> str:
    r"""Write a document as one JSON object.

    Keys have a fixed order; terminal control characters are written as `\uXXXX`.
    """
    value: Any = msgspec.to_builtins(document)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    text = _NUMBERS.sub(lambda match: f"[{' '.join(match[1].split())}]", text)
    return escape.json_text(text) + "\n"
