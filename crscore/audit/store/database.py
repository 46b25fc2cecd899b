"""Opens, reads and writes the SQLite file of an audit.

The file uses WAL mode (https://sqlite.org/wal.html), so that reports can read it while a run
writes. Every change is made in a transaction, so that the completed work of a killed run is kept.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, fields
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

from crscore.audit.store.rows import Row
from crscore.cache import use_wal
from crscore.errors import StoreError

R = TypeVar("R", bound=Row)

APPLICATION_ID: Final = 0x63727363
"""SQLite application id that marks an audit's file: `crsc`."""
# There are no migrations, because a new store can be synchronised from the host.
SCHEMA_VERSION: Final = 15
"""Version of `schema.sql`; increased with every change of a table."""
BUSY_S: Final = 30.0
"""Maximum time in seconds to wait while another process writes."""
DAMAGED = ("disk image is malformed", "malformed database schema", "not a database")
"""Parts of SQLite's messages that say that a file is damaged."""
# With 128 bits, no two texts of a store have the same hash by chance.
_HASH_BYTES: Final = 16
# Real comments are much shorter: those on GitHub have at most 65,536 characters.
MAX_TEXT_BYTES: Final = 4 * 2**20
"""Maximum size of a decompressed text in bytes; a longer text is truncated when it is stored."""

EMPTY_TEXT: Final = hashlib.sha256(b"").digest()[:_HASH_BYTES]
"""Key of the empty text."""


class Store:
    """Store of an audit. Not thread-safe; several processes may open the same file.

    Args:
        path: The file; created if missing.
        must_exist: Whether a missing file is an error; true for commands that only read.

    Raises:
        StoreError: The file is missing, is not a store, is damaged, or has tables of another
            version.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        if must_exist and not path.is_file():
            raise StoreError(str(path), "the file does not exist; crscore audit sync creates it")
        # The file is checked before SQLite opens it, because SQLite would create a journal next to
        # a file that is not a store.
        _check_file(path)
        with self._convert_errors():
            self._connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
            try:
                # In WAL mode, a power failure with NORMAL may lose the last transactions, but does
                # not damage the file.
                use_wal(self._connection)
                self._connection.execute("PRAGMA synchronous = NORMAL")
                self._create_tables()
            # `BaseException` includes interrupts, after which the file would otherwise stay open.
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all changes of a `with` block or none of them. Transactions cannot be nested.

        Raises:
            StoreError: The file cannot be written.
        """
        with self._convert_errors():
            # IMMEDIATE takes the write lock at once. A transaction that begins by reading cannot
            # get the lock if another process writes in the meantime.
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def query(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a query and return all rows.

        Raises:
            StoreError: The file cannot be read, or the result has an infinite number.
        """
        with self._convert_errors():
            rows = self._connection.execute(sql, values).fetchall()
        # Infinite numbers cannot be written to the JSON report (RFC 8259, section 6).
        if any(number in chain.from_iterable(rows) for number in (math.inf, -math.inf)):
            raise StoreError(str(self.path), "it has a number that is not finite")
        return rows

    def change(self, sql: str, *values: Any) -> int:
        """Run a statement that writes, and return the number of changed rows.

        Raises:
            StoreError: The file cannot be written.
        """
        with self._convert_errors():
            return self._connection.execute(sql, values).rowcount

    def find(self, kind: type[R], *order: str, **values: Any) -> list[R]:
        """Return the rows of one table whose columns have these values.

        Args:
            kind: Class of the rows.
            order: Names of the columns to sort by.
            values: Values by column; without any, all rows are returned.

        Raises:
            StoreError: The file cannot be read.

        Example:
            >>> from pathlib import Path
            >>> from crscore.audit.store.rows import Repository
            >>> with Store(Path(":memory:")) as store:
            ...     store.put([Repository(id=7, name="acme/shop", state="ok")])
            ...     store.find(Repository, "id", state="ok")[0].name
            'acme/shop'
        """
        sql = _where_clause(values) + (f" ORDER BY {', '.join(order)}" if order else "")
        return self.select(kind, sql, *values.values())

    def find_one(self, kind: type[R], **values: Any) -> R | None:
        """Return the first row whose columns have these values; None if there is none.

        Raises:
            StoreError: The file cannot be read.
        """
        return next(iter(self.find(kind, **values)), None)

    def delete(self, kind: type[Row], **values: Any) -> None:
        """Delete the rows of one table whose columns have these values.

        Raises:
            StoreError: The file cannot be written.
        """
        self.change(f"DELETE FROM {kind.TABLE}{_where_clause(values)}", *values.values())

    def select(self, kind: type[R], clauses: str = "", *values: Any) -> list[R]:
        """Return the rows of one table that match SQL clauses; only for modules of this package.

        Args:
            kind: Class of the rows.
            clauses: SQL after the table's name, such as `WHERE repository = ? ORDER BY number`.
            values: Values of the parameters in the clauses.

        Raises:
            StoreError: The file cannot be read.
        """
        names = [field.name for field in fields(kind)]
        sql = f"SELECT {', '.join(names)} FROM {kind.TABLE} {clauses}"
        return [kind(**dict(zip(names, row, strict=True))) for row in self.query(sql, *values)]

    def put(self, rows: Iterable[Row]) -> None:
        """Insert rows, and replace rows that have the same keys.

        To write several rows or none, call this in a transaction.

        Raises:
            StoreError: The file cannot be written.
        """
        grouped: dict[type[Row], list[tuple[Any, ...]]] = {}
        for row in rows:
            grouped.setdefault(type(row), []).append(astuple(row))
        for kind, values in grouped.items():
            names = [field.name for field in fields(kind)]
            into = f"{kind.TABLE} ({', '.join(names)})"
            sql = f"REPLACE INTO {into} VALUES ({', '.join('?' * len(names))})"
            with self._convert_errors():
                self._connection.executemany(sql, values)

    # Texts are shared between rows, because bots repeat texts and every version of a comment is
    # kept.
    def add_text(self, text: str) -> bytes:
        """Store a text, unless it is already stored, and return its hash (16 bytes)."""
        text = text[: MAX_TEXT_BYTES // 4]  # a character in UTF-8 has at most four bytes
        # JSON from a host may contain a lone surrogate, which strict UTF-8 rejects.
        data = text.encode("utf-8", "surrogatepass")
        key = hashlib.sha256(data).digest()[:_HASH_BYTES]
        self.change("INSERT OR IGNORE INTO texts VALUES (?, ?)", key, zlib.compress(data, 6))
        return key

    def text(self, key: bytes) -> str:
        """Return a stored text, given its hash.

        Raises:
            StoreError: The text is missing or damaged.
        """
        rows = self.query("SELECT text FROM texts WHERE hash = ?", key)
        if not rows:
            raise StoreError(str(self.path), f"the text {key.hex()} is missing")
        try:
            # A store may be untrusted, and a few compressed bytes may expand to any size.
            unpacking = zlib.decompressobj()
            unpacked = unpacking.decompress(rows[0][0], MAX_TEXT_BYTES)
            if not unpacking.eof:
                raise ValueError(f"it ends early, or is longer than {MAX_TEXT_BYTES:,} bytes")
            return unpacked.decode("utf-8", "surrogatepass")
        except (ValueError, zlib.error) as exc:
            raise StoreError(str(self.path), f"the text {key.hex()} is damaged: {exc}") from exc

    def signature_id(self, text: str) -> int:
        """Return the number of a signature, which is stored if it is new."""
        # Signatures are never deleted, so newer signatures have larger numbers.
        self.change("INSERT OR IGNORE INTO signatures (text) VALUES (?)", text)
        number: int = self.query("SELECT id FROM signatures WHERE text = ?", text)[0][0]
        return number

    def signatures(self) -> Mapping[int, str]:
        """Return the texts of all signatures, keyed by number."""
        return dict(self.query("SELECT id, text FROM signatures"))

    def _create_tables(self) -> None:
        """Create the tables of a new file; reject a file that is not a store of this version."""
        kind, tables = self._pragma("application_id"), self.query("SELECT 1 FROM sqlite_master")
        if tables and kind != APPLICATION_ID:
            raise StoreError(str(self.path), "it is not a store of crscore audit")
        if tables and (version := self._pragma("user_version")) != SCHEMA_VERSION:
            raise StoreError(
                str(self.path),
                f"another version of crscore created it (schema {version}, this one has "
                f"{SCHEMA_VERSION}): sync into a new file",
            )
        if tables:
            return
        script = importlib.resources.files("crscore.audit.store") / "schema.sql"
        # All tables are created in one transaction, so that a killed process leaves an empty file.
        with self.transaction():
            if self._pragma("user_version") == SCHEMA_VERSION:
                return  # another process has created the tables
            statement = ""
            # Each statement is executed on its own, because `executescript` would end the
            # transaction.
            for line in script.read_text(encoding="utf-8").splitlines(keepends=True):
                statement += line
                if sqlite3.complete_statement(statement):
                    self._connection.execute(statement)
                    statement = ""
            self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _pragma(self, name: str) -> int:
        value: int = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Convert errors of SQLite in a `with` block to `StoreError`."""
        try:
            yield
        except sqlite3.Error as exc:
            raise StoreError(str(self.path), _explain(exc)) from exc
        except (OverflowError, UnicodeEncodeError) as exc:
            # A host may send numbers that are too large for SQLite, and lone surrogates.
            raise StoreError(str(self.path), f"it cannot store the host's data ({exc})") from exc


def _where_clause(values: Mapping[str, Any]) -> str:
    return " WHERE " + " AND ".join(f"{name} = ?" for name in values) if values else ""


def _check_file(path: Path) -> None:
    """Reject a file that is not a store, or that is truncated.

    SQLite would notice that a file is truncated only when it reads a missing page.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        header = file.read(100)
    if header and not header.startswith(b"SQLite format 3\0"):
        raise StoreError(str(path), "it is not a store of crscore audit")
    # The header has the size of a page in bytes (1 stands for 65,536) and the number of pages:
    # https://sqlite.org/fileformat.html#the_database_header
    size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    # If the disk was full in the last run, the missing pages may be in the write-ahead log.
    log = path.with_name(f"{path.name}-wal")
    if log.is_file() and log.stat().st_size:
        return
    if 0 < path.stat().st_size < pages * (65_536 if size == 1 else size):
        raise StoreError(str(path), "it is truncated: restore it from the last artifact or backup")


def _explain(exc: sqlite3.Error) -> str:
    text = str(exc)
    # `sqlite3` does not have a class for each error, so the messages are compared.
    if isinstance(exc, sqlite3.OperationalError) and "locked" in text:
        return f"another run has been writing to it for {BUSY_S:.0f} seconds"
    # "malformed JSON" is not among the messages, because it is an error of a statement, not of the
    # file: https://sqlite.org/rescode.html#corrupt
    if any(part in text for part in DAMAGED):
        return f"it is damaged ({text}): restore it from the last artifact or backup"
    if "disk" in text:
        return f"{text}: check the free space of the disk; what was written before is kept"
    return text
