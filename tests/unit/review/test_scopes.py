import pytest

from crscore.diff import parse
from crscore.records import Comment, ScopeKind, Side
from crscore.review.read import find_scope

PATCH = """\
diff --git a/app/a.py b/app/a.py
--- a/app/a.py
+++ b/app/a.py
@@ -1,3 +1,4 @@
 one
-two
+TWO
+more
 three
@@ -20,2 +21,2 @@
 x
-y
+Y
diff --git a/lib/old.py b/lib/new.py
similarity index 90%
rename from lib/old.py
rename to lib/new.py
--- a/lib/old.py
+++ b/lib/new.py
@@ -1,3 +1,4 @@
 uno
-dos
+DOS
+mas
 tres
"""
DIFF = parse.parse_diff(PATCH)


def place(**fields: object) -> tuple[ScopeKind, str | None, int | None]:
    scope = find_scope(Comment(body="x", **fields), DIFF)
    assert scope is not None
    return scope.kind, scope.path, scope.hunk


def test_text_without_path_belongs_to_the_whole_diff() -> None:
    assert place() == (ScopeKind.DIFF, None, None)


def test_line_in_a_hunk_belongs_to_the_hunk() -> None:
    assert place(path="app/a.py", line=22) == (ScopeKind.HUNK, "app/a.py", 1)


@pytest.mark.parametrize(("line", "kind"), [(4, ScopeKind.HUNK), (5, ScopeKind.FILE)])
def test_last_line_of_a_hunk_is_inside_and_the_next_is_not(line: int, kind: ScopeKind) -> None:
    assert place(path="app/a.py", line=line)[0] is kind


def test_old_side_counts_in_old_lines() -> None:
    assert place(path="app/a.py", line=20, side=Side.OLD)[2] == 1
    assert place(path="app/a.py", line=20, side=Side.NEW)[2] is None


def test_path_without_line_belongs_to_the_file() -> None:
    assert place(path="./app/a.py") == (ScopeKind.FILE, "app/a.py", None)


def test_old_name_of_a_renamed_file_finds_it() -> None:
    assert place(path="lib/old.py", line=2) == (ScopeKind.HUNK, "lib/new.py", 0)


def test_file_outside_the_diff_has_no_scope() -> None:
    assert find_scope(Comment(body="x", path="other.py", line=1), DIFF) is None


def test_stored_hunk_gives_the_scope_if_the_line_is_gone() -> None:
    kept = "@@ -20,2 +21,2 @@ def f():\n x\n-y"
    assert place(path="app/a.py", diff_hunk=kept) == (ScopeKind.HUNK, "app/a.py", 1)


def test_stored_hunk_without_path_is_found_by_its_lines() -> None:
    # Both files have a hunk with this header; the lines tell them apart.
    kept = "@@ -1,3 +1,4 @@\n uno\n-dos"
    assert place(diff_hunk=kept) == (ScopeKind.HUNK, "lib/new.py", 0)


@pytest.mark.parametrize(
    "kept",
    ["no header", "@@ -1,3 +1,4 @@\n another", "@@ -1,3 +1,4 @@\n" + " one\n" * 9],
)
def test_stored_hunk_that_is_not_in_the_diff_leaves_the_whole_diff(kept: str) -> None:
    assert place(diff_hunk=kept)[0] is ScopeKind.DIFF


def test_stored_hunk_that_is_not_in_the_file_leaves_the_file() -> None:
    assert place(path="app/a.py", line=99, diff_hunk="@@ -7 +7 @@\n x")[0] is ScopeKind.FILE


def test_missing_newline_marker_in_a_stored_hunk_is_skipped() -> None:
    kept = "@@ -20,2 +21,2 @@\n x\n\\ No newline at end of file"
    assert place(path="app/a.py", diff_hunk=kept)[2] == 1


def test_stored_hunk_takes_precedence_over_an_outdated_line() -> None:
    kept = "@@ -20,2 +21,2 @@\n x\n-y"
    assert place(path="app/a.py", line=1, outdated=True, diff_hunk=kept)[2] == 1
    assert place(path="app/a.py", line=1, diff_hunk=kept)[2] == 0


def test_outdated_line_whose_hunk_is_gone_leaves_the_file() -> None:
    gone = "@@ -7,2 +7,2 @@\n q"
    assert place(path="app/a.py", line=1, outdated=True, diff_hunk=gone)[0] is ScopeKind.FILE


def test_outdated_line_without_a_stored_hunk_leaves_the_file() -> None:
    assert place(path="app/a.py", line=1, outdated=True)[2] is None


def test_name_that_a_new_file_took_over_means_the_new_file() -> None:
    swapped = parse.parse_diff(
        "diff --git a/a.py b/b.py\nsimilarity index 90%\nrename from a.py\nrename to b.py\n"
        "--- a/a.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n"
        "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n"
        "@@ -0,0 +1 @@\n+z\n"
    )
    new = find_scope(Comment(body="x", path="a.py", line=1), swapped)
    old = find_scope(Comment(body="x", path="a.py", line=1, side=Side.OLD), swapped)
    assert (new.path, old.path) == ("a.py", "b.py")


def test_form_feed_in_a_stored_hunk_ends_no_line() -> None:
    odd = parse.parse_diff("--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n a\x0cb\n-c\n+d\n")
    scope = find_scope(Comment(body="x", diff_hunk="@@ -1,2 +1,2 @@\n a\x0cb\n-c"), odd)
    assert scope.kind is ScopeKind.HUNK


def test_bare_hunk_matches_any_path() -> None:
    bare = parse.parse_diff("@@ -1 +1 @@\n-a\n+b\n", language="python")
    scope = find_scope(Comment(body="x", path="any.py", line=1), bare)
    assert scope is not None
    assert scope.kind is ScopeKind.HUNK
