"""Findings as a tool printed them, before they are selected for a change."""

import json
from typing import Annotated

import msgspec

Line = Annotated[int, msgspec.Meta(ge=0)]


class RawFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Finding in a tool's output."""

    path: str = ""
    """File as the tool names it: a path or a URI; "" if missing."""
    rule: str = ""
    """Id of the tool's rule; "" if missing."""
    message: str = ""
    """Message of the tool, with links replaced by their text; may be Markdown or several lines."""
    line: Line = 0
    """Number of the first line, from 1; 0 for the whole file."""
    end_line: Line = 0
    """Number of the last line; at least `line`."""
    level: str | None = None
    """Severity as the tool names it; None if missing."""
    suppressed: bool = False
    """Whether the tool reports that the finding is suppressed."""
    baseline: str | None = None
    """`baselineState` of SARIF (`new`, `unchanged` or `updated`); None if there is no baseline."""


class RawReport(msgspec.Struct, frozen=True, kw_only=True):
    """Output of one run of a tool."""

    tool: str | None = None
    """Name of the tool; None if the output does not have it."""
    version: str | None = None
    """Version of the tool; None if the output does not have it."""
    findings: tuple[RawFinding, ...] = ()
    """Findings in the order of the output."""
    unparsed: tuple[str, ...] = ()
    """Files that the tool could not read, as the tool names them."""


def replace_surrogates(report: RawReport) -> RawReport:
    r"""Replace lone surrogates in a report with `?`.

    JSON may contain lone surrogates, which cannot be encoded as UTF-8.

    Example:
        >>> replace_surrogates(RawReport(tool="a\ud800b")).tool
        'a?b'
    """
    text = json.dumps(msgspec.to_builtins(report), ensure_ascii=False)
    return msgspec.json.decode(text.encode(errors="replace"), type=RawReport)
