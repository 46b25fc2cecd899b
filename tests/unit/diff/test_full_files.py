"""Which files are read whole, what the limits leave, and both versions of them."""

from __future__ import annotations

import pytest

from crscore.diff import full_files, parse
from crscore.diff.parse import DiffLimits

CHANGE = parse.parse_diff(
    "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -2 +2 @@\n-two\n+TWO\n"
    "diff --git a/o.py b/p.py\nrename from o.py\nrename to p.py\n--- a/o.py\n+++ b/p.py\n"
    "@@ -1 +1 @@\n-old\n+new\n"
    "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n"
    "@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n"
    "diff --git a/d.py b/d.py\ndeleted file mode 100644\n--- a/d.py\n+++ /dev/null\n"
    "@@ -1 +0,0 @@\n-gone\n"
    "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n"
)
TEXTS = {"m.py": "one\nTWO\nthree\n", "p.py": "new\n"}


def test_files_that_their_hunks_show_in_part_are_needed() -> None:
    assert full_files.list_needed(CHANGE, DiffLimits()) == (("m.py", "p.py"), ())


def test_files_over_the_number_are_left_out_with_a_note() -> None:
    paths, notes = full_files.list_needed(CHANGE, DiffLimits(max_sources=1))
    assert paths == ("m.py",)
    assert "max_sources (1) was reached: 'p.py'" in notes[0]


def test_every_file_with_lines_gets_both_versions() -> None:
    files = {file.path: file for file in full_files.add(CHANGE, TEXTS).files}
    assert {path: (file.old_source, file.new_source) for path, file in files.items()} == {
        "m.py": ("one\ntwo\nthree\n", "one\nTWO\nthree\n"),
        "p.py": ("old\n", "new\n"),
        "n.py": ("", "x\ny"),
        "d.py": ("gone\n", ""),
        "i.png": (None, None),
    }


def test_text_of_another_version_is_left_out_with_a_note() -> None:
    with_files = full_files.add(CHANGE, {"m.py": "else\n"})
    assert with_files.files[0].new_source is None
    assert "does not match the diff" in with_files.notes[-1]


@pytest.mark.parametrize(
    ("limits", "kept", "note"),
    [
        (DiffLimits(), ["a", "b", "c"], ""),
        (DiffLimits(max_source_bytes=2), ["a", "c"], "max_source_bytes (2): 'b'"),
        (DiffLimits(max_sources_bytes=3), ["a", "c"], "max_sources_bytes (3) was reached: 'b'"),
        (DiffLimits(max_sources_bytes=1), ["a"], "reached: 'b', 'c'"),
    ],
)
def test_limits_go_by_order_and_bytes(limits: DiffLimits, kept: list[str], note: str) -> None:
    paths, notes = full_files.choose({"c": 1, "b": 4, "a": 1}, ["a", "b", "c", "unknown"], limits)
    assert list(paths) == kept
    assert note in "".join(notes)


def test_file_without_text_is_noted() -> None:
    assert "binary or too large" in full_files.choose({"a": None}, ["a"], DiffLimits())[1][0]
