import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from crscore import plugins, version
from crscore.errors import ConfigError, UnknownPluginError
from tests.helpers import results


@pytest.mark.parametrize("kind", sorted(plugins.KINDS.keys() - {"languages"}))
def test_plugins_are_the_public_files_of_the_folder(kind: str) -> None:
    folder = Path(plugins.__file__).parent / plugins.KINDS[kind]
    modules = [path.stem for path in folder.glob("*.py")]
    modules += [f"{path.parent.name}.plugin" for path in folder.glob("*/plugin.py")]
    room = "crscore." + plugins.KINDS[kind].replace("/", ".")
    loaded = {name: importlib.import_module(f"{room}.{name}") for name in modules}
    having = {name.removesuffix(".plugin") for name, m in loaded.items() if hasattr(m, "create")}
    assert set(plugins.names(kind)) == having


def test_other_distributions_add_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"crscore.languages": {"cobol": "json:"}}
    monkeypatch.setattr(plugins, "entry_points", points.__getitem__)
    assert plugins.names("languages") == ("cobol", "python")
    assert plugins.load("languages", "cobol") is json
    assert "cobol" not in plugins.names("encoders")


def test_language_without_its_package_names_the_package(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "cfort").mkdir()
    (tmp_path / "cfort" / "plugin.py").write_text("import missing_numpy\n")
    declared = tmp_path / "cfort-1.dist-info" / "entry_points.txt"
    declared.parent.mkdir()
    declared.write_text("[crscore.languages]\nfortran = cfort.plugin\n")
    monkeypatch.syspath_prepend(tmp_path)
    version.entry_points.cache_clear()
    try:
        with pytest.raises(ModuleNotFoundError, match="missing_numpy"):
            plugins.load("languages", "fortran")
    finally:
        version.entry_points.cache_clear()


def test_names_lists_without_importing() -> None:
    code = (
        "import sys; from crscore import plugins; before = set(sys.modules);"
        "plugins.names('encoders'), plugins.names('reports');"
        "print([m for m in set(sys.modules) - before if m.startswith('crscore.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_name_is_reported_with_the_available_names() -> None:
    with pytest.raises(UnknownPluginError, match="published"):
        plugins.load("matchers", "psychic")


def test_load_returns_the_module_with_that_name() -> None:
    assert plugins.load("matchers", "published").__name__ == "crscore.matchers.published"


def test_create_makes_a_plugin_from_texts_and_values() -> None:
    made = plugins.create("matchers", "published", {"threshold": "0.25"})
    assert made.threshold == 0.25


def test_create_ignores_offered_values_without_an_option() -> None:
    offered = {"signature": True, "dialect": "klingon"}
    (shown, document) = (
        plugins.create("reports", name, offered=offered)([results.small()])
        for name in ("text", "json")
    )
    assert results.SIGNATURE in shown
    assert results.SIGNATURE in document


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("text", {"width": "wide"}, "report text: width: Expected `int`"),
        (
            "text",
            {"colour": True},
            "colour: is not an option; available: signature, color, width",
        ),
        (
            "json",
            {"signature": True},
            "report json: signature: is not an option; available: none",
        ),
    ],
)
def test_create_names_the_option_that_is_wrong(name: str, values: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plugins.create("reports", name, values)
