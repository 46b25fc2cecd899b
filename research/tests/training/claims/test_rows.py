"""Rows of changes with their claims."""

from __future__ import annotations

import gzip
import json

import pytest

from crscore.errors import InputError
from crscore_lab.training.claims import rows

PATCH = "@@ -1,2 +1,2 @@\n # a\n-limit = 3\n+limit = 4\n"


def write(tmp_path, *entries):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def test_completion_in_two_sections_becomes_two_lists(tmp_path):
    text = "1. `limit` is 4.\n\nImplications:\n1. More fits.\n2. It is slower."
    (row,), _ = rows.read_rows(write(tmp_path, {"patch": PATCH, "completion": text}))
    assert row.claims == ("`limit` is 4.",)
    assert row.implications == ("More fits.", "It is slower.")


def test_lists_of_claims_are_read_and_other_keys_ignored(tmp_path):
    entry = {"diff": PATCH, "claims": ["It is 4."], "implications": [], "model": 7}
    (row,), _ = rows.read_rows(write(tmp_path, entry))
    assert (row.claims, row.implications) == (("It is 4.",), ())


def test_hash_of_a_compressed_file_is_that_of_its_content(tmp_path):
    plain = write(tmp_path, {"patch": PATCH, "claims": ["It is 4."]})
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert rows.read_rows(packed)[1] == rows.read_rows(plain)[1]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"claims": ["x."]}, "rows.jsonl:2"),
        ({"patch": "no diff", "claims": ["x."]}, "rows.jsonl:2"),
        ({"patch": PATCH}, "no claim about its change"),
        ({"patch": PATCH, "claims": "x."}, "claims: expected `array`, got `str`"),
        ({"patch": PATCH, "completion": "Summary of changes:"}, "no claim about its change"),
    ],
)
def test_error_names_the_wrong_line(tmp_path, entry, message):
    good = {"patch": PATCH, "claims": ["It is 4."]}
    with pytest.raises(InputError) as caught:
        rows.read_rows(write(tmp_path, good, entry))
    assert message in str(caught.value)


def test_file_without_a_row_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no row to learn from"):
        rows.read_rows(write(tmp_path))


@pytest.mark.parametrize(
    ("patch", "is_same"),
    [
        ("@@ -90,2 +91,2 @@ def f():\n # b\n-limit = 3\n+limit = 4\n", True),  # moved
        ("@@ -1,2 +1,2 @@\n # a\n-    limit = 3\n+    limit = 4\n", True),  # indented
        ("@@ -1,2 +1,2 @@\n # a\n-limit = 3\n+limit = 5\n", False),
    ],
)
def test_rows_with_the_same_changed_lines_are_one_group(tmp_path, patch, is_same):
    entries = ({"patch": text, "claims": ["x."]} for text in (PATCH, patch))
    (first, second), _ = rows.read_rows(write(tmp_path, *entries))
    assert (first.group == second.group) == is_same
