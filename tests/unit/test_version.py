import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from crscore import version


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    caches = version._installed, version.entry_points
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


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


@pytest.mark.parametrize("group", ["console_scripts", "pytest11"])
def test_entry_points_are_those_of_the_packages(group: str) -> None:
    expected = {point.name: point.value for point in metadata.entry_points(group=group)}
    found = version.entry_points(group)
    assert found.keys() == expected.keys()
    assert all(expected[name].startswith(value) for name, value in found.items())


def test_first_entry_point_of_the_path_counts(tmp_path: Path, monkeypatch) -> None:
    for folder, module in (("first", "one"), ("second", "two")):
        metadata_folder = tmp_path / folder / f"{module}-1.dist-info"
        metadata_folder.mkdir(parents=True)
        points = f"# a comment\na.b = {module}:c [extra]"
        text = f"[other]\nx = other:x\n\n[some.group]\n{points}\n[last]\ny=z\n"
        (metadata_folder / "entry_points.txt").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    assert version.entry_points("some.group") == {"a.b": "one:c"}
    assert version.entry_points("missing") == {}


def test_unreadable_entry_points_are_left_out(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a-1.dist-info" / "entry_points.txt").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert version.entry_points("some.group") == {}
