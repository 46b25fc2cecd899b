"""Texts of a change that tools read, and the numbers of their lines."""

import pytest
from msgspec.structs import replace

from crscore.diff import parse
from crscore.records import Side
from crscore.static_analysis import units
from crscore.static_analysis.units import units_of
from tests.helpers.changes import change
from tests.helpers.toys import added_files


def flat(made) -> list[units.Unit]:
    return [unit for texts in units_of(made) for unit in texts]


def test_file_with_sources_is_read_in_both_versions() -> None:
    new, old = flat(change("a/b.py", "x = 1\ny = 1\n", "x = 2\ny = 1\n"))
    assert (new.side, new.text, new.path) == (Side.NEW, "x = 2\ny = 1\n", "a/b.py")
    assert (old.side, old.text, old.suffix) == (Side.OLD, "x = 1\ny = 1\n", ".py")
    assert not new.is_fragment


def test_added_file_is_whole_in_its_hunk_and_has_no_old_version() -> None:
    diff = added_files({"a.py": "x = 1\n\ny = 2\n"})
    (unit,) = flat(diff)
    assert (unit.text, unit.side, unit.is_fragment) == ("x = 1\n\ny = 2\n", Side.NEW, False)
    (unit,) = flat(parse.with_sources(diff, {"a.py": (None, "x = 1\n\ny = 2\n")}))
    assert unit.side is Side.NEW


def test_files_that_show_no_new_line_have_no_text() -> None:
    diff = parse.parse_diff(
        "diff --git a/a.py b/a.py\ndeleted file mode 100644\n--- a/a.py\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-x = 1\n"
        "diff --git a/b.png b/b.png\nindex 1111111..2222222 100644\n"
        "Binary files a/b.png and b/b.png differ\n"
        "diff --git a/c.py b/d.py\nsimilarity index 100%\nrename from c.py\nrename to d.py\n"
        "diff --git a/e.py b/e.py\n--- a/e.py\n+++ b/e.py\n@@ -1,2 +1 @@\n x = 1\n-y = 2\n"
        "diff --git a/f.py b/f.py\nnew file mode 100644\nindex 0000000..e69de29\n"
    )
    assert units_of(diff) == ((),) * 5


def test_each_file_has_its_own_texts_in_the_order_of_the_diff() -> None:
    diff = added_files({"b.py": "x = 1\n", "none.png": "?\n", "a.py": "y = 1\n"})
    assert [[unit.path for unit in texts] for texts in units_of(diff)][::2] == [["b.py"], ["a.py"]]


def test_renamed_file_is_read_under_its_new_name() -> None:
    diff = parse.parse_diff(
        "diff --git a/a.py b/b.PYI\nsimilarity index 50%\nrename from a.py\nrename to b.PYI\n"
        "--- a/a.py\n+++ b/b.PYI\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    )
    diff = parse.with_sources(diff, {"b.PYI": ("x = 1\n", "x = 2\n")})
    assert [(unit.path, unit.suffix) for unit in flat(diff)] == [("b.PYI", ".pyi")] * 2


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.py", "s0007.py"),
        ("src/pkg/__init__.py", "s0007/__init__.py"),
        ("src/pkg/__init__.pyi", "s0007/__init__.pyi"),
        ("src/__init__.js", "s0007.js"),
        ("src/__init__.f90", "s0007.f90"),
        ("../../etc/x; rm -rf $HOME.py", "s0007.py"),
        ("--config=evil.py", "s0007.py"),
        ("no-suffix", "s0007"),
    ],
)
def test_copy_gets_a_generated_name(path, name) -> None:
    unit = units.Unit(
        path=path,
        side=Side.NEW,
        text="",
        suffix=units.suffix_of(_file(path)),
        is_package=any(unit.is_package for unit in flat(added_files({path: "x = 1\n"}))),
    )
    assert unit.file_name(7) == name


def _file(path: str):
    return added_files({path: "x\n"}).files[0]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("\ufeffx = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
        ("x = 'a\rb\x0bc\x85d\u2028e'\n", "x = 'a b c d e'\n"),
        ("x = 1\n\x0c\n\x0cclass A:\n    y = '\x0c'\n", "x = 1\n\nclass A:\n    y = ' '\n"),
    ],
)
def test_lines_end_where_the_diff_has_them_end(text, read) -> None:
    diff = parse.parse_diff("--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+x\n")
    source = diff.files[0]
    whole = parse.Diff(files=(replace(source, new_source=text),), sha256="")
    assert flat(whole)[0].text == read


# Hunks without files


HUNK = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -40,2 +50,3 @@ class A:
     def f(self):
-        return 1
+        x = eval(y)
+        return x
"""


def test_hunk_alone_is_a_fragment_whose_lines_count_as_in_the_file() -> None:
    (unit,) = flat(parse.parse_diff(HUNK))
    assert unit.is_fragment
    lines = unit.text.split("\n")
    where = 1 + next(i for i, line in enumerate(lines) if "eval" in line)
    assert unit.line_in_file(where) == 51
    assert unit.line_in_file(where + 1) == 52


def test_lines_that_were_put_around_a_fragment_are_in_no_file() -> None:
    diff = parse.parse_diff(
        "--- a/a.py\n+++ b/a.py\n@@ -9,0 +10,2 @@\n+    x = 1\n+except ValueError:\n"
    )
    (unit,) = flat(diff)
    lines = unit.text.rstrip("\n").split("\n")
    counted = [unit.line_in_file(number) for number in range(1, len(lines) + 1)]
    assert unit.before > 0
    assert counted[: unit.before] == [None] * unit.before
    assert counted[unit.before : unit.before + 2] == [10, 11]
    assert set(counted[unit.before + 2 :]) <= {None}
    assert unit.line_in_file(0) == 0


def test_each_hunk_is_a_text_of_its_own() -> None:
    diff = parse.parse_diff(
        HUNK + "@@ -80 +91 @@\n-z = 1\n+z = 2\n@@ -99,2 +110 @@\n a = 1\n-b = 2\n"
    )
    assert [unit.first for unit in flat(diff)] == [50, 91]


def test_hunk_that_cannot_be_completed_has_no_text() -> None:
    diff = parse.parse_diff('--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+)))] def (( class \' ""\n')
    assert flat(diff) == []


def test_hunk_of_a_language_without_grammar_has_no_text() -> None:
    diff = parse.parse_diff("--- a/a.kt\n+++ b/a.kt\n@@ -1 +1 @@\n-x\n+y\n")
    assert flat(diff) == []


def test_hunk_without_a_path_has_the_suffix_of_its_language() -> None:
    diff = parse.parse_diff("@@ -1 +1 @@\n-x = 1\n+x = 2\n", language="java")
    assert units.suffix_of(diff.files[0]) == ".java"
    diff = parse.parse_diff("@@ -1 +1 @@\n-x = 1\n+x = 2\n", language="python")
    (unit,) = flat(diff)
    assert (unit.path, unit.suffix, unit.first) == ("", ".py", 1)


def test_file_of_unknown_kind_has_no_suffix() -> None:
    diff = parse.parse_diff("@@ -1 +1 @@\n-x = 1\n+x = 2\n")
    assert units.suffix_of(diff.files[0]) == ""
