"""Reads the inputs of commands: a change, its review, and SARIF files of other tools."""

from __future__ import annotations

import functools
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from crscore import io
from crscore.commands._options import option, sarif_option
from crscore.errors import COMMAND_LINE, ConfigError, InputError, ToolOutputError
from crscore.hosts.site import all_sites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crscore.records import Comment, Diff
    from crscore.scorer import Scorer
    from crscore.settings import Config
    from crscore.static_analysis.reports import RawReport

# Matches the beginning of a diff: "diff --git a/x b/x", "From 1a2b..." or "commit 1a2b..." of git,
# "--- a/x" and "+++ b/x" of diff -u, "@@ -1" of a bare hunk, and "Index: path" of Subversion.
_DIFF: Final = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s{0,99}(?:diff --|--- \S.*\n\+\+\+ \S|@@ -\d"
    rb"|Index: \S|(?:From|commit) [0-9a-f]{7,64}\b)"
)


def read_limited(settings: Config, name: str, content: str) -> tuple[bytes, str]:
    """Read an input, whose size is limited by the setting `max_<content>_bytes`.

    Args:
        settings: Settings that have the limit.
        name: A path, or `-` for standard input.
        content: `diff`, `review`, `source` or `sarif`.

    Returns:
        The bytes, and their name in messages.

    Raises:
        click.UsageError: The name is that of a pull request, or an address.
        InputError: The input cannot be read or is too large.
    """
    check_address(name)
    limit = f"max_{content}_bytes"
    return io.read_input(name, content=content, limit=limit, max_bytes=getattr(settings, limit))


def check_stdin(names: Iterable[str | None]) -> None:
    """Raise a `ConfigError` if more than one of the inputs is standard input."""
    if list(names).count(io.DASH) > 1:
        expected = "is standard input, which can be only one of the inputs"
        raise ConfigError(io.DASH, COMMAND_LINE, expected)


def is_pull_request(name: str) -> bool:
    """Return whether a text has the form of a pull request's name or address."""
    return name.isdecimal() or any(site.target.fullmatch(name) for site in all_sites())


def check_address(name: str) -> None:
    """Raise a `click.UsageError` if a name is not a file but a pull request or an address."""
    if name == io.DASH or Path(name).exists():
        return
    quoted = shlex.quote(name)
    if is_pull_request(name):
        raise click.UsageError(f"{name} is not a file; for a pull request: crscore pr {quoted}")
    if re.match(r"https?://", name):
        raise click.UsageError(f"{name} is not a file; save it first: curl -L {quoted} -o FILE")


def read_sarif_files(settings: Config, names: Iterable[str]) -> tuple[RawReport, ...]:
    """Read SARIF files.

    Args:
        settings: `max_sarif_bytes` limits the size of each file.
        names: Paths, or `-` for standard input.

    Returns:
        The reports of all runs of tools in the files.

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


class CodeOptions(NamedTuple):
    """Options for information that a diff does not contain; None or () if not given."""

    language: str | None = None
    path: str | None = None
    source_root: str | None = None
    sarif: tuple[str, ...] = ()


def code_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `CodeOptions` to a command, which gets them as its argument `code`."""

    @option("--language NAME", "Language of a bare hunk.")
    @option("--path PATH", "Path of a bare hunk.")
    @option("--source-root DIR", "Folder of the code after (or before) the change.")
    @sarif_option
    @functools.wraps(command)
    def collect(**options: Any) -> Any:
        values = {name: options.pop(name) for name in CodeOptions._fields}
        return command(code=CodeOptions(**values), **options)

    return collect


def read_inputs(
    settings: Config, diff: str, review: str, code: CodeOptions, *further: str | None
) -> tuple[Scorer, Diff, tuple[Comment, ...], str]:
    """Read a change and its review, and make a scorer for them.

    Args:
        settings: Settings of the scorer.
        diff: A path, or `-` for standard input.
        review: A path, or `-` for standard input.
        code: Language and path of a bare hunk, folder of the code, and SARIF files.
        further: Names of other inputs, which the caller reads. Only one of all inputs can be
            standard input.

    Returns:
        The scorer, the change, the comments of the review, and the name of the review in messages.

    Raises:
        ConfigError: More than one input is standard input.
        InputError: An input cannot be used.
        click.UsageError: The review is a diff, or an input is not a file.
    """
    check_stdin([review, diff, *code.sarif, *further])
    data, source = read_limited(settings, diff, "diff")
    review_data, review_source = read_limited(settings, review, "review")
    # PowerShell's `>` writes UTF-16. Without its zero bytes, such a diff looks like ASCII:
    # https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.core/about/about_redirection
    if _DIFF.match(review_data[:1000].replace(b"\0", b"")):
        raise click.UsageError(f"{review} is a diff; the order is DIFF REVIEW")
    # Imported here, so that `--help` and the message about a wrong option appear immediately.
    from crscore.diff import full_files  # noqa: PLC0415
    from crscore.scorer import Scorer  # noqa: PLC0415

    scorer = Scorer(settings, reports=read_sarif_files(settings, code.sarif))
    change = scorer.read_diff(data, source=source, language=code.language, path=code.path)
    comments = scorer.read_review(review_data, source=review_source)
    if code.source_root is not None:
        texts, notes = io.read_sources(
            code.source_root, change, max_bytes=settings.max_source_bytes
        )
        change = full_files.from_tree(change, texts, notes=notes)
    return scorer, change, comments, review_source
