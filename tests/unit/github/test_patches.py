"""Rows as GitHub lists them, and what crscore's reader makes of the text written for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.diff.headers import unquote
from crscore.github.patches import EMPTY_BLOBS, PatchRow, compose, quoted, show
from crscore.records import FileStatus

LIMITS = parse.Limits()
HUNK = "@@ -1,2 +1,2 @@ def f():\n a\n-b\n+c"
STATUS = {
    "added": FileStatus.ADDED,
    "removed": FileStatus.DELETED,
    "modified": FileStatus.MODIFIED,
    "renamed": FileStatus.RENAMED,
    "copied": FileStatus.COPIED,
    "changed": FileStatus.MODIFIED,
}
PATCHES = {"added": ("@@ -0,0 +1 @@\n+x", 1, 0), "removed": ("@@ -1 +0,0 @@\n-x", 0, 1)}
# Git's paths are bytes without NUL; the host shows them as text. No part is empty, `.` or `..`.
PARTS = st.text(
    st.characters(exclude_characters="\0/", exclude_categories=("Cs",)), min_size=1, max_size=12
).filter(lambda part: part not in (".", ".."))
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join) | st.sampled_from(
    ["a b", " a", "a ", "a b/x b/a b", "x" + " y" * 80, "b/b", "a/a", "/dev/null", 'q"\\\t\n', "ä"]
)


def row(**values) -> PatchRow:
    given = {"filename": "a.py", "status": "modified", "additions": 1, "deletions": 1}
    return PatchRow(**{**given, "patch": HUNK, **values})


def seen(given: PatchRow, *, zeros_are_true: bool = True):
    return show(given, zeros_are_true=zeros_are_true, limits=LIMITS)


@given(PATHS, PATHS, st.sampled_from(sorted(STATUS)), st.booleans())
def test_own_reader_gives_back_paths_and_status(path, before, status, has_patch) -> None:
    moved = status in ("renamed", "copied") and before != path
    patch, added, removed = PATCHES.get(status, (HUNK, 1, 1)) if has_patch else (None, 0, 0)
    given = row(
        filename=path,
        status=status,
        previous_filename=before if moved else None,
        patch=patch,
        additions=added,
        deletions=removed,
    )
    found = seen(given)
    assert found.reason is None
    expected = (
        STATUS[status] if moved or status not in ("renamed", "copied") else STATUS["modified"]
    )
    assert (found.file.path, found.file.old_path, found.file.status) == (
        path,
        before if moved else None,
        expected,
    )
    assert len(found.file.hunks) == has_patch
    assert found.text == compose(given) + "\n"


@given(PATHS)
def test_quoted_path_is_unquoted_to_itself(path: str) -> None:
    assert unquote(quoted(path)) == path or not quoted(path).startswith('"')


@pytest.mark.parametrize(
    ("path", "written"),
    # printed by git 2.39 with core.quotePath=true
    [
        ("plain.py", "plain.py"),
        ("a b.py", "a b.py"),
        ("ä.py", r'"\303\244.py"'),
        ('q"t.py', r'"q\"t.py"'),
        ("t\tn\nb\\.py", r'"t\tn\nb\\.py"'),
        ("\x01\x7f", r'"\001\177"'),
    ],
)
def test_paths_are_quoted_as_git_does(path: str, written: str) -> None:
    assert quoted(path) == written


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (row(patch=None), "lines that the host did not show"),
        (row(additions=2), "does not have the lines that the host counts"),
        (row(additions=0, deletions=0), "does not have the lines that the host counts"),
        (row(patch="@@ -1,2 +1,9 @@\n a\n-b\n+c"), "cannot be read"),
        (row(patch="Binary files differ"), "cannot be read"),
        (row(patch=""), "cannot be read"),
        (row(patch=HUNK + "\n+more"), "cannot be read"),
        (
            row(patch=HUNK + "\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2"),
            "host counts",
        ),
        (row(patch="@@ -1 +1 @@\n-" + "b" * 100_001 + "\n+c"), "cannot be read (max_line_length)"),
    ],
)
def test_patch_that_does_not_fit_its_row_silences_the_file(given: PatchRow, reason: str) -> None:
    found = seen(given)
    assert reason in (found.reason or "")
    assert found.file.is_missing
    assert found.file.hunks == ()


@pytest.mark.parametrize("status", ["modified", "renamed", "added", "removed", "changed", "copied"])
def test_row_without_change_is_believed_only_when_all_adds_up(status: str) -> None:
    given = row(status=status, patch=None, additions=0, deletions=0, previous_filename="b.py")
    assert not seen(given).file.is_missing
    assert seen(given, zeros_are_true=False).file.is_missing


def test_empty_file_is_believed_by_the_name_of_its_blob() -> None:
    given = row(status="added", patch=None, additions=0, deletions=0, sha=min(EMPTY_BLOBS))
    found = seen(given, zeros_are_true=False)
    assert (found.file.status, found.file.is_missing, found.file.is_binary) == (
        FileStatus.ADDED,
        False,
        False,
    )


def test_submodule_s_lines_count_though_they_are_no_code() -> None:
    patch = f"@@ -1 +1 @@\n-Subproject commit {'a' * 40}\n+Subproject commit {'b' * 40}"
    found = seen(row(filename="lib", patch=patch))
    assert found.reason is None
    assert found.file.is_submodule


def test_modes_that_the_host_does_not_tell_stay_unknown() -> None:
    found = seen(row(status="added", patch="@@ -0,0 +1 @@\n+x", deletions=0))
    assert (found.file.old_mode, found.file.new_mode) == (None, None)


HEAD = "c" * 40


@pytest.mark.parametrize(
    ("values", "commit"),
    [
        ({"contents_url": f"https://h/repos/o/r/contents/a.py?ref={HEAD}"}, HEAD),
        ({"blob_url": f"https://h/o/r/blob/{HEAD}/a.py"}, HEAD),
        (
            {"contents_url": "https://h/x?ref=main", "blob_url": f"https://h/o/r/blob/{HEAD}/a"},
            HEAD,
        ),
        ({"contents_url": None, "blob_url": None}, None),
        ({"contents_url": f"https://h/x?ref={HEAD}", "status": "removed"}, None),
    ],
)
def test_row_names_the_commit_it_was_listed_for(values, commit) -> None:
    assert row(**values).commit == commit
