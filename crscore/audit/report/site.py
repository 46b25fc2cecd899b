"""Writes the static pages of an audit, for any web server.

The pages load nothing from other servers and run no scripts. All numbers on them come from the
overview, so that the pages cannot disagree.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from crscore.audit.overview import Overview
from crscore.audit.report import contents
from crscore.errors import InputError
from crscore.reports import escape, frame
from crscore.reports.blocks import Block

_TEMPLATES: Final = "audit/report/templates"
_MARKER: Final = "audit.json"
"""File that marks a folder as a report, which a new report may replace."""


def write_site(overview: Overview, folder: Path) -> list[Path]:
    """Write all pages or none; a previous report in the folder is replaced.

    Args:
        overview: Content of the pages.
        folder: Folder of the report, created if missing.

    Returns:
        Paths of all written files, sorted.

    Raises:
        InputError: The folder is a file, is neither empty nor a report, or cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the report")
    # Without this check, a wrong `-o` would replace a folder that is not a report.
    if folder.exists() and not (folder / _MARKER).is_file() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty and is no report; name a new or an empty folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # The temporary folder has the same parent, because a folder cannot be renamed to another
        # file system.
        with tempfile.TemporaryDirectory(
            prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True
        ) as temporary:
            new, old = Path(temporary, "new"), Path(temporary, "old")
            for path, text in _pages(overview):
                target = new / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8")
            # Renaming is fast, so the folder is missing only for a moment.
            if folder.exists():
                folder.rename(old)
            try:
                new.rename(folder)
            except OSError:
                # Put the old report back.
                if old.exists():
                    old.rename(folder)
                raise
    except OSError as exc:
        raise InputError(f"{folder}: cannot be written: {exc.strerror or exc}") from exc
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _pages(overview: Overview) -> Iterator[tuple[str, str]]:
    """Yield the path in the folder and the text of each file."""
    # Names of accounts are untrusted, so they are not used as names of files.
    names = file_names(row.name for row in overview.reviewers)
    files = {name: f"bots/{file}.html" for name, file in names.items()}
    yield _MARKER, escape.write_json(overview)
    front = contents.first_screen(overview, files)
    links = {"Numbers": "numbers.html", "All numbers as JSON": _MARKER}
    yield "index.html", _page(contents.make_title(overview), front, links, overview)
    links = {"All review bots": "index.html"}
    yield "numbers.html", _page("Numbers", contents.numbers_page(overview, files), links, overview)
    links = {"All review bots": "../index.html", "Numbers": "../numbers.html"}
    for row in overview.reviewers:
        yield files[row.name], _page(row.name, contents.bot_page(row), links, overview)


def _page(title: str, blocks: Iterable[Block], links: Mapping[str, str], overview: Overview) -> str:
    return frame.page(
        f"{_TEMPLATES}/page.html.j2",
        title=escape.one_line(title, 100),
        style=frame.read_resource(f"{_TEMPLATES}/audit.css"),
        content=list(blocks),
        links=links,
        signature=overview.signature,
    )


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Choose a file name without a suffix for each name: ASCII letters, digits and single dashes.

    Args:
        names: Any texts; duplicates are ignored.

    Returns:
        The file name of each name. No two differ only in case, because some systems ignore case.
        Names that would have the same file name are numbered in sorted order.

    Example:
        >>> file_names(["a/b", "a.b", "../../etc"])
        {'../../etc': 'etc', 'a.b': 'a-b', 'a/b': 'a-b-2'}
    """
    # The names are untrusted. Therefore, file names have no separators and dots, and they are short
    # enough for every system.
    used_names: set[str] = set()
    files = {}
    for name in sorted(set(names)):
        stem = re.sub(r"[^A-Za-z0-9]+", "-", name)[:80].strip("-") or "unnamed"
        file, count = stem, 1
        while file.casefold() in used_names:
            count += 1
            file = f"{stem}-{count}"
        used_names.add(file.casefold())
        files[name] = file
    return files
