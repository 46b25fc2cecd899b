"""The README's pictures can be drawn again."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from crscore.reports import html, text
from scripts import screenshots
from tests.helpers import results

pytestmark = pytest.mark.hosts  # a real browser


def test_page_picture_has_the_size_asked_for(tmp_path: Path) -> None:
    target = tmp_path / "img" / "page.png"
    document = html.create()([results.review()])
    screenshots.page_picture(document, target, width=900, height=700, scheme="light")
    data = target.read_bytes()
    assert data.startswith(b"\x89PNG")
    # The header of a PNG holds width and height at bytes 16 to 24, big-endian.
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (900, 700)


def test_terminal_picture_is_svg_that_loads_nothing(tmp_path: Path) -> None:
    target = tmp_path / "terminal.svg"
    report = text.create(color=True, width=100)([results.review()])
    screenshots.terminal_picture(report, target, title="crscore")
    drawing = target.read_text("utf-8")
    shown = "".join(ElementTree.fromstring(drawing).itertext()).replace("\xa0", " ")
    assert "Comprehensiveness" in shown
    assert "url(http" not in drawing
    assert "@import" not in drawing


def test_pull_request_has_three_pictures(tmp_path: Path) -> None:
    screenshots.pull_pictures(tmp_path, {"encoder": "hashing", "analyzers": "none"})
    for name in ("comment.png", "summary.png", "pull-page.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
