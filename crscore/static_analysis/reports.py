"""What a tool printed, read but not yet judged: the border between formats and the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace


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


def writable(text: str) -> str:
    r"""Replace halves of surrogate pairs: JSON can carry them, and nothing can write them.

    Example:
        >>> writable("a\ud800b")
        'a?b'
    """
    return text if text.isascii() else text.encode("utf-8", errors="replace").decode("utf-8")


def clean(report: RawReport) -> RawReport:
    """Make all texts of a report writable."""
    return replace(
        report,
        tool=None if report.tool is None else writable(report.tool),
        version=None if report.version is None else writable(report.version),
        findings=tuple(
            replace(
                one,
                path=writable(one.path),
                rule=writable(one.rule),
                message=writable(one.message),
                level=None if one.level is None else writable(one.level),
            )
            for one in report.findings
        ),
        unparsed=tuple(writable(path) for path in report.unparsed),
    )
