"""Which findings belong to the change, and which the old file already had."""

import difflib
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crscore.diff import parse
from crscore.records import Finding, Severity
from crscore.static_analysis import change
from tests.helpers import toys
from tests.helpers.changes import change as changed
from tests.helpers.growth import slowness


def at(line: int, end: int | None = None, *, rule: str = "r", text: str = "Bad.") -> Finding:
    return Finding(
        tool="toy",
        rule=rule,
        path="a.py",
        line=line,
        end_line=end or line,
        message="bad",
        text=text,
        severity=Severity.WARNING,
    )


def classified(old: str, new: str, findings, before=None, *, context: int = 3) -> list[Finding]:
    diff = changed("a.py", old, new, context=context)
    (file,) = diff.files
    return list(change.classify_findings(file, findings, before))


def news(old: str, new: str, found, before) -> list[int]:
    """Return the new lines of findings that are in the change and did not exist before."""
    marked = classified(old, new, found, before)
    return [finding.line for finding in marked if finding.in_change and not finding.pre_existing]


# In the change


def test_added_line_is_in_the_change_and_context_is_not() -> None:
    marked = classified("a\nb\nc\n", "a\nB\nc\n", [at(1), at(2), at(3)])
    assert [finding.in_change for finding in marked] == [False, True, False]


def test_line_outside_of_the_hunks_is_not_in_the_change() -> None:
    old = "".join(f"l{number}\n" for number in range(40))
    marked = classified(old, old.replace("l20\n", "L20\n"), [at(1), at(21), at(40)])
    assert [finding.in_change for finding in marked] == [False, True, False]


def test_block_that_grew_is_in_the_change_at_the_lines_that_made_it_grow() -> None:
    old = "def f():\n    a\n    b\n    c\n    d\n"
    new = "def f():\n    a\n    x\n    b\n    y\n    c\n    d\n"
    (finding,) = classified(old, new, [at(1, 7)])
    assert (finding.in_change, finding.line, finding.end_line) == (True, 3, 5)


def test_block_whose_first_line_changed_keeps_its_lines() -> None:
    (finding,) = classified("def f():\n    a\n", "def g():\n    a\n", [at(1, 2)])
    assert (finding.in_change, finding.line, finding.end_line) == (True, 1, 2)


@pytest.mark.parametrize(("line", "end"), [(0, 0), (0, 9), (9, 9), (10**12, 10**12)])
def test_finding_of_no_line_of_the_file_is_not_in_the_change(line, end) -> None:
    (finding,) = classified("a\n", "b\n", [at(line, end)])
    assert finding == at(line, end)


def test_gigantic_end_line_is_quick() -> None:
    (finding,) = classified("x\na\n", "x\nb\n", [at(1, 10**15)])
    assert (finding.in_change, finding.line, finding.end_line) == (True, 2, 2)


def test_many_findings_on_many_lines_are_quick() -> None:
    old, new = "a\n", "".join(f"l{number}\n" for number in range(20_000))
    findings = [at(number + 1, 20_000) for number in range(20_000)]
    assert all(finding.in_change for finding in classified(old, new, findings, findings[:9_000]))


@pytest.mark.growth
@pytest.mark.parametrize(
    "new",
    ["x\n" + "\n" * 20_000 + "x\n", "\t" * 90_000 + "x\n", "(" * 90_000 + " {\n", "`" * 90_000],
)
def test_many_findings_on_one_line_are_quick(new) -> None:
    findings = [at(1)] * 10_000
    start = time.monotonic()
    assert all(finding.in_change for finding in classified("a\n", new, findings, findings[:5_000]))
    assert time.monotonic() - start < 10 * slowness()


def test_order_of_findings_is_kept() -> None:
    findings = [at(3, rule="z"), at(1), at(2), at(1, rule="a")]
    assert [row.rule for row in classified("a\n", "b\nc\nd\n", findings)] == ["z", "r", "r", "a"]


# Older than the change


def test_without_the_old_file_nothing_is_older() -> None:
    assert not any(finding.pre_existing for finding in classified("a\n", "b\n", [at(1)]))


def test_finding_on_an_unchanged_line_is_older() -> None:
    old, new = "bad\nx\n", "y\nz\nbad\nx\n"
    (finding,) = classified(old, new, [at(3)], [at(1)])
    assert finding.pre_existing


def test_finding_on_an_unchanged_line_that_the_old_file_did_not_have_is_new() -> None:
    # `import os` is unused now, because its last use was removed.
    (finding,) = classified("import os\nos.x()\n", "import os\n", [at(1)], [])
    assert not finding.pre_existing


def test_another_rule_on_the_same_line_is_new() -> None:
    (finding,) = classified("bad\n", "bad\nx\n", [at(1, rule="s")], [at(1)])
    assert not finding.pre_existing


def test_indented_code_is_older() -> None:
    old = "a = 1\nx = eval(y)\nb = 2\n"
    new = "a = 1\nif a:\n    x = eval(y)\nelse:\n    pass\nb = 2\n"
    assert news(old, new, [at(3)], [at(2)]) == []


BETWEEN = "".join(f"line{number}()\n" for number in range(20))


def test_same_line_elsewhere_is_new() -> None:
    # One bare `except:` was removed, and another function got one.
    old = "try:\n    a()\nexcept:\n    b()\n" + BETWEEN + "c()\n"
    new = "a()\n" + BETWEEN + "try:\n    c()\nexcept:\n    d()\n"
    assert news(old, new, [at(24)], [at(3)]) == [24]


def test_same_message_elsewhere_is_new() -> None:
    old, new = "x = eval(a)\n" + BETWEEN, BETWEEN + "y = eval(b)\n"
    assert news(old, new, [at(21)], [at(1)]) == [21]


def test_same_message_on_an_edited_line_is_older() -> None:
    assert news("x = eval(a)\n", "x = eval(b)\n", [at(1)], [at(1)]) == []


def test_function_that_was_too_long_before_is_older_when_its_first_line_changes() -> None:
    old = "def f(a):\n" + "    x()\n" * 60
    new = "def f(a, b):\n" + "    x()\n" * 60 + "    y()\n"
    findings = [at(1, 62, text="`f` has 62 lines.")]
    assert news(old, new, findings, [at(1, 61, text="`f` has 61 lines.")]) == []


def test_function_that_grew_too_long_is_new() -> None:
    old, new = "def f():\n" + "    x()\n" * 40, "def f():\n" + "    x()\n" * 60
    assert news(old, new, [at(1, 61)], []) != []


def test_same_line_is_taken_before_the_same_code() -> None:
    # A copy of a bad line is added before it: the copy is new.
    old, new = "a\nbad\nb\n", "a\nbad\nc\nbad\nb\n"
    diff = changed("a.py", old, new)
    copy = next(iter(change.added_lines(diff.files[0]) & {2, 4}), None)
    assert news(old, new, [at(2), at(4)], [at(2)]) == [copy]


def test_finding_of_the_whole_file_is_older_by_its_words() -> None:
    marked = classified("a\n", "b\n", [at(0, text="No docs."), at(0)], [at(0, text="No docs.")])
    assert [finding.pre_existing for finding in marked] == [True, False]


def test_finding_outside_of_the_hunks_without_a_counterpart_is_not_older() -> None:
    old = BETWEEN + "x\n"
    (finding,) = classified(old, BETWEEN + "y\n", [at(1)], [at(5)])
    assert not finding.pre_existing


def test_findings_after_the_end_of_the_file_are_not_in_the_change() -> None:
    marked = classified("a\n", "b\n", [at(99), at(98, text="Z.")], [at(99)])
    assert [finding.in_change for finding in marked] == [False, False]


# The same message in another place is another defect


@pytest.mark.parametrize(
    ("old", "new", "before", "wanted"),
    [
        # The defect was fixed in one function of a hunk and added to the next.
        (
            "def run(x):\n    go(x)\n    return x\n\n\ndef other(x):\n    bad(x)\n    return x\n",
            "def run(x):\n    bad(x)\n    return x\n\n\ndef other(x):\n    go(x)\n    return x\n",
            at(7),
            at(2),
        ),
        ("def f(a=[]):\n    x\n", "def f(a=None):\n    x\n\n\ndef g(b=[]):\n    y\n", at(1), at(5)),
        # A handler in another function, reported on one line or on two lines.
        (
            "def f():\n    try:\n        a()\n    except:\n        pass\n\n\ndef g():\n    b()\n",
            "def f():\n    a()\n\n\ndef g():\n    try:\n        b()\n    except:\n        pass\n",
            at(4, 5),
            at(8, 9),
        ),
        # In the same function, after unchanged code.
        ("bad(1)\nb\nc\n", "b\nbad(2)\nc\n", at(1), at(2)),
        # The old line still exists, but has no defect any more.
        ("import a\nx(1)\n", "import a\nx(2)\nimport a\n", at(1), at(3)),
    ],
)
@pytest.mark.parametrize("context", [0, 1, 3])
def test_defect_fixed_in_one_function_and_made_in_another_is_new(
    old, new, before, wanted, context
) -> None:
    (finding,) = classified(old, new, [wanted], [before], context=context)
    assert (finding.in_change, finding.pre_existing) == (True, False)


@pytest.mark.parametrize(
    ("was", "now"),
    [("`sha1`", "`sha256`"), ("`x1`", "`x2`"), ("`a.b2c`", "`a.b3c`"), ("MD5", "SHA1")],
)
def test_digits_of_a_name_belong_to_it(was, now) -> None:
    before, new_finding = at(1, text=f"Unused {was}."), at(1, text=f"Unused {now}.")
    assert news("a = 1\n", "b = 1\n", [new_finding], [before]) == [1]


@pytest.mark.parametrize(
    ("was", "now"), [("61 lines", "62 lines"), ("`f` takes 9.5", "`f` takes 10")]
)
def test_another_measure_in_the_message_is_older(was, now) -> None:
    assert news("a = 1\n", "b = 1\n", [at(1, text=now)], [at(1, text=was)]) == []


# The same thing, edited


def test_the_one_edited_line_of_several_with_the_same_words() -> None:
    old = "def f():\n    x = eval(a)\n    y = eval(b)\n    z = 1\n"
    new = "def f():\n    x = 1\n    y = eval(c)\n    z = eval(d)\n"
    assert news(old, new, [at(3), at(4)], [at(2), at(3)]) == [4]


def test_finding_on_a_line_with_another_line_end_is_older() -> None:
    old = "def f():\n    bad()\n\n\ndef g():\n    bad()\n"
    diff = changed("a.py", old, old.replace("\n", "\r\n"))
    findings = [at(2), at(6)]
    marked = change.classify_findings(diff.files[0], findings, findings)
    assert all(finding.pre_existing for finding in marked)


# Blocks


BODY = "    x()\n    y()\n    z()\n"


@pytest.mark.parametrize(
    ("was", "now", "is_older"),
    [
        (Severity.NOTE, Severity.WARNING, False),
        (Severity.WARNING, Severity.ERROR, False),
        (Severity.NOTE, Severity.NOTE, True),
        (Severity.ERROR, Severity.NOTE, True),
    ],
)
def test_finding_that_became_worse_is_new(was, now, is_older) -> None:
    old, new = "def f():\n" + BODY, "def f():\n" + BODY + "    w()\n"
    new_finding, before = replace(at(1, 5), severity=now), replace(at(1, 4), severity=was)
    (finding,) = classified(old, new, [new_finding], [before])
    assert (finding.in_change, finding.pre_existing) == (True, is_older)


# With a tool


def test_defect_moved_to_another_function_is_new(tmp_path) -> None:
    old = "def f():\n    x = 1  # BAD x1\n\n\ndef g():\n    y = 2\n"
    new = "def f():\n    x = 1\n\n\ndef g():\n    y = 2  # BAD x1\n"
    analysis = toys.run(changed("a.py", old, new), toys.toy(tmp_path)).findings
    assert [(row.line, row.in_change, row.pre_existing) for row in analysis] == [(6, True, False)]


# Where lines were


def moves(text: str):
    return change.old_lines(parse.parse_diff("--- a/a.py\n+++ b/a.py\n" + text).files[0])


def test_lines_behind_a_pure_deletion_move_up() -> None:
    mapping = moves("@@ -10,2 +9,0 @@\n-x\n-y\n")
    assert [mapping(line) for line in (1, 9, 10, 11)] == [1, 9, 12, 13]


def test_lines_behind_a_pure_insertion_move_down() -> None:
    mapping = moves("@@ -9,0 +10,2 @@\n+x\n+y\n")
    assert [mapping(line) for line in (9, 12)] == [9, 10]


def test_lines_between_hunks_count_the_hunks_before() -> None:
    mapping = moves("@@ -1 +1,3 @@\n-a\n+a\n+b\n+c\n@@ -10,3 +12,2 @@\n x\n-y\n z\n")
    assert [mapping(line) for line in (4, 11, 12, 13, 14)] == [2, 9, 10, 12, 13]


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=12).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(LINES, LINES, st.integers(0, 3))
def test_old_line_is_the_one_that_the_differ_matched(old, new, context) -> None:
    left, right = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if left == right:
        return
    # Both names are given, so that an empty side is no added or deleted file.
    text = "".join(difflib.unified_diff(left, right, "a/a.py", "b/a.py", n=context))
    old_line = change.old_lines(parse.parse_diff(text).files[0])
    wanted: dict[int, int] = {}
    for tag, i, _, j, end in difflib.SequenceMatcher(None, left, right).get_opcodes():
        if tag == "equal":
            wanted |= {j + step + 1: i + step + 1 for step in range(end - j)}
    assert {line: old_line(line) for line in wanted} == wanted


@given(LINES, LINES, st.integers(0, 3))
def test_old_line_has_the_same_text_in_a_diff_of_git(old, new, context) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("old", old), ("new", new)):
            (Path(folder) / name).write_text(text)
        done = subprocess.run(
            ["git", "diff", "--no-index", f"-U{context}", "old", "new"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    if not done.stdout or "@@" not in done.stdout:
        return
    (file,) = parse.parse_diff(done.stdout).files
    old_line, added = change.old_lines(file), change.added_lines(file)
    left, right = old.split("\n")[:-1], new.split("\n")[:-1]
    kept = [line for line in range(1, len(right) + 1) if line not in added]
    before = [old_line(line) for line in kept]
    assert before == sorted(set(before))
    assert [left[line - 1] for line in before] == [right[line - 1] for line in kept]
