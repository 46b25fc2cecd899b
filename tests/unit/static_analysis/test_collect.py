"""One analysis of what all tools say: states, notes, lines, and what stands in the change."""

import re

import pytest

from crscore.cache import Store
from crscore.diff import parse
from crscore.records import Coverage, ToolState
from crscore.static_analysis.reports import RawFinding, RawReport
from tests.helpers.changes import change
from tests.helpers.toys import added_files, run, said, suite, toy

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
    found = run(change("a.py", "BAD a\nb\n", "BAD a\nBAD c\n"), toy(tmp_path))
    assert [(one.text, one.in_change, one.pre_existing) for one in found.findings] == [
        ("A is bad.", False, True),
        ("C is bad.", True, False),
    ]


def test_old_version_tells_what_is_older(tmp_path) -> None:
    found = run(change("a.py", "x = 'BAD a'\n", "x  = 'BAD a'\n"), toy(tmp_path))
    assert [(one.in_change, one.pre_existing) for one in found.findings] == [(True, True)]


def test_findings_are_sorted_and_said_once(tmp_path) -> None:
    made = added_files({"b.py": "BAD z; BAD a; BAD a\nBAD b\n", "a.py": "ODD c\n"})
    tools = [toy(tmp_path, name="two"), toy(tmp_path, name="one")]
    found = run(made, *tools)
    assert [(one.path, one.line, one.tool, one.message) for one in found.findings] == [
        ("a.py", 1, "one", "c is odd"),
        ("a.py", 1, "two", "c is odd"),
        ("b.py", 1, "one", "a is bad"),
        ("b.py", 1, "one", "z is bad"),
        ("b.py", 1, "two", "a is bad"),
        ("b.py", 1, "two", "z is bad"),
        ("b.py", 2, "one", "b is bad"),
        ("b.py", 2, "two", "b is bad"),
    ]


def test_end_beyond_the_file_is_the_files_end(tmp_path) -> None:
    found = run(added_files({"a.py": f"x\nBAD a to {10**15}\nx\n"}), toy(tmp_path))
    assert (found.findings[0].line, found.findings[0].end_line) == (2, 4)


def test_end_before_the_line_is_the_line(tmp_path) -> None:
    found = run(added_files({"a.py": "x\nBAD a to 1\n"}), toy(tmp_path))
    assert (found.findings[0].line, found.findings[0].end_line) == (2, 2)


def test_severity_comes_from_the_table(tmp_path) -> None:
    found = run(added_files({"a.py": "BAD a !\nBAD b !!\nBAD c\n"}), toy(tmp_path))
    assert [str(one.severity) for one in found.findings] == ["error", "note", "warning"]


def test_file_changed_twice_counts_each_time_in_its_own_version(tmp_path) -> None:
    # As in a series of patches.
    one = "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+x = 'BAD a'\n"
    two = "--- a/a.py\n+++ b/a.py\n@@ -9,0 +11 @@\n+y = 'BAD b'\n"
    found = run(parse.parse_diff(one + two), toy(tmp_path, FRAGMENTS))
    assert [(each.line, each.in_change) for each in found.findings] == [(1, True), (11, True)]


# Hunks


def test_hunk_alone_says_only_what_its_rules_allow_at_the_lines_of_the_file(tmp_path) -> None:
    found = run(parse.parse_diff(HUNK), toy(tmp_path, FRAGMENTS))
    assert [(one.text, one.line, one.in_change) for one in found.findings] == [
        ("X is bad.", 51, True)
    ]
    assert found.tools[0].reason == "saw hunks, not whole files"
    assert found.identity.endswith(",partial")
    assert found.notes == ("Only hunks and no whole files are given, so toy can find less.",)


def test_tool_that_needs_whole_files_abstains_from_a_hunk(tmp_path) -> None:
    found = run(parse.parse_diff(HUNK), toy(tmp_path))
    assert (found.findings, found.identity) == ((), "partial")
    (one,) = found.tools
    assert (one.state, one.files, one.unread) == (ToolState.ABSTAINED, 0, ("a.py",))
    assert one.reason == "needs whole files, and has none"


def test_end_behind_a_hunk_is_the_line_itself(tmp_path) -> None:
    made = parse.parse_diff(HUNK.replace("BAD x", "BAD x to 99"))
    found = run(made, toy(tmp_path, FRAGMENTS))
    assert (found.findings[0].line, found.findings[0].end_line) == (51, 51)


def test_finding_on_a_line_put_around_a_hunk_is_nothing(tmp_path) -> None:
    program = (
        "import json, sys\n"
        "lines = range(1, open(sys.argv[1]).read().count('\\n') + 1)\n"
        "print(json.dumps({'found': [{'file': sys.argv[1], 'line': n, 'rule': 'bad', 'text': 'x'}"
        " for n in lines]}))\nraise SystemExit(1)"
    )
    made = parse.parse_diff(
        "--- a/a.py\n+++ b/a.py\n@@ -9,0 +10,2 @@\n+    x = 1\n+except ValueError:\n"
    )
    found = run(made, toy(tmp_path, FRAGMENTS, program=program))
    assert [one.line for one in found.findings] == [10, 11]


def test_file_with_one_hunk_that_cannot_be_read_still_names_the_tool(tmp_path) -> None:
    made = parse.parse_diff(HUNK + "@@ -80 +91 @@\n-z = 1\n+z = 'UNPARSED'\n")
    found = run(made, toy(tmp_path, FRAGMENTS))
    assert said(found) == ["X is bad."]
    assert found.tools[0].state is ToolState.RAN
    assert found.identity.startswith("toy@1.2.3")


# What became of a tool


def test_tool_that_read_everything_is_complete(tmp_path) -> None:
    found = run(added_files({"a.py": "x\n", "b.txt": "y\n", "c.go": "z\n"}), toy(tmp_path))
    assert found.coverage is Coverage.COMPLETE
    assert (found.tools[0].files, found.notes) == (2, ())


def test_version_of_ones_own_analyzer_names_its_rules(tmp_path) -> None:
    one = toy(tmp_path)
    assert run(added_files({"a.py": "x\n"}), one).identity == f"toy@1.2.3-{one.sha256[:8]}"
    shipped = toy(tmp_path, shipped=True)
    assert run(added_files({"a.py": "x\n"}), shipped).identity == "toy@1.2.3"


def test_file_that_does_not_parse_is_named_and_its_findings_stay(tmp_path) -> None:
    made = added_files({"a.py": "UNPARSED\nBAD a\n"})
    found = run(made, toy(tmp_path, shipped=True))
    assert said(found) == ["A is bad."]
    # It spoke, so that the signature names it.
    assert found.identity == "toy@1.2.3,partial"
    assert found.tools[0].unread == ("a.py",)
    assert found.notes == ("toy could not read a.py.",)


def test_file_that_does_not_parse_and_says_nothing_is_an_abstention(tmp_path) -> None:
    found = run(added_files({"a.py": "UNPARSED\n"}), toy(tmp_path))
    (one,) = found.tools
    assert (one.state, one.reason) == (ToolState.ABSTAINED, "could not parse the code")
    assert found.notes == ("toy could not read a.py: could not parse the code.",)
    assert found.identity == "partial"


def test_failure_on_one_file_is_named_with_why(tmp_path) -> None:
    found = run(added_files({"a.py": "EXIT 77\n", "b.py": "BAD b\n"}), toy(tmp_path))
    assert said(found) == ["B is bad."]
    assert found.tools[0].state is ToolState.RAN
    assert found.notes == ("toy could not read a.py: toy ended with exit code 77.",)


def test_failure_on_an_old_version_is_told(tmp_path) -> None:
    found = run(change("a.py", "EXIT 77\nBAD a\n", "x\nBAD a\n"), toy(tmp_path))
    assert [one.pre_existing for one in found.findings] == [False]
    assert found.coverage is Coverage.PARTIAL
    assert "exit code 77" in found.tools[0].reason


def test_old_version_that_does_not_parse_excuses_nothing(tmp_path) -> None:
    found = run(change("a.py", "UNPARSED\nBAD a\n", "x\nBAD a\n"), toy(tmp_path))
    assert [one.pre_existing for one in found.findings] == [False]
    assert found.coverage is Coverage.COMPLETE


@pytest.mark.parametrize(
    ("names", "who"),
    [(["one"], "one"), (["one", "two"], "one, two")],
)
def test_missing_tools_are_named_once_with_the_command_that_gets_them(tmp_path, names, who) -> None:
    lost = [toy(tmp_path, name=n, replaced=('"{python}"', '"crscore-lost"')) for n in names]
    found = run(added_files({"a.py": "x\n"}), *lost)
    missing = f"{who} (not installed; pip install toy)"
    assert found.notes == (f"Not every tool could run, so issues may be missing: {missing}.",)
    assert {one.state for one in found.tools} == {ToolState.MISSING}
    assert found.identity == "partial"


def test_tool_whose_modules_are_not_installed_is_missing_and_does_not_run(tmp_path) -> None:
    lacking = toy(tmp_path, replaced=("[tool]\n", '[tool]\nmodules = ["sys", "crscore_lost"]\n'))
    found = run(added_files({"a.py": "x\n"}), lacking)
    assert [one.state for one in found.tools] == [ToolState.MISSING]
    assert "(not installed; pip install toy)" in found.notes[0]
    there = toy(tmp_path, replaced=("[tool]\n", '[tool]\nmodules = ["sys"]\n'))
    assert run(added_files({"a.py": "x\n"}), there).tools[0].state is ToolState.RAN


def test_tool_of_another_version_is_named_in_a_note(tmp_path) -> None:
    found = run(added_files({"a.py": "x\n"}), toy(tmp_path, version="print('toy 3.0')"))
    assert (found.tools[0].version, found.tools[0].state) == ("3.0", ToolState.UNSUPPORTED)
    assert found.notes == (
        "Not every tool could run, so issues may be missing: "
        "toy (3.0 is not >=1,<2; pip install toy).",
    )


def test_deleted_and_binary_files_concern_no_tool(tmp_path) -> None:
    made = parse.parse_diff(
        "diff --git a/a.py b/a.py\ndeleted file mode 100644\n--- a/a.py\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-BAD a\n"
        "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1,2 +1 @@\n BAD a\n-BAD b\n"
    )
    assert run(made, toy(tmp_path)).tools == ()


def test_renamed_file_is_told_under_its_new_name(tmp_path) -> None:
    made = parse.parse_diff(
        "diff --git a/a.py b/b.py\nsimilarity index 50%\nrename from a.py\nrename to b.py\n"
        "--- a/a.py\n+++ b/b.py\n@@ -1,2 +1,2 @@\n BAD a\n-x\n+BAD b\n"
    )
    made = parse.with_sources(made, {"b.py": ("BAD a\nx\n", "BAD a\nBAD b\n")})
    found = run(made, toy(tmp_path))
    assert [(one.path, one.in_change, one.pre_existing) for one in found.findings] == [
        ("b.py", False, True),
        ("b.py", True, False),
    ]


def test_crlf_and_odd_line_ends_do_not_shift_lines(tmp_path) -> None:
    old, new = "a\r\nb\rb\u2028b\r\nc\r\n", "a\r\nb\rb\u2028b\r\nBAD c\r\n"
    made = parse.parse_diff("--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-c\r\n+BAD c\r\n")
    made = parse.with_sources(made, {"a.py": (old, new)})
    found = run(made, toy(tmp_path))
    assert [(one.line, one.in_change) for one in found.findings] == [(3, True)]


# Tools outside, and the store


def test_tools_outside_come_after_ours(tmp_path) -> None:
    raw = RawFinding(path="a.py", rule="q", message="Worse.", line=1, end_line=1)
    report = RawReport(tool="codeql", version="2.0", findings=(raw,))
    made = added_files({"a.py": "BAD a\n"})
    (found,) = suite(toy(tmp_path, shipped=True), reports=(report,)).analyze([made])
    assert [one.tool for one in found.findings] == ["codeql", "toy"]
    assert re.fullmatch(r"codeql@2\.0-[0-9a-f]{8},toy@1\.2\.3", found.identity)


def test_tool_that_ran_here_too_says_nothing_twice(tmp_path) -> None:
    same = RawFinding(path="a.py", rule="BAD", message="Bad it is.", line=1, end_line=1)
    other = RawFinding(path="a.py", rule="BAD", message="Bad it is.", line=2, end_line=2)
    report = RawReport(tool="Toy", version="1.2.3", findings=(same, other))
    made = added_files({"a.py": "BAD a\nx\n"})
    (found,) = suite(toy(tmp_path), reports=(report,)).analyze([made])
    assert [(one.line, one.text) for one in found.findings] == [(1, "A is bad."), (2, "Bad it is.")]


def test_second_analysis_from_the_store_is_the_same(tmp_path) -> None:
    cache = Store(tmp_path / "cache")
    made = [change("a.py", "BAD a\n", "BAD a\nBAD b\nUNPARSED\n"), parse.parse_diff(HUNK)]
    ours = suite(toy(tmp_path, FRAGMENTS), cache=cache)
    assert ours.analyze(made) == ours.analyze(made)
    cache.close()


def test_matter_of_taste_is_marked_and_the_rest_is_not(tmp_path) -> None:
    one = toy(tmp_path, '[style]\nrules = ["odd"]')
    found = run(added_files({"a.py": "BAD x\nODD y\n"}), one).findings
    assert [(finding.rule, finding.is_style) for finding in found] == [
        ("bad", False),
        ("odd", True),
    ]
