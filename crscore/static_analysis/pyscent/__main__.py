"""Command line: `python -m crscore.static_analysis.pyscent FILE...` prints SARIF 2.1.0.

Exit codes: 0 nothing found, 1 smells found, 2 wrong usage, 3 a file could not be read (the findings
of the others are still printed), 4 pylint or radon is missing or failed.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from crscore.errors import CRScoreError, DependencyError
from crscore.static_analysis.pyscent.counts import INSTALL, Counts, counted, run_pylint
from crscore.static_analysis.pyscent.rules import RULES, FileReport, Smell, merge_sizes, summarize
from crscore.static_analysis.pyscent.smells import (
    complex_code,
    long_expressions,
    low_cohesion,
    shotgun_surgery,
    useless_exceptions,
)
from crscore.static_analysis.pyscent.source import Source, UnparsedError, read_source

VERSION: Final = "1.1"
CLEAN, SMELLS, NOT_READ, FAILED = 0, 1, 3, 4  # argparse itself exits with 2
SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
UNPARSED: Final = "unparsed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program.

    Args:
        arguments: The command line after the program's name; None for the process's own.

    Returns:
        The exit code.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if not (options.files or options.version):
        parser.error("no file is given")
    try:
        version = full_version()
        if options.version:
            sys.stdout.write(f"pyscent {version}\n")
            return CLEAN
        reports = analyze(options.files, published=options.compat)
    except CRScoreError as error:
        sys.stderr.write(f"pyscent: {error}\n")
        return FAILED
    sys.stdout.write(sarif(reports, version))
    if any(report.unparsed is not None for report in reports):
        return NOT_READ
    return SMELLS if any(report.smells for report in reports) else CLEAN


def full_version() -> str:
    """Return the version, including those of the programs that determine the findings.

    Returns:
        A version with a local part: `1.0+pylint4.1.4.radon6.0.1`.

    Raises:
        DependencyError: One of them is not installed.
    """
    parts = []
    for package in ("pylint", "radon"):
        try:
            parts.append(f"{package}{installed(package)}")
        except PackageNotFoundError as error:
            raise DependencyError(package, INSTALL) from error
    return f"{VERSION}+{'.'.join(parts)}"


def analyze(paths: Sequence[str], *, published: bool = False) -> tuple[FileReport, ...]:
    """Find the smells in some files.

    pylint reads all of them in a separate process.

    Args:
        paths: The files; one given twice counts once.
        published: Count and word as the published tool does: one sentence per smell and file.

    Returns:
        One report per file, in input order.

    Raises:
        DependencyError: pylint is not installed.
        ToolFailedError: pylint failed as a whole, or its output cannot be read.
    """
    sources: list[Source] = []
    reports: dict[str, FileReport] = {}
    for path in dict.fromkeys(paths):
        reports[path] = FileReport(path=path)
        try:
            sources.append(read_source(path))
        except UnparsedError as error:
            reports[path] = FileReport(path=path, unparsed=str(error))
    if sources:
        with tempfile.TemporaryDirectory(prefix="pyscent-") as folder:
            counts = run_pylint(sources, Path(folder))
        for source, count in zip(sources, counts, strict=True):
            reports[source.path] = _report(source, count, published=published)
    return tuple(summarize(report) if published else report for report in reports.values())


def _report(source: Source, counts: Counts, *, published: bool) -> FileReport:
    tree = source.tree()
    smells = [
        *shotgun_surgery(tree, published=published),
        *low_cohesion(tree, published=published),
        *long_expressions(tree, source.lines()),
        *useless_exceptions(tree, published=published),
        *counted(tree, counts.counts, published=published),
    ]
    unparsed = "pylint cannot read it" if counts.failed else None
    try:
        smells += complex_code(tree, published=published)
    except RecursionError:
        unparsed = "it nests too deeply"
    smells = smells if published else merge_sizes(smells)
    smells.sort(key=lambda smell: (smell.line, smell.end_line, smell.rule.id, smell.text))
    return FileReport(path=source.path, smells=tuple(smells), unparsed=unparsed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pyscent", description="Find smells of Python code.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="a Python file")
    parser.add_argument(
        "--compat", action="store_true", help="one sentence a smell and file, as published"
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    return parser


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


if __name__ == "__main__":
    raise SystemExit(main())
