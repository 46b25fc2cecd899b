"""Versions of a merge request as changes."""

import msgspec
import pytest

from crscore.diff.parse import DiffLimits
from crscore.gitlab.versions import (
    Version,
    convert_version,
    count_lines,
    cut_hunk,
)
from crscore.hosts.records import Change, HostMessage, MessageKind
from crscore.records import FileStatus, Side

HUNK = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
MODES = {"a_mode": "100644", "b_mode": "100644"}
SHOWN = {"too_large": False, "collapsed": False}


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
        ({"renamed_file": True, "old_path": "w.py", "diff": "", **SHOWN}, FileStatus.RENAMED),
        ({"b_mode": "100755", "diff": "", **SHOWN}, FileStatus.MODE_CHANGED),
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
    assert version.missing == (f"GitLab lists 1 changed file; the merge request counts {size}.",)


def test_files_are_sorted_as_in_git() -> None:
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
    hunk = cut_hunk(version, message)
    assert (hunk or "").rpartition("\n")[2] == (last or "")
    assert hunk is None or hunk.count("@@") == 2
    assert count_lines(version) == (4, "python")


@pytest.mark.parametrize("more", [{"too_large": True}, {"collapsed": True}])
def test_lines_of_a_change_that_is_not_shown_are_unknown(more: dict) -> None:
    row = {"new_path": "x.py", "old_path": "x.py", "diff": LONG, **MODES, **more}
    version = msgspec.convert({"id": 1, "diffs": [row], "real_size": "1"}, Version)
    assert count_lines(version)[0] is None


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, True),
        ({"diff": "--- a/x.py\n+++ b/x.py\n"}, True),
        ({"diff": None}, True),
        ({"b_mode": "100755"}, True),
        ({"new_file": True}, True),
        ({"deleted_file": True}, True),
        ({"renamed_file": True}, True),
        ({"new_file": True, **SHOWN}, False),
        ({"diff": "Binary files a/x.py and b/x.py differ\n"}, False),
    ],
)
def test_file_without_lines_is_missing_unless_gitlab_says_that_it_shows_all(
    row: dict, expected: bool
) -> None:
    value = {"new_path": "x.py", "old_path": "w.py", "diff": "", **MODES, **row}
    version = msgspec.convert({"id": 1, "diffs": [value], "real_size": "1"}, Version)
    change = convert_version(version, DiffLimits())
    assert bool(change.missing) is bool(change.diff.files[0].missing) is expected
    assert (count_lines(version)[0] is None) is expected
