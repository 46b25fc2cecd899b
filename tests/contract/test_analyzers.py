"""Every shipped analyzer: its tool is here, and its sample yields what is written beside it.

A missing tool is a failure, never a skip: a manifest that nobody ran is not tested.
"""

import functools
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from crscore.diff import parse
from crscore.records import Analysis, Coverage, ToolRun, ToolState
from crscore.static_analysis import analyzer, collect, execute, tools
from crscore.static_analysis.suite import Suite
from tests.helpers import toys
from tests.helpers.toys import added_files

NAMES = analyzer.analyzer_names(analyzer.builtin_folder())
EXPECTED = "expected.json"
KEYS = ("file", "line", "rule", "severity", "text")


def read(name: str) -> analyzer.Analyzer:
    return analyzer.read_analyzer(analyzer.builtin_folder() / name, shipped=True)


def suite(name: str) -> Suite:
    return Suite(
        analyzers=(read(name),), tools=tools.default_folder(), path=os.environ["PATH"], cache=None
    )


def sample(name: str) -> dict[str, str]:
    folder = read(name).folder / "sample"
    return {
        path.name: path.read_bytes().decode()
        for path in sorted(folder.iterdir())
        if path.name != EXPECTED
    }


@functools.cache
def installed(name: str) -> tools.Installed | ToolRun:
    ((_, tool),) = suite(name).find_tools()
    return tool


def _param(name: str) -> object:
    """Mark the tools that need a program of the system; the others are npm's or pip's."""
    is_java = read(name).manifest.tool.command == "java"
    return pytest.param(name, marks=pytest.mark.smoke if is_java else ())


@pytest.fixture(params=map(_param, NAMES))
def name(request) -> str:
    """An analyzer whose tool is installed, in a version that it knows."""
    tool = installed(request.param)
    assert isinstance(tool, tools.Installed), (
        f"{request.param}: {tool.reason}; install it with: "
        f"{read(request.param).manifest.tool.install}"
    )
    return request.param


@pytest.mark.parametrize("name", NAMES)
def test_manifest_holds_nothing_wrong(name: str) -> None:
    # As a user's own is read: what comes with crscore is not looked through at every start.
    analyzer.read_analyzer(analyzer.builtin_folder() / name, shipped=False)


class Analysed(NamedTuple):
    """What a tool says; it is started once for all, because a start costs most."""

    sample: Analysis
    broken: Analysis
    clean: Analysis
    hunks: tuple[Analysis, ...]


@functools.cache
def analysed(name: str) -> Analysed:
    files = sample(name)
    suffix = Path(next(iter(files))).suffix
    diffs = [
        added_files(files),
        added_files({f"broken{suffix}": BROKEN}),
        added_files({f"clean{suffix}": CLEAN[suffix]}),
        *(hunk(file, text) for file, text in files.items()),
    ]
    whole, broken, clean, *hunks = toys.analyze(suite(name), *diffs)
    return Analysed(whole, broken, clean, tuple(hunks))


def test_sample_has_the_expected_findings(name) -> None:
    analysis = analysed(name).sample
    rows = [
        {
            "file": finding.path,
            "line": finding.line,
            "rule": finding.rule,
            "severity": str(finding.severity),
            "text": finding.text,
        }
        for finding in analysis.findings
    ]
    rows.sort(key=lambda row: (row["file"], row["line"], row["rule"], row["text"]))
    written = json.loads((read(name).folder / "sample" / EXPECTED).read_text(encoding="utf-8"))
    assert [tuple(row) for row in written] == [KEYS] * len(written)
    assert rows == written
    assert rows, "a sample without a finding shows nothing"


def test_sample_is_read_whole(name) -> None:
    analysis = analysed(name).sample
    assert analysis.coverage is Coverage.COMPLETE, analysis.tools
    assert analysis.tools[0].files == len(sample(name))
    assert all(finding.in_change for finding in analysis.findings)


def test_sentences_are_one_line_of_plain_english(name) -> None:
    for finding in analysed(name).sample.findings:
        assert re.fullmatch(r"[A-Z`][^\n]*[.?!…]", finding.text), finding.text
        assert finding.text.count("`") % 2 == 0, finding.text
        assert "``" not in finding.text
        # A reviewer names no rule and points with the comment's place.
        assert not re.search(r"\bline \d", finding.text)
        if re.search(r"[\dA-Z-]", finding.rule):
            assert finding.rule not in finding.text


def test_sample_meets_every_sentence_of_the_manifest(name) -> None:
    manifest = read(name).manifest
    met = set()
    for finding in analysed(name).sample.findings:
        for index, sentence in enumerate(manifest.sentences):
            if re.fullmatch(sentence.rule, finding.rule) and re.search(
                sentence.message or "", finding.message
            ):
                met.add(index)
                break
    unmet = [
        (sentence.rule, sentence.message, sentence.text)
        for index, sentence in enumerate(manifest.sentences)
        if index not in met
    ]
    assert unmet == []


def test_suppressions_are_overwritten_column_by_column(name) -> None:
    for text in (*sample(name).values(), "x = 1  # noqa: E501 nosec pylint: disable=all NOPMD é\n"):
        copy = execute.overwrite_suppressions(text, read(name))
        assert [len(line) for line in copy.split("\n")] == [len(row) for row in text.split("\n")]
        changed = {new for new, old in zip(copy, text, strict=True) if new != old}
        assert changed <= {"x"}


def test_findings_do_not_depend_on_settings_of_the_folder_or_user(
    name, tmp_path, monkeypatch
) -> None:
    clean = analysed(name).sample
    for folder in (tmp_path, tmp_path / ".config"):
        folder.mkdir(exist_ok=True)
        for file, text in SETTINGS.items():
            (folder / file).write_text(text)
        (folder / "evil.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    for variable, value in {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / ".config"),
        "PYTHONPATH": str(tmp_path),
        "PYLINTRC": str(tmp_path / ".pylintrc"),
        "RUFF_SELECT": "ALL",
        "RUFF_CONFIG": str(tmp_path / "ruff.toml"),
        "NODE_OPTIONS": f"--require {tmp_path}/evil.js",
        "JAVA_TOOL_OPTIONS": "-Xmx1m",
        "PMD_JAVA_OPTS": "-Xmx1m",
    }.items():
        monkeypatch.setenv(variable, value)
    assert toys.analyze(suite(name), added_files(sample(name))) == (clean,)
    assert not (tmp_path / "canary").exists()


SETTINGS = {
    "pyproject.toml": (
        "[tool.ruff]\nselect = ['ALL']\n[tool.bandit]\nskips = ['B101', 'B307', 'B602']\n"
        "[tool.pylint.main]\ninit-hook = 'import evil'\ndisable = 'all'\n"
    ),
    "ruff.toml": "[lint]\nselect = []\n",
    ".ruff.toml": "[lint]\nselect = []\n",
    ".bandit": "[bandit]\nskips = B101,B307,B602\n",
    "bandit.yaml": "skips: [B307]\n",
    "setup.cfg": "[pylint.main]\ninit-hook = import evil\n[flake8]\nignore = E,F,W\n",
    ".pylintrc": "[MAIN]\ninit-hook = import evil\ndisable = all\n",
    "pylintrc": "[MAIN]\ninit-hook = import evil\ndisable = all\n",
    "whitelizer.txt": "*\n",
    ".jshintrc": '{"undef": true, "maxerr": 1}',
    ".jshintignore": "*\n",
    ".oxlintrc.json": '{"rules": {"no-unused-vars": "off"}}',
    ".eslintrc.json": "{",
    ".eslintignore": "*\n",
    ".gitignore": "*\n",
    "package.json": '{"jshintConfig": {"maxerr": 1}, "type": "module"}',
    ".npmrc": "node-options=--require=./evil.js\n",
    "evil.js": "require('fs').writeFileSync(__dirname + '/canary', '')\n",
    "pmd.xml": "<ruleset/>",
}


def test_hunk_alone_has_only_findings_that_the_manifest_allows(name) -> None:
    manifest = read(name).manifest
    for analysis, text in zip(analysed(name).hunks, sample(name).values(), strict=True):
        for finding in analysis.findings:
            assert any(re.fullmatch(rule, finding.rule) for rule in manifest.fragments.rules), (
                finding
            )
            assert 10 <= finding.line < 10 + len(lines_of(text))
        assert analysis.tools[0].reason in (collect.HUNKS_ONLY, collect.NEEDS_FILES)
        assert analysis.coverage is Coverage.PARTIAL
        if manifest.fragments is None:
            assert analysis.tools[0].state is ToolState.ABSTAINED


def lines_of(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def hunk(path: str, text: str):
    lines = lines_of(text)
    return parse.parse_diff(
        f"--- a/{path}\n+++ b/{path}\n@@ -9,0 +10,{len(lines)} @@\n"
        + "".join(f"+{line}\n" for line in lines)
    )


def test_file_that_does_not_parse_is_listed_as_unread(name) -> None:
    if name == "lizard":  # it reads tokens, and has no grammar to break
        return
    analysis = analysed(name).broken
    assert analysis.findings == ()
    assert analysis.coverage is Coverage.PARTIAL
    assert [Path(path).stem for path in analysis.tools[0].unread] == ["broken"]


BROKEN = "def class ( { [ = <<<<<<< HEAD\n)))) => ; ' \" `\n"


def test_clean_file_is_read_and_yields_nothing(name) -> None:
    analysis = analysed(name).clean
    assert analysis.findings == ()
    assert analysis.coverage is Coverage.COMPLETE, analysis.tools


CLEAN = {
    ".py": '"""Adds."""\n\n\ndef add(one: int, other: int) -> int:\n    return one + other\n',
    ".java": (
        "package sample;\n\n/** Adds. */\npublic final class Adder {\n"
        "    private Adder() {\n    }\n\n"
        "    /** Adds. */\n    public static int add(final int one, final int other) {\n"
        "        return one + other;\n    }\n}\n"
    ),
    ".js": "export function add(one, other) {\n  return one + other;\n}\n",
    ".tsx": "export function add(one: number, other: number): number {\n  return one + other;\n}\n",
    ".c": "int add(int one, int other)\n{\n    return one + other;\n}\n",
}
