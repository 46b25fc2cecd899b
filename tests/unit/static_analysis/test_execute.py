"""Running a tool: its input, its exit code and output, and retries after a failure.

The tool is a real program that obeys the commands in the texts (`tests/helpers/toys.py`).
"""

import json
import os
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from crscore.cache import Cache
from crscore.errors import ToolFailedError, ToolOutputError
from crscore.records import Side
from crscore.static_analysis import execute, formats, tools
from crscore.static_analysis.reports import RawReport
from crscore.static_analysis.units import Unit
from tests.helpers.growth import slowness
from tests.helpers.toys import PROGRAM, toy


def unit(text: str, path: str = "a.py", **more: object) -> Unit:
    return Unit(path=path, side=Side.NEW, text=text, suffix=".py", **more)


def run_units(one, *units: Unit, cache: Cache | None = None):
    path = os.environ["PATH"]
    found = tools.find_tool(one, tools=one.folder.parent / "tools", path=path, cache=None)
    return execute.run_analyzer(found, units, cache=cache, stop=threading.Event())


def run(one, *texts: str, **options: object):
    return run_units(one, *map(unit, texts), **options)


def messages(outcome) -> list[str]:
    return [finding.message for finding in outcome.findings]


def test_findings_go_to_the_texts_they_are_of(tmp_path) -> None:
    one, none, two = run(toy(tmp_path), "BAD a\n", "fine\n", "\nBAD b; BAD c\n")
    assert (messages(one), messages(none), messages(two)) == (
        ["a is bad"],
        [],
        ["b is bad", "c is bad"],
    )
    assert [finding.line for finding in two.findings] == [2, 2]


def test_no_texts_start_no_process(tmp_path) -> None:
    assert run(toy(tmp_path, program="raise SystemExit(99)")) == ()


def test_equal_texts_are_read_once_and_answered_each(tmp_path) -> None:
    one, two = run(toy(tmp_path), "PID", "PID")
    assert one == two


def test_many_texts_take_several_processes(tmp_path, started) -> None:
    analysis = run(toy(tmp_path), *(f"BAD n{number}" for number in range(131)))
    assert [messages(one) for one in analysis] == [[f"n{number} is bad"] for number in range(131)]
    assert started == [128, 3]


def test_long_texts_share_a_process_with_fewer(tmp_path, started) -> None:
    run(toy(tmp_path), *(f"BAD n{number}\n" + "#" * 40_000 for number in range(23)))
    assert started == [21, 2]


# Input of the tool


def test_tool_gets_generated_names_in_an_empty_folder(tmp_path) -> None:
    odd = unit("ARGUMENTS", path="$(id) --x\n.py")
    package = unit("ARGUMENTS", path="p/__init__.py", is_package=True)
    one, two = run_units(toy(tmp_path), odd, package)
    folder, *arguments = json.loads(messages(one)[0])
    assert arguments == ["s0000.py", "s0001/__init__.py"]
    assert Path(folder).name == "work"
    assert not Path(folder).exists()
    assert messages(two) == messages(one)


def test_placeholders_are_filled(tmp_path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "rules.json").write_text("{}")
    arguments = ("-I", "{here}/tool.py", "--list", "{file_list}", "{folder}", "{rules}", "{tools}")
    one = toy(
        tmp_path,
        arguments=(*arguments, "{marker}", "a{marker}"),
        replaced=("[exit_codes]", 'rules = "rules.json"\n[exit_codes]'),
    )
    (findings,) = run(one, "ARGUMENTS")
    folder, _, listing, work, rules, own, marker, again = json.loads(messages(findings)[0])
    assert work == folder
    assert listing.endswith("/tmp/files.txt")
    assert rules == str(one.folder / "rules.json")
    assert own == str(tmp_path / "tools" / "toy")
    assert len(marker) > 30
    assert again == f"a{marker}"


def test_marker_is_another_one_each_time(tmp_path) -> None:
    one = toy(
        tmp_path, arguments=("-I", "{here}/tool.py", "{files}", "{folder}/s0000.py", "{files}")
    )
    assert run(one, "ARGUMENTS") != run(one, "ARGUMENTS")


def test_environment_is_scrubbed(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    one = toy(tmp_path, replaced=("[exit_codes]", 'environment = { A = "1" }\n[exit_codes]'))
    seen = json.loads(messages(run(one, "ENVIRON")[0])[0])
    assert set(seen) <= {"PATH", "LANG", "HOME", "TMPDIR", "A", "LC_CTYPE"}
    assert seen["HOME"] != os.environ["HOME"]
    assert seen["A"] == "1"


def test_suppressions_are_overwritten_and_columns_stay(tmp_path) -> None:
    more = "[suppressions]\npatterns = ['(?i)# *no(?:qa|t now)[^\\n]*', 'QUIET(?s:.*)LOUD']"
    program = (
        "import json, sys\n"
        "text = open(sys.argv[1]).read()\n"
        "one = {'file': sys.argv[1], 'line': 1, 'rule': 'x', 'text': text}\n"
        "print(json.dumps({'found': [one]}))\n"
        "raise SystemExit(1)"
    )
    one = toy(tmp_path, more, program=program)
    (findings,) = run(one, "a = 1 # NoQA: é\nb QUIET\nc LOUD d\n")
    assert messages(findings) == ["a = 1 xxxxxxxxx\nb xxxxx\nxxxxxx d\n"]


@pytest.mark.growth
def test_pattern_of_an_own_analyzer_meets_no_long_line_of_errors(tmp_path) -> None:
    one = toy(
        tmp_path,
        program="import sys\nprint('{\"found\": []}')\nsys.stderr.write(' ' * 200_000 + '!')",
        replaced=("[output.json]", "unparsed_stderr = '\\s+(\\S+\\.py)'\n[output.json]"),
    )
    started = time.process_time()
    run(one, "a = 1\n")
    assert time.process_time() - started < 3 * slowness()  # it takes a minute otherwise


# What is made of its end


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("EXIT 77", ToolFailedError, "exit code 77"),
        ("BAD a\nEXIT 77", ToolFailedError, "exit code 77"),
        ("EXIT 1", ToolFailedError, "exit code 1 and no finding"),
        ("EXIT 2", ToolFailedError, "exit code 2 and no finding"),
        ("BAD a\nEXIT 2", ToolFailedError, "does not say what it could not read"),
        ("RAW {", ToolOutputError, "not JSON"),
    ],
)
def test_unknown_end_is_a_failure_and_never_clean(tmp_path, text, error, words) -> None:
    (outcome,) = run(toy(tmp_path), text)
    assert type(outcome) is error
    assert words in str(outcome)


def test_tool_that_takes_too_long_failed(tmp_path) -> None:
    (outcome,) = run(toy(tmp_path, replaced=("seconds = 10", "seconds = 0.5")), "SLEEP")
    assert str(outcome) == "toy took longer than 0.5 s"


def test_unparsed_text_keeps_its_findings(tmp_path) -> None:
    one, two = run(toy(tmp_path), "UNPARSED\nBAD a", "BAD b")
    assert (bool(one.unparsed), messages(one)) == (True, ["a is bad"])
    assert (bool(two.unparsed), messages(two)) == (False, ["b is bad"])


def test_findings_of_an_unparsed_text_are_dropped_where_they_mean_nothing(tmp_path) -> None:
    more = ("[output.json]", "drop_findings_of_unparsed = true\n[output.json]")
    one, two = run(toy(tmp_path, replaced=more), "UNPARSED\nBAD a", "BAD b")
    assert (bool(one.unparsed), messages(one)) == (True, [])
    assert messages(two) == ["b is bad"]


def test_rule_that_means_unparsed_is_no_finding(tmp_path) -> None:
    one = toy(tmp_path, replaced=('["syntax.*"]', '["ba."]'))
    (findings,) = run(one, "BAD a\nODD b")
    assert (bool(findings.unparsed), messages(findings)) == (True, ["b is odd"])


def test_rule_that_means_unparsed_matches_as_a_whole(tmp_path) -> None:
    (findings,) = run(toy(tmp_path, replaced=('["syntax.*"]', '["ba"]')), "BAD a")
    assert (findings.unparsed, messages(findings)) == ((), ["a is bad"])


def test_text_that_standard_error_names_is_unparsed(tmp_path) -> None:
    one = toy(
        tmp_path,
        program=(
            "import sys\nprint('skip s0001.py, skip x.py', file=sys.stderr)\n"
            "print('{\"found\": []}')"
        ),
        replaced=("[output.json]", "unparsed_stderr = 'skip (\\S+\\.py)'\n[output.json]"),
    )
    assert [bool(findings.unparsed) for findings in run(one, "a", "b", "c")] == [False, True, False]


def test_clean_code_with_findings_keeps_them(tmp_path) -> None:
    finding = toy(tmp_path, replaced=("unparsed = [2]", "clean = [0, 1]\nfindings = []"))
    assert messages(run(finding, "BAD a")[0]) == ["a is bad"]


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "s0001.py", "s0000", "xs0000.py", "s" + "9" * 5000 + ".py"]
)
def test_finding_of_another_file_is_dropped(tmp_path, path) -> None:
    (findings,) = run(
        toy(tmp_path, replaced=("[exit_codes]", "[exit_codes]\nclean = [0, 1]")),
        "RAW " + json.dumps({"found": [{"file": path, "line": 1, "rule": "a", "text": "b"}]}),
    )
    assert findings == RawReport()


@pytest.mark.parametrize(
    "path", ["s0000.py", "./s0000.py", "file:///tmp/x/work/s0000.py", "C:\\work\\s0000.py"]
)
def test_passed_file_is_recognized_in_every_notation(tmp_path, path) -> None:
    (findings,) = run(
        toy(tmp_path),
        "RAW " + json.dumps({"found": [{"file": path, "line": 1, "rule": "a", "text": "b"}]}),
    )
    assert messages(findings) == ["b"]


def test_lone_surrogate_in_a_message_is_replaced(tmp_path) -> None:
    cache = Cache(tmp_path / "cache")
    text = 'RAW {"found": [{"file": "s0000.py", "line": 1, "rule": "a", "text": "\\ud800"}]}'
    (findings,) = run(toy(tmp_path), text, cache=cache)
    assert messages(findings) == ["?"]
    assert run(toy(tmp_path), text, cache=cache) == (findings,)


# Retries after a failure


def test_flood_of_findings_of_one_text_hides_no_others(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(formats, "MAX_FINDINGS", 50)
    flood, other = run(toy(tmp_path), "BAD a\n" * 51, "BAD b")
    assert isinstance(flood, ToolOutputError)
    assert messages(other) == ["b is bad"]


@pytest.fixture
def started(monkeypatch) -> list[int]:
    """Return the number of texts of each process."""
    log: list[int] = []
    real = execute._run_batch

    def run_batch(one, units, stop):
        log.append(len(units))
        return real(one, units, stop)

    monkeypatch.setattr(execute, "_run_batch", run_batch)
    return log


def test_tool_that_always_fails_is_given_up(tmp_path, monkeypatch, started) -> None:
    monkeypatch.setattr(execute, "MAX_WAITS", 0)
    analysis = run(toy(tmp_path), *(f"EXIT {70 + number % 5} {number}" for number in range(140)))
    assert all(isinstance(one, ToolFailedError) for one in analysis)
    assert started == [128]


def test_failed_batch_is_tried_in_smaller_ones_until_one_text_is_silent(tmp_path, started) -> None:
    texts = [f"BAD n{number}" for number in range(20)]
    texts[13] = "EXIT 77"
    analysis = run(toy(tmp_path), *texts)
    assert [i for i, one in enumerate(analysis) if isinstance(one, ToolFailedError)] == [13]
    assert messages(analysis[14]) == ["n14 is bad"]
    assert started == [20, 8, 8, 4, *[1] * 8]


def test_time_that_failures_take_is_bounded(tmp_path, monkeypatch, started) -> None:
    monkeypatch.setattr(execute, "BATCH_SIZES", (2, 1))
    one = toy(tmp_path, replaced=("seconds = 10", "seconds = 0.3"))
    analysis = run(one, *(f"SLEEP {number}" for number in range(40)))
    assert all("took longer" in str(outcome) for outcome in analysis)
    assert len(analysis) == 40
    assert len(started) <= execute.MAX_WAITS


def test_stopped_run_starts_nothing(tmp_path, monkeypatch) -> None:
    stopped = threading.Event()
    stopped.set()
    monkeypatch.setattr(threading, "Event", lambda: stopped)
    (outcome,) = run(toy(tmp_path), "BAD a")
    assert str(outcome) == "toy was stopped"


def test_tool_removed_since_its_version_was_queried_fails(tmp_path) -> None:
    program = tmp_path / "crscore-toy"
    program.write_text("#!/bin/sh\necho toy 1.0\n")
    program.chmod(0o755)
    one = toy(tmp_path, replaced=('"{python}"', '"crscore-toy"'))
    findings = tools.find_tool(one, tools=tmp_path, path=str(tmp_path), cache=None)
    program.unlink()
    (outcome,) = execute.run_analyzer(findings, [unit("BAD a")], cache=None, stop=threading.Event())
    assert str(outcome) == "toy is no longer installed"


# What is remembered


def test_second_run_starts_no_process(tmp_path) -> None:
    cache = Cache(tmp_path / "cache")
    one = toy(tmp_path)
    first = run(one, "PID", cache=cache)
    assert run(one, "PID", cache=cache) == first
    assert run(one, "PID") != first


def test_only_new_texts_are_read(tmp_path) -> None:
    cache = Cache(tmp_path / "cache")
    one = toy(tmp_path)
    first = run(one, "PID a", cache=cache)
    again = run(one, "PID a", "PID b", cache=cache)
    assert again[0] == first[0]
    assert again[1] != first[0]


@pytest.mark.parametrize(
    "other",
    [
        {"version": "print('toy 1.2.4')"},
        {"arguments": ("-I", "{here}/tool.py", "{files}", "{files}")},
        {"program": "# changed\n"},
        {"name": "other"},
    ],
)
def test_text_is_read_again_for_another_version_or_other_rules(tmp_path, other) -> None:
    cache = Cache(tmp_path / "cache")
    first = run(toy(tmp_path), "PID", cache=cache)
    changed = dict(other)
    changed["program"] = PROGRAM + changed.get("program", "")
    assert run(toy(tmp_path, **changed), "PID", cache=cache) != first


def test_other_text_or_name_is_read_again(tmp_path) -> None:
    cache = Cache(tmp_path / "cache")
    run_one = partial(run_units, toy(tmp_path), cache=cache)
    (first,) = run_one(unit("PID"))
    assert run_one(unit("PID", path="b.py")) == (first,)
    assert run_one(unit("PID ")) != (first,)
    assert run_one(unit("PID", is_package=True)) != (first,)


def test_failures_are_not_cached(tmp_path) -> None:
    cache = Cache(tmp_path / "cache")
    program = tmp_path / "flag"
    one = toy(
        tmp_path,
        program=(
            f"import os, sys\nif os.path.exists({str(program)!r}): sys.exit(77)\n"
            "print('{\"found\": []}')"
        ),
    )
    program.touch()
    assert isinstance(run(one, "x", cache=cache)[0], ToolFailedError)
    program.unlink()
    assert run(one, "x", cache=cache) == (RawReport(),)


def test_unreadable_cache_entry_counts_as_missing(tmp_path) -> None:
    class Nonsense:
        def get(self, key: str) -> bytes:
            return b'{"findings": 7}'

        def put(self, key: str, value: bytes) -> None:
            self.last = value

    cache = Nonsense()
    assert messages(run(toy(tmp_path), "BAD a", cache=cache)[0]) == ["a is bad"]
    assert b"a is bad" in cache.last
