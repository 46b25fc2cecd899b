from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from crscore.audit import export
from crscore.audit.store import rows
from crscore.audit.store.database import Store
from crscore.errors import ConfigError, DependencyError, OutputError
from tests.helpers.audit_rows import fill


@pytest.fixture(scope="module")
def store() -> Store:
    filled = Store(Path(":memory:"))
    fill(filled, comments=120, seed=3)
    with filled.transaction():
        body = filled.add_text("lone \ud800 <script>")
        comment = filled.find(rows.Comment, "key")[0]
        values = {field.name: getattr(comment, field.name) for field in fields(comment)}
        filled.put([rows.Comment(**values | {"body": body})])
    return filled


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def rounded(row: dict) -> dict:
    """Return a row with the 15 decimals that JSON Lines have."""
    return {
        key: round(value, 15) if isinstance(value, float) else value for key, value in row.items()
    }


def test_every_table_is_written_with_all_its_rows(store, tmp_path: Path) -> None:
    paths = export.export(store, tmp_path / "new", form="jsonl")
    assert [path.stem for path in paths] == list(export.TABLES)
    for path in paths:
        (count,) = store.query(f"SELECT count(*) FROM {path.stem}")[0]
        assert len(read_lines(path)) == count, path.stem
    assert len(read_lines(tmp_path / "new" / "comments.jsonl")) >= 120


def test_tables_are_those_of_the_store(store) -> None:
    tables = {name for (name,) in store.query("SELECT name FROM sqlite_master WHERE type='table'")}
    internal = {"texts", "signatures", "cursors", "threads", "last_scored"}
    assert tables - {"sqlite_sequence"} - internal == set(export.TABLES)


def test_references_are_replaced_by_texts_and_names(store, tmp_path: Path) -> None:
    export.export(store, tmp_path, form="jsonl", tables=["comments", "scores", "signals"])
    first = read_lines(tmp_path / "comments.jsonl")[0]
    assert first["body"] == "lone ? <script>"
    assert first["kind"] in ("line", "review", "conversation")
    assert "/" in first["repository"]
    assert first["comment"] == store.query("SELECT min(key) FROM comments")[0][0]
    assert not {"node", "author_id"} & set(first)
    signatures = {row["signature"] for row in read_lines(tmp_path / "scores.jsonl")}
    assert signatures <= set(store.signatures().values())
    assert "lines_changed" in {row["signal"] for row in read_lines(tmp_path / "signals.jsonl")}


def test_parquet_has_the_same_rows(store, tmp_path: Path) -> None:
    export.export(store, tmp_path, form="jsonl")
    for path in export.export(store, tmp_path, form="parquet"):
        lines = read_lines(path.with_suffix(".jsonl"))
        assert [rounded(row) for row in parquet.read_table(path).to_pylist()] == lines


def test_empty_table_keeps_its_types(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as empty:
        (path,) = export.export(empty, tmp_path, form="parquet", tables=["scores"])
    schema = parquet.read_schema(path)
    assert schema.field("standing").type == pa.int64()
    assert schema.field("relevance").type == pa.float64()
    assert schema.field("signature").type in (pa.string(), pa.large_string())


def test_frame_has_the_rows(store) -> None:
    scores = export.frame(store, "scores")
    assert len(scores) == store.query("SELECT count(*) FROM scores")[0][0]
    assert scores["standing"].max() <= 100


def test_equal_stores_give_equal_files(store, tmp_path: Path) -> None:
    for name in ("a", "b"):
        export.export(store, tmp_path / name, form="parquet")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_unknown_table_is_an_error(store, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="repositories, pulls"):
        export.export(store, tmp_path, form="jsonl", tables=["comment"])


def test_folder_that_cannot_be_made_is_an_error(store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        export.export(store, tmp_path / "file" / "x", form="jsonl")


@pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
def test_missing_package_is_named(store, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(DependencyError, match=rf"{missing}.*crscore\[export\]"):
        export.frame(store, "scores")
