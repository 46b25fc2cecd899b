"""Tables of the store for DuckDB, pandas, Datasette and other programs.

JSON Lines by msgspec, Parquet by pyarrow, DataFrames by pandas (extra `export`). Numbers and hashes
are replaced by what they stand for: a comment has its text, a score its signature, a signal its
name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crscore.audit.signals import Signal
from crscore.audit.store import rows
from crscore.audit.store.database import Store
from crscore.errors import ConfigError, DependencyError, OutputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

FORMATS: Final = ("jsonl", "parquet")
_ROWS: Final = 10_000
"""Rows of a batch; bounds the memory."""
_KIND: Final = "CASE {0} % 4 WHEN 0 THEN 'line' WHEN 1 THEN 'review' ELSE 'conversation' END"
_SIGNAL: Final = " ".join(f"WHEN {one.value} THEN '{one.name.lower()}'" for one in Signal)
_PULL: Final = "r.name AS repository, t.number"
_OF_PULL: Final = "t JOIN repositories r ON r.id = t.repository"
_SCORED: Final = "JOIN signatures s ON s.id = t.signature"
TABLES: Final = {
    "repositories": "SELECT * FROM repositories ORDER BY id",
    "pulls": f"""
        SELECT {_PULL}, title, author, t.state, draft, created, updated, closed, merged, base_ref,
          base, head, merge_commit, lines, t.language, pending, observed, final, failure
        FROM pulls {_OF_PULL} ORDER BY r.id, t.number""",
    "revisions": f"""
        SELECT {_PULL}, at, kind, before, after
        FROM revisions {_OF_PULL} ORDER BY r.id, t.number, at, kind, after""",
    "checks": f"""
        SELECT {_PULL}, head, app, t.name AS check_name, outcome
        FROM checks {_OF_PULL} ORDER BY r.id, t.number, head, app, t.name""",
    "comments": f"""
        SELECT t.key AS comment, {_PULL}, {_KIND.format("t.key")} AS kind, t.key / 4 AS id, thread,
          author, is_app, reviewer, is_bot, is_review, skip, unpack(b.text) AS body,
          unpack(h.text) AS hunk, created, updated, t.state, commit_id, path, line, start_line, side
        FROM comments {_OF_PULL} JOIN texts b ON b.hash = t.body
        LEFT JOIN texts h ON h.hash = t.hunk ORDER BY t.key""",
    "thread_observations": "SELECT * FROM thread_observations ORDER BY thread, night",
    "comment_observations": "SELECT * FROM comment_observations ORDER BY comment, night",
    "scores": f"""
        SELECT {_PULL}, reviewer, s.text AS signature, hex(content) AS content, night, head, is_bot,
          comments, sentences, words, standing, about, substance, relevance, conciseness,
          comprehensiveness, t.reason
        FROM scores {_OF_PULL} {_SCORED}
        ORDER BY r.id, t.number, reviewer, t.signature, content""",
    "comment_scores": f"""
        SELECT comment, s.text AS signature, hex(content) AS content, standing, about, substance,
          relevance, addressed, sentences, noise
        FROM comment_scores t {_SCORED} ORDER BY comment, t.signature, content""",
    "open_points": f"""
        SELECT {_PULL}, s.text AS signature, hex(content) AS content, rank, t.text, severity, path,
          line
        FROM open_points {_OF_PULL} {_SCORED}
        ORDER BY r.id, t.number, t.signature, content, rank""",
    "signals": f"""
        SELECT comment, CASE signal {_SIGNAL} END AS signal, night, rules, value, evidence,
          base_yes, base_all
        FROM signals ORDER BY comment, signals.signal, night, rules""",
    "suggestions": "SELECT * FROM suggestions ORDER BY comment, block, night, rules",
    "runs": "SELECT * FROM runs ORDER BY id",
}
"""Table -> query. `comment` and `thread` are keys of comments."""


def export(store: Store, folder: Path, *, form: str, tables: Sequence[str] = ()) -> list[Path]:
    """Write tables, one file each; equal stores give equal files.

    Args:
        store: The store.
        folder: Folder of the files; made when missing.
        form: `jsonl` or `parquet`.
        tables: Their names; empty for all.

    Returns:
        The files.

    Raises:
        ConfigError: There is no such table.
        DependencyError: Parquet needs pyarrow.
        OutputError: A file cannot be written.
    """
    write = {"jsonl": _write_lines, "parquet": _write_parquet}[form]
    written = []
    for name in tables or TABLES:
        path = folder / f"{name}.{form}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")
            write(store, name, partial)
            partial.replace(path)
        except OSError as exc:
            raise OutputError(str(path), exc.strerror or str(exc)) from exc
        written.append(path)
    return written


def frame(store: Store, table: str) -> pd.DataFrame:
    """Return a table as a pandas DataFrame.

    Args:
        store: The store.
        table: Its name.

    Raises:
        ConfigError: There is no such table.
        DependencyError: pandas or pyarrow is not installed.
    """
    arrow = _pyarrow()
    try:
        import pandas  # noqa: F401, PLC0415
    except ImportError as exc:
        raise DependencyError("pandas", "pip install 'crscore[export]'") from exc
    schema, batches = _batches(store, table)
    return arrow.Table.from_batches(batches, schema).to_pandas()


def _write_lines(store: Store, table: str, path: Path) -> None:
    names, found = store.stream(_query(table))
    encoder = msgspec.json.Encoder()
    with path.open("wb") as file:
        for row in found:
            file.write(encoder.encode(dict(zip(names, map(_plain, row), strict=True))) + b"\n")


def _write_parquet(store: Store, table: str, path: Path) -> None:
    _pyarrow()
    from pyarrow import parquet  # noqa: PLC0415

    schema, batches = _batches(store, table)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


def _batches(store: Store, table: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the rows in batches of one schema, which holds for an empty table too."""
    arrow = _pyarrow()
    names, found = store.stream(_query(table))
    arrows = {"int": arrow.int64(), "float": arrow.float64()}
    types = _types()
    schema = arrow.schema(
        [(name, arrows.get(types.get(name, ""), arrow.string())) for name in names]
    )

    def read() -> Iterator[pa.RecordBatch]:
        while some := list(islice(found, _ROWS)):
            columns = zip(*(map(_plain, row) for row in some), strict=True)
            data = [arrow.array(one, of) for one, of in zip(columns, schema.types, strict=True)]
            yield arrow.record_batch(data, schema=schema)

    return schema, read()


def _types() -> dict[str, str]:
    """Return the type of each column, by its name."""
    kinds = (kind for kind in vars(rows).values() if isinstance(kind, type))
    found = {
        field.name: str(field.type).removesuffix(" | None")
        for kind in kinds
        if issubclass(kind, rows.Row) and kind is not rows.Row
        for field in fields(kind)
    }
    named = dict.fromkeys(("repository", "signature", "signal", "content", "body", "hunk"), "str")
    return {**found, **named, "comment": "int"}


def _query(table: str) -> str:
    if table not in TABLES:
        raise ConfigError("table", "command line", f"must be one of {', '.join(TABLES)}")
    return TABLES[table]


def _plain(value: object) -> object:
    # A lone surrogate can be in JSON from a host, and in no UTF-8.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _pyarrow() -> Any:
    try:
        import pyarrow  # noqa: PLC0415
    except ImportError as exc:
        raise DependencyError("pyarrow", "pip install 'crscore[export]'") from exc
    return pyarrow
