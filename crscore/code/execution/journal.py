"""Results on disk, each written at once, so that an interrupted run can continue."""

import hashlib
import json
from pathlib import Path
from threading import Lock
from typing import Final

import msgspec

from crscore import jsonl
from crscore.code.execution.programs import Problem
from crscore.errors import InputError

# An incomplete last line with another start is no row of ours: the file must not be overwritten.
_ROW_START: Final = b'{"task_id": '


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    task_id: str
    result: str
    key: str


class Journal:
    """JSON Lines of results, by a hash of the problem, the program and its time limit.

    Without a path, results are kept in memory alone.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the earlier results; a last line that was cut off is dropped.

        Raises:
            InputError: The file cannot be read or written, or a line is no result.
        """
        self._path = path
        self._lock = Lock()
        self._results: dict[str, str] = {}
        if path is None:
            return
        content = jsonl.read_bytes(path, "results") if path.exists() else b""
        content, _, cut_off = content.rpartition(b"\n")
        # A row that was cut off begins like every row; any other file must not be overwritten.
        if not _ROW_START.startswith(cut_off[: len(_ROW_START)]):
            raise InputError(f"{path} holds something other than results")
        content += b"\n" if content else b""
        self._results = {
            row.key: row.result for _, row in jsonl.read_rows(content, _Row, path, "results")
        }
        try:
            # Without the row that was cut off, so that the next one begins a line.
            path.write_bytes(content)
        except OSError as exc:
            raise InputError(f"{path} cannot be written: {exc.strerror}") from exc

    def get(self, key: str) -> str | None:
        """Return the result of an earlier run."""
        return self._results.get(key)

    def add(self, key: str, problem: Problem, result: str) -> None:
        """Write a result."""
        row = json.dumps({"task_id": problem.id, "result": result, "key": key})
        with self._lock:
            self._results[key] = result
            if self._path is not None:
                with self._path.open("ab") as file:
                    file.write(row.encode() + b"\n")


def key_of(problem: Problem, code: str, timeout: float) -> str:
    """Return the key of a program's result."""
    fields = (problem.language, problem.prompt, problem.tests, problem.entry_point)
    text = json.dumps([*fields, problem.solution, code, timeout])
    return hashlib.sha256(text.encode()).hexdigest()
