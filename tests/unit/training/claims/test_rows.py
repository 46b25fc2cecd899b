import gzip
import json

import pytest

from crscore.errors import InputError
from crscore.training.claims import rows

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
    assert (row.claims, row.implications, row.line) == (("It is 4.",), (), 1)


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
    ("entry", "told"),
    [
        ({"claims": ["x."]}, "`patch` or `diff`; this one has neither"),
        ({"patch": PATCH, "diff": PATCH, "claims": ["x."]}, "this one has both"),
        ({"patch": " ", "claims": ["x."]}, "`patch` must be a text that is not blank"),
        ({"patch": 3, "claims": ["x."]}, "`patch` must be a text"),
        ({"patch": "no diff", "claims": ["x."]}, "the patch cannot be read"),
        ({"patch": PATCH}, "`completion`, or `claims` that are not empty"),
        ({"patch": PATCH, "claims": []}, "`claims` that are not empty"),
        ({"patch": PATCH, "claims": "x."}, "`claims` must be a list of texts"),
        ({"patch": PATCH, "claims": ["x.", 1]}, "`claims` must be a list of texts"),
        ({"patch": PATCH, "claims": ["x.", " "]}, "`claims` has a blank text"),
        ({"patch": PATCH, "claims": ["x."], "implications": {}}, "`implications` must be a list"),
        ({"patch": PATCH, "completion": 1}, "`completion` must be a text"),
        ({"patch": PATCH, "completion": "Summary of changes:"}, "no claim about the change"),
        ({"patch": PATCH, "completion": "x.", "claims": ["x."]}, "not both"),
        ([1], "a row is an object, not list"),
    ],
)
def test_a_line_that_is_no_row_is_named(tmp_path, entry, told):
    good = {"patch": PATCH, "claims": ["It is 4."]}
    with pytest.raises(InputError) as caught:
        rows.read_rows(_written(tmp_path, good, entry))
    assert "rows.jsonl:2: " in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b'{"a": "\xff"}', b"[" * 100_000])
def test_what_is_no_json_is_named(tmp_path, content):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n" + content)
    with pytest.raises(InputError, match=r"rows.jsonl:2: no JSON"):
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
