"""What a release makes of the checkout: addresses, and a page that the package index shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from readme_renderer import markdown

from crscore.version import __version__
from scripts import prepare_release

ROOT = Path(__file__).parents[2]
TAG = f"v{__version__}"
COMMIT = "0123456789abcdef" * 2 + "01234567"
WHEEL = ("crscore", "analyzers", "prompts", "research", "LICENSE", "README.md", "pyproject.toml")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what a wheel is made of."""
    for name in WHEEL:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(source, tmp_path / name, ignore=ignored)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def test_links_and_pictures_become_addresses_at_the_tag() -> None:
    text = "![a](docs/a.png) [b](docs/b.md#c) [d](#d) [e](https://e.example/f)"
    assert prepare_release.absolute(text, "acme/crscore", "v1") == (
        "![a](https://raw.githubusercontent.com/acme/crscore/v1/docs/a.png) "
        "[b](https://github.com/acme/crscore/blob/v1/docs/b.md#c) [d](#d) [e](https://e.example/f)"
    )


def test_another_tag_than_the_version_is_refused(checkout: Path) -> None:
    with pytest.raises(SystemExit, match=r"the tag is v9\.9\.9, but"):
        prepare_release.prepare(checkout, "acme/crscore", "v9.9.9", COMMIT)


def test_addresses_are_filled_in_everywhere(checkout: Path) -> None:
    prepare_release.prepare(checkout, "acme/crscore", TAG, COMMIT)

    readme, project = ((checkout / name).read_text("utf-8") for name in WHEEL[-2:])
    assert f"uses: acme/crscore@{COMMIT}" in readme
    assert 'Repository = "https://github.com/acme/crscore"' in project
    assert prepare_release.PLACEHOLDER not in readme + project
    # Each address was a file of the checkout.
    addresses = re.findall(rf"\]\(https://\S+?/acme/crscore/(?:blob/)?{TAG}/([^)#]+)", readme)
    assert len(addresses) > 10
    assert all((ROOT / name).exists() for name in addresses)


@pytest.mark.hosts
def test_page_of_the_built_wheel_has_no_relative_link(checkout: Path) -> None:
    prepare_release.prepare(checkout, "acme/crscore", TAG, COMMIT)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*pip, checkout / "dist", checkout], check=True)
    (wheel,) = (checkout / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(name))
        points = archive.read(name.replace("METADATA", "entry_points.txt")).decode()

    page = markdown.render(metadata.get_payload(decode=True).decode())  # type: ignore[union-attr]
    assert page is not None
    targets = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert len(targets) > 10
    assert all(one.startswith(("https://", "#")) for one in targets), targets
    assert any(one.endswith("docs/img/terminal.svg") for one in targets)
    assert "Issues, https://github.com/acme/crscore/issues" in metadata.get_all("Project-URL", [])
    assert "[pytest11]\ncrscore = crscore.pytest_plugin" in points
