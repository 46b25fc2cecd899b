"""On-disk cache of values that are expensive to compute.

The cache is one SQLite file, which several processes can share. SQLite's journal keeps the file
consistent when a process is killed. When the file grows too large, the least recently used values
are evicted. If the file is damaged or cannot be opened, no error is raised, and everything is
computed again.
"""

import contextlib
import functools
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE_NAME = "store.sqlite3"
MAX_BYTES = 256 * 2**20
"""Maximum bytes of all values."""
_KEPT_AFTER_EVICTION = 0.8
"""Share of the maximum bytes that is left after values were evicted."""
_LOCK_TIMEOUT_S = 5.0
# A value that is read several times within this time is marked only once as used, because each mark
# is a write.
_STALE_S = 3600.0
_SCHEMA = """
    CREATE TABLE entries (
        key TEXT PRIMARY KEY,
        value BLOB NOT NULL,
        size INTEGER NOT NULL,
        used REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX entries_by_use ON entries (used, size);
    PRAGMA user_version = 1
"""
"""Schema of a new file; a file that already has a `user_version` is not changed."""


def default_folder() -> Path:
    """Return the folder that this system provides for caches."""
    import platformdirs  # noqa: PLC0415

    return Path(platformdirs.user_cache_dir("crscore", appauthor=False))


def use_wal(connection: sqlite3.Connection) -> None:
    """Switch a file to a write-ahead log, so that readers and a writer do not block each other.

    Raises:
        sqlite3.Error: The file cannot be written, or is locked for seconds.
    """
    # SQLite does not wait if several processes switch a new file at the same time, because it does
    # not call the busy handler for this lock (https://www.sqlite.org/wal.html).
    for pause_s in (0.01, 0.1, 1.0, 3.0, 0.0):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or not pause_s:
                raise
        time.sleep(pause_s)


class Cache:
    """Cache of bytes by key. Safe to use from several threads.

    Args:
        folder: Folder of the file; created when missing.
        max_bytes: Maximum bytes of all values.
    """

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.file = folder / FILE_NAME
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._is_broken = False

    def __reduce__(self) -> tuple[Any, ...]:
        # A connection cannot be pickled, so another process opens the file again.
        return functools.partial(Cache, self.file.parent, max_bytes=self.max_bytes), ()

    def get(self, key: str) -> bytes | None:
        """Look up a value.

        Args:
            key: Key whose first word names the kind of value: `findings 9f86d0...`.

        Returns:
            The value; None if it was never stored or was evicted, or if the file cannot be used.
        """
        with self._use_connection() as connection:
            if connection is None:
                return None
            row = connection.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            now = time.time()
            connection.execute(
                "UPDATE entries SET used = ? WHERE key = ? AND used < ?", (now, key, now - _STALE_S)
            )
            return bytes(row[0])
        return None

    def put(self, key: str, value: bytes) -> None:
        """Store a value, unless it alone is larger than `max_bytes`."""
        if len(value) > self.max_bytes:
            return
        with self._use_connection() as connection:
            if connection is None:
                return
            connection.execute(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
                (key, value, len(value), time.time()),
            )
            query = "SELECT coalesce(sum(size), 0) FROM entries"
            (total,) = connection.execute(query).fetchone()
            if total > self.max_bytes:
                # More than necessary is evicted, so that not every new value evicts an old one. The
                # new value stays, even if it alone is larger than `remaining`.
                remaining = int(self.max_bytes * _KEPT_AFTER_EVICTION)
                connection.execute(
                    "DELETE FROM entries WHERE key IN (SELECT key FROM (SELECT key, "
                    "sum(size) OVER (ORDER BY key = ? DESC, used DESC, key) AS filled "
                    "FROM entries) WHERE filled > ? AND key <> ?)",
                    (key, remaining, key),
                )

    @contextlib.contextmanager
    def _use_connection(self) -> Iterator[sqlite3.Connection | None]:
        """Acquire the thread lock and yield a connection; None if the file cannot be used.

        An SQLite error in the block ends the block and the use of the cache, without an exception.
        """
        with self._lock:
            if self._connection is None and not self._is_broken:
                self._connection = self._open()
                self._is_broken = self._connection is None
            try:
                yield self._connection
            except sqlite3.Error:
                # The disk is full, or the file is damaged or was locked for too long. The run
                # continues without the cache.
                self._is_broken = True
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None

    def _open(self) -> sqlite3.Connection | None:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            # Autocommit leaves no lock on the file between calls; `_lock` admits one thread only.
            connection = sqlite3.connect(
                self.file, timeout=_LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error):
            return None
        try:
            use_wal(connection)
            # A power cut may lose the last values, which are computed again, but does not damage
            # the file: https://www.sqlite.org/pragma.html#pragma_synchronous
            connection.execute("PRAGMA synchronous = NORMAL")
            # Locked before the version is read, so that only one process creates the tables.
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone() == (0,):
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
            connection.execute("COMMIT")
        except sqlite3.Error:
            connection.close()
            return None
        # Not `__del__`, because modules may already be cleared when it runs at exit.
        weakref.finalize(self, connection.close)
        return connection
