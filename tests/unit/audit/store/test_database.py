from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sqlite3
import zlib
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import pytest

from crscore.audit.store import database, rows
from crscore.audit.store.database import MAX_TEXT_BYTES, Store
from crscore.audit.store.rows import Repository, Row
from crscore.errors import StoreError
from crscore.hosts.records import MessageKind

if TYPE_CHECKING:
    from pathlib import Path

KINDS = [kind for kind in vars(rows).values() if isinstance(kind, type) and issubclass(kind, Row)]
TABLES = [kind for kind in KINDS if kind is not Row]


def repository(name: str = "acme/shop", number: int = 7) -> Repository:
    return Repository(id=number, name=name, state="ok")


def test_rows_have_the_columns_and_keys_of_their_tables(tmp_path: Path) -> None:
    for kind in TABLES:
        with Store(tmp_path / "a.db") as store:
            info = store.query(f"PRAGMA table_info({kind.TABLE})")
        found = {name: (of, bool(required or key)) for _, name, of, required, _, key in info}
        types = {"int": "INTEGER", "str": "TEXT", "bytes": "BLOB", "float": "REAL"}
        own = {
            field.name: (types[str(field.type).removesuffix(" | None")], field.default is MISSING)
            for field in fields(kind)  # type: ignore[arg-type]
        }
        if kind is rows.AuditRun:
            own["id"] = ("INTEGER", True)  # given by the store
        assert own == found
        assert list(own) == list(found)


def test_every_table_that_several_functions_use_has_a_class(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        named = {
            name for (name,) in store.query("SELECT name FROM sqlite_master WHERE type='table'")
        }
    assert named - {"texts", "signatures", "cursors", "threads"} == {kind.TABLE for kind in TABLES}


def test_put_replaces_rows_with_the_same_key(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        store.put([repository("1")])
        store.put([repository("2"), repository("3", number=8)])
        assert [one.name for one in store.select(Repository, "ORDER BY id")] == ["2", "3"]


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    row = Repository(id=5, name="acme/shop", state="gone", reason="it is 'private'; or deleted")
    with Store(tmp_path / "a.db") as store:
        store.put([row])
        assert store.select(Repository) == [row]


def test_failed_transaction_changes_nothing(tmp_path: Path) -> None:
    def write(store: Store) -> None:
        with store.transaction():
            store.put([repository()])
            raise ZeroDivisionError

    with Store(tmp_path / "a.db") as store:
        with pytest.raises(ZeroDivisionError):
            write(store)
        assert store.select(Repository) == []
        with store.transaction():
            store.put([repository()])
        assert len(store.select(Repository)) == 1


@pytest.mark.parametrize("text", ["", "Größe\r\n\0", "\ud800 lone", "x" * 100_000])
def test_texts_are_stored_once(tmp_path: Path, text: str) -> None:
    with Store(tmp_path / "a.db") as store:
        key = store.add_text(text)
        assert store.add_text(text) == key
        assert store.text(key) == text
        assert store.query("SELECT count(*) FROM texts") == [(1,)]


def test_text_larger_than_any_host_sends_is_not_decompressed(tmp_path: Path) -> None:
    packed = zlib.compress(bytes(5 * MAX_TEXT_BYTES), 9)
    assert len(packed) < 1_000_000
    with Store(tmp_path / "a.db") as store:
        store.change("INSERT INTO texts VALUES (?, ?)", b"bomb", packed)
        with pytest.raises(StoreError, match="longer than"):
            store.text(b"bomb")


def test_long_text_is_cut_when_it_is_stored(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        assert len(store.text(store.add_text("é" * MAX_TEXT_BYTES))) == MAX_TEXT_BYTES // 4


@pytest.mark.parametrize("number", ["9e999", "-9e999"])
def test_infinite_number_is_an_error(tmp_path: Path, number: str) -> None:
    with Store(tmp_path / "a.db") as store, pytest.raises(StoreError, match="not finite"):
        store.query(f"SELECT 1, {number}, NULL")


def test_missing_text_is_an_error(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store, pytest.raises(StoreError, match="0102 is missing"):
        store.text(b"\1\2")


def test_signatures_have_numbers(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        first, second = store.signature_id("a|b"), store.signature_id("a|c")
        assert first != second
        assert store.signature_id("a|b") == first
        assert store.signatures() == {first: "a|b", second: "a|c"}


@pytest.mark.parametrize("kind", list(MessageKind))
def test_key_of_a_comment_tells_kind_and_id(kind: MessageKind) -> None:
    key = rows.comment_key(kind, 3_000_000_007)
    assert (rows.kind_of(key), rows.host_id_of(key)) == (kind, 3_000_000_007)


# Files that cannot be used


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="crscore audit sync creates it"):
        Store(tmp_path / "a.db", must_exist=True)
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize("version", [1, 99])
def test_tables_of_another_version_are_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "a.db"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StoreError, match=rf"another version .*schema {version},.* into a new file"):
        Store(path)


def test_other_database_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (x)")
    with pytest.raises(StoreError, match="not a store of crscore audit"):
        Store(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


def test_text_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_text("no database\n" * 100)
    with pytest.raises(StoreError, match="not a store of crscore audit"):
        Store(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_store_is_an_error_at_once(tmp_path: Path, share: float) -> None:
    path = tmp_path / "a.db"
    with Store(path) as store, store.transaction():
        for at in range(500):
            store.add_text(f"{at}" * 50)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(StoreError, match="truncated: restore it"):
        Store(path)


def test_overwritten_pages_are_reported_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store(path) as store:
        store.put([repository()])
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))
    with pytest.raises(StoreError, match=r"damaged \(.*\): restore"):
        Store(path).select(Repository)


def test_error_in_a_statement_is_not_reported_as_damage(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store, pytest.raises(StoreError, match=r"malformed JSON$"):
        store.query("SELECT json_extract('{', '$')")


def test_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        Store(tmp_path)


def test_another_writer_is_waited_for_and_named(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    path = tmp_path / "a.db"
    with Store(path) as first, Store(path) as second, first.transaction():
        first.put([repository()])
        with pytest.raises(StoreError, match="another run has been writing"):
            second.put([repository("2")])
        assert second.select(Repository) == []


def test_reader_sees_the_last_complete_state(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store(path) as writer, Store(path) as reader:
        with writer.transaction():
            writer.put([repository()])
            assert reader.select(Repository) == []
        assert len(reader.select(Repository)) == 1


def _write_and_die(path: Path) -> None:
    store = Store(path)
    with store.transaction():
        store.put([repository("complete")])
    with store.transaction():
        store.put([repository("half")])
        os.kill(os.getpid(), signal.SIGKILL)


def test_killed_writer_leaves_what_it_completed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    process = multiprocessing.get_context("spawn").Process(target=_write_and_die, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with Store(path) as store:
        assert [one.name for one in store.select(Repository)] == ["complete"]


def _write_without_room(path: Path) -> None:
    # No file may become larger than the store is now. SQLite can then write the log, but not copy
    # it into the store.
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, resource.RLIM_INFINITY))
    with Store(path) as store:
        for at in range(1000):
            with store.transaction():
                store.add_text(f"{at} {os.urandom(3000).hex()}")


def test_run_continues_after_the_disk_was_full(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store(path) as store, store.transaction():
        store.put([repository()])
        for _ in range(200):
            store.add_text(os.urandom(3000).hex())
    process = multiprocessing.get_context("spawn").Process(target=_write_without_room, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == 1
    pages = int.from_bytes(path.read_bytes()[28:32], "big")
    assert path.stat().st_size < pages * 4096  # only the log has the last pages
    with Store(path) as store:
        assert store.query("PRAGMA integrity_check") == [("ok",)]
        assert store.select(Repository) == [repository()]
        kept = store.query("SELECT count(*) FROM texts")[0][0]
        assert kept > 200
        store.add_text("with room")
    assert path.stat().st_size >= int.from_bytes(path.read_bytes()[28:32], "big") * 4096
    with Store(path) as store:
        assert store.query("SELECT count(*) FROM texts")[0][0] == kept + 1


# Creation


def test_two_processes_may_create_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    context = multiprocessing.get_context("spawn")
    made = [context.Process(target=Store, args=(path,)) for _ in range(2)]
    for one in made:
        one.start()
    for one in made:
        one.join()
    assert [one.exitcode for one in made] == [0] * 2


def test_what_sqlite_cannot_hold_is_a_clear_error(tmp_path: Path) -> None:
    with Store(tmp_path / "audit.db") as store:
        for row in (
            Repository(id=2**63, name="acme/shop", state="ok"),
            Repository(id=1, name="acme/\ud800", state="ok"),
        ):
            with pytest.raises(StoreError, match="cannot store the host's data"):
                store.put([row])
