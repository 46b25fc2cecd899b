"""The store: shared by threads and processes, bounded, and never in the way when damaged."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from crscore import cache
from crscore.cache import Cache


@pytest.fixture
def made(tmp_path):
    return Cache(tmp_path / "cache")


def test_value_is_recalled_by_another_store(tmp_path, made) -> None:
    made.put("findings a", b"\x00\xff")
    other = Cache(tmp_path / "cache")
    assert other.get("findings a") == b"\x00\xff"
    assert other.get("findings b") is None


def test_second_value_replaces_the_first(made) -> None:
    made.put("a", b"1")
    made.put("a", b"2")
    assert made.get("a") == b"2"


def test_default_folder_is_the_systems_for_caches(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.default_folder().name == "crscore"


# What becomes of bad files


@pytest.mark.parametrize("content", [b"no database at all, but long enough" * 99, b"SQLite format"])
def test_damaged_file_acts_like_an_empty_cache(tmp_path, content) -> None:
    (tmp_path / cache.FILE_NAME).write_bytes(content)
    broken = Cache(tmp_path)
    broken.put("a", b"1")
    assert broken.get("a") is None
    (tmp_path / cache.FILE_NAME).unlink()
    again = Cache(tmp_path)
    again.put("a", b"1")
    assert again.get("a") == b"1"


def test_file_damaged_in_the_middle_raises_no_error(tmp_path) -> None:
    one = Cache(tmp_path)
    for number in range(300):
        one.put(f"findings {number}", bytes(1000))
    content = bytearray((tmp_path / cache.FILE_NAME).read_bytes())
    content[4096 : len(content) - 4096] = b"\xaa" * (len(content) - 8192)
    (tmp_path / cache.FILE_NAME).write_bytes(content)
    other = Cache(tmp_path)
    assert [other.get(f"findings {number}") for number in range(300)].count(None) > 0
    other.put("new", b"1")


def test_folder_that_cannot_be_created_raises_no_error(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = Cache(tmp_path / "file" / "cache")
    nowhere.put("a", b"1")
    assert nowhere.get("a") is None


def test_file_that_is_a_folder_raises_no_error(tmp_path) -> None:
    (tmp_path / cache.FILE_NAME).mkdir()
    assert Cache(tmp_path).get("a") is None


def test_file_of_a_later_version_is_not_changed(tmp_path) -> None:
    with sqlite3.connect(tmp_path / cache.FILE_NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    one = Cache(tmp_path)
    one.put("a", b"1")
    assert one.get("a") is None
    connection = sqlite3.connect(tmp_path / cache.FILE_NAME)
    assert connection.execute("PRAGMA user_version").fetchone() == (99,)
    connection.close()


# How much it holds


def test_value_larger_than_the_store_is_not_kept(tmp_path) -> None:
    small = Cache(tmp_path, max_bytes=10)
    small.put("a", bytes(11))
    assert small.get("a") is None
    small.put("a", bytes(10))
    assert small.get("a") == bytes(10)


def test_full_store_evicts_the_least_recently_used_values(tmp_path, monkeypatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    small = Cache(tmp_path, max_bytes=1000)
    for name in "abcdefghij":
        now[0] += 10
        small.put(name, bytes(100))
    now[0] += 7200  # a use that is later than the others by more than the store cares for
    assert small.get("a") is not None
    now[0] += 10
    small.put("k", bytes(100))
    kept = [name for name in "abcdefghijk" if small.get(name) is not None]
    assert kept == ["a", "e", "f", "g", "h", "i", "j", "k"]


def test_newest_value_is_kept_even_if_it_is_large(tmp_path) -> None:
    small = Cache(tmp_path, max_bytes=1000)
    small.put("old", bytes(500))
    small.put("new", bytes(950))
    assert small.get("new") == bytes(950)
    assert small.get("old") is None


# Several at once


def test_threads_share_a_store(made) -> None:
    def work(start: int) -> None:
        for number in range(start, start + 50):
            made.put(f"k {number}", str(number).encode())
            assert made.get(f"k {number}") == str(number).encode()

    threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [str(100 * i + j) for i in range(4) for j in range(50)]
    assert [made.get(f"k {name}") for name in names] == [name.encode() for name in names]


WRITER = """
import sys
from pathlib import Path
from crscore.cache import Cache
one = Cache(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    one.put(f"{sys.argv[2]} {number}", bytes(500))
    print(number, flush=True)
"""


def writer(folder, name: str, count: int) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name, str(count)], stdout=subprocess.PIPE
    )


def test_processes_that_create_the_file_together_lose_no_values(tmp_path) -> None:
    for process in [writer(tmp_path, name, 100) for name in ("a", "b")]:
        process.communicate(timeout=60)
        assert process.returncode == 0
    one = Cache(tmp_path)
    keys = [f"{name} {number}" for name in ("a", "b") for number in range(100)]
    assert [one.get(key) for key in keys] == [bytes(500)] * 200


def test_file_of_a_killed_process_is_intact(tmp_path) -> None:
    with writer(tmp_path, "a", 1_000_000) as process:
        for _ in range(200):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
    one = Cache(tmp_path)
    assert all(one.get(f"a {number}") == bytes(500) for number in range(200))
    one.put("b", b"1")
    assert one.get("b") == b"1"


def test_file_locked_for_too_long_is_not_used(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(cache, "_LOCK_TIMEOUT_S", 0.05)
    other = Cache(tmp_path)
    other.put("a", b"1")
    blocking = sqlite3.connect(other.file, isolation_level=None)
    blocking.execute("BEGIN EXCLUSIVE")
    try:
        one = Cache(tmp_path)
        one.put("b", b"1")
        assert one.get("b") is None
    finally:
        blocking.execute("ROLLBACK")
        blocking.close()


def test_unreferenced_store_closes_its_file(tmp_path) -> None:
    one = Cache(tmp_path)
    one.put("a", b"1")
    del one  # a ResourceWarning would be an error
    assert Cache(tmp_path).get("a") == b"1"


def test_store_at_the_end_of_the_program_needs_no_other_module(tmp_path, monkeypatch) -> None:
    one = Cache(tmp_path)
    one.put("a", b"1")
    monkeypatch.setattr(cache, "contextlib", None)  # as a module is torn down
    del one  # what `__del__` raises is a warning, and a warning an error
