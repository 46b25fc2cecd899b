r"""Make the pictures of the documentation: web pages in Chromium, the terminal report as SVG.

    python -m scripts.screenshots examples/change.diff examples/review.md \
        --source-root examples/source
    python -m scripts.screenshots --pull
    python -m scripts.screenshots --audit SITE

The first command scores the review with the default settings (`--set encoder=hashing` changes one)
and writes `docs/img/report.png` and `docs/img/terminal.svg`. The second scores the pull request of
the tests' local GitHub and writes `comment.png`, `summary.png` and `pull-page.png` into the same
folder. The third writes `audit.png` and `audit-bot.png` from the pages that `make demo-audit` made.
All need the `test` dependency group and Chromium.
"""

from __future__ import annotations

import argparse
import io
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from crscore import Scorer
from crscore import io as inputs
from crscore.diff import full_files
from crscore.github.client import Client
from crscore.github.host import GitHub
from crscore.pull_request import run
from crscore.pull_request.documents import for_people
from crscore.reports import html, text
from tests.helpers import browser, github_markdown
from tests.helpers.github import scenes, serve

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 300_000
"""Maximum size of a picture; larger pictures would make the README slow to load."""
TERMINAL_COLUMNS = 80
TOKEN = "loopback-token"  # noqa: S105


def page_picture(document: str, target: Path, *, width: int, height: int, scheme: str) -> None:
    """Write a picture of the top of a page.

    Args:
        document: HTML of the page.
        target: PNG file to write.
        width: Width of the window in CSS pixels.
        height: Height of the window in CSS pixels; 0 for the complete page.
        scheme: `light` or `dark`.
    """
    with tempfile.TemporaryDirectory() as folder, browser.chromium() as chromium:
        source = Path(folder) / "report.html"
        source.write_text(document, "utf-8")
        shown = chromium.new_page(
            viewport={"width": width, "height": height or 400},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        shown.goto(source.as_uri())
        _write(target, shown.screenshot(full_page=not height))


def terminal_picture(report: str, target: Path, *, title: str) -> None:
    """Write a picture of a colored terminal report.

    Args:
        report: Text with escape sequences of colors.
        target: SVG file to write; it loads no font from a server.
        title: Title of the window.
    """
    console = Console(record=True, width=TERMINAL_COLUMNS, file=io.StringIO(), legacy_windows=False)
    console.print(Text.from_ansi(report.rstrip("\n")))
    drawing = console.export_svg(title=title, theme=MONOKAI, unique_id="terminal")
    # rich's SVG loads a font from a server, which a picture in a README must not do.
    drawing = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)
    drawing = drawing.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    _write(target, drawing.encode("utf-8"))


def pull_pictures(folder: Path, settings: Mapping[str, str]) -> None:
    """Write pictures of the comment, the summary and the page of a pull request.

    Args:
        folder: Folder of the three pictures.
        settings: Settings, as on the command line.
    """
    with serve(scenes.shop(), token=TOKEN) as server:
        repository = server.world.repositories[0]
        request = run.Request(
            repository=repository.full_name, number=next(iter(repository.pulls)), flags=settings
        )
        found = run.read_and_score(GitHub(Client(token=TOKEN, api_url=server.url)), request)
    said = github_markdown.page(for_people.render_comment(found.overview), author="github-actions")
    told = github_markdown.page(for_people.render_summary([found.overview]))
    document = for_people.render_page(found.overview, found.result)
    page_picture(said, folder / "comment.png", width=980, height=0, scheme="light")
    page_picture(told, folder / "summary.png", width=980, height=0, scheme="light")
    page_picture(document, folder / "pull-page.png", width=1120, height=1100, scheme="light")


def audit_pictures(site: Path, folder: Path) -> None:
    """Write pictures of an audit's first page, and of the page of the first bot."""
    bot = min((site / "bots").glob("*.html"))
    for page_of, name, height in ((site / "index.html", "audit", 1000), (bot, "audit-bot", 1000)):
        text_of = page_of.read_text("utf-8")
        page_picture(text_of, folder / f"{name}.png", width=1120, height=height, scheme="light")


def _write(target: Path, data: bytes) -> None:
    if len(data) > MAX_BYTES:
        raise SystemExit(f"{target} would have {len(data):,} bytes, over {MAX_BYTES:,}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write the pictures that it asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("diff", type=Path, nargs="?")
    parser.add_argument("review", type=Path, nargs="?")
    parser.add_argument("--pull", action="store_true", help="pictures of a pull request")
    parser.add_argument("--audit", type=Path, metavar="SITE", help="pictures of an audit")
    parser.add_argument("--folder", type=Path, default=Path("docs/img"), help="where to write")
    parser.add_argument("--source-root", help="folder with the changed files")
    parser.add_argument("--page", type=Path, default=Path("docs/img/report.png"))
    parser.add_argument("--terminal", type=Path, default=Path("docs/img/terminal.svg"))
    parser.add_argument("--size", default="1120x1500", help="window of the page, in pixels")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args(arguments)
    settings = dict(item.split("=", 1) for item in given.set)
    if given.audit:
        audit_pictures(given.audit, given.folder)
        return
    if given.pull:
        pull_pictures(given.folder, settings)
        return
    if given.review is None:
        parser.error("give a diff and a review, or --pull")
    width, height = map(int, given.size.split("x"))
    scorer = Scorer(**settings)
    change = scorer.read_diff(given.diff.read_bytes())
    if given.source_root:
        largest = scorer.settings.max_source_bytes
        texts, _ = inputs.read_sources(given.source_root, change, max_bytes=largest)
        change = full_files.from_tree(change, texts)
    result = scorer.score(change, given.review.read_bytes())
    page_picture(
        html.create()([result]),
        given.page,
        width=width,
        height=height,
        scheme=given.scheme,
    )
    command = f"crscore score {given.diff.name} {given.review.name}"
    terminal_picture(
        text.create(color=True, width=TERMINAL_COLUMNS)([result]), given.terminal, title=command
    )


if __name__ == "__main__":
    main()
