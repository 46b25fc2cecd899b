"""Option for the findings of other tools in SARIF files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from crscore import io
from crscore.errors import InputError, ToolOutputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.settings import Config
    from crscore.static_analysis.reports import RawReport

sarif_option: Final = click.option(
    "--sarif",
    "sarif_files",
    metavar="FILE",
    multiple=True,
    help="SARIF 2.1.0 file with findings of another tool; may be repeated.",
)


def read_sarif_files(settings: Config, names: Iterable[str]) -> tuple[RawReport, ...]:
    """Read SARIF files.

    Args:
        settings: `max_sarif_bytes` limits each of them.
        names: Files, or `-` for standard input.

    Raises:
        InputError: A file cannot be read, is too large, or is not SARIF.
    """
    reports: list[RawReport] = []
    for name in names:
        from crscore.static_analysis import sarif  # noqa: PLC0415  (so that --help is fast)

        limit = "max_sarif_bytes"
        data, source = io.read_input(
            name, content="sarif", limit=limit, max_bytes=settings.max_sarif_bytes
        )
        try:
            reports.extend(sarif.read_sarif(data, source=source))
        except ToolOutputError as exc:
            raise InputError(f"{source} cannot be read as SARIF: {exc.reason}") from exc
    return tuple(reports)
