"""Output of a tool, parsed but not yet classified."""

import json
from typing import Annotated

import msgspec

Line = Annotated[int, msgspec.Meta(ge=0)]


class RawFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Entry of a tool's output."""

    path: str = ""
    """File as named by the tool: a path or a URI; "" when missing."""
    rule: str = ""
    """The tool's id of the rule; "" when missing."""
    message: str = ""
    """Message of the tool, with links replaced by their text; may be Markdown or several lines."""
    line: Line = 0
    """First line, 1-based; 0 for the whole file."""
    end_line: Line = 0
    """Last line, inclusive; at least `line`."""
    level: str | None = None
    """Severity as named by the tool; None when missing."""
    suppressed: bool = False
    """Whether the tool reports that the finding was suppressed."""
    baseline: str | None = None
    """SARIF's `baselineState` (`new`, `unchanged`, `updated`); None when not compared."""


class RawReport(msgspec.Struct, frozen=True, kw_only=True):
    """Output of one run."""

    tool: str | None = None
    """Name of the tool, if the output has one."""
    version: str | None = None
    """Version of the tool, if the output has one."""
    findings: tuple[RawFinding, ...] = ()
    """Findings in the tool's order."""
    unparsed: tuple[str, ...] = ()
    """Files that the tool could not read, as named by it."""


def without_surrogates(report: RawReport) -> RawReport:
    r"""Replace lone surrogates with `?`: JSON can contain them, and they cannot be encoded.

    Example:
        >>> without_surrogates(RawReport(tool="a\ud800b")).tool
        'a?b'
    """
    text = json.dumps(msgspec.to_builtins(report), ensure_ascii=False)
    return msgspec.json.decode(text.encode(errors="replace"), type=RawReport)
