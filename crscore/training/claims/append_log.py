"""A file of rows that grows line by line and survives a kill at any byte."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any

import msgspec

from crscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self


class Journal:
    """Rows that are only ever added; one process writes at a time.

    Args:
        path: JSON Lines; made if it is not there. A half line at its end is taken off.

    Raises:
        InputError: It cannot be opened or read, another process writes to it, or a line that
            is whole is no object.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix == ".gz":
            raise InputError(f"{path}: rows are added to a plain file; choose a name without .gz")
        self.path = path
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as exc:
            raise InputError(f"{path} cannot be opened: {exc.strerror}") from exc
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.rows = tuple(self._read())
        except BlockingIOError as exc:
            os.close(self._handle)
            raise InputError(f"{path}: another process writes to it; wait for it") from exc
        except BaseException:
            os.close(self._handle)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._handle)  # and with it the lock

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows to the disk; when it returns they stay there.

        Raises:
            InputError: The disk does not take them.
        """
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        data = "".join(lines).encode("utf-8", "surrogatepass")
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
        except OSError as exc:
            raise InputError(f"{self.path} cannot be written: {exc.strerror}") from exc

    def _read(self) -> Iterable[Mapping[str, Any]]:
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            # A line without its end was being written. What it was is asked about again.
            os.ftruncate(self._handle, end)
        for number, line in enumerate(content[:end].split(b"\n"), start=1):
            if line.strip():
                yield self._row(line, f"{self.path}:{number}")

    def _row(self, line: bytes, place: str) -> Mapping[str, Any]:
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
            raise InputError(f"{place}: no JSON: {exc}; rows are added to rows only") from exc
        if not isinstance(row, dict):
            raise InputError(f"{place}: no row; rows are added to rows only")
        return row
