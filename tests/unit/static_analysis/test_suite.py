"""Selecting analyzers by a setting, and running all of them on all changes of a run."""

import functools
import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from crscore.errors import ConfigError, UnknownPluginError
from crscore.records import Coverage, ToolState
from crscore.sandbox import _launch
from crscore.sandbox import run as sandbox
from crscore.static_analysis import analyzer, suite
from tests.helpers import toys
from tests.helpers.toys import added_files, finding_texts, run, toy

SHIPPED = analyzer.analyzer_names(analyzer.builtin_folder())


def selected(choice: str) -> tuple[str, ...]:
    return tuple(one.name for one in suite.select(choice))


# Which analyzers a setting means


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("auto", SHIPPED),
        ("none", ()),
        ("", ()),
        (" , ", ()),
        ("ruff", ("ruff",)),
        (" ruff , bandit,ruff", ("bandit", "ruff")),
        ("none,ruff", ("ruff",)),
        ("ruff,auto", SHIPPED),
    ],
)
def test_names_choose_shipped_analyzers(choice, names) -> None:
    assert selected(choice) == names
    assert all(one.shipped for one in suite.select(choice))


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("{0}", (*SHIPPED, "abc", "toy")),
        ("{0}/toy", (*SHIPPED, "toy")),
        ("{0}/toy,{0}/abc", (*SHIPPED, "abc", "toy")),
        ("none,{0}/toy", ("toy",)),
        ("ruff,{0}", ("abc", "ruff", "toy")),
        ("auto,{0}/abc", (*SHIPPED, "abc")),
    ],
)
def test_folders_are_added_to_all_shipped_analyzers(tmp_path, choice, names) -> None:
    toy(tmp_path)
    toy(tmp_path, name="abc")
    assert selected(choice.format(tmp_path)) == tuple(sorted(names))
    own = {one.name for one in suite.select(choice.format(tmp_path)) if not one.shipped}
    assert own == set(names) - set(SHIPPED)


def test_folder_needs_a_slash(tmp_path, monkeypatch) -> None:
    toy(tmp_path / "mine")
    toy(tmp_path, name="ruff")
    monkeypatch.chdir(tmp_path)
    assert selected(f"none,mine{os.sep}") == ("toy",)
    # A word without a slash is a name, because it may be from a settings file of the change.
    with pytest.raises(UnknownPluginError, match="'mine'"):
        suite.select("none,mine")
    (own,) = suite.select(f"none,.{os.sep}ruff")
    assert (own.name, own.shipped) == ("ruff", False)


@pytest.mark.parametrize("word", ["auto", "none", "ruff"])
def test_folder_of_the_change_is_never_taken_for_a_name(tmp_path, monkeypatch, word) -> None:
    # Otherwise, a pull request that adds `auto/analyzer.toml` could run any program.
    toy(tmp_path, name=word)
    toy(tmp_path / word)
    monkeypatch.chdir(tmp_path)
    assert all(one.shipped for one in suite.select(word))


def test_own_analyzer_replaces_the_shipped_one_of_its_name(tmp_path) -> None:
    toy(tmp_path, name="ruff")
    by_name = {one.name: one for one in suite.select(str(tmp_path))}
    assert not by_name["ruff"].shipped
    assert by_name["bandit"].shipped


def test_unknown_name_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(UnknownPluginError, match="auto, none, bandit") as caught:
        suite.select("ruff,flake9")
    assert caught.value.name == "flake9"


@pytest.mark.parametrize("choice", ["{0}/none", "{0}", "./x/y"])
def test_folder_without_analyzers_is_an_error(tmp_path, choice) -> None:
    with pytest.raises(ConfigError):
        suite.select(choice.format(tmp_path))


def test_analyzer_that_cannot_be_used_is_an_error(tmp_path) -> None:
    (toy(tmp_path).folder / "analyzer.toml").write_text("about = 1")
    with pytest.raises(ConfigError, match="about"):
        suite.select(str(tmp_path))


# All of them on all changes


def test_without_analyzers_the_analysis_is_empty() -> None:
    empty = suite.Suite(analyzers=(), tools=Path("/none"), path="")
    diff = added_files({"a.py": "x = 1\n"})
    assert [one.coverage for one in toys.analyze(empty, diff, diff)] == [Coverage.NONE] * 2
    assert toys.analyze(empty) == ()


def test_findings_of_changed_lines_of_each_change_in_order(tmp_path) -> None:
    diffs = [added_files({"a.py": "BAD a\n"}), added_files({"a.py": "BAD a\n", "b.txt": "BAD b"})]
    one, two = toys.analyze(toys.suite(toy(tmp_path)), *diffs)
    assert (finding_texts(one), finding_texts(two)) == (["A is bad."], ["A is bad.", "B is bad."])
    assert all(finding.in_change for finding in two.findings)
    assert [run.files for run in (*one.tools, *two.tools)] == [1, 2]


def test_all_changes_go_through_one_process(tmp_path) -> None:
    one = toy(tmp_path, version="print('toy 1.0')")
    diffs = [added_files({f"{name}.py": "ARGUMENTS\n"}) for name in "abc"]
    found = toys.analyze(toys.suite(one), *diffs)
    assert all(each.findings[0].message.count("s000") == 3 for each in found)


def test_tools_run_side_by_side(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    slow = "import time\ntime.sleep(1.5)\nprint('{\"found\": []}')"
    both = [toy(tmp_path, name=name, program=slow) for name in ("one", "two")]
    start = time.monotonic()
    toys.analyze(toys.suite(*both), added_files({"a.py": "x\n"}))
    assert time.monotonic() - start < 3


def test_tool_without_a_file_of_its_kind_is_not_looked_for(tmp_path) -> None:
    one = toy(tmp_path, version="import os; os.abort()")
    assert run(added_files({"a.go": "BAD a\n"}), one).tools == ()


def test_failure_of_one_tool_leaves_the_others(tmp_path) -> None:
    broken = toy(tmp_path, name="broken", program="raise SystemExit(99)")
    analysis = run(added_files({"a.py": "BAD a\n"}), broken, toy(tmp_path))
    assert finding_texts(analysis) == ["A is bad."]
    assert [(run.tool, run.state) for run in analysis.tools] == [
        ("broken", ToolState.FAILED),
        ("toy", ToolState.RAN),
    ]
    assert analysis.identity == f"toy@1.2.3-{toy(tmp_path).sha256[:8]},partial"
    assert analysis.notes == ("broken ended with exit code 99.",)


def test_installed_looks_for_every_tool(tmp_path) -> None:
    lost = toy(tmp_path, name="lost", replaced=('"{python}"', '"crscore-lost"'))
    tool = toys.suite(lost, toy(tmp_path)).find_tools()
    assert [one.name for one, _ in tool] == ["lost", "toy"]
    assert tool[0][1].state is ToolState.MISSING
    assert tool[1][1].version == "1.2.3"


# Without a sandbox


@pytest.fixture
def on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `can_confine` return the result on macOS."""
    macos = functools.partial(sandbox.can_confine, "darwin", "arm64")
    monkeypatch.setattr(sandbox, "can_confine", macos)


@pytest.mark.usefixtures("on_macos")
def test_code_of_the_user_is_read_without_a_sandbox_as_the_signature_shows(tmp_path) -> None:
    analysis = run(added_files({"a.py": "BAD a\n"}), toy(tmp_path))
    assert finding_texts(analysis) == ["A is bad."]
    assert analysis.identity == f"toy@1.2.3-{toy(tmp_path).sha256[:8]},sandbox:none"


@pytest.mark.usefixtures("on_macos")
def test_untrusted_code_is_not_read_without_a_sandbox(tmp_path) -> None:
    one = toy(tmp_path, version="import os; os.abort()")
    strange = replace(toys.suite(one), untrusted=True)
    (found,) = toys.analyze(strange, added_files({"a.py": "BAD a\n"}))
    assert (found.findings, found.identity) == ((), "partial,sandbox:none")
    assert found.notes == (
        "Not every tool could run, so issues may be missing: toy (not run on untrusted code, as "
        "no sandbox works here; --trust runs tools without one).",
    )


@pytest.mark.usefixtures("on_macos")
def test_signature_of_a_change_that_no_tool_reads_has_no_sandbox(tmp_path) -> None:
    diffs = [added_files({"a.go": "BAD a\n"}), added_files({"a.py": "BAD a\n"})]
    identities = [one.identity for one in toys.analyze(toys.suite(toy(tmp_path)), *diffs)]
    assert identities[0] == "none"
    assert identities[1].endswith(",sandbox:none")


def test_untrusted_code_is_not_read_if_the_kernel_confines_nothing(tmp_path, monkeypatch) -> None:
    text = Path(_launch.__file__).read_text(encoding="utf-8")
    open_launcher = tmp_path / "launch.py"
    open_launcher.write_text(text.replace('"x86_64": 0x', '"none": 0x').replace("aarch64", "any"))
    monkeypatch.setattr(sandbox, "_LAUNCHER", open_launcher)
    sandbox.network_denied.cache_clear()
    strange = replace(toys.suite(toy(tmp_path)), untrusted=True)
    (found,) = toys.analyze(strange, added_files({"a.py": "BAD a\n"}))
    sandbox.network_denied.cache_clear()
    assert found.identity == "partial,sandbox:none"


def test_untrusted_code_is_read_in_the_sandbox(tmp_path) -> None:
    strange = replace(toys.suite(toy(tmp_path)), untrusted=True)
    (found,) = toys.analyze(strange, added_files({"a.py": "BAD a\n"}))
    assert finding_texts(found) == ["A is bad."]
    assert "sandbox" not in found.identity


# When somebody interrupts


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes are POSIX")
def test_interrupt_ends_the_tools_and_starts_no_more(tmp_path, monkeypatch) -> None:
    started = tmp_path / "started"
    sleeping = toy(tmp_path, name="aaa", replaced=("seconds = 10", "seconds = 60"))
    late = toy(tmp_path, name="zzz", program=f"open({str(started)!r}, 'w')")
    diff = added_files({"a.py": "SLEEP\n", "b.py": "SLEEP\n", "c.py": "SLEEP\n"})

    class Interrupted(BaseException):
        pass

    monkeypatch.setattr(os, "cpu_count", lambda: 1)

    def interrupted(future, timeout=None):
        time.sleep(1)
        raise Interrupted

    monkeypatch.setattr(suite.Future, "result", interrupted)
    before = set(threading.enumerate())
    start = time.monotonic()
    with pytest.raises(Interrupted):
        toys.analyze(toys.suite(sleeping, late), diff)
    assert time.monotonic() - start < 15
    assert not started.exists()
    assert set(threading.enumerate()) <= before
