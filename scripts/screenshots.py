r"""Draw the README's two pictures: the web page in Chromium, the terminal report as SVG.

    python -m scripts.screenshots examples/change.diff examples/review.md \
        --source-root examples/source

Scores the review with the default settings (`--set encoder=hashing` changes one) and
writes `docs/img/report.png` and `docs/img/terminal.svg`. Needs the `test` dependency
group and a Chromium.
"""

from __future__ import annotations

import argparse
import io
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from crscore import Scorer, inputs, sources
from crscore.reports import html, text
from tests.helpers import browser

MAX_BYTES = 300_000
"""A larger picture makes the README slow."""
TERMINAL_COLUMNS = 100


def page_picture(document: str, target: Path, *, width: int, height: int, scheme: str) -> None:
    """Photograph the top of a page.

    Args:
        document: A whole HTML page.
        target: PNG to write.
        width: Of the window, in CSS pixels.
        height: Of the window, in CSS pixels.
        scheme: `light` or `dark`.
    """
    with tempfile.TemporaryDirectory() as folder, browser.chromium() as chromium:
        source = Path(folder) / "report.html"
        source.write_text(document, "utf-8")
        page = chromium.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        page.goto(source.as_uri())
        _write(target, page.screenshot())


def terminal_picture(report: str, target: Path, *, title: str) -> None:
    """Draw a coloured terminal report.

    Args:
        report: Text with colour sequences.
        target: SVG to write; it loads no font from elsewhere.
        title: Shown in the window's bar.
    """
    console = Console(record=True, width=TERMINAL_COLUMNS, file=io.StringIO(), legacy_windows=False)
    console.print(Text.from_ansi(report.rstrip("\n")))
    drawing = console.export_svg(title=title, theme=MONOKAI, unique_id="terminal")
    # The frame asks a server for its font; a picture in a README must not.
    drawing = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)
    drawing = drawing.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    _write(target, drawing.encode("utf-8"))


def _write(target: Path, data: bytes) -> None:
    if len(data) > MAX_BYTES:
        raise SystemExit(f"{target} would have {len(data):,} bytes, over {MAX_BYTES:,}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and draw both pictures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("diff", type=Path)
    parser.add_argument("review", type=Path)
    parser.add_argument("--source-root", help="folder with the changed files")
    parser.add_argument("--page", type=Path, default=Path("docs/img/report.png"))
    parser.add_argument("--terminal", type=Path, default=Path("docs/img/terminal.svg"))
    parser.add_argument("--size", default="1120x1500", help="window of the page, in pixels")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args(arguments)
    width, height = map(int, given.size.split("x"))
    scorer = Scorer(**dict(item.split("=", 1) for item in given.set))
    change = scorer.read_diff(given.diff.read_bytes())
    if given.source_root:
        largest = scorer.settings.max_source_bytes
        texts, _ = inputs.sources_below(given.source_root, change, largest=largest)
        change = sources.from_tree(change, texts)
    result = scorer.score(change, given.review.read_bytes())
    page_picture(
        html.create({}).render([result]),
        given.page,
        width=width,
        height=height,
        scheme=given.scheme,
    )
    options = {"color": "true", "width": str(TERMINAL_COLUMNS)}
    command = f"crscore score {given.diff.name} {given.review.name}"
    terminal_picture(text.create(options).render([result]), given.terminal, title=command)


if __name__ == "__main__":
    main()
