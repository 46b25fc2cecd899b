"""Inputs of commands: a change, its review, and findings of other tools in SARIF files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from crscore import io
from crscore.commands._terminal import print_note
from crscore.errors import COMMAND_LINE, ConfigError, InputError, ToolOutputError
from crscore.hosts.site import all_sites

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.records import Diff
    from crscore.settings import Config
    from crscore.static_analysis.reports import RawReport

_HEADER: Final = re.compile(rb"^(?:diff --git |--- \S.*\n\+\+\+ \S)", re.MULTILINE)
# Also "From 1a2b...", "commit 1a2b..." of git, and Subversion's "Index: path"
_DIFF: Final = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s{0,99}(?:diff --|--- \S.*\n\+\+\+ \S|@@ -\d"
    rb"|Index: \S|(?:From|commit) [0-9a-f]{7,64}\b)"
)
_IS_DIFF: Final = 2
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
    check_address(name)
    limit = f"max_{content}_bytes"
    return io.read_input(name, content=content, limit=limit, max_bytes=getattr(settings, limit))


def check_stdin(names: Iterable[str | None]) -> None:
    """Raise an error if standard input is named as several inputs."""
    if list(names).count(io.STDIN) > 1:
        expected = "is standard input, which can be only one of the inputs"
        raise ConfigError(io.STDIN, COMMAND_LINE, expected)


def read_both(
    settings: Config, diff: str, review: str
) -> tuple[tuple[bytes, str], tuple[bytes, str]]:
    """Read a change and its review, named in either order: `read_limited` of each."""
    change = read_limited(settings, diff, "diff")
    comments = read_limited(settings, review, "review")
    kinds = [_find_diff(data) for data, _ in (change, comments)]
    if min(kinds) == _IS_DIFF:
        raise click.UsageError(f"{review} is a diff, too; the second file is its review")
    if kinds[0] < kinds[1]:
        print_note(f"note: {review} is the diff and {diff} the review: DIFF REVIEW is the order.")
        return comments, change
    return change, comments


def _find_diff(data: bytes) -> int:
    """Return `_IS_DIFF`, 1 for a text with a diff in it, or 0."""
    text = data[:1_000_000].replace(b"\0", b"")  # as in UTF-16
    return _IS_DIFF if _DIFF.match(text) else int(_HEADER.search(text) is not None)


def check_address(name: str) -> None:
    """Refuse the name of a pull request, or an address, where a file is expected."""
    if name == io.STDIN or Path(name).exists():
        return
    quoted = shlex.quote(name)
    if name.isdecimal() or any(site.target.fullmatch(name) for site in all_sites()):
        raise click.UsageError(f"{name} is not a file; for a pull request: crscore pr {quoted}")
    if re.match(r"https?://", name):
        raise click.UsageError(f"{name} is not a file; save it first: curl -L {quoted} -o FILE")


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
                "--source-root", COMMAND_LINE, "cannot be combined with --old and --new"
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
