"""Which findings belong to the change, and which the old file already had."""

import difflib
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crscore import diff
from crscore.analysis import change
from crscore.findings import Finding, Severity
from tests.helpers.changes import change as changed


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


def classified(old: str, new: str, found, before=None, *, context: int = 3) -> list[Finding]:
    made = changed("a.py", old, new, context=context)
    (file,) = made.files
    sources = None
    if before is not None:
        sources = (file.old_source.split("\n"), file.new_source.split("\n"))
    return list(change.classify(file, found, before, sources=sources))


def news(old: str, new: str, found, before) -> list[int]:
    """The new lines of findings that are in the change and not older than it."""
    marked = classified(old, new, found, before)
    return [one.line for one in marked if one.in_change and not one.pre_existing]


# In the change


def test_added_line_is_in_the_change_and_context_is_not() -> None:
    marked = classified("a\nb\nc\n", "a\nB\nc\n", [at(1), at(2), at(3)])
    assert [one.in_change for one in marked] == [False, True, False]


def test_line_outside_of_the_hunks_is_not_in_the_change() -> None:
    old = "".join(f"l{number}\n" for number in range(40))
    marked = classified(old, old.replace("l20\n", "L20\n"), [at(1), at(21), at(40)])
    assert [one.in_change for one in marked] == [False, True, False]


def test_block_that_grew_is_in_the_change_at_the_lines_that_made_it_grow() -> None:
    old = "def f():\n    a\n    b\n    c\n    d\n"
    new = "def f():\n    a\n    x\n    b\n    y\n    c\n    d\n"
    (one,) = classified(old, new, [at(1, 7)])
    assert (one.in_change, one.line, one.end_line) == (True, 3, 5)


def test_block_whose_first_line_changed_keeps_its_lines() -> None:
    (one,) = classified("def f():\n    a\n", "def g():\n    a\n", [at(1, 2)])
    assert (one.in_change, one.line, one.end_line) == (True, 1, 2)


@pytest.mark.parametrize(("line", "end"), [(0, 0), (0, 9), (9, 9), (10**12, 10**12)])
def test_finding_of_no_line_of_the_file_is_not_in_the_change(line, end) -> None:
    (one,) = classified("a\n", "b\n", [at(line, end)])
    assert one == at(line, end)


def test_end_beyond_all_measure_takes_no_time() -> None:
    (one,) = classified("x\na\n", "x\nb\n", [at(1, 10**15)])
    assert (one.in_change, one.line, one.end_line) == (True, 2, 2)


def test_many_findings_on_many_lines_take_no_time() -> None:
    old, new = "a\n", "".join(f"l{number}\n" for number in range(20_000))
    found = [at(number + 1, 20_000) for number in range(20_000)]
    assert all(one.in_change for one in classified(old, new, found, found[:9_000]))


def test_order_of_findings_is_kept() -> None:
    found = [at(3, rule="z"), at(1), at(2), at(1, rule="a")]
    assert [one.rule for one in classified("a\n", "b\nc\nd\n", found)] == ["z", "r", "r", "a"]


# Older than the change


def test_without_the_old_file_nothing_is_older() -> None:
    assert not any(one.pre_existing for one in classified("a\n", "b\n", [at(1)]))


def test_finding_on_an_unchanged_line_is_older() -> None:
    old, new = "bad\nx\n", "y\nz\nbad\nx\n"
    (one,) = classified(old, new, [at(3)], [at(1)])
    assert one.pre_existing


def test_finding_on_an_unchanged_line_that_the_old_file_did_not_have_is_news() -> None:
    # `import os` is unused now, because its last use was taken away.
    (one,) = classified("import os\nos.x()\n", "import os\n", [at(1)], [])
    assert not one.pre_existing


def test_another_rule_on_the_same_line_is_news() -> None:
    (one,) = classified("bad\n", "bad\nx\n", [at(1, rule="s")], [at(1)])
    assert not one.pre_existing


def test_indented_code_is_older() -> None:
    old = "a = 1\nx = eval(y)\nb = 2\n"
    new = "a = 1\nif a:\n    x = eval(y)\nelse:\n    pass\nb = 2\n"
    assert news(old, new, [at(3)], [at(2)]) == []


MOVED = "one()\nx = eval(y)\ntwo()\n"
BETWEEN = "".join(f"line{number}()\n" for number in range(20))


@pytest.mark.parametrize("indent", ["", "    "])
def test_moved_block_is_older(indent) -> None:
    block = "".join(indent + line for line in MOVED.splitlines(keepends=True))
    assert news(MOVED + BETWEEN, BETWEEN + block, [at(22)], [at(2)]) == []


def test_same_line_in_another_place_is_news() -> None:
    # One bare `except:` was taken away, and another function got one.
    old = "try:\n    a()\nexcept:\n    b()\n" + BETWEEN + "c()\n"
    new = "a()\n" + BETWEEN + "try:\n    c()\nexcept:\n    d()\n"
    assert news(old, new, [at(24)], [at(3)]) == [24]


def test_same_words_in_another_place_are_news() -> None:
    old, new = "x = eval(a)\n" + BETWEEN, BETWEEN + "y = eval(b)\n"
    assert news(old, new, [at(21)], [at(1)]) == [21]


def test_same_words_in_an_edited_line_are_older() -> None:
    assert news("x = eval(a)\n", "x = eval(b)\n", [at(1)], [at(1)]) == []


def test_function_that_was_too_long_before_is_no_news_when_its_first_line_changes() -> None:
    old = "def f(a):\n" + "    x()\n" * 60
    new = "def f(a, b):\n" + "    x()\n" * 60 + "    y()\n"
    found = [at(1, 62, text="`f` has 62 lines.")]
    assert news(old, new, found, [at(1, 61, text="`f` has 61 lines.")]) == []


def test_function_that_grew_too_long_is_news() -> None:
    old, new = "def f():\n" + "    x()\n" * 40, "def f():\n" + "    x()\n" * 60
    assert news(old, new, [at(1, 61)], []) != []


def test_one_old_finding_excuses_one_new_one() -> None:
    old, new = "x = eval(a)\n", "x = eval(b)\ny = eval(c)\n"
    assert news(old, new, [at(1), at(2)], [at(1)]) == [2]
    assert news(old, new, [at(2), at(1)], [at(1)]) == [1]


def test_same_line_is_taken_before_the_same_code() -> None:
    # A copy of a bad line is put before it: the copy is the news.
    old, new = "a\nbad\nb\n", "a\nbad\nc\nbad\nb\n"
    made = changed("a.py", old, new)
    copy = next(iter(change.added_lines(made.files[0]) & {2, 4}), None)
    assert news(old, new, [at(2), at(4)], [at(2)]) == [copy]


def test_finding_of_the_whole_file_is_older_by_its_words() -> None:
    marked = classified("a\n", "b\n", [at(0, text="No docs."), at(0)], [at(0, text="No docs.")])
    assert [one.pre_existing for one in marked] == [True, False]


def test_finding_outside_of_the_hunks_without_a_counterpart_is_not_older() -> None:
    old = BETWEEN + "x\n"
    (one,) = classified(old, BETWEEN + "y\n", [at(1)], [at(5)])
    assert not one.pre_existing


def test_findings_beyond_the_end_of_the_file_are_no_trouble() -> None:
    marked = classified("a\n", "b\n", [at(99), at(98, text="Z.")], [at(99)])
    assert [one.in_change for one in marked] == [False, False]


# Where lines were


def moves(text: str) -> change._Moves:
    return change._Moves(diff.parse("--- a/a.py\n+++ b/a.py\n" + text).files[0])


def test_lines_behind_a_pure_deletion_move_up() -> None:
    made = moves("@@ -10,2 +9,0 @@\n-x\n-y\n")
    assert [made.before(line) for line in (1, 9, 10, 11)] == [1, 9, 12, 13]


def test_lines_behind_a_pure_insertion_move_down() -> None:
    made = moves("@@ -9,0 +10,2 @@\n+x\n+y\n")
    assert [made.before(line) for line in (9, 10, 11, 12)] == [9, None, None, 10]


def test_lines_between_hunks_count_the_hunks_before() -> None:
    made = moves("@@ -1 +1,3 @@\n-a\n+a\n+b\n+c\n@@ -10,3 +12,2 @@\n x\n-y\n z\n")
    assert [made.before(line) for line in (1, 3, 4, 11, 12, 13, 14)] == [
        None,
        None,
        2,
        9,
        10,
        12,
        13,
    ]


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=12).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(LINES, LINES, st.integers(0, 3))
def test_line_before_is_the_one_that_the_differ_took_for_the_same(old, new, context) -> None:
    left, right = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if left == right:
        return
    # Both names are given, so that an empty side is no added or deleted file.
    text = "".join(difflib.unified_diff(left, right, "a/a.py", "b/a.py", n=context))
    found = change._Moves(diff.parse(text).files[0])
    wanted: dict[int, int | None] = dict.fromkeys(range(1, len(right) + 1))
    for tag, i, _, j, end in difflib.SequenceMatcher(None, left, right).get_opcodes():
        if tag == "equal":
            wanted |= {j + step + 1: i + step + 1 for step in range(end - j)}
    assert {line: found.before(line) for line in wanted} == wanted


@settings(max_examples=25)
@given(LINES, LINES, st.integers(0, 3))
def test_line_before_has_the_same_text_in_what_git_prints(old, new, context) -> None:
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
    (file,) = diff.parse(done.stdout).files
    found, added = change._Moves(file), change.added_lines(file)
    left, right = old.split("\n")[:-1], new.split("\n")[:-1]
    pairs = {line: found.before(line) for line in range(1, len(right) + 1)}
    assert {line for line, before in pairs.items() if before is None} == added
    kept = [before for before in pairs.values() if before is not None]
    assert kept == sorted(set(kept))
    assert [left[before - 1] for before in kept] == [
        right[line - 1] for line, before in pairs.items() if before is not None
    ]


# The published filter


def published(old: str, new: str, lines: list[int], read: list[str]) -> list[bool]:
    (file,) = changed("a.py", old, new).files
    return [one.in_change for one in change.same_text(file, map(at, lines), read)]


def test_published_filter_goes_by_the_text_of_the_line() -> None:
    old, new = "}\na\n}\nb\n", "  }\na\n}\nc\n"
    assert published(old, new, [1, 2, 3, 4], new.split("\n")) == [True, False, True, True]


def test_published_filter_takes_removed_lines_too() -> None:
    new = "x\nreturn None\n"
    assert published("return None\nx\nreturn None\n", new, [2], new.split("\n")) == [True]


def test_published_filter_reads_the_last_line_but_one_for_the_file_as_a_whole() -> None:
    # Index -1 - 1 of the lines, as section 5 of the description of the reference code has it.
    assert published("a\nb\nc\n", "a\nB\nc\n", [-1, 0], ["a", "B", "c"]) == [True, True]
    assert published("a\nb\nc\n", "a\nb\nC\n", [-1], ["a", "b", "C"]) == [False]


@pytest.mark.parametrize("line", [-1, 0, 1, 99])
def test_published_filter_keeps_nothing_of_lines_that_are_not_there(line) -> None:
    assert published("a\n", "b\n", [line], []) == [False]
