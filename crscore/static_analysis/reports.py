"""The output of a tool, read but not yet judged."""

from __future__ import annotations

import json
from dataclasses import dataclass

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFinding:
    """One entry of a tool's output."""

    path: str
    """The file as the tool names it: a path or a URI."""
    rule: str
    """The tool's id of the rule; "" when it gave none."""
    message: str
    """The tool's words; may be Markdown or several lines."""
    line: int
    """First line, 1-based; 0 for the file as a whole."""
    end_line: int
    """Last line, inclusive; at least `line`."""
    level: str | None = None
    """The tool's word for the severity; None when it gave none."""
    suppressed: bool = False
    """True when the tool says that somebody silenced it."""
    baseline: str | None = None
    """SARIF's `baselineState` (`new`, `unchanged`, `updated`); None when not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReport:
    """One run's output."""

    tool: str | None = None
    """The tool's name, when the output tells."""
    version: str | None = None
    """The tool's version, when the output tells."""
    findings: tuple[RawFinding, ...] = ()
    """In the tool's order."""
    unparsed: tuple[str, ...] = ()
    """Files that the tool could not read, as it names them."""


def replace_surrogates(report: RawReport) -> RawReport:
    r"""Replace halves of surrogate pairs with `?`: JSON can carry them, and nothing can write them.

    Example:
        >>> replace_surrogates(RawReport(tool="a\ud800b")).tool
        'a?b'
    """
    plain = json.dumps(msgspec.to_builtins(report), ensure_ascii=False)
    return msgspec.json.decode(plain.encode(errors="replace"), type=RawReport)
