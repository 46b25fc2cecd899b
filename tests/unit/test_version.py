import subprocess
import sys
import zipfile
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
    expected = metadata.entry_points(group=group)
    assert version.entry_points(group) == {
        point.name: f"{point.module}:{point.attr or ''}" for point in expected
    }


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


@pytest.mark.parametrize("declared", ["[some.group]\nc = old.b:c\n", None])
def test_first_copy_of_a_package_counts(tmp_path: Path, monkeypatch, declared) -> None:
    for folder in ("first/My_pack.age-2.dist-info", "second/my.pack_age-1-py3.11.egg-info"):
        (tmp_path / folder).mkdir(parents=True)
        text = "[some.group]\na = old.b:c\nb = gone.b:c\n"
        if "second" in folder:
            (tmp_path / folder / "entry_points.txt").write_text(text)
        elif declared:
            (tmp_path / folder / "entry_points.txt").write_text(declared)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    assert version.entry_points("some.group") == ({"c": "old.b:c"} if declared else {})
    assert {point.name for point in metadata.entry_points(group="some.group")} == (
        {"c"} if declared else set()
    )


def test_spellings_of_an_entry_point(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a-1.dist-info").mkdir()
    text = "[empty]\n[ some.group ]\nz=z\n[some.group] \n"
    text += "  hello there = cfort.cmd : command [x]\nb=c\n#d=e\n"
    (tmp_path / "a-1.dist-info" / "entry_points.txt").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert version.entry_points("empty") == {}
    points = {"hello there": "cfort.cmd:command", "b": "c:"}
    assert version.entry_points("some.group") == points
    expected = metadata.entry_points(group="some.group")
    assert {point.name: f"{point.module}:{point.attr or ''}" for point in expected} == points


def test_entry_points_of_archives_and_eggs(tmp_path: Path, monkeypatch) -> None:
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        archive.writestr("z-1.dist-info/METADATA", "Name: z\nVersion: 1\n")
        archive.writestr("z-1.dist-info/entry_points.txt", "[some.group]\nz = z.b : c\n")
    egg = tmp_path / "e-1.egg" / "EGG-INFO"
    egg.mkdir(parents=True)
    (egg / "PKG-INFO").write_text("Name: e\nVersion: 1\n")
    (egg / "entry_points.txt").write_text("[some.group]\ne = e.b\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "bundle.zip"), *sys.path])
    assert version.entry_points("some.group") == {"z": "z.b:c"}
    version.entry_points.cache_clear()
    monkeypatch.setattr(sys, "path", [str(egg.parent), *sys.path[1:]])
    assert version.entry_points("some.group") == {"e": "e.b:"}


def test_help_runs_without_metadata_of_the_standard_library() -> None:
    code = (
        "import sys; from crscore import cli; assert cli.run(['--help']) == 0;"
        "sys.exit('importlib.metadata' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_unreadable_entry_points_are_left_out(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a-1.dist-info" / "entry_points.txt").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert version.entry_points("some.group") == {}
