from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from crscore.audit import export
from crscore.audit.store import rows
from crscore.audit.store.database import Store
from crscore.errors import ConfigError, OutputError
from tests.helpers.audit_rows import fill


@pytest.fixture(scope="module")
def store() -> Store:
    made = Store(Path(":memory:"))
    fill(made, comments=120, seed=3)
    with made.transaction():
        body = made.add_text("lone \ud800 <script>")
        comment = made.select(rows.Comment, "ORDER BY key LIMIT 1")[0]
        values = {field.name: getattr(comment, field.name) for field in fields(comment)}
        made.put([rows.Comment(**values | {"body": body})])
    return made


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_table_is_written_with_all_its_rows(store, tmp_path: Path) -> None:
    written = export.export(store, tmp_path / "new", form="jsonl")
    assert [path.stem for path in written] == list(export.TABLES)
    for path in written:
        (count,) = store.query(f"SELECT count(*) FROM {path.stem}")[0]
        assert len(read_lines(path)) == count, path.stem
    assert len(read_lines(tmp_path / "new" / "comments.jsonl")) >= 120


def test_tables_are_those_of_the_store(store) -> None:
    named = {name for (name,) in store.query("SELECT name FROM sqlite_master WHERE type='table'")}
    internal = {"texts", "signatures", "cursors", "threads", "pages"}
    assert named - {"sqlite_sequence"} - internal == set(export.TABLES)


def test_comments_have_their_texts_and_names(store, tmp_path: Path) -> None:
    (path,) = export.export(store, tmp_path, form="jsonl", tables=["comments"])
    first = read_lines(path)[0]
    assert first["body"] == "lone ? <script>"
    assert first["kind"] in ("line", "review", "conversation")
    assert "/" in first["repository"]
    assert first["comment"] == store.query("SELECT min(key) FROM comments")[0][0]


def test_scores_have_their_signature_and_signals_their_name(store, tmp_path: Path) -> None:
    export.export(store, tmp_path, form="jsonl", tables=["scores", "signals"])
    texts = set(store.signatures().values())
    assert {row["signature"] for row in read_lines(tmp_path / "scores.jsonl")} <= texts
    names = {row["signal"] for row in read_lines(tmp_path / "signals.jsonl")}
    assert "lines_changed" in names


def test_parquet_has_the_same_rows(store, tmp_path: Path) -> None:
    export.export(store, tmp_path, form="jsonl")
    for path in export.export(store, tmp_path, form="parquet"):
        assert parquet.read_table(path).to_pylist() == read_lines(path.with_suffix(".jsonl"))


def test_empty_table_keeps_its_types(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as empty:
        (path,) = export.export(empty, tmp_path, form="parquet", tables=["scores"])
    schema = parquet.read_schema(path)
    assert schema.field("standing").type == pa.int64()
    assert schema.field("relevance").type == pa.float64()
    assert schema.field("signature").type == pa.string()


def test_frame_has_the_columns(store) -> None:
    found = export.frame(store, "scores")
    assert len(found) == store.query("SELECT count(*) FROM scores")[0][0]
    assert found["standing"].max() <= 100


def test_equal_stores_give_equal_files(store, tmp_path: Path) -> None:
    for name in ("a", "b"):
        export.export(store, tmp_path / name, form="parquet")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_unknown_table_is_named(store, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="repositories, pulls"):
        export.export(store, tmp_path, form="jsonl", tables=["comment"])


def test_folder_that_cannot_be_made_is_told(store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        export.export(store, tmp_path / "file" / "x", form="jsonl")
