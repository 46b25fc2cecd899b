"""Static pages of an audit for any web server; they load nothing from elsewhere.

No page runs a script: charts are SVG with tooltips. The comments on pull requests are on one page
per repository and month.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from crscore import progress
from crscore.audit.overview import Overview
from crscore.audit.report import contents, details, escaped, plots, words
from crscore.audit.report.contents import Links
from crscore.audit.report.files import file_names
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pull_pages
from crscore.audit.summary import HOST
from crscore.errors import InputError
from crscore.reports import charts, escape, frame

_TEMPLATES: Final = "audit/report/templates"
_MARKER: Final = "audit.json"
"""File that marks a folder as a report, which a new report may replace."""
MAX_PULLS: Final = 1_000
"""Maximum number of pull requests on the page of a repository."""


def write_site(store: Store, overview: Overview, folder: Path, *, host: str = HOST) -> list[Path]:
    """Write the folder in full or not at all; a previous report there is replaced.

    Args:
        store: Store that the overview was made from.
        overview: The overview.
        folder: The folder; created if missing.
        host: Address of the host, for links.

    Returns:
        All files, sorted.

    Raises:
        InputError: The folder has files but is not a report, or cannot be written.
        StoreError: The store cannot be read.
        DependencyError: The package that draws the charts is not installed.
    """
    _check_replaceable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # In the same folder, so that renaming does not cross file systems.
        with tempfile.TemporaryDirectory(
            prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True
        ) as temporary:
            new, old = Path(temporary, "new"), Path(temporary, "old")
            site = _Site(store, overview, host)
            with progress.track("writing pages", site.count()) as advance:
                for path, text in site.pages():
                    target = new / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(text, "utf-8")
                    advance()
            # Renaming is fast, so the folder is missing only for a moment.
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


class _Site:
    """Pages of one report, rendered one at a time to limit memory."""

    def __init__(self, store: Store, overview: Overview, host: str) -> None:
        self._store, self._overview = store, overview
        self._addresses = pull_pages(store, host)
        self._scope = details.scope_of(store, overview)
        self._pulls = details.load_pulls(store, self._scope)
        self._months = tuple(details.make_month_pages(self._pulls))
        files = file_names(page.name for page in self._months)
        self._links = Links(
            bots=file_names(row.name for row in overview.reviewers),
            repositories=file_names(row.name for row in overview.repositories),
            pulls={
                f"{page.repository}#{pull.number}": files[page.name]
                for page in self._months
                for pull in page.pulls
            },
        )

    def count(self) -> int:
        """Return the number of pages."""
        return 2 + len(self._links.bots) + len(self._links.repositories) + len(self._months)

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the text of each page."""
        overview, links = self._overview, self._links
        yield _MARKER, escape.write_json(overview)
        yield "index.html", self._page("index", words.heading(overview), "")
        examples = details.load_examples(self._store, self._scope, self._addresses)
        for row in overview.reviewers:
            page = self._page(
                "bot",
                row.name,
                "../",
                row=row,
                examples=examples.get(row.name, ()),
                verdicts=[
                    verdict
                    for verdict in overview.verdicts
                    if row.name in {verdict.first, verdict.second}
                ],
            )
            yield f"bots/{links.bots[row.name]}.html", page
        for repository in overview.repositories:
            name = repository.name
            page = self._page(
                "repository",
                name,
                "../",
                row=repository,
                pulls=self._pulls.get(name, []),
                max_pulls=MAX_PULLS,
            )
            yield f"repositories/{links.repositories[name]}.html", page
        for month in self._months:
            name = month.repository
            page = self._page(
                "month",
                f"{name}, {words.month(month.month)}",
                "../",
                month=month,
                back=f"../repositories/{links.repositories[name]}.html",
                address=self._addresses[name],
                comments=details.load_comments(self._store, self._scope, month, self._addresses),
            )
            yield f"pulls/{links.pulls[f'{name}#{month.pulls[0].number}']}.html", page

    def _page(self, template: str, title: str, root: str, **values: Any) -> str:
        return frame.page(
            f"{_TEMPLATES}/{template}.html.j2",
            title=escape.one_line(title, 100),
            style=frame.read_resource("reports/templates/charts.css")
            + frame.read_resource(f"{_TEMPLATES}/audit.css"),
            overview=self._overview,
            links=replace(self._links, root=root),
            contents=contents,
            escaped=escaped,
            words=words,
            plots=plots,
            draw=charts.draw,
            **values,
        )
