"""Tables of the store for DuckDB, pandas, Datasette and other programs.

JSON Lines and Parquet are written by pandas (extra `export`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crscore.audit.signals import Signal
from crscore.audit.store.database import Store
from crscore.audit.store.export import TABLES, columns, read_table
from crscore.errors import ConfigError, DependencyError, OutputError

if TYPE_CHECKING:
    import pandas as pd

_TYPES: Final = {"int": "Int64", "float": "Float64", "str": "string"}
"""Nullable types of pandas, by type of a column."""


def export(store: Store, folder: Path, *, form: str, tables: Sequence[str] = ()) -> list[Path]:
    """Write each table to a file; equal stores give equal files.

    Args:
        store: The store.
        folder: Folder of the files; created when missing.
        form: `jsonl` or `parquet`.
        tables: Names of the tables; empty for all.

    Returns:
        The files.

    Raises:
        ConfigError: There is no such table.
        DependencyError: pandas or pyarrow is not installed.
        OutputError: A file cannot be written.
    """
    paths = []
    for table in tables or TABLES:
        path = folder / f"{table}.{form}"
        rows = frame(store, table)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # A reader of the folder never sees a file that is only partly written.
            partial = path.with_suffix(".partial")
            if form == "parquet":
                rows.to_parquet(partial, engine="pyarrow", compression="zstd", index=False)
            else:
                lines = rows.to_json(
                    orient="records", lines=True, force_ascii=False, double_precision=15
                )
                # Without rows, pandas writes one empty line.
                partial.write_text(lines if len(rows) else "", encoding="utf-8")
            partial.replace(path)
        except OSError as exc:
            raise OutputError(str(path), exc.strerror or str(exc)) from exc
        paths.append(path)
    return paths


def frame(store: Store, table: str) -> pd.DataFrame:
    """Return a table as a pandas DataFrame.

    Args:
        store: The store.
        table: Its name.

    Raises:
        ConfigError: There is no such table.
        DependencyError: pandas or pyarrow is not installed.
    """
    if table not in TABLES:
        raise ConfigError("table", "command line", f"must be one of {', '.join(TABLES)}")
    try:
        import pandas as pd  # noqa: PLC0415
        import pyarrow as pa  # noqa: F401, PLC0415
    except ImportError as exc:
        raise DependencyError(exc.name or "pandas", "pip install 'crscore[export]'") from exc
    types = {column.name: _TYPES[column.type] for column in columns(table)}
    if table == "signals":
        types["signal"] = "string"
    rows = pd.DataFrame.from_records(read_table(store, table), columns=list(types))
    if table == "signals":
        rows["signal"] = rows["signal"].map(
            {signal.value: signal.name.lower() for signal in Signal}
        )
    return rows.astype(types)
