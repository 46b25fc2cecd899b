import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from crscore import version


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    installed = version._installed
    installed.cache_clear()
    yield
    installed.cache_clear()


@pytest.mark.parametrize("package", ["markdown-it-py", "selectolax", "tree-sitter-c-sharp"])
def test_version_is_that_of_the_package(package: str) -> None:
    assert version.version_of(package) == metadata.version(package)


def test_missing_package_has_no_version() -> None:
    assert version.version_of("no-such-package-anywhere") == ""


def test_first_folder_of_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sentencex-0.0.1.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert version.version_of("sentencex") == "0.0.1"


def test_package_without_such_a_folder_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "_installed", dict)
    assert version.version_of("sentencex") == metadata.version("sentencex")
