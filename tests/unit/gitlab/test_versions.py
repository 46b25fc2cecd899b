"""Versions of a merge request as changes."""

import msgspec
import pytest

from crscore.diff.parse import DiffLimits
from crscore.errors import NotFoundError
from crscore.gitlab.versions import (
    MAX_COMPARED,
    Version,
    convert_version,
    count_lines,
    find_withheld,
    hunk_until,
)
from crscore.hosts.records import Change, HostMessage, MessageKind
from crscore.records import FileStatus, Side

HUNK = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
MODES = {"a_mode": "100644", "b_mode": "100644"}


def read(*rows: dict, size: str | None = None) -> Change:
    files = [{"old_path": row["new_path"], **MODES, **row} for row in rows]
    value = {"id": 1, "diffs": files, "real_size": size or str(len(files))}
    return convert_version(msgspec.convert(value, Version), DiffLimits())


@pytest.mark.parametrize("text", [HUNK, HUNK.rstrip("\n"), f"--- a/x.py\n+++ b/x.py\n{HUNK}"])
def test_hunks_are_read_with_and_without_headers(text: str) -> None:
    version = read({"new_path": "x.py", "diff": text})
    assert version.missing == ()
    (hunk,) = version.diff.files[0].hunks
    assert hunk.lines


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ({"new_file": True, "diff": "@@ -0,0 +1 @@\n+a\n"}, FileStatus.ADDED),
        ({"deleted_file": True, "diff": "@@ -1 +0,0 @@\n-a\n"}, FileStatus.DELETED),
        ({"renamed_file": True, "old_path": "w.py", "diff": ""}, FileStatus.RENAMED),
        ({"a_mode": "100644", "b_mode": "100755", "diff": ""}, FileStatus.MODE_CHANGED),
        ({"diff": HUNK}, FileStatus.MODIFIED),
    ],
)
def test_status_is_that_of_the_flags(row: dict, status: FileStatus) -> None:
    (file,) = read({"new_path": "x.py", **row}).diff.files
    assert file.status is status


@pytest.mark.parametrize("flag", ["too_large", "collapsed"])
def test_change_that_gitlab_leaves_out_is_missing(flag: str) -> None:
    version = read({"new_path": "x.py", "diff": "", flag: True})
    assert "x.py" in version.missing[0]
    assert version.diff.files[0].missing


def test_cut_patch_is_missing() -> None:
    assert read({"new_path": "x.py", "diff": "@@ -1,9 +1,9 @@\n a\n"}).missing


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (DiffLimits(max_files=1), ["b.py", "c.py"]),
        (DiffLimits(max_hunks=2), ["c.py"]),
        (DiffLimits(max_diff_bytes=2 * len(HUNK)), ["b.py"]),
        (DiffLimits(max_line_length=50), ["b.py"]),
    ],
)
def test_limits_of_crscore_make_nothing_of_the_host_missing(
    limits: DiffLimits, left: list[str]
) -> None:
    texts = {"a.py": HUNK, "b.py": HUNK.replace("+c", f"+{'c' * 100}"), "c.py": HUNK}
    rows = [{"new_path": name, "old_path": name, "diff": text} for name, text in texts.items()]
    version = msgspec.convert({"id": 1, "diffs": rows}, Version)
    change = convert_version(version, limits)
    assert [file.path for file in change.diff.files if file.missing] == left
    assert change.missing == ()
    assert f"{len(left)} of the changed files" in change.diff.notes[0]


@pytest.mark.parametrize("size", ["2", "1000+"])
def test_other_number_of_files_is_missing(size: str) -> None:
    version = read({"new_path": "x.py", "diff": HUNK}, size=size)
    assert version.missing == (f"Changed files listed: 1; the merge request counts {size}.",)


def test_order_of_files_is_gits_whatever_the_host_lists() -> None:
    rows = [{"new_path": name, "diff": HUNK} for name in ("b.py", "a.py", "Z.py")]
    version = read(*rows)
    assert [file.path for file in version.diff.files] == ["Z.py", "a.py", "b.py"]
    assert version == read(*rows[::-1])


def test_binary_file_has_no_hunk_and_is_not_missing() -> None:
    version = read({"new_path": "x.png", "diff": "Binary files a/x.png and b/x.png differ\n"})
    assert version.missing == ()
    assert version.diff.files[0].is_binary


LONG = "@@ -1,3 +1,4 @@\n a\n-b\n+c\n+d\n e\n@@ -20,2 +21,1 @@ def f():\n x\n-y\n"


@pytest.mark.parametrize(
    ("line", "side", "last"),
    [
        (2, Side.NEW, "+c"),
        (3, Side.NEW, "+d"),
        (2, Side.OLD, "-b"),
        (3, Side.OLD, " e"),
        (21, Side.OLD, "-y"),
        (21, Side.NEW, " x"),
        (99, Side.NEW, None),
        (None, Side.NEW, None),
    ],
)
def test_hunk_is_cut_after_the_line(line: int | None, side: Side, last: str | None) -> None:
    row = {"new_path": "x.py", "old_path": "x.py", "diff": LONG, **MODES}
    version = msgspec.convert({"id": 1, "diffs": [row], "real_size": "1"}, Version)
    message = HostMessage(
        id=1, kind=MessageKind.LINE, body="", login=None, is_bot=False,
        path="x.py", line=line, side=side,
    )  # fmt: skip
    hunk = hunk_until(version, message)
    assert (hunk or "").rpartition("\n")[2] == (last or "")
    assert hunk is None or hunk.count("@@") == 2
    assert count_lines(version) == (4, "python")


@pytest.mark.parametrize("more", [{"too_large": True}, {"collapsed": True}])
def test_lines_of_a_change_that_is_not_shown_are_unknown(more: dict) -> None:
    row = {"new_path": "x.py", "old_path": "x.py", "diff": LONG, **MODES, **more}
    version = msgspec.convert({"id": 1, "diffs": [row], "real_size": "1"}, Version)
    assert count_lines(version)[0] is None


NEW, DELETED, MOVED = {"new_file": True}, {"deleted_file": True}, {"renamed_file": True}
COMMITS = {"base_commit_sha": "base", "head_commit_sha": "head"}


@pytest.mark.parametrize(
    ("row", "old", "new", "expected"),
    [
        ({}, b"a\n", b"b\n", True),
        ({"diff": "--- a/x.py\n+++ b/x.py\n"}, b"a\n", b"b\n", True),
        ({"diff": None}, b"a\n", b"b\n", True),
        ({"b_mode": "100755"}, b"a\0", b"b\0", False),
        (NEW, None, b"", False),
        (NEW, None, b"a\n", True),
        (NEW, None, b"\x89PNG\0", False),
        (DELETED, b"", None, False),
        (DELETED, b"a\n", None, True),
        (MOVED, b"a\n", b"a\n", False),
        (MOVED, b"a\n", b"b\n", True),
        ({"b_mode": "100755"}, b"a\n", b"a\n", False),
        ({"b_mode": "100755"}, b"a\n", b"b\n", True),
        # The host does not have the file.
        (MOVED, None, b"b\n", True),
        # From 18.4, flags say what is withheld.
        ({"too_large": False, "collapsed": False}, b"a\n", b"b\n", False),
        ({"diff": "Binary files a/x.py and b/x.py differ\n"}, b"a\n", b"b\n", False),
    ],
)
def test_contents_tell_lines_that_are_left_out_from_none(
    row: dict, old: bytes | None, new: bytes | None, expected: bool
) -> None:
    files = {("w.py", "base"): old, ("x.py", "head"): new}

    def read_file(path: str, commit: str) -> bytes:
        data = files[path, commit]
        if data is None:
            raise NotFoundError(f"GET {path}", "404")
        return data

    value = {"new_path": "x.py", "old_path": "w.py", "diff": "", **MODES, **row}
    version = msgspec.convert({"id": 1, "diffs": [value], "real_size": "1", **COMMITS}, Version)
    withheld = find_withheld(version, read_file)
    change = convert_version(version, DiffLimits(), withheld)
    assert bool(change.missing) is bool(change.diff.files[0].missing) is expected
    assert (count_lines(version, withheld)[0] is None) is expected


def test_changed_file_without_lines_is_missing_even_if_nothing_is_compared() -> None:
    version = read({"new_path": "x.py", "diff": ""})
    assert "x.py" in version.missing[0]


def test_contents_of_many_files_are_not_compared() -> None:
    rows = [{"new_path": f"{at}.py", "old_path": "w.py", **MOVED} for at in range(MAX_COMPARED + 3)]
    version = msgspec.convert({"id": 1, "diffs": rows}, Version)
    reads: list[str] = []
    withheld = find_withheld(version, lambda path, commit: reads.append(path) or b"a")
    assert (len(withheld), len(reads)) == (3, 2 * MAX_COMPARED)
