"""Static folder of an audit: pages that any web server shows, and that load nothing from elsewhere.

No page runs a script: charts are SVG with tooltips. The pages of one pull request are the reports
that scoring stored.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from crscore import progress
from crscore.audit.overview import Overview, Reviewer, to_json
from crscore.audit.report import details, plots, words
from crscore.audit.report.files import file_names
from crscore.audit.store.database import Store
from crscore.audit.store.period import read_page_keys
from crscore.audit.store.rows import Page
from crscore.audit.summary import HOST
from crscore.errors import InputError
from crscore.reports import charts, escape, frame

_TEMPLATES: Final = "audit/report/templates"
_MARKER: Final = "audit.json"
"""File that tells that a folder is a report, which the next one may replace."""
MAX_PULLS: Final = 1_000
"""Pull requests that the page of a repository lists."""
OPEN_VERDICTS: Final = 12
"""Verdicts that the first page shows unfolded."""


def write_site(
    store: Store,
    found: Overview,
    folder: Path,
    *,
    host: str = HOST,
) -> list[Path]:
    """Write the folder, whole or not at all; a former report there is replaced.

    Args:
        store: Store that the overview was made from.
        found: The overview.
        folder: The folder; made when missing.
        host: Address of the host, for links.

    Returns:
        All files, sorted.

    Raises:
        InputError: The folder has files and is no report, or cannot be written.
        StoreError: The store cannot be read.
        DependencyError: What draws the charts is not installed.
    """
    _check_replaceable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True
        ) as beside:
            new, old = Path(beside, "new"), Path(beside, "old")
            _write_pages(new, _Site(store, found, host))
            if folder.exists():
                folder.rename(old)
            try:
                new.rename(folder)
            except OSError:
                if old.exists():
                    old.rename(folder)
                raise
    except OSError as exc:
        raise InputError(f"{folder}: cannot be written: {exc.strerror or exc}") from exc
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _check_replaceable(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the report")
    if not (folder / _MARKER).is_file() and any(folder.iterdir()):
        raise InputError(f"{folder} has other files than a report; name a new or an empty folder")


def _write_pages(folder: Path, site: _Site) -> None:
    with progress.track("writing pages", site.count()) as advance:
        for path, text in site.pages():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
            advance()


class _Site:
    """Pages of one report; one at a time is in memory."""

    def __init__(self, store: Store, found: Overview, host: str) -> None:
        self._store, self._found, self._host = store, found, host
        self._scope = details.scope_of(store, found)
        self._keys = read_page_keys(store, self._scope)
        self._bots = file_names(one.name for one in found.reviewers)
        self._repositories = file_names(one.name for one in found.repositories)
        self._pulls = file_names(f"{name}#{number}" for _, name, number in self._keys)

    def count(self) -> int:
        """Return the number of pages."""
        return 2 + len(self._bots) + len(self._repositories) + len(self._keys)

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the text of each page."""
        found = self._found
        # Not by msgspec: a comment may hold half a surrogate pair.
        yield _MARKER, to_json(found)
        yield "index.html", self._page("index", words.heading(found), "")
        examples = details.load_examples(self._store, self._scope, self._host)
        for row in found.reviewers:
            shown = examples.get(row.name, details.Examples((), ()))
            yield f"bots/{self._bots[row.name]}.html", self._reviewer(row, shown)
        pulls = details.load_pulls(self._store, self._scope)
        for one in found.repositories:
            listed = pulls.get(one.name, [])
            yield (
                f"repositories/{self._repositories[one.name]}.html",
                self._page(
                    "repository",
                    one.name,
                    "../",
                    row=one,
                    pulls=listed[:MAX_PULLS],
                    all=len(listed),
                ),
            )
        for repository, name, number in self._keys:
            yield f"pulls/{self._pulls[f'{name}#{number}']}.html", self._report(repository, number)

    def _reviewer(self, row: Reviewer, shown: details.Examples) -> str:
        verdicts = [one for one in self._found.verdicts if row.name in {one.first, one.second}]
        return self._page("bot", row.name, "../", row=row, shown=shown, verdicts=verdicts)

    def _report(self, repository: int, number: int) -> str:
        """Return a stored report with a link back; it has a policy of its own."""
        (stored,) = self._store.find(Page, repository=repository, number=number)
        page = zlib.decompress(stored.page).decode("utf-8")
        back = '<p><a href="../index.html">All review bots</a></p>'
        return page.replace("<main>", f"<main>\n{back}", 1)

    def _page(self, template: str, title: str, root: str, **values: Any) -> str:
        return frame.page(
            f"{_TEMPLATES}/{template}.html.j2",
            title=escape.one_line(title, 100),
            style=frame.read_resource("reports/templates/charts.css")
            + frame.read_resource(f"{_TEMPLATES}/audit.css"),
            found=self._found,
            root=root,
            words=words,
            plots=plots,
            draw=charts.draw,
            bot_file=self._bots.get,
            repository_file=self._repositories.get,
            pull_file=lambda name, number: self._pulls.get(f"{name}#{number}"),
            host=self._host,
            open_verdicts=OPEN_VERDICTS,
            **values,
        )
