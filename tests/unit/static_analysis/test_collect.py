"""Combining the findings of all tools: states, notes, lines, and what is in the change."""

import re

import pytest

from crscore.cache import Cache
from crscore.diff import parse
from crscore.records import Coverage, ToolState
from crscore.static_analysis.reports import RawFinding, RawReport
from tests.helpers import toys
from tests.helpers.changes import change
from tests.helpers.toys import added_files, finding_texts, run, suite, toy

FRAGMENTS = """
    [fragments]
    rules = ["ba."]
"""
HUNK = """\
--- a/a.py
+++ b/a.py
@@ -40,2 +50,3 @@ class A:
     def f(self):
-        return 1
+        x = "BAD x; ODD y"
+        return x
"""


def test_lines_that_the_change_does_not_touch_stay_and_are_marked(tmp_path) -> None:
    analysis = run(change("a.py", "BAD a\nb\n", "BAD a\nBAD c\n"), toy(tmp_path))
    assert [(row.text, row.in_change, row.pre_existing) for row in analysis.findings] == [
        ("A is bad.", False, True),
        ("C is bad.", True, False),
    ]


def test_findings_of_the_old_version_are_pre_existing(tmp_path) -> None:
    analysis = run(change("a.py", "x = 'BAD a'\n", "x  = 'BAD a'\n"), toy(tmp_path))
    assert [(row.in_change, row.pre_existing) for row in analysis.findings] == [(True, True)]


def test_findings_are_sorted_and_distinct(tmp_path) -> None:
    diff = added_files({"b.py": "BAD z; BAD a; BAD a\nBAD b\n", "a.py": "ODD c\n"})
    tools = [toy(tmp_path, name="two"), toy(tmp_path, name="one")]
    analysis = run(diff, *tools)
    assert [(row.path, row.line, row.tool, row.message) for row in analysis.findings] == [
        ("a.py", 1, "one", "c is odd"),
        ("a.py", 1, "two", "c is odd"),
        ("b.py", 1, "one", "a is bad"),
        ("b.py", 1, "one", "z is bad"),
        ("b.py", 1, "two", "a is bad"),
        ("b.py", 1, "two", "z is bad"),
        ("b.py", 2, "one", "b is bad"),
        ("b.py", 2, "two", "b is bad"),
    ]


def test_end_after_the_last_line_is_the_last_line(tmp_path) -> None:
    analysis = run(added_files({"a.py": f"x\nBAD a to {10**15}\nx\n"}), toy(tmp_path))
    assert (analysis.findings[0].line, analysis.findings[0].end_line) == (2, 4)


def test_end_before_the_line_is_the_line(tmp_path) -> None:
    analysis = run(added_files({"a.py": "x\nBAD a to 1\n"}), toy(tmp_path))
    assert (analysis.findings[0].line, analysis.findings[0].end_line) == (2, 2)


def test_severity_comes_from_the_table(tmp_path) -> None:
    analysis = run(added_files({"a.py": "BAD a !\nBAD b !!\nBAD c\n"}), toy(tmp_path))
    assert [str(finding.severity) for finding in analysis.findings] == ["error", "note", "warning"]


def test_severity_of_a_rule_precedes_that_of_the_tool(tmp_path) -> None:
    more = "[severity_of_rules]\nnote = ['b.d']\nerror = ['odd', 'poor']"
    analysis = run(added_files({"a.py": "BAD a !\nODD b\nPOOR c !!\n"}), toy(tmp_path, more))
    assert [str(finding.severity) for finding in analysis.findings] == ["note", "error", "error"]


def test_ignored_finding_is_dropped_by_rule_and_message(tmp_path) -> None:
    more = "[[ignored]]\nrule = 'b.d'\nmessage = '^[ab] is'"
    analysis = run(added_files({"a.py": "BAD a\nBAD c\nODD b\nBAD b\n"}), toy(tmp_path, more))
    assert [finding.line for finding in analysis.findings] == [2, 3]


def test_file_changed_twice_counts_each_time_in_its_own_version(tmp_path) -> None:
    # As in a series of patches.
    one = "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+x = 'BAD a'\n"
    two = "--- a/a.py\n+++ b/a.py\n@@ -9,0 +11 @@\n+y = 'BAD b'\n"
    analysis = run(parse.parse_diff(one + two), toy(tmp_path, FRAGMENTS))
    assert [(each.line, each.in_change) for each in analysis.findings] == [(1, True), (11, True)]


# Hunks


def test_hunk_alone_has_only_findings_of_allowed_rules_at_lines_of_the_file(tmp_path) -> None:
    analysis = run(parse.parse_diff(HUNK), toy(tmp_path, FRAGMENTS))
    assert [(finding.text, finding.line, finding.in_change) for finding in analysis.findings] == [
        ("X is bad.", 51, True)
    ]
    assert analysis.tools[0].reason == "saw hunks, not whole files"
    assert analysis.identity.endswith(",partial")
    assert analysis.notes == ("Only hunks and no whole files are given, so toy can find less.",)


def test_tool_that_needs_whole_files_abstains_from_a_hunk(tmp_path) -> None:
    analysis = run(parse.parse_diff(HUNK), toy(tmp_path))
    assert (analysis.findings, analysis.identity) == ((), "partial")
    (one,) = analysis.tools
    assert (one.state, one.files, one.unread) == (ToolState.ABSTAINED, 0, ("a.py",))
    assert one.reason == "needs whole files, and has none"


def test_end_behind_a_hunk_is_the_line_itself(tmp_path) -> None:
    diff = parse.parse_diff(HUNK.replace("BAD x", "BAD x to 99"))
    analysis = run(diff, toy(tmp_path, FRAGMENTS))
    assert (analysis.findings[0].line, analysis.findings[0].end_line) == (51, 51)


def test_finding_on_a_line_added_around_a_hunk_is_dropped(tmp_path) -> None:
    program = (
        "import json, sys\n"
        "lines = range(1, open(sys.argv[1]).read().count('\\n') + 1)\n"
        "print(json.dumps({'found': [{'file': sys.argv[1], 'line': n, 'rule': 'bad', 'text': 'x'}"
        " for n in lines]}))\nraise SystemExit(1)"
    )
    diff = parse.parse_diff(
        "--- a/a.py\n+++ b/a.py\n@@ -9,0 +10,2 @@\n+    x = 1\n+except ValueError:\n"
    )
    analysis = run(diff, toy(tmp_path, FRAGMENTS, program=program))
    assert [finding.line for finding in analysis.findings] == [10, 11]


def test_file_with_one_hunk_that_cannot_be_read_still_names_the_tool(tmp_path) -> None:
    diff = parse.parse_diff(HUNK + "@@ -80 +91 @@\n-z = 1\n+z = 'UNPARSED'\n")
    analysis = run(diff, toy(tmp_path, FRAGMENTS))
    assert finding_texts(analysis) == ["X is bad."]
    assert analysis.tools[0].state is ToolState.RAN
    assert analysis.identity.startswith("toy@1.2.3")


# What became of a tool


def test_tool_that_read_everything_is_complete(tmp_path) -> None:
    analysis = run(added_files({"a.py": "x\n", "b.txt": "y\n", "c.go": "z\n"}), toy(tmp_path))
    assert analysis.coverage is Coverage.COMPLETE
    assert (analysis.tools[0].files, analysis.notes) == (2, ())


def test_version_of_a_users_analyzer_identifies_its_rules(tmp_path) -> None:
    one = toy(tmp_path)
    assert run(added_files({"a.py": "x\n"}), one).identity == f"toy@1.2.3-{one.sha256[:8]}"
    shipped = toy(tmp_path, shipped=True)
    assert run(added_files({"a.py": "x\n"}), shipped).identity == "toy@1.2.3"


def test_file_that_does_not_parse_is_named_and_its_findings_stay(tmp_path) -> None:
    diff = added_files({"a.py": "UNPARSED\nBAD a\n"})
    analysis = run(diff, toy(tmp_path, shipped=True))
    assert finding_texts(analysis) == ["A is bad."]
    # The tool had output, so the signature names it.
    assert analysis.identity == "toy@1.2.3,partial"
    assert analysis.tools[0].unread == ("a.py",)
    assert analysis.notes == ("toy could not read a.py.",)


def test_file_that_does_not_parse_and_has_no_finding_is_an_abstention(tmp_path) -> None:
    analysis = run(added_files({"a.py": "UNPARSED\n"}), toy(tmp_path))
    (one,) = analysis.tools
    assert (one.state, one.reason) == (ToolState.ABSTAINED, "could not parse the code")
    assert analysis.notes == ("toy could not read a.py: could not parse the code.",)
    assert analysis.identity == "partial"


def test_failure_on_one_file_is_named_with_why(tmp_path) -> None:
    analysis = run(added_files({"a.py": "EXIT 77\n", "b.py": "BAD b\n"}), toy(tmp_path))
    assert finding_texts(analysis) == ["B is bad."]
    assert analysis.tools[0].state is ToolState.RAN
    assert analysis.notes == ("toy could not read a.py: toy ended with exit code 77.",)


def test_failure_on_an_old_version_is_reported(tmp_path) -> None:
    analysis = run(change("a.py", "EXIT 77\nBAD a\n", "x\nBAD a\n"), toy(tmp_path))
    assert [finding.pre_existing for finding in analysis.findings] == [False]
    assert analysis.coverage is Coverage.PARTIAL
    assert "exit code 77" in analysis.tools[0].reason


def test_old_version_that_does_not_parse_excuses_nothing(tmp_path) -> None:
    analysis = run(change("a.py", "UNPARSED\nBAD a\n", "x\nBAD a\n"), toy(tmp_path))
    assert [finding.pre_existing for finding in analysis.findings] == [False]
    assert analysis.coverage is Coverage.COMPLETE


@pytest.mark.parametrize(
    ("names", "who"),
    [(["one"], "one"), (["one", "two"], "one, two")],
)
def test_missing_tools_are_named_once_with_the_command_that_gets_them(tmp_path, names, who) -> None:
    lost = [toy(tmp_path, name=n, replaced=('"{python}"', '"crscore-lost"')) for n in names]
    analysis = run(added_files({"a.py": "x\n"}), *lost)
    missing = f"{who} (not installed; pip install toy)"
    assert analysis.notes == (f"Not every tool could run, so issues may be missing: {missing}.",)
    assert {run.state for run in analysis.tools} == {ToolState.MISSING}
    assert analysis.identity == "partial"


def test_tool_whose_modules_are_not_installed_is_missing_and_does_not_run(tmp_path) -> None:
    lacking = toy(tmp_path, replaced=("[tool]\n", '[tool]\nmodules = ["sys", "crscore_lost"]\n'))
    analysis = run(added_files({"a.py": "x\n"}), lacking)
    assert [run.state for run in analysis.tools] == [ToolState.MISSING]
    assert "(not installed; pip install toy)" in analysis.notes[0]
    there = toy(tmp_path, replaced=("[tool]\n", '[tool]\nmodules = ["sys"]\n'))
    assert run(added_files({"a.py": "x\n"}), there).tools[0].state is ToolState.RAN


def test_tool_of_another_version_is_named_in_a_note(tmp_path) -> None:
    analysis = run(added_files({"a.py": "x\n"}), toy(tmp_path, version="print('toy 3.0')"))
    assert (analysis.tools[0].version, analysis.tools[0].state) == ("3.0", ToolState.UNSUPPORTED)
    assert analysis.notes == (
        "Not every tool could run, so issues may be missing: "
        "toy (3.0 is not in >=1,<2; pip install toy).",
    )


def test_deleted_and_binary_files_concern_no_tool(tmp_path) -> None:
    diff = parse.parse_diff(
        "diff --git a/a.py b/a.py\ndeleted file mode 100644\n--- a/a.py\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-BAD a\n"
        "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1,2 +1 @@\n BAD a\n-BAD b\n"
    )
    assert run(diff, toy(tmp_path)).tools == ()


def test_renamed_file_is_reported_by_its_new_name(tmp_path) -> None:
    diff = parse.parse_diff(
        "diff --git a/a.py b/b.py\nsimilarity index 50%\nrename from a.py\nrename to b.py\n"
        "--- a/a.py\n+++ b/b.py\n@@ -1,2 +1,2 @@\n BAD a\n-x\n+BAD b\n"
    )
    diff = parse.with_sources(diff, {"b.py": ("BAD a\nx\n", "BAD a\nBAD b\n")})
    analysis = run(diff, toy(tmp_path))
    assert [(row.path, row.in_change, row.pre_existing) for row in analysis.findings] == [
        ("b.py", False, True),
        ("b.py", True, False),
    ]


def test_crlf_and_odd_line_ends_do_not_shift_lines(tmp_path) -> None:
    old, new = "a\r\nb\rb\u2028b\r\nc\r\n", "a\r\nb\rb\u2028b\r\nBAD c\r\n"
    diff = parse.parse_diff("--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-c\r\n+BAD c\r\n")
    diff = parse.with_sources(diff, {"a.py": (old, new)})
    analysis = run(diff, toy(tmp_path))
    assert [(finding.line, finding.in_change) for finding in analysis.findings] == [(3, True)]


# Tools outside, and the store


def test_tools_outside_come_after_ours(tmp_path) -> None:
    raw = RawFinding(path="a.py", rule="q", message="Worse.", line=1, end_line=1)
    report = RawReport(tool="codeql", version="2.0", findings=(raw,))
    diff = added_files({"a.py": "BAD a\n"})
    (analysis,) = toys.analyze(suite(toy(tmp_path, shipped=True), reports=(report,)), diff)
    assert [finding.tool for finding in analysis.findings] == ["codeql", "toy"]
    assert re.fullmatch(r"codeql@2\.0-[0-9a-f]{8},toy@1\.2\.3", analysis.identity)


def test_finding_of_a_tool_that_also_ran_here_counts_once(tmp_path) -> None:
    same = RawFinding(path="a.py", rule="BAD", message="Bad it is.", line=1, end_line=1)
    other = RawFinding(path="a.py", rule="BAD", message="Bad it is.", line=2, end_line=2)
    report = RawReport(tool="Toy", version="1.2.3", findings=(same, other))
    diff = added_files({"a.py": "BAD a\nx\n"})
    (analysis,) = toys.analyze(suite(toy(tmp_path), reports=(report,)), diff)
    assert [(row.line, row.text) for row in analysis.findings] == [
        (1, "A is bad."),
        (2, "Bad it is."),
    ]


def test_second_analysis_from_the_store_is_the_same(tmp_path) -> None:
    cache = Cache(tmp_path / "cache")
    diffs = [change("a.py", "BAD a\n", "BAD a\nBAD b\nUNPARSED\n"), parse.parse_diff(HUNK)]
    ours = suite(toy(tmp_path, FRAGMENTS), cache=cache)
    assert toys.analyze(ours, *diffs) == toys.analyze(ours, *diffs)


def test_finding_about_style_is_marked_and_others_are_not(tmp_path) -> None:
    one = toy(tmp_path, '[style]\nrules = ["odd"]')
    analysis = run(added_files({"a.py": "BAD x\nODD y\n"}), one).findings
    assert [(finding.rule, finding.is_style) for finding in analysis] == [
        ("bad", False),
        ("odd", True),
    ]
