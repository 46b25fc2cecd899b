"""The list of changed files: its rows, and how it is held against the pull request's totals."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.github import changed_files
from crscore.github.changed_files import EMPTY_BLOBS, PatchRow, Totals, read_row
from crscore.hosts.records import Change
from crscore.records import FileStatus

LIMITS = parse.DiffLimits()
HEAD, OLDER = "c" * 40, "d" * 40
PATCH = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d"


def row(name: str, *, commit: str = HEAD, **values) -> PatchRow:
    fields = {
        "status": "modified",
        "additions": 2,
        "deletions": 1,
        "patch": PATCH,
        "sha": "e" * 40,
    }
    url = f"https://api.example/repos/o/r/contents/{name}?ref={commit}"
    return PatchRow(filename=name, contents_url=url, **{**fields, **values})


def silent(name: str, status: str = "modified", **values) -> PatchRow:
    return row(name, status=status, additions=0, deletions=0, patch=None, **values)


class Lists:
    """Hands out one list after the other, the last one for good; counts how often."""

    def __init__(self, *lists: list[PatchRow]) -> None:
        self.lists = lists
        self.asked: list[str] = []

    def pages(self, path, kind, parameters=None, *, key) -> tuple[PatchRow, ...]:
        assert kind is PatchRow
        rows = self.lists[min(len(self.asked), len(self.lists) - 1)]
        self.asked.append(path)
        return tuple({key(item): item for item in rows}.values())


def totals_of(*rows: PatchRow) -> Totals:
    return Totals(
        files=len(rows),
        additions=sum(row.additions for row in rows),
        deletions=sum(row.deletions for row in rows),
    )


def read(host: Lists, totals: Totals, limits: parse.DiffLimits = LIMITS) -> Change:
    return read_with_blobs(host, totals, limits)[0]


def read_with_blobs(host: Lists, totals: Totals, limits: parse.DiffLimits = LIMITS):
    return changed_files.read_change(host, "o/r", 7, totals, HEAD, limits)  # type: ignore[arg-type]


def unseen(change: Change) -> list[str]:
    return [file.path for file in change.diff.files if file.is_missing]


WHOLE = [
    row("b.py"),
    row("a.py"),
    silent("logo.png"),
    silent("n.py", "renamed", previous_filename="m.py"),
]


def test_whole_list_is_read_with_one_request_and_sorted() -> None:
    host = Lists(WHOLE)
    change, blobs = read_with_blobs(host, totals_of(*WHOLE))
    assert [file.path for file in change.diff.files] == ["a.py", "b.py", "logo.png", "n.py"]
    assert change.missing == ()
    assert host.asked == ["/repos/o/r/pulls/7/files"]
    assert blobs["a.py"] == "e" * 40


def test_rows_without_lines_are_trusted_if_the_totals_agree() -> None:
    files = {file.path: file for file in read(Lists(WHOLE), totals_of(*WHOLE)).diff.files}
    assert files["logo.png"].is_binary
    assert (files["n.py"].status, files["n.py"].old_path) == (FileStatus.RENAMED, "m.py")


def test_rows_without_lines_are_missing_if_the_totals_differ() -> None:
    totals = totals_of(*WHOLE)._replace(additions=400)
    change = read(Lists(WHOLE), totals)
    assert unseen(change) == ["logo.png", "n.py"]
    assert "lines, but the totals differ: 'logo.png', 'n.py'" in change.missing[0]
    assert "+4 -2; the pull request counts" in change.missing[1]


def test_file_without_patch_is_missing_and_the_others_are_read() -> None:
    rows = [row("a.py"), row("large.py", patch=None, additions=900)]
    change = read(Lists(rows), totals_of(*rows))
    assert unseen(change) == ["large.py"]
    assert change.diff.files[0].hunks
    assert change.missing == (
        "1 of the changed files have changed lines that the host did not show: 'large.py'.",
    )


def test_files_beyond_those_that_the_host_lists_are_missing(monkeypatch) -> None:
    monkeypatch.setattr(changed_files, "MAX_LISTED", 4)
    host = Lists(WHOLE)
    change = read(host, totals_of(*WHOLE)._replace(files=9))
    assert host.asked == ["/repos/o/r/pulls/7/files"]
    assert "Some files are not listed: GitHub lists at most 4." in change.missing


def test_stale_list_is_read_once_more() -> None:
    stale = [row("gone.py", commit=OLDER), row("a.py", commit=OLDER, additions=9)]
    host = Lists(stale, WHOLE)
    change = read(host, totals_of(*WHOLE))
    assert (len(host.asked), change.missing, unseen(change)) == (2, (), [])
    assert change == read(Lists(WHOLE), totals_of(*WHOLE))


def test_list_that_stays_outdated_has_no_hunks() -> None:
    host = Lists([row("a.py", commit=OLDER), row("gone.py", commit=OLDER)])
    change = read(host, totals_of(row("a.py")))
    assert len(host.asked) == 2
    assert unseen(change) == ["a.py", "gone.py"]
    assert "listed for another commit than the head" in change.missing[0]


def test_pull_request_without_files_has_an_empty_diff() -> None:
    change = read(Lists([]), Totals(files=0, additions=0, deletions=0))
    assert (change.diff.files, change.missing) == ((), ())


def test_nothing_listed_at_all_is_missing_and_no_empty_change() -> None:
    change = read(Lists([]), Totals(files=3, additions=5, deletions=0))
    assert change.diff.files == ()
    assert "0 changed files, +0 -0; the pull request counts 3 changed files" in change.missing[-1]


def test_unchanged_rows_are_no_part_of_the_change() -> None:
    assert read(Lists([*WHOLE, silent("same.py", "unchanged")]), totals_of(*WHOLE)).missing == ()


@pytest.mark.parametrize("seed", range(5))
def test_order_of_rows_makes_no_difference(seed: int) -> None:
    rows = [
        *WHOLE,
        row("large.py", patch=None),
        row("z.py", commit=OLDER),
        row("damaged.py", patch="@@"),
    ]
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert read(Lists(shuffled), totals_of(*rows)) == read(Lists(rows), totals_of(*rows))


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (parse.DiffLimits(max_files=2), ["c.py", "d.py"]),
        (parse.DiffLimits(max_hunks=1), ["b.py", "c.py", "d.py"]),
        (parse.DiffLimits(max_diff_bytes=2 * len(PATCH)), ["c.py", "d.py"]),
        (parse.DiffLimits(max_diff_bytes=10), ["a.py", "b.py", "c.py", "d.py"]),
    ],
)
def test_files_after_a_limit_are_not_read_and_nothing_of_the_host_is_missing(
    limits: parse.DiffLimits, left: list[str]
) -> None:
    rows = [row(name) for name in ("d.py", "c.py", "b.py", "a.py")]
    change = read(Lists(rows), totals_of(*rows), limits)
    assert unseen(change) == left
    assert change.missing == ()
    assert f"{len(left)} of the changed files " in change.diff.notes[0]


def test_file_with_a_long_line_is_not_read_and_nothing_of_the_host_is_missing() -> None:
    rows = [row("a.py"), row("b.py", patch=PATCH.replace("+d", f"+{'d' * 200}"))]
    limits = parse.DiffLimits(max_line_length=100)
    change = read(Lists(rows), totals_of(*rows), limits)
    assert (unseen(change), change.missing) == (["b.py"], ())
    assert "max_line_length" in change.diff.notes[0]


def test_hash_differs_for_different_changes() -> None:
    lists = [
        [row("b.py")],
        [row("c.py")],
        [row("b.py", patch=PATCH.replace("d", "e"))],
        [row("b.py", patch=None)],
        [row("b.py", status="renamed", previous_filename="a.py")],
    ]
    found = [read(Lists(rows), totals_of(*rows)).diff.sha256 for rows in (*lists, lists[0])]
    assert len(set(found)) == len(lists)
    assert found[0] == found[-1]


SUBMODULE = (
    "--- a/lib\n+++ b/lib\n@@ -1 +1 @@\n"
    f"-Subproject commit {'a' * 40}\n+Subproject commit {'b' * 40}\n"
)


@pytest.mark.parametrize(
    ("totals", "message"),
    [
        ((2, 3, 2), ""),
        ((3, 3, 2), "counts 3 changed files, +3 -2"),
        ((2, 3, 1), "counts 2 changed files, +3 -1"),
        ((2, 4, 2), "counts 2 changed files, +4 -2"),
    ],
)
def test_any_change_can_be_compared_with_the_totals(totals, message: str) -> None:
    parsed = parse.parse_diff(f"--- a/a.py\n+++ b/a.py\n{PATCH}\n{SUBMODULE}")
    found = changed_files.compare_totals(changed_files.count_totals(parsed), Totals(*totals))
    assert bool(found) == bool(message)
    assert message in "".join(found)


# One row


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


def a_row(**values) -> PatchRow:
    patch_row = {"filename": "a.py", "status": "modified", "additions": 1, "deletions": 1}
    return PatchRow(**{**patch_row, "patch": HUNK, **values})


def seen(patch_row: PatchRow, *, zeros_are_reliable: bool = True):
    return read_row(patch_row, zeros_are_reliable=zeros_are_reliable, limits=parse.DiffLimits())


@given(PATHS, PATHS, st.sampled_from(sorted(STATUS)), st.booleans())
def test_paths_and_status_are_those_of_the_row(path, before, status, has_patch) -> None:
    moved = status in ("renamed", "copied") and before != path
    patch, added, removed = PATCHES.get(status, (HUNK, 1, 1)) if has_patch else (None, 0, 0)
    patch_row = a_row(
        filename=path,
        status=status,
        previous_filename=before if moved else None,
        patch=patch,
        additions=added,
        deletions=removed,
    )
    read_file = seen(patch_row)
    assert read_file.reason == ""
    expected = (
        STATUS[status] if moved or status not in ("renamed", "copied") else STATUS["modified"]
    )
    assert (read_file.file.path, read_file.file.old_path, read_file.file.status) == (
        path,
        before if moved else None,
        expected,
    )
    assert len(read_file.file.hunks) == has_patch


@pytest.mark.parametrize(
    ("patch_row", "reason"),
    [
        (a_row(patch=None), "lines that the host did not show"),
        (a_row(additions=2), "does not match the host's line counts"),
        (a_row(additions=0, deletions=0), "does not match the host's line counts"),
        (a_row(patch="@@ -1,2 +1,1 @@\n a\n-b\n+c"), "cannot be read"),
        (a_row(patch="Binary files differ"), "cannot be read"),
        (a_row(patch=""), "cannot be read"),
        (a_row(patch=HUNK + "\n+more"), "cannot be read"),
        (
            a_row(patch=HUNK + "\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2"),
            "cannot be read (it is damaged)",
        ),
        (
            a_row(patch="@@ -1 +1 @@\n-" + "b" * 100_001 + "\n+c"),
            "cannot be read (a line is over max_line_length, which is 100,000)",
        ),
    ],
)
def test_patch_that_does_not_fit_its_row_leaves_out_the_file(
    patch_row: PatchRow, reason: str
) -> None:
    read_file = seen(patch_row)
    assert reason in read_file.reason
    assert read_file.file.is_missing
    assert read_file.file.hunks == ()


@pytest.mark.parametrize("status", ["modified", "renamed", "added", "removed", "changed", "copied"])
def test_row_without_lines_is_trusted_only_if_the_counts_agree(status: str) -> None:
    patch_row = a_row(status=status, patch=None, additions=0, deletions=0, previous_filename="b.py")
    assert not seen(patch_row).file.is_missing
    assert seen(patch_row, zeros_are_reliable=False).file.is_missing


def test_empty_file_is_known_by_its_blob() -> None:
    patch_row = a_row(status="added", patch=None, additions=0, deletions=0, sha=min(EMPTY_BLOBS))
    read_file = seen(patch_row, zeros_are_reliable=False)
    assert (read_file.file.status, read_file.file.is_missing, read_file.file.is_binary) == (
        FileStatus.ADDED,
        False,
        False,
    )


def test_lines_of_a_submodule_are_counted() -> None:
    patch = f"@@ -1 +1 @@\n-Subproject commit {'a' * 40}\n+Subproject commit {'b' * 40}"
    read_file = seen(a_row(filename="lib", patch=patch))
    assert read_file.reason == ""
    assert read_file.file.is_submodule


def test_modes_are_unknown() -> None:
    read_file = seen(a_row(status="added", patch="@@ -0,0 +1 @@\n+x", deletions=0))
    assert (read_file.file.old_mode, read_file.file.new_mode) == (None, None)


def test_row_names_the_commit_it_was_listed_for() -> None:
    for values, commit in [
        ({"contents_url": f"https://h/repos/o/r/contents/a.py?ref={HEAD}"}, HEAD),
        ({"contents_url": "https://h/x?ref=main"}, None),
        ({"contents_url": None}, None),
        ({"contents_url": f"https://h/x?ref={HEAD}", "status": "removed"}, None),
    ]:
        assert a_row(**values).commit == commit
