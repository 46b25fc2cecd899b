import gzip
import json

import pytest

from crscore.errors import InputError
from crscore_lab.training.claims import rows
from tests.helpers import claim_rows

PATCHES = [row["patch"] for row in claim_rows.rows(20)]
PATCH = "@@ -1,2 +1,2 @@\n # a\n-limit = 3\n+limit = 4\n"


def _written(tmp_path, *entries):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def test_a_completion_in_two_sections_becomes_two_lists(tmp_path):
    text = "1. `limit` is 4.\n\nImplications:\n1. More fits.\n2. It is slower."
    (row,) = rows.read_rows(_written(tmp_path, {"patch": PATCH, "completion": text})).rows
    assert row.claims == ("`limit` is 4.",)
    assert row.implications == ("More fits.", "It is slower.")
    assert not row.cut


def test_a_completion_that_broke_off_loses_its_last_point_and_says_so(tmp_path):
    text = "1. `limit` is 4.\n2. The old value"
    (row,) = rows.read_rows(_written(tmp_path, {"patch": PATCH, "completion": text})).rows
    assert (row.claims, row.cut) == (("`limit` is 4.",), True)


def test_lists_are_taken_as_they_are_and_other_keys_mean_nothing(tmp_path):
    entry = {"diff": PATCH, "claims": ["It  is\n4."], "implications": [], "model": 7}
    (row,) = rows.read_rows(_written(tmp_path, entry)).rows
    assert (row.claims, row.implications, row.index) == (("It is 4.",), (), 1)


def test_gzip_is_read_and_has_the_hash_of_what_is_in_it(tmp_path):
    plain = _written(tmp_path, {"patch": PATCH, "claims": ["It is 4."]})
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert rows.read_rows(packed) == rows.read_rows(plain)


def test_a_line_separator_inside_a_string_does_not_end_a_row(tmp_path):
    entry = {"patch": PATCH, "claims": ["One\u2028two."]}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(entry, ensure_ascii=False) + "\n", encoding="utf-8")
    assert len(rows.read_rows(path).rows) == 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"claims": ["x."]}, "`patch` or `diff`; this one has neither"),
        ({"patch": PATCH, "diff": PATCH, "claims": ["x."]}, "this one has both"),
        ({"patch": " ", "claims": ["x."]}, "the patch must not be blank"),
        ({"patch": 3, "claims": ["x."]}, "patch: expected `str | null`, got `int`"),
        ({"patch": "no diff", "claims": ["x."]}, "the patch cannot be read"),
        ({"patch": PATCH}, "a `completion`, or `claims` that are not empty"),
        ({"patch": PATCH, "claims": []}, "`claims` that are not empty"),
        ({"patch": PATCH, "claims": "x."}, "claims: expected `array | null`, got `str`"),
        ({"patch": PATCH, "claims": ["x.", 1]}, "claims[1]: expected `str`, got `int`"),
        ({"patch": PATCH, "claims": ["x.", " "]}, "`claims` has a blank text"),
        (
            {"patch": PATCH, "implications": {}},
            "implications: expected `array | null`, got `object`",
        ),
        ({"patch": PATCH, "completion": 1}, "completion: expected `str | null`, got `int`"),
        ({"patch": PATCH, "completion": "Summary of changes:"}, "no claim about the change"),
        ({"patch": PATCH, "completion": "x.", "claims": ["x."]}, "not both"),
        ([1], "expected `object`, got `array`"),
    ],
)
def test_a_line_that_is_no_row_is_named(tmp_path, entry, message):
    good = {"patch": PATCH, "claims": ["It is 4."]}
    with pytest.raises(InputError) as caught:
        rows.read_rows(_written(tmp_path, good, entry))
    assert "rows.jsonl:2: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"{", b"\xff\xfe", b'{"patch": "\xff"}', b'{"a":' + b"[" * 100_000]
)
def test_what_is_no_json_object_is_named(tmp_path, content):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n" + content)
    with pytest.raises(
        InputError, match=r"rows.jsonl(:2: not a line of JSON| cannot be read as training rows)"
    ):
        rows.read_rows(path)


def test_a_file_without_a_row_and_a_file_that_is_not_there_are_errors(tmp_path):
    empty = tmp_path / "rows.jsonl"
    empty.write_bytes(b"\n \n")
    with pytest.raises(InputError, match="no row to learn from"):
        rows.read_rows(empty)
    with pytest.raises(InputError, match="cannot be read"):
        rows.read_rows(tmp_path / "none.jsonl")


def test_a_gzip_that_ends_early_is_an_error(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b"x" * 1000)[:-12])
    with pytest.raises(InputError, match="cannot be read"):
        rows.read_rows(path)


def _group(tmp_path, patch):
    return rows.read_rows(_written(tmp_path, {"patch": patch, "claims": ["x."]})).rows[0].group


@pytest.mark.parametrize(
    ("patch", "same"),
    [
        ("@@ -90,2 +91,2 @@ def f():\n # b\n-limit = 3\n+limit = 4\n", True),  # moved
        ("@@ -1 +1 @@\n-  limit = 3\n+  limit = 4\n", True),  # indented, without context
        ("@@ -1 +1 @@\n-limit = 4\n+limit = 3\n", False),  # the way back
        ("@@ -1 +1 @@\n-limit = 3\n+limit = 5\n", False),
    ],
)
def test_the_group_is_the_changed_lines(tmp_path, patch, same):
    assert (_group(tmp_path, patch) == _group(tmp_path, PATCH)) is same


def _patches(tmp_path, *patches, key="patch"):
    path = tmp_path / "diffs.jsonl"
    path.write_text("".join(json.dumps({key: patch}) + "\n" for patch in patches))
    return path


def test_each_change_is_there_once(tmp_path):
    sample = rows.read_changes(_patches(tmp_path, PATCHES[0], PATCHES[1], PATCHES[0]))
    assert [change.patch for change in sample.changes] == PATCHES[:2]
    assert sample.copies == 1


def test_a_folder_is_read_by_name_and_other_files_are_not(tmp_path):
    (tmp_path / "b.diff").write_text(PATCHES[0])
    (tmp_path / "a.patch").write_text(PATCHES[1])
    (tmp_path / "c.txt").write_text(PATCHES[2])
    sample = rows.read_changes(tmp_path)
    assert [change.patch for change in sample.changes] == [PATCHES[1], PATCHES[0]]


def test_json_lines_may_be_packed_and_say_diff(tmp_path):
    plain = _patches(tmp_path, PATCHES[0], key="diff")
    packed = tmp_path / "diffs.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert rows.read_changes(packed).changes == rows.read_changes(plain).changes


@pytest.mark.parametrize(("least", "most", "kept"), [(59, 59, 1), (60, 90, 0), (1, 58, 0)])
def test_patches_of_another_length_are_left_out_at_the_very_character(tmp_path, least, most, kept):
    patch = "@@ -1 +1 @@\n-" + "a" * 20 + "\n+" + "b" * 23 + "\n"
    assert len(patch) == 59
    sample = rows.read_changes(_patches(tmp_path, patch), min_chars=least, max_chars=most)
    assert (len(sample.changes), sample.unfit) == (kept, 1 - kept)


def test_what_is_no_diff_and_what_has_several_parts_is_counted(tmp_path):
    hunk = "@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    two = "".join(f"--- a/{name}\n+++ b/{name}\n{hunk}" for name in "xy")
    sample = rows.read_changes(_patches(tmp_path, "not a diff", two, PATCHES[0]))
    assert (len(sample.changes), sample.multi_part, len(sample.unreadable)) == (1, 1, 1)
    assert "diffs.jsonl:1" in sample.unreadable[0]


def test_more_are_drawn_beside_the_same_ones(tmp_path):
    path = _patches(tmp_path, *PATCHES)
    few, more = (set(rows.read_changes(path, limit=n).changes) for n in (5, 8))
    assert (len(few), len(more)) == (5, 8)
    assert few < more
    assert set(rows.read_changes(path, limit=5, seed=1).changes) != few


def test_nothing_to_read_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"has no \.diff or \.patch file"):
        rows.read_changes(tmp_path)
    (tmp_path / "d.jsonl").write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        rows.read_changes(tmp_path / "d.jsonl")
    (tmp_path / "d.jsonl").write_text("{\n")
    with pytest.raises(InputError, match=r"d\.jsonl:1: not a line of JSON"):
        rows.read_changes(tmp_path / "d.jsonl")
