"""Finding a tool and its version: in its own folder, in the environment, on PATH."""

import os
import re
import stat
import sys
import sysconfig
from pathlib import Path

import pytest

from crscore.cache import Cache
from crscore.records import ToolRun, ToolState
from crscore.static_analysis import analyzer, tools
from crscore.static_analysis.tools import Installed
from tests.helpers.toys import toy

NOWHERE = ('command = "{python}"', 'command = "crscore-toy"')


def program(folder: Path, text: str = "echo toy 1.2.3", name: str = "crscore-toy") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def missing(reason: str) -> ToolRun:
    return ToolRun(tool="toy", version=None, state=ToolState.MISSING, reason=reason)


def found(one, folder: Path, *, path: str = "", cache=None) -> Installed | ToolRun:
    return tools.find_tool(one, tools=folder / "tools", path=path, cache=cache)


def test_this_interpreter_is_a_tool(tmp_path) -> None:
    one = found(toy(tmp_path), tmp_path)
    assert isinstance(one, Installed)
    assert (one.program, one.version) == (sys.executable, "1.2.3")


def test_missing_tool_has_its_install_command_as_reason(tmp_path) -> None:
    one = found(toy(tmp_path, replaced=NOWHERE), tmp_path, path=os.environ["PATH"])
    assert one == missing("not installed; pip install toy")


def test_own_folder_comes_before_path(tmp_path) -> None:
    program(tmp_path / "bin")
    own = program(tmp_path / "tools" / "toy" / "node_modules" / ".bin")
    one = found(toy(tmp_path, replaced=NOWHERE), tmp_path, path=str(tmp_path / "bin"))
    assert one.program == str(own)


def test_environments_scripts_come_before_path(tmp_path, monkeypatch) -> None:
    scripts = program(tmp_path / "scripts")
    program(tmp_path / "bin")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / name))
    one = found(toy(tmp_path, replaced=NOWHERE), tmp_path, path=str(tmp_path / "bin"))
    assert one.program == str(scripts)


def test_path_is_searched_last(tmp_path) -> None:
    there = program(tmp_path / "bin")
    one = found(toy(tmp_path, replaced=NOWHERE), tmp_path, path=f"/x:{tmp_path / 'bin'}")
    assert one.program == str(there)


def test_command_with_a_folder_is_looked_for_below_the_tools(tmp_path) -> None:
    there = program(tmp_path / "tools" / "toy" / "dist" / "bin")
    replaced = (NOWHERE[0], 'command = "dist/bin/crscore-toy"')
    assert found(toy(tmp_path, replaced=replaced), tmp_path).program == str(there)


@pytest.mark.parametrize("path", [".", "", "bin", ":bin:"])
def test_program_of_the_current_folder_is_never_run(tmp_path, monkeypatch, path) -> None:
    # The working folder may hold an untrusted change with a program named `ruff`.
    for folder in (tmp_path, tmp_path / "bin"):
        program(folder, f"touch {tmp_path}/canary; echo toy 1.2.3")
    monkeypatch.chdir(tmp_path)
    one = found(toy(tmp_path, replaced=NOWHERE), tmp_path, path=path)
    assert one.state is ToolState.MISSING
    assert not (tmp_path / "canary").exists()


def test_file_that_may_not_be_run_is_no_program(tmp_path) -> None:
    program(tmp_path / "bin").chmod(0o644)
    one = found(toy(tmp_path, replaced=NOWHERE), tmp_path, path=str(tmp_path / "bin"))
    assert one.state is ToolState.MISSING


def test_tool_without_the_program_it_needs_is_missing(tmp_path) -> None:
    analyzer_folder = toy(tmp_path, replaced=("supported", 'needs = ["crscore-java"]\nsupported'))
    one = found(analyzer_folder, tmp_path, path=os.environ["PATH"])
    assert one == missing("crscore-java is not installed")
    program(tmp_path / "bin", name="crscore-java")
    one = found(analyzer_folder, tmp_path, path=str(tmp_path / "bin"))
    assert isinstance(one, Installed)
    assert str(tmp_path / "bin") in one.environment["PATH"].split(os.pathsep)


@pytest.mark.parametrize("version", ["0.9", "2.0", "not.a.version"])
def test_other_version_is_unsupported_and_named(tmp_path, version) -> None:
    one = found(toy(tmp_path, version=f"print('toy {version}')"), tmp_path)
    assert (one.state, one.version) == (ToolState.UNSUPPORTED, version)
    assert one.reason == f"{version} is not in >=1,<2; pip install toy"


def test_version_may_be_a_prerelease_a_local_one_and_on_stderr(tmp_path) -> None:
    said = "import sys; print('toy 1.5rc1+pylint4.1', file=sys.stderr)"
    assert found(toy(tmp_path, version=said), tmp_path).version == "1.5rc1+pylint4.1"


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("print('hello')", "does not print its version"),
        ("import os; os.abort()", "SIGABRT"),
        ("print('x' * 40_000_000)", "printed more than"),
    ],
)
def test_tool_that_cannot_say_its_version_failed(tmp_path, version, words) -> None:
    one = found(toy(tmp_path, version=version), tmp_path)
    assert one.state is ToolState.FAILED
    assert words in one.reason


def test_file_that_is_no_program_failed(tmp_path) -> None:
    path = program(tmp_path / "bin")
    path.write_bytes(b"\x00\x01\x02")
    one = found(toy(tmp_path, replaced=NOWHERE), tmp_path, path=str(tmp_path / "bin"))
    assert one.state is ToolState.FAILED


def test_version_is_asked_for_once(tmp_path) -> None:
    analyzer_folder = toy(tmp_path, version="import time; print(f'toy 1.{time.time_ns()}')")
    cache = Cache(tmp_path / "cache")
    first = found(analyzer_folder, tmp_path, cache=cache)
    assert found(analyzer_folder, tmp_path, cache=cache).version == first.version
    assert found(analyzer_folder, tmp_path).version != first.version


def test_version_of_a_replaced_program_is_queried_again(tmp_path) -> None:
    path = program(tmp_path / "bin", "echo toy 1.2.3")
    analyzer_folder, where = toy(tmp_path, replaced=NOWHERE), str(tmp_path / "bin")
    cache = Cache(tmp_path / "cache")
    assert found(analyzer_folder, tmp_path, path=where, cache=cache).version == "1.2.3"
    # Like npm, put another file of the same size and mtime in place.
    before = path.stat()
    path.unlink()
    program(tmp_path / "bin", "echo toy 1.2.4")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert found(analyzer_folder, tmp_path, path=where, cache=cache).version == "1.2.4"


def test_environment_has_only_what_the_manifest_adds(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    own = 'environment = { OPTION = "{here}/x:{tools}/y:{files}" }'
    analyzer_folder = toy(tmp_path, replaced=("[exit_codes]", own + "\n[exit_codes]"))
    one = found(analyzer_folder, tmp_path)
    assert dict(one.environment) == {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "OPTION": f"{analyzer_folder.folder}/x:{tmp_path}/tools/toy/y:{{files}}",
    }


def test_default_folder_belongs_to_the_environment() -> None:
    assert tools.default_folder().is_relative_to(sys.prefix)


def of_file(folder: Path):
    """Return a tool with its version in a file name; the program would print another version."""
    one = toy(folder, replaced=("pattern = 'toy (\\S+)'", "pattern = 'lib-([0-9.]+)\\.jar'"))
    text = (one.folder / "analyzer.toml").read_text()
    text = re.sub(r"(?m)^version = .*$", 'version_path = "lib/lib-*.jar"', text)
    (one.folder / "analyzer.toml").write_text(text)
    return analyzer.read_analyzer(one.folder, shipped=False)


def test_version_is_read_off_the_name_of_a_file(tmp_path) -> None:
    library = tmp_path / "tools" / "toy" / "lib"
    library.mkdir(parents=True)
    (library / "lib-1.4.jar").touch()
    one = found(of_file(tmp_path), tmp_path)
    assert isinstance(one, Installed)
    assert one.version == "1.4"


def test_tool_without_that_file_is_missing(tmp_path) -> None:
    one = found(of_file(tmp_path), tmp_path)
    assert isinstance(one, ToolRun)
    assert (one.state, one.reason) == (ToolState.MISSING, "not installed; pip install toy")


def test_tool_that_is_there_without_its_program_names_the_program(tmp_path) -> None:
    made = of_file(tmp_path)
    text = (made.folder / "analyzer.toml").read_text().replace(*NOWHERE)
    (made.folder / "analyzer.toml").write_text(text)
    made = analyzer.read_analyzer(made.folder, shipped=False)
    nothing = found(made, tmp_path)
    assert nothing == missing("not installed; pip install toy")
    library = tmp_path / "tools" / "toy" / "lib"
    library.mkdir(parents=True)
    (library / "lib-1.4.jar").touch()
    half = found(made, tmp_path)
    assert half == missing("crscore-toy is not installed")
    program(tmp_path / "bin")
    whole = found(made, tmp_path, path=str(tmp_path / "bin"))
    assert isinstance(whole, Installed)
    assert whole.version == "1.4"


def test_file_of_another_version_is_not_supported(tmp_path) -> None:
    library = tmp_path / "tools" / "toy" / "lib"
    library.mkdir(parents=True)
    (library / "lib-2.0.jar").touch()
    one = found(of_file(tmp_path), tmp_path)
    assert isinstance(one, ToolRun)
    assert (one.state, one.version) == (ToolState.UNSUPPORTED, "2.0")
