import gzip
import json

import pytest

from crscore.errors import InputError
from crscore.training.claims import changes
from crscore.training.claims.changes import Wanted
from tests.helpers import claim_rows

PATCHES = [row["patch"] for row in claim_rows.rows(20)]


def _written(tmp_path, *patches, key="patch"):
    path = tmp_path / "diffs.jsonl"
    path.write_text("".join(json.dumps({key: patch}) + "\n" for patch in patches))
    return path


def test_each_change_is_there_once(tmp_path):
    found = changes.read_changes(_written(tmp_path, PATCHES[0], PATCHES[1], PATCHES[0]), Wanted())
    assert [one.patch for one in found.chosen] == PATCHES[:2]
    assert found.copies == 1


def test_a_folder_is_read_by_name_and_other_files_are_not(tmp_path):
    (tmp_path / "b.diff").write_text(PATCHES[0])
    (tmp_path / "a.patch").write_text(PATCHES[1])
    (tmp_path / "c.txt").write_text(PATCHES[2])
    found = changes.read_changes(tmp_path, Wanted())
    assert [one.patch for one in found.chosen] == [PATCHES[1], PATCHES[0]]


def test_json_lines_may_be_packed_and_say_diff(tmp_path):
    plain = _written(tmp_path, PATCHES[0], key="diff")
    packed = tmp_path / "diffs.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert (
        changes.read_changes(packed, Wanted()).chosen
        == changes.read_changes(plain, Wanted()).chosen
    )


@pytest.mark.parametrize(("least", "most", "kept"), [(59, 59, 1), (60, 90, 0), (1, 58, 0)])
def test_patches_of_another_length_are_left_out_at_the_very_character(tmp_path, least, most, kept):
    patch = "@@ -1 +1 @@\n-" + "a" * 20 + "\n+" + "b" * 23 + "\n"
    assert len(patch) == 59
    found = changes.read_changes(_written(tmp_path, patch), Wanted(min_chars=least, max_chars=most))
    assert (len(found.chosen), found.unfit) == (kept, 1 - kept)


def test_what_is_no_diff_and_what_has_several_parts_is_counted(tmp_path):
    hunk = "@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    two = "".join(f"--- a/{name}\n+++ b/{name}\n{hunk}" for name in "xy")
    found = changes.read_changes(_written(tmp_path, "not a diff", two, PATCHES[0]), Wanted())
    assert (len(found.chosen), found.several, len(found.unreadable)) == (1, 1, 1)
    assert "diffs.jsonl:1" in found.unreadable[0]


def test_more_are_drawn_beside_the_same_ones(tmp_path):
    path = _written(tmp_path, *PATCHES)
    few, more = (set(changes.read_changes(path, Wanted(limit=n)).chosen) for n in (5, 8))
    assert (len(few), len(more)) == (5, 8)
    assert few < more
    assert set(changes.read_changes(path, Wanted(limit=5, seed=1)).chosen) != few


def test_nothing_to_read_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"has no \.diff or \.patch file"):
        changes.read_changes(tmp_path, Wanted())
    (tmp_path / "d.jsonl").write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        changes.read_changes(tmp_path / "d.jsonl", Wanted())
    (tmp_path / "d.jsonl").write_text("{\n")
    with pytest.raises(InputError, match=r"d\.jsonl:1: no JSON"):
        changes.read_changes(tmp_path / "d.jsonl", Wanted())
