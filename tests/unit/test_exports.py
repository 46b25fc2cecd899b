import importlib
import subprocess
import sys

import pytest

import crscore


@pytest.mark.parametrize("name", crscore.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert name in dir(crscore)
    home = importlib.import_module(crscore._MODULES[name])
    assert getattr(crscore, name) is getattr(home, name)


def test_star_import_gives_exactly_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from crscore import *", names)
    assert names.keys() - {"__builtins__"} == set(crscore.__all__) == crscore._MODULES.keys()


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Scorrer'"):
        _ = crscore.Scorrer


def test_import_alone_loads_no_numpy() -> None:
    code = "import crscore, sys; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
