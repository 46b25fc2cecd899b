import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from crscore import plugins
from crscore.errors import UnknownPluginError


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_names_are_the_public_files_of_the_folder(kind: str) -> None:
    folder = Path(plugins.__file__).parent / plugins.KINDS[kind]
    modules = [path.stem for path in folder.glob("*.py")]
    modules += [f"{path.parent.name}.plugin" for path in folder.glob("*/plugin.py")]
    room = "crscore." + plugins.KINDS[kind].replace("/", ".")
    loaded = {name: importlib.import_module(f"{room}.{name}") for name in modules}
    having = {name.removesuffix(".plugin") for name, m in loaded.items() if hasattr(m, "create")}
    assert set(plugins.names(kind)) == having


def test_names_lists_without_importing() -> None:
    code = (
        "import sys; from crscore import plugins; before = set(sys.modules);"
        "plugins.names('encoders'), plugins.names('reports');"
        "print([m for m in set(sys.modules) - before if m.startswith('crscore.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_load_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownPluginError, match="published"):
        plugins.load("matchers", "psychic")


def test_load_gives_the_module_of_that_name() -> None:
    assert plugins.load("matchers", "published").__name__ == "crscore.matchers.published"
