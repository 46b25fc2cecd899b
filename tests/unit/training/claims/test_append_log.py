import json

import pytest

from crscore.errors import InputError
from crscore.training.claims.append_log import Journal

ROWS = [{"a": 1}, {"a": "é\u2028"}, {"b": "\ud800"}]


def test_what_was_added_is_there_the_next_time(tmp_path):
    path = tmp_path / "rows.jsonl"
    with Journal(path) as journal:
        assert journal.rows == ()
        journal.add(ROWS[:2])
    with Journal(path) as journal:
        assert list(journal.rows) == ROWS[:2]


def test_a_kill_at_any_byte_loses_the_line_it_hit_and_no_other(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in ROWS[:2]]
    whole = b"".join(lines)
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        with Journal(path) as journal:
            kept = len(journal.rows)
            journal.add([{"new": cut}])
        assert kept == (cut >= len(lines[0])) + (cut >= len(whole))
        read = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
        assert read == [*ROWS[:kept], {"new": cut}]


def test_two_processes_do_not_write_to_one_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    with Journal(path), pytest.raises(InputError, match="another process writes to it"):
        Journal(path)
    Journal(path).__exit__(None, None, None)  # the lock went with the first


@pytest.mark.parametrize("line", [b"{", b"[1]", b"\xff", b"7"])
def test_a_file_of_something_else_is_left_alone(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n" + line + b"\n")
    with pytest.raises(InputError, match=r"rows\.jsonl:2: no"):
        Journal(path)
    assert path.read_bytes() == b"{}\n" + line + b"\n"


def test_rows_are_not_added_to_packed_files_or_to_nowhere(tmp_path):
    with pytest.raises(InputError, match=r"without \.gz"):
        Journal(tmp_path / "rows.jsonl.gz")
    with pytest.raises(InputError, match="cannot be opened"):
        Journal(tmp_path / "none" / "rows.jsonl")
