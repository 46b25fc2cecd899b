import pytest

from crscore.diff import full_files, parse

OLD = "one\ntwo\nthree\n"
NEW = "one\nTWO\nthree\n"
PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
CHANGE = parse.parse_diff(PATCH)


def both(change) -> tuple[str | None, str | None]:
    return change.files[0].old_source, change.files[0].new_source


@pytest.mark.parametrize("given", [OLD, NEW])
def test_old_or_new_version_in_the_folder_gives_both(given: str) -> None:
    assert both(full_files.from_tree(CHANGE, {"a.txt": given})) == (OLD, NEW)


def test_another_version_in_the_folder_is_left_out_with_a_note() -> None:
    with_files = full_files.from_tree(CHANGE, {"a.txt": "else\n"}, notes=["first"])
    assert both(with_files) == (None, None)
    assert with_files.notes[-2] == "first"
    assert "neither the old nor the new" in with_files.notes[-1]


def test_folder_that_matches_no_file_is_noted_once() -> None:
    change = parse.parse_diff(PATCH + PATCH.replace("a.txt", "b.txt"))
    with_files = full_files.from_tree(change, {"a.txt": "else\n"})
    assert with_files.files == change.files
    (note,) = with_files.notes
    assert "--source-root matches no file in the diff: 1 of its files are in another" in note
    assert "'a.txt', 'b.txt'" in note


def test_bare_hunk_is_named_in_the_note() -> None:
    bare = parse.parse_diff(PATCH[PATCH.index("@@") :])
    assert "a hunk without --path" in full_files.from_tree(bare, {}).notes[0]


def test_folder_that_lacks_one_of_two_files_has_no_note() -> None:
    two = parse.parse_diff(PATCH + PATCH.replace("a.txt", "b.txt"))
    assert full_files.from_tree(two, {"a.txt": NEW}).notes == ()


def test_old_folder_without_the_added_file_has_no_note() -> None:
    added = parse.parse_diff("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n")
    assert full_files.from_tree(added, {}) == added


GONE = parse.parse_diff("--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n")


def test_deleted_file_in_the_folder_is_the_old_version() -> None:
    assert both(full_files.from_tree(GONE, {"a.txt": "one\ntwo\n"})) == ("one\ntwo\n", "")


def test_deleted_file_of_another_text_is_left_out() -> None:
    assert both(full_files.from_tree(GONE, {"a.txt": "else\n"})) == (None, None)
