"""Inputs of commands: a change, its review, and findings of other tools in SARIF files."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from crscore import io
from crscore.errors import ConfigError, DiffParseError, InputError, ToolOutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crscore.records import Diff
    from crscore.settings import Config
    from crscore.static_analysis.reports import RawReport

_HUNK: Final = re.compile(rb"^@@ -\d", re.MULTILINE)
sarif_option: Final = click.option(
    "--sarif",
    "sarif_files",
    metavar="FILE",
    multiple=True,
    help="SARIF 2.1.0 file with findings of another tool; may be repeated.",
)


def read_limited(settings: Config, name: str, content: str) -> tuple[bytes, str]:
    """Read an input whose limit is the setting `max_<content>_bytes`.

    Args:
        settings: Settings with the limit.
        name: A path, or `-` for standard input.
        content: `diff`, `review`, `source` or `sarif`.

    Returns:
        The bytes, and their name in messages.
    """
    limit = f"max_{content}_bytes"
    return io.read_input(name, content=content, limit=limit, max_bytes=getattr(settings, limit))


@contextmanager
def order_checked(review: bytes, order: str) -> Iterator[None]:
    """Report swapped inputs if parsing the diff fails and the review is a diff.

    Args:
        review: Content given as the review.
        order: The right order, as a command line.
    """
    try:
        yield
    except DiffParseError as exc:
        if _HUNK.search(review):
            raise click.UsageError(f"the diff and the review are swapped: {order}") from exc
        raise


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

        data, source = read_limited(settings, name, "sarif")
        try:
            reports.extend(sarif.read_sarif(data, source=source))
        except ToolOutputError as exc:
            raise InputError(f"{source} cannot be read as SARIF: {exc.reason}") from exc
    return tuple(reports)


def add_sources(
    change: Diff, settings: Config, root: str | None, old: str | None, new: str | None
) -> Diff:
    """Add full files to a change.

    Args:
        change: The change.
        settings: `max_source_bytes` limits each file.
        root: Folder with the code before or after the change; None without.
        old: Complete old version of the only changed file; None without.
        new: Its complete new version; None without.

    Raises:
        ConfigError: Both a folder and a file are given.
        InputError: A file cannot be read, or does not fit the change.
    """
    from crscore.diff import full_files  # noqa: PLC0415

    if root is not None:
        if old or new:
            raise ConfigError(
                "--source-root", "command line", "cannot be combined with --old and --new"
            )
        texts, notes = io.read_sources(root, change, max_bytes=settings.max_source_bytes)
        return full_files.from_tree(change, texts, notes=notes)
    if not old and not new:
        return change
    sides = {
        side: read_limited(settings, name, "source")[0].decode("utf-8", errors="replace")
        for side, name in (("old", old), ("new", new))
        if name is not None
    }
    return full_files.from_pair(change, old=sides.get("old"), new=sides.get("new"))
